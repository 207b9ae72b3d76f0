//! Each exit code, as `--help` lists them.

use std::fs;

use snapbox::str;

use crate::{fencepost, folder};

#[test]
fn code_0_what_was_expected_came_true() {
    let folder = folder();
    fencepost(folder.path(), "run quiet.toml --no-report").assert().code(0);
    fencepost(folder.path(), "zombie.toml --no-report").assert().code(0);
    fencepost(folder.path(), "replay zombie.toml --no-report").assert().code(0);
    fencepost(folder.path(), "quiet.toml --runs 30 --no-report").assert().code(0);
    fencepost(folder.path(), "--help").assert().code(0);
    fencepost(folder.path(), "--version").assert().code(0);
}

#[test]
fn code_1_a_violation_that_nobody_expected() {
    let folder = folder();
    let zombie = fs::read_to_string(folder.path().join("zombie.toml")).unwrap();
    let (without, _) = zombie.split_once("[expect]").unwrap();
    fs::write(folder.path().join("bare.toml"), without).unwrap();
    fencepost(folder.path(), "bare.toml --no-report").assert().code(1);
    fencepost(folder.path(), "test bare.toml").assert().code(1);
    fencepost(folder.path(), "hazard.toml --runs 1000 --no-report").assert().code(1);
}

#[test]
fn code_1_an_expected_violation_that_did_not_come() {
    let folder = folder();
    let line = "zombie.toml --no-report --set workload.resource.fencing=reads-and-writes \
                --set lock.fencing_token=in-acquire-script";
    let said = crate::said(fencepost(folder.path(), line));
    assert!(said.contains("not as expected: stale-write did not occur"), "{said}");
    fencepost(folder.path(), line).assert().code(1);
}

#[test]
fn code_2_nothing_was_run() {
    let folder = folder();
    for line in [
        "",
        "rnu quiet.toml",
        "quiet.toml --runs 29",
        "quiet.toml --seed blue",
        "nosuch.toml",
        "broken.toml",
        "quiet.toml --set lock.ttl",
        "run .",
        "test nosuch",
        "list colours",
        "explain nothing",
    ] {
        fencepost(folder.path(), line).assert().code(2).stdout_eq("");
    }
    assert!(crate::made(folder.path()).is_empty());
}

#[test]
fn code_3_a_fault_that_never_took_effect_leaves_no_answer() {
    let folder = folder();
    fencepost(folder.path(), "never.toml --no-report").assert().code(3);
}

#[test]
fn code_4_a_counterexample_that_is_another_run_now() {
    let folder = folder();
    fencepost(folder.path(), "hazard.toml --runs 1000").assert().code(1);
    let findings = folder.path().join("reports/hazard/counterexamples");
    let file = fs::read_dir(findings).unwrap().next().unwrap().unwrap().path();
    let line = format!("replay {}", file.display());
    fencepost(folder.path(), &line).assert().code(0);
    let text = fs::read_to_string(&file).unwrap();
    let (before, rest) = text.split_once("\nhash = \"0x").unwrap();
    let other = if rest.starts_with('0') { '1' } else { '0' };
    fs::write(&file, format!("{before}\nhash = \"0x{other}{}", &rest[1..])).unwrap();
    fencepost(folder.path(), &line).assert().code(4);
    fencepost(folder.path(), &format!("test {}", file.display())).assert().code(4);
}

#[test]
fn code_70_a_bug_asks_for_a_report() {
    let folder = folder();
    fencepost(folder.path(), "bug").assert().code(70).stdout_eq("").stderr_eq(str![[r#"
fencepost has a bug; this says nothing about your lock.

  somebody asked for a bug at crates/cli/src/commands.rs:[..]

Please report it with these lines, the scenario, and the command:

  version  0.1.0
  command  fencepost bug

"#]]);
}

#[test]
fn code_74_no_place_for_the_report() {
    let folder = folder();
    fencepost(folder.path(), "quiet.toml -o zombie.toml/below")
        .assert()
        .code(74)
        .stdout_eq("")
        .stderr_eq(str![[r#"
error: cannot write zombie.toml/below: not a directory

"#]]);
}

#[test]
#[cfg(target_os = "linux")]
fn code_74_no_room_on_the_disk() {
    use std::process::{Command, Stdio};
    let folder = folder();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(snapbox::cmd::cargo_bin!("fencepost"));
    command.args(["quiet.toml", "--no-report"]).current_dir(folder.path());
    let output = command.stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(74));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "error: cannot write standard output: no space left on device\n");
}

#[test]
#[cfg(unix)]
fn code_130_the_first_ctrl_c_stops_and_says_what_is_known() {
    use std::io::{BufRead as _, BufReader, Read as _};
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{Command, Stdio};
    let folder = folder();
    let mut command = Command::new(snapbox::cmd::cargo_bin!("fencepost"));
    command.args(["quiet.toml", "--runs", "1000000000", "--seed", "random", "--format", "json"]);
    let command = command.current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The seed is told when the signals are listened to and the runs begin.
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("note: the seed is 0x"), "{line}");
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    // A shell calls this 130.
    assert_eq!(child.wait().unwrap().signal(), Some(2));
    assert!(said.contains("\"verdict\": \"inconclusive\""), "{said}");
    assert!(said.contains("\"complete\": false"), "{said}");
    assert!(crate::made(folder.path()).is_empty());
}

#[test]
#[cfg(unix)]
fn a_closed_pipe_ends_quietly() {
    use std::process::{Command, Stdio};
    let folder = folder();
    let mut command = Command::new(snapbox::cmd::cargo_bin!("fencepost"));
    command.args(["test", "zombie.toml", "quiet.toml"]).current_dir(folder.path());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
