//! Instructions a run of the benchmark's jobs, counted by valgrind.
//!
//! Each job runs N and 3N times; the difference divided by 2N leaves out what starting
//! costs. Counts are compared on the machine kind that they were taken on, x86-64; times
//! never are.

use crate::ci::Outcome;
use crate::shell::{build, has, must, output, program, root};
use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};

/// Runs `cargo xtask instructions [--bless]`.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let outcome = match arguments {
        [] => check()?,
        [flag] if flag == "--bless" => bless()?,
        _ => bail!("cargo xtask instructions takes --bless only"),
    };
    if let Outcome::Skipped(reason) = outcome {
        println!("SKIPPED: {reason}");
    }
    Ok(())
}

/// Compares each job's count with its budget, at most 2 % above, once the bare loop is known to
/// do the same job as the simulator.
pub(crate) fn check() -> Result<Outcome> {
    if let Some(reason) = obstacle() {
        return Ok(Outcome::Skipped(reason));
    }
    let benchmark = benchmark()?;
    must(program(&benchmark).arg("--check"))?;
    let mut above = Vec::new();
    for job in jobs()? {
        let count = job.count(&benchmark)?;
        println!("{:<16}{count:>9} instructions a run, committed {}", job.name, job.instructions);
        if count > job.instructions + job.instructions / 50 {
            above.push(format!("{} by {}", job.name, count - job.instructions));
        }
    }
    ensure!(above.is_empty(), "more than 2 % above the committed count: {}", above.join(", "));
    Ok(Outcome::Passed)
}

/// Writes today's counts into the committed file.
fn bless() -> Result<Outcome> {
    if let Some(reason) = obstacle() {
        return Ok(Outcome::Skipped(reason));
    }
    let benchmark = benchmark()?;
    let mut text = std::fs::read_to_string(committed())?;
    for job in jobs()? {
        let count = job.count(&benchmark)?;
        println!("{:<16}{:>9} -> {count}", job.name, job.instructions);
        text = replaced(&text, &job.name, count).context("the file changed while it was read")?;
    }
    std::fs::write(committed(), text)?;
    Ok(Outcome::Passed)
}

/// One line of the committed file.
struct Job {
    name: String,
    runs: u64,
    instructions: u64,
}

impl Job {
    fn count(&self, benchmark: &Path) -> Result<u64> {
        let few = executed(benchmark, &self.name, self.runs)?;
        let many = executed(benchmark, &self.name, 3 * self.runs)?;
        Ok(many.saturating_sub(few) / (2 * self.runs))
    }
}

fn committed() -> PathBuf {
    root().join("xtask/instructions.toml")
}

fn jobs() -> Result<Vec<Job>> {
    let table = std::fs::read_to_string(committed())?.parse::<toml::Table>()?;
    let number = |job: &toml::Value, key: &str| {
        let value = job.get(key).and_then(toml::Value::as_integer);
        value.and_then(|value| u64::try_from(value).ok()).with_context(|| format!("{key} = N"))
    };
    let job = |(name, job): (&String, &toml::Value)| {
        let (runs, instructions) = (number(job, "runs")?, number(job, "instructions")?);
        Ok(Job { name: name.clone(), runs, instructions })
    };
    table.iter().map(job).collect()
}

/// Puts a count into the line `NAME = { .., instructions = COUNT }`; the rest stays.
fn replaced(text: &str, name: &str, count: u64) -> Option<String> {
    let start = text.lines().find(|line| line.split(" = ").next() == Some(name))?;
    let (before, after) = start.split_once("instructions = ")?;
    let rest = after.trim_start_matches(|letter: char| letter.is_ascii_digit());
    Some(text.replace(start, &format!("{before}instructions = {count}{rest}")))
}

fn obstacle() -> Option<String> {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return Some("instruction budgets are for x86-64 Linux".to_owned());
    }
    (!has("valgrind")).then(|| "valgrind is not installed".to_owned())
}

fn benchmark() -> Result<PathBuf> {
    build("bench -p fencepost-testbed --bench hot_path --no-run")
}

fn executed(benchmark: &Path, job: &str, runs: u64) -> Result<u64> {
    let mut valgrind = program("valgrind");
    valgrind.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    valgrind.arg(benchmark).args(["--job", job, "--runs", &runs.to_string()]);
    let said = String::from_utf8(output(&mut valgrind)?.stderr)?;
    parsed(&said).with_context(|| format!("valgrind counted nothing:\n{said}"))
}

/// Reads the line `==123== I refs: 1,234,567`.
fn parsed(said: &str) -> Option<u64> {
    let line = said.lines().find(|line| line.contains("I refs:") || line.contains("I   refs:"))?;
    let number = line.rsplit(':').next()?;
    number.chars().filter(char::is_ascii_digit).collect::<String>().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_read() {
        assert_eq!(parsed("==7== I   refs:      1,234,567\n==7==\n"), Some(1_234_567));
        assert_eq!(parsed("==7== I refs:  42"), Some(42));
        assert_eq!(parsed("nothing"), None);
    }

    #[test]
    fn a_blessing_changes_its_line_only() {
        let text =
            "# Why.\nr1 = { runs = 5, instructions = 10 }\nr11 = { runs = 5, instructions = 10 }\n";
        let expected = text.replacen("instructions = 10 }", "instructions = 27000 }", 1);
        assert_eq!(replaced(text, "r1", 27_000), Some(expected));
        assert_eq!(replaced(text, "r2", 1), None);
    }
}
