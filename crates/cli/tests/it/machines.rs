//! What programs read.

use std::fs;

use snapbox::str;

use crate::{fencepost, folder, said};

#[test]
fn a_run_as_one_document() {
    let folder = folder();
    let assert = fencepost(folder.path(), "zombie.toml --format json --no-report").assert();
    assert
        .code(0)
        .stdout_eq(str![[r#"
{
  "schema": "result/1",
  "tool": "0.1.0",
  "scenario": "zombie",
  "title": "A paused holder writes after its lease has moved on",
  "strategy": "set-nx-px",
  "scenario_sha256": "[..]",
  "seed": "0x5eed",
  "verdict": "violated",
  "complete": true,
  "expected": "met",
  "differences": [],
  "hash": "[..]",
  "faults_claim": "no fault can be left out",
  "notes": [
    "stale read: c1 read after c2, who came later, had used the resource"
  ],
  "replay": "fencepost replay zombie.toml",
  "violations": [
    {
      "kind": "lost-update",
      "lock": "orders",
      "clients": [
        "c1",
        "c2"
      ],
      "tokens": [
        null,
        null
      ],
      "from_ns": 36005002000,
      "to_ns": 36005002000,
      "resource": "storage"
    },
    {
      "kind": "stale-write",
      "lock": "orders",
      "clients": [
        "c1",
        "c2"
      ],
      "tokens": [
        null,
        null
      ],
      "from_ns": 30094592000,
      "to_ns": 36005002000,
      "resource": "storage"
    },
    {
      "kind": "late-write",
      "lock": "orders",
      "clients": [
        "c1",
        "c2"
      ],
      "tokens": [
        null,
        null
      ],
      "from_ns": 30093592000,
      "to_ns": 36005002000,
      "resource": "storage"
    },
    {
      "kind": "double-run",
      "lock": "orders",
      "clients": [
        "c1",
        "c2"
      ],
      "tokens": [
        null,
        null
      ],
      "from_ns": 31002002000,
      "to_ns": 31002002000
    },
    {
      "kind": "double-holder",
      "lock": "orders",
      "clients": [
        "c1",
        "c2"
      ],
      "tokens": [
        null,
        null
      ],
      "from_ns": 30093592000,
      "to_ns": 35097592000
    }
  ],
  "faults": [
    {
      "label": "F1",
      "text": "pause c1 for 31 s",
      "at_ns": 2002000
    }
  ]
}

"#]])
        .stderr_eq("");
}

#[test]
fn a_run_as_lines() {
    let folder = folder();
    let assert = fencepost(folder.path(), "zombie.toml --format jsonl --no-report").assert();
    assert.code(0).stdout_eq(str![[r#"
{"type":"run","schema":"result/1","tool":"0.1.0","scenario":"zombie","title":"A paused holder writes after its lease has moved on","strategy":"set-nx-px","scenario_sha256":"[..]","seed":"0x5eed"}
{"type":"fault","label":"F1","text":"pause c1 for 31 s","at_ns":2002000}
{"type":"violation","kind":"lost-update","lock":"orders","clients":["c1","c2"],"tokens":[null,null],"from_ns":36005002000,"to_ns":36005002000,"resource":"storage"}
{"type":"violation","kind":"stale-write","lock":"orders","clients":["c1","c2"],"tokens":[null,null],"from_ns":30094592000,"to_ns":36005002000,"resource":"storage"}
{"type":"violation","kind":"late-write","lock":"orders","clients":["c1","c2"],"tokens":[null,null],"from_ns":30093592000,"to_ns":36005002000,"resource":"storage"}
{"type":"violation","kind":"double-run","lock":"orders","clients":["c1","c2"],"tokens":[null,null],"from_ns":31002002000,"to_ns":31002002000}
{"type":"violation","kind":"double-holder","lock":"orders","clients":["c1","c2"],"tokens":[null,null],"from_ns":30093592000,"to_ns":35097592000}
{"type":"end","verdict":"violated","complete":true,"expected":"met","differences":[],"hash":"[..]","faults_claim":"no fault can be left out","notes":["stale read: c1 read after c2, who came later, had used the resource"],"replay":"fencepost replay zombie.toml"}

"#]]).stderr_eq("");
}

#[test]
fn a_sample_as_one_document() {
    let folder = folder();
    let line = "quiet.toml --runs 10000 --seed 7 --format json";
    fencepost(folder.path(), line)
        .assert()
        .code(0)
        .stdout_eq(str![[r#"
{
  "schema": "result/1",
  "tool": "0.1.0",
  "scenario": "quiet",
  "title": "Two clients, one after the other",
  "strategy": "set-nx-px",
  "scenario_sha256": "[..]",
  "seed": "0x7",
  "verdict": "none-found",
  "complete": true,
  "expected": "unstated",
  "differences": [],
  "runs": {
    "asked": 10000,
    "done": 10000,
    "unfinished": 0,
    "violated": null,
    "upper95_ppb": 299529
  },
  "hash": null,
  "faults_claim": null,
  "notes": [],
  "replay": null,
  "violations": [],
  "faults": []
}

"#]])
        .stderr_eq("");
}

#[test]
fn a_test_as_lines() {
    let folder = folder();
    let line = "test quiet.toml zombie.toml --format jsonl";
    fencepost(folder.path(), line).assert().code(0).stdout_eq(str![[r#"
{"type":"file","file":"quiet.toml","ok":true,"verdict":"clean","kinds":[],"hash":"[..]","differences":[]}
{"type":"file","file":"zombie.toml","ok":true,"verdict":"violated","kinds":["lost-update","stale-write","late-write","double-run","double-holder"],"hash":"[..]","differences":[]}
{"type":"end","files":2,"ok":2,"not_as_expected":0,"not_run":0,"complete":true}

"#]]).stderr_eq("");
}

#[test]
fn every_line_is_json() {
    let folder = folder();
    for line in [
        "zombie.toml --no-report",
        "hazard.toml --no-report --runs 1000",
        "test quiet.toml zombie.toml",
        "list strategies",
        "list scenarios .",
        "show-config zombie.toml",
        "explain stale-write",
        "broken.toml",
        "nosuch.toml",
    ] {
        let lines = said(fencepost(folder.path(), &format!("{line} --format jsonl")));
        assert!(!lines.is_empty(), "{line}");
        for json in lines.lines() {
            assert!(serde_json::from_str::<serde_json::Value>(json).is_ok(), "{line}: {json}");
        }
        let whole = said(fencepost(folder.path(), &format!("{line} --format json")));
        assert!(serde_json::from_str::<serde_json::Value>(&whole).is_ok(), "{line}: {whole}");
    }
    let schema = said(fencepost(folder.path(), "schema"));
    assert!(serde_json::from_str::<serde_json::Value>(&schema).is_ok(), "{schema}");
}

#[test]
fn the_same_bytes_from_elsewhere() {
    let (here, there) = (folder(), folder());
    let below = there.path().join("a/b");
    fs::create_dir_all(&below).unwrap();
    for line in ["--no-report", "--runs 1000 --no-report", "--runs 1000 --seed 3 --no-report"] {
        for file in ["zombie.toml", "hazard.toml", "quiet.toml"] {
            for format in ["json", "jsonl"] {
                let options = format!("{line} --format {format}");
                let one = fencepost(here.path(), &format!("run {file} {options}"));
                let other = fencepost(&below, &format!("run ../../{file} {options}"))
                    .env("LC_ALL", "tr_TR.UTF-8")
                    .env("TZ", "Asia/Kathmandu")
                    .env("COLUMNS", "40")
                    .env("FORCE_COLOR", "1");
                assert_eq!(said(one), said(other), "{file} {options}");
            }
        }
    }
}
