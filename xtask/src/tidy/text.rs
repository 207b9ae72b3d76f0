//! Rules about lines and files.

use super::tree::{Source, Tree};

const LONGEST_FILE: usize = 800;
const LONG_FILE: usize = 500;
const LONGEST_LINE: usize = 100;
const SHORT_PAPERS: &[&str] = &["README.md", "ARCHITECTURE.md"];
const LONGEST_PAPER: usize = 149;

/// Words of unfinished work, in two halves so that this file does not find itself.
const UNFINISHED: &[(&str, &str)] =
    &[("TO", "DO"), ("FIX", "ME"), ("to", "do!("), ("unimple", "mented!(")];

/// Folders of one machine, and documents beside the repository, in two halves.
const ELSEWHERE: &[(&str, &str)] =
    &[("/wo", "rk/"), ("/ro", "ot/"), ("/ho", "me/"), ("/t", "mp/"), ("../sha", "red")];

/// Finds Rust files and papers that nobody finishes reading.
pub(super) fn length(tree: &Tree) -> Vec<String> {
    let limit = |file: &Source| match () {
        () if SHORT_PAPERS.contains(&file.path.as_str()) => LONGEST_PAPER,
        () if file.is_rust() => LONGEST_FILE,
        () => usize::MAX,
    };
    let too_long = tree.files.iter().filter(|file| file.lines().count() > limit(file));
    too_long.map(|file| format!("{} has more than {} lines", file.path, limit(file))).collect()
}

/// Lists Rust files that are allowed, yet longer than is comfortable.
pub(super) fn long_files(tree: &Tree) -> Vec<String> {
    let long = |file: &&Source| (LONG_FILE + 1..=LONGEST_FILE).contains(&file.lines().count());
    let files = tree.files.iter().filter(|file| file.is_rust()).filter(long);
    files.map(|file| format!("{} has more than {LONG_FILE} lines", file.path)).collect()
}

/// Finds Rust lines that are too wide; tests quote output, which is as wide as it is.
pub(super) fn columns(tree: &Tree) -> Vec<String> {
    let written = |file: &Source| file.is_rust() && !file.path.contains("/tests/");
    lines(tree, written, |line| line.chars().count() > LONGEST_LINE, "is too wide")
}

/// Finds marks of unfinished work.
pub(super) fn unfinished(tree: &Tree) -> Vec<String> {
    lines(tree, |_| true, |line| has(line, UNFINISHED), "is unfinished")
}

/// Finds names of folders that other machines do not have.
pub(super) fn machine_paths(tree: &Tree) -> Vec<String> {
    lines(tree, |_| true, |line| has(line, ELSEWHERE), "names a folder of one machine")
}

/// Finds lint exceptions that do not say why.
pub(super) fn reasons(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for file in tree.files.iter().filter(|file| file.is_rust()) {
        for (start, _) in file.text.match_indices("[allow(") {
            let attribute = file.text[start..].split(")]").next().unwrap_or_default();
            let opened = file.text[..start].trim_end_matches('!').ends_with('#');
            if opened && !attribute.contains("reason") {
                let line = file.text[..start].lines().count();
                found.push(format!("{}:{line} allows a lint and gives no reason", file.path));
            }
        }
    }
    found
}

/// Finds crates that do not say what they are.
pub(super) fn crate_docs(tree: &Tree) -> Vec<String> {
    let roots =
        |file: &&Source| file.path.ends_with("/src/lib.rs") || file.path.ends_with("/src/main.rs");
    let silent = tree.files.iter().filter(roots).filter(|file| !file.text.starts_with("//! "));
    silent
        .map(|file| format!("{} does not start with the crate's documentation", file.path))
        .collect()
}

/// Finds links of the papers to files that do not exist.
pub(super) fn links(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.ends_with(".md")) {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (number, line) in file.lines() {
            for link in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                let target = link.split('#').next().unwrap_or_default();
                let inside = !target.is_empty() && !link.contains("://");
                let path = crate::shell::root().join(folder).join(target);
                if inside && !path.exists() {
                    found.push(format!(
                        "{}:{number} links to {target}, which is not there",
                        file.path
                    ));
                }
            }
        }
    }
    found
}

fn has(line: &str, halves: &[(&str, &str)]) -> bool {
    halves.iter().any(|(one, other)| {
        line.match_indices(one).any(|(start, _)| line[start + one.len()..].starts_with(other))
    })
}

fn lines(tree: &Tree, kind: fn(&Source) -> bool, bad: fn(&str) -> bool, what: &str) -> Vec<String> {
    let files = tree.files.iter().filter(|file| kind(file));
    let bad_lines = |file: &Source| {
        let numbers = file.lines().filter(|(_, line)| bad(line));
        numbers.map(|(number, _)| format!("{}:{number} {what}", file.path)).collect::<Vec<_>>()
    };
    files.flat_map(bad_lines).collect()
}

#[cfg(test)]
mod tests;
