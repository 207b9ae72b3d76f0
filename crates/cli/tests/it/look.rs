//! What people see.

use snapbox::str;

use crate::{fencepost, folder, said};

#[test]
fn the_block_in_a_hundred_columns() {
    let folder = folder();
    let assert = fencepost(folder.path(), "zombie.toml").assert();
    assert
        .code(0)
        .stdout_eq(str![[r#"
✕ VIOLATED  lost-update, stale-write, late-write, double-run, double-holder
  A paused holder writes after its lease has moved on
  zombie.toml, strategy set-nx-px; as expected by [expect]

  c1 and c2 both acted as holder of lock "orders" for 5.004 s, from 30.093592 s to 35.097592 s of
  virtual time.
  c1 wrote over a change of c2 at storage that it had not read, at 36.005002 s of virtual time.
  storage accepted a write of c1 after c2, who came later, had used it, at 36.005002 s of virtual
  time.
  note: stale read: c1 read after c2, who came later, had used the resource

  needs 1 fault (no fault can be left out):
    F1     0.002 s  pause c1 for 31 s

    1   0.002 s  c1       gets lock "orders" from r1; the key is to expire at 30.002 s
                          r1> SET lock:orders c1-1 NX PX 30000
                          OK
    2   0.002 s  c1       F1: stops for 31 s, lock in hand, and cannot see time pass
    3   0.003 s  c2       finds lock "orders" taken
                          r1> SET lock:orders c2-2 NX PX 30000
                          (nil)
    4  30.002 s  r1       lets the key of c1 expire; nobody tells c1
    5  30.093 s  c2       gets lock "orders" from r1; c1 believes it too: two holders from here on
                          <- double-holder
                          r1> SET lock:orders c2-297 NX PX 30000
                          OK
    6  30.094 s  storage  answers the read of c2
    7  31.002 s  c1       wakes up and goes on where it stopped
    8  31.003 s  storage  answers the read of c1
    9  35.096 s  storage  accepts the write of c2
   10  35.097 s  c2       begins to release the lock
                          r1> EVAL <compare-and-delete> 1 lock:orders c2-297
                          (integer) 1
   11  36.005 s  storage  accepts the write of c1 after the write of c2, who came later
                          <- lost-update, stale-write, late-write
       and 298 more, in the timeline

  hash      [..]
  replay    fencepost replay zombie.toml
  timeline  reports/zombie/index.html
  assumed   a message takes 1 ms one way where no fault says else
            all clocks are right until a fault changes them

"#]])
        .stderr_eq("");
}

#[test]
fn the_block_in_forty_columns() {
    let folder = folder();
    let command = fencepost(folder.path(), "zombie.toml").env("COLUMNS", "40");
    command
        .assert()
        .code(0)
        .stdout_eq(str![[r#"
✕ VIOLATED  lost-update, stale-write,
            late-write, double-run,
            double-holder
  A paused holder writes after its lease
  has moved on
  zombie.toml, strategy set-nx-px; as
  expected by [expect]

  c1 and c2 both acted as holder of lock
  "orders" for 5.004 s, from 30.093592 s
  to 35.097592 s of virtual time.
  c1 wrote over a change of c2 at
  storage that it had not read, at
  36.005002 s of virtual time.
  storage accepted a write of c1 after
  c2, who came later, had used it, at
  36.005002 s of virtual time.
  note: stale read: c1 read after c2,
        who came later, had used the
        resource

  needs 1 fault (no fault can be left
  out):
    F1     0.002 s  pause c1 for 31 s

    1   0.002 s  c1
       gets lock "orders" from r1; the
       key is to expire at 30.002 s
       r1> SET lock:orders c1-1 NX PX
           30000
       OK
    2   0.002 s  c1
       F1: stops for 31 s, lock in hand,
           and cannot see time pass
    3   0.003 s  c2
       finds lock "orders" taken
       r1> SET lock:orders c2-2 NX PX
           30000
       (nil)
    4  30.002 s  r1
       lets the key of c1 expire; nobody
       tells c1
    5  30.093 s  c2
       gets lock "orders" from r1; c1
       believes it too: two holders from
       here on   <- double-holder
       r1> SET lock:orders c2-297 NX PX
           30000
       OK
    6  30.094 s  storage
       answers the read of c2
    7  31.002 s  c1
       wakes up and goes on where it
       stopped
    8  31.003 s  storage
       answers the read of c1
    9  35.096 s  storage
       accepts the write of c2
   10  35.097 s  c2
       begins to release the lock
       r1> EVAL <compare-and-delete> 1
           lock:orders c2-297
       (integer) 1
   11  36.005 s  storage
       accepts the write of c1 after the
       write of c2, who came later
       <- lost-update, stale-write,
          late-write
       and 298 more, in the timeline

  hash      [..]
  replay    fencepost replay zombie.toml
  timeline  reports/zombie/index.html
  assumed   a message takes 1 ms one way
            where no fault says else
            all clocks are right until a
            fault changes them

"#]])
        .stderr_eq("");
}

#[test]
fn ascii_means_ascii() {
    let folder = folder();
    for line in
        ["zombie.toml", "quiet.toml", "never.toml", "quiet.toml --runs 30", "test zombie.toml"]
    {
        let said = said(fencepost(folder.path(), &format!("{line} --ascii")));
        assert!(said.is_ascii() && !said.is_empty(), "{line}: {said}");
    }
}

#[test]
fn colours_only_where_they_are_wanted() {
    let folder = folder();
    let has_colours = |line: &str, variables: &[(&str, &str)]| {
        let command = fencepost(folder.path(), line).envs(variables.iter().copied());
        said(command).contains('\u{1b}')
    };
    let line = "zombie.toml --no-report";
    assert!(!has_colours(line, &[]));
    assert!(has_colours(line, &[("FORCE_COLOR", "1")]));
    assert!(has_colours(line, &[("CLICOLOR_FORCE", "1")]));
    assert!(!has_colours(line, &[("FORCE_COLOR", "1"), ("NO_COLOR", "1")]));
    assert!(has_colours("zombie.toml --no-report --color always", &[("NO_COLOR", "1")]));
    assert!(!has_colours("zombie.toml --no-report --color=never", &[("FORCE_COLOR", "1")]));
    assert!(!has_colours("zombie.toml --no-report --format json --color always", &[]));
}

#[test]
fn colours_change_nothing_but_colours() {
    let folder = folder();
    let plain = said(fencepost(folder.path(), "zombie.toml"));
    let coloured = said(fencepost(folder.path(), "zombie.toml --color always"));
    let mut stripped = String::new();
    for (index, part) in coloured.split('\u{1b}').enumerate() {
        let rest = if index == 0 { part } else { part.split_once('m').unwrap().1 };
        stripped.push_str(rest);
    }
    assert_eq!(stripped, plain);
}

#[test]
fn quiet_is_silent_on_success_only() {
    let folder = folder();
    for line in ["zombie.toml", "quiet.toml --runs 30", "test quiet.toml"] {
        let assert = fencepost(folder.path(), &format!("{line} -q")).assert();
        assert.code(0).stdout_eq("").stderr_eq("");
    }
    let said = said(fencepost(folder.path(), "never.toml -q"));
    assert!(said.contains("NOT FINISHED"), "{said}");
}

#[test]
fn tests_say_which_file_is_not_as_expected_and_why() {
    let folder = folder();
    let altered =
        include_str!("files/zombie.toml").replace("\"lost-update\"]", "\"orphan-no-ttl\"]");
    std::fs::write(folder.path().join("altered.toml"), altered).unwrap();
    let assert = fencepost(folder.path(), "test altered.toml quiet.toml zombie.toml").assert();
    assert
        .code(1)
        .stdout_eq(str![[r#"
NOT AS EXPECTED  altered.toml
    ✕ VIOLATED lost-update, stale-write, late-write, double-run, double-holder
    orphan-no-ttl did not occur
ok  quiet.toml
    ● CLEAN
ok  zombie.toml
    ✕ VIOLATED lost-update, stale-write, late-write, double-run, double-holder
3 files: 2 as expected, 1 NOT AS EXPECTED

"#]])
        .stderr_eq("");
}

#[test]
fn the_help_in_short() {
    let folder = folder();
    fencepost(folder.path(), "-h").assert().code(0).stdout_eq(str![[r#"
Simulates distributed locks, and shows how they break

Usage: fencepost [OPTIONS] SCENARIO
       fencepost [OPTIONS] COMMAND

Commands:
  run          Run a scenario once, or with random schedules until one breaks the lock
  replay       Show a scenario's or a counterexample's run again, and compare it with the recorded
               one
  test         Run all scenarios and counterexamples of folders, and compare each with its [expect]
  list         List what scenarios can name
  show-config  Print a scenario with every default filled in, and where each value comes from
  explain      Explain a kind of violation, a verdict, or the code of an error
  schema       Print the JSON Schema of scenario files, for editors
  help         Print this message or the help of the given subcommand(s)

Options:
  -h, --help     Print help (see more with '--help')
  -V, --version  Print version

Presentation:
      --format <FORMAT>  What results on standard output look like [default: human] [possible
                         values: human, json, jsonl]
  -q, --quiet            Print nothing on success
      --color <WHEN>     When to use colours [default: auto] [possible values: auto, always, never]
      --ascii            Use ASCII symbols only

"#]]);
    fencepost(folder.path(), "run -h").assert().code(0).stdout_eq(str![[r#"
Run a scenario once, or with random schedules until one breaks the lock

Usage: fencepost run [OPTIONS] <SCENARIO>

Arguments:
  <SCENARIO>  The scenario's TOML file

Options:
      --runs <N>         Run this many random schedules (30 at least), and stop at the first
                         violation
      --seed <SEED>      What random draws start from: a number, 0x…, a commit hash, or `random`
                         [default: 0x5eed]
      --set <KEY=VALUE>  Set a value of the scenario, such as lock.ttl=10s; may be repeated
  -o, --output <DIR>     Where the report goes, instead of reports/NAME
      --no-report        Write no report; a counterexample that --runs finds is stored all the same
      --force            Write over files that are no part of an earlier report of this scenario
  -h, --help             Print help (see more with '--help')

Presentation:
      --format <FORMAT>  What results on standard output look like [default: human] [possible
                         values: human, json, jsonl]
  -q, --quiet            Print nothing on success
      --color <WHEN>     When to use colours [default: auto] [possible values: auto, always, never]
      --ascii            Use ASCII symbols only

"#]]);
}

#[test]
fn lists_name_what_scenarios_can_name() {
    let folder = folder();
    for (topic, some) in [
        ("strategies", "set-nx-px"),
        ("faults", "pause"),
        ("moments", "before-write"),
        ("checkers", "stale-write"),
    ] {
        let said = said(fencepost(folder.path(), &format!("list {topic}")));
        assert!(said.lines().any(|line| line.starts_with(some)), "{said}");
    }
    let list = fencepost(folder.path(), "list scenarios .").env("COLUMNS", "60");
    list.assert().code(0).stdout_eq(str![[r#"
broken  error[E0105]: `ttl`: a length of time needs a unit
        (write "30s")
hazard  Sometimes a long pause comes before the write
never   The pause comes when everybody has gone home
quiet   Two clients, one after the other
zombie  A paused holder writes after its lease has moved on
        double-holder, double-run, stale-write, lost-update

"#]]);
}

#[test]
fn explanations_know_kinds_verdicts_and_codes() {
    let folder = folder();
    for word in ["stale-write", "none-found", "E0103"] {
        let said = said(fencepost(folder.path(), &format!("explain {word}")));
        assert!(said.starts_with(&format!("{word}: ")), "{said}");
    }
}

#[test]
fn show_config_says_where_each_value_comes_from() {
    let folder = folder();
    let said = said(fencepost(folder.path(), "show-config quiet.toml --set lock.ttl=7s"));
    let line = |start: &str| said.lines().find(|line| line.starts_with(start)).unwrap_or_default();
    assert!(line("ttl = \"7s\" ").ends_with("# --set"), "{said}");
    assert!(line("work = \"1s\" ").ends_with("# quiet.toml:7"), "{said}");
    assert!(line("rounds = 1 ").ends_with("# default"), "{said}");
    std::fs::write(folder.path().join("whole.toml"), &said).unwrap();
    let run = |file: &str| {
        let line = format!("{file} --no-report --format json --set lock.ttl=7s");
        let said = crate::said(fencepost(folder.path(), &line));
        said.lines().find(|line| line.contains("\"hash\"")).unwrap().to_owned()
    };
    assert_eq!(run("whole.toml"), run("quiet.toml"));
}
