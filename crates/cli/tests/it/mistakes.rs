//! Mistakes in scenario files: all at once, each at its place.

use snapbox::str;

use crate::{fencepost, folder};

#[test]
fn three_mistakes_are_told_at_once() {
    let folder = folder();
    let assert = fencepost(folder.path(), "broken.toml").assert();
    assert.code(2).stdout_eq("").stderr_eq(str![[r#"
error[E0105]: `ttl`: a length of time needs a unit
 --> broken.toml:5:7
  |
5 | ttl = 30
  |       ^^ a text such as "30s" belongs here
  |
help: write "30s"
  |
5 - ttl = 30
5 + ttl = "30s"
  |

error[E0103]: unknown key `renew_evry` in [lock]
 --> broken.toml:6:1
  |
3 | [lock]
  | ------ in this table
...
6 | renew_evry = "3s"
  | ^^^^^^^^^^ not a key of [lock]
  |
  = note: its keys are `name`, `strategy`, `ttl`, `token`, `release`, `retry_release`, `renew`,
          `renew_every`, `renew_compare`, `on_loss`, `clock`, `deadline_check`, `margin`,
          `fencing_token`, `wait_replicas`, `wait_timeout`, `wait_sent`, `on_too_few`, `purpose`,
          `effect`, `redlock`, `script`
help: did you mean `renew_every`?
  |
6 | renew_every = "3s"
  |         +

error[E0201]: no client is called `c9`
 --> broken.toml:9:21
  |
9 | pause = { process = "c9", when = "acquired", for = "31s" }
  |                     ^^^^ no such client
  |
  = note: there are `c1`, `c2`

error: 3 errors in broken.toml; nothing was run

"#]]);
}

#[test]
fn forty_columns_are_enough() {
    let folder = folder();
    let assert = fencepost(folder.path(), "broken.toml").env("COLUMNS", "40").assert();
    assert.code(2).stdout_eq("").stderr_eq(str![[r#"
error[E0105]: `ttl`: a length of time needs a unit
 --> broken.toml:5:7
  |
5 | ttl = 30
  |       ^^ a text such as "30s" belongs here
  |
help: write "30s"
  |
5 - ttl = 30
5 + ttl = "30s"
  |

error[E0103]: unknown key `renew_evry` in [lock]
 --> broken.toml:6:1
  |
3 | [lock]
  | ------ in this table
...
6 | renew_evry = "3s"
  | ^^^^^^^^^^ not a key of [lock]
  |
  = note: its keys are `name`,
          `strategy`, `ttl`, `token`,
          `release`, `retry_release`,
          `renew`, `renew_every`,
          `renew_compare`, `on_loss`,
          `clock`, `deadline_check`,
          `margin`, `fencing_token`,
          `wait_replicas`,
          `wait_timeout`, `wait_sent`,
          `on_too_few`, `purpose`,
          `effect`, `redlock`,
          `script`
help: did you mean `renew_every`?
  |
6 | renew_every = "3s"
  |         +

error[E0201]: no client is called `c9`
 --> broken.toml:9:21
  |
9 | ...ss = "c9", when = "acquired", ...
  |         ^^^^ no such client
  |
  = note: there are `c1`, `c2`

error: 3 errors in broken.toml; nothing was run

"#]]);
}

#[test]
fn mistakes_in_settings_point_into_the_setting() {
    let folder = folder();
    let line = "quiet.toml --set lock.tll=3s --set lock.ttl=3";
    let assert = fencepost(folder.path(), line).assert();
    assert.code(2).stdout_eq("").stderr_eq(str![[r#"
error[E0103]: unknown key `tll` in [lock]
--> --set:1:6
 |
 | lock.tll=3s
 |      ^^^ not a key of [lock]
 |
 = note: its keys are `name`, `strategy`, `ttl`, `token`, `release`, `retry_release`, `renew`,
         `renew_every`, `renew_compare`, `on_loss`, `clock`, `deadline_check`, `margin`,
         `fencing_token`, `wait_replicas`, `wait_timeout`, `wait_sent`, `on_too_few`, `purpose`,
         `effect`, `redlock`, `script`
help: did you mean `ttl`?
 |
 - lock.tll=3s
 + lock.ttl=3s
 |

error[E0105]: `ttl`: a length of time needs a unit
--> --set:1:10
 |
 | lock.ttl=3
 |          ^ a text such as "30s" belongs here
 |
help: write "3s"
 |
 | lock.ttl=3s
 |           +

error: 2 errors in quiet.toml; nothing was run

"#]]);
}

#[test]
fn programs_read_mistakes_as_data() {
    let folder = folder();
    let assert = fencepost(folder.path(), "broken.toml --format json").assert();
    assert
        .code(2)
        .stdout_eq(str![[r#"
{
  "type": "error",
  "file": "broken.toml",
  "errors": [
    {
      "code": "E0105",
      "message": "`ttl`: a length of time needs a unit",
      "line": 5,
      "column": 7,
      "help": "write /"30s/""
    },
    {
      "code": "E0103",
      "message": "unknown key `renew_evry` in [lock]",
      "line": 6,
      "column": 1,
      "help": "did you mean `renew_every`?"
    },
    {
      "code": "E0201",
      "message": "no client is called `c9`",
      "line": 9,
      "column": 21
    }
  ]
}

"#]])
        .stderr_eq("");
}

#[test]
fn a_moment_that_never_comes_is_told_at_its_fault() {
    let folder = folder();
    let path = folder.path().join("late.toml");
    let late = include_str!("files/zombie.toml").replace("\"acquired\",", "\"acquired\", nth = 9,");
    std::fs::write(path, late).unwrap();
    let assert = fencepost(folder.path(), "late.toml").assert();
    assert.code(2).stdout_eq("").stderr_eq(str![[r#"
error[E0204]: fault 1: c1 does not pass `acquired` for the 9. time in this run
  --> late.toml:14:9
   |
14 | pause = { process = "c1", when = "acquired", nth = 9, for = "31s" }
   |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ this fault would never take effect
   |
   = help: `fencepost list moments` says when each moment is passed

error: 1 error in late.toml; nothing was run

"#]]);
}

#[test]
fn a_test_of_a_broken_file_runs_nothing() {
    let folder = folder();
    let assert = fencepost(folder.path(), "test .").assert();
    let assert = assert.code(2).stdout_eq("");
    let errors = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(errors.ends_with("error: 3 errors in broken.toml; nothing was run\n"), "{errors}");
}
