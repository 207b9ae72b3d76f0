//! Each rule finds what it should, and leaves the rest alone.

use super::*;

fn tree(path: &str, text: &str) -> Tree {
    let file = Source { path: path.to_owned(), text: text.to_owned() };
    Tree { files: vec![file], ..Tree::default() }
}

#[test]
fn lengths() {
    let lines = |count: usize| "\n".repeat(count);
    assert_eq!(length(&tree("src/lib.rs", &lines(800))).len(), 0);
    assert_eq!(length(&tree("src/lib.rs", &lines(801))).len(), 1);
    assert_eq!(length(&tree("README.md", &lines(150))).len(), 1);
    assert_eq!(length(&tree("docs/tutorial.md", &lines(150))).len(), 0);
    assert_eq!(long_files(&tree("src/lib.rs", &lines(501))).len(), 1);
    assert_eq!(long_files(&tree("src/lib.rs", &lines(500))).len(), 0);
}

#[test]
fn wide_lines() {
    assert_eq!(columns(&tree("a.rs", &"x".repeat(101))).len(), 1);
    assert_eq!(columns(&tree("a.rs", &"é".repeat(100))).len(), 0);
    assert_eq!(columns(&tree("a/tests/it.rs", &"x".repeat(101))).len(), 0);
    assert_eq!(columns(&tree("a.md", &"x".repeat(101))).len(), 0);
}

#[test]
fn words_and_folders() {
    for (one, other) in UNFINISHED {
        assert_eq!(unfinished(&tree("a.rs", &format!("x {one}{other}"))).len(), 1);
    }
    for (one, other) in ELSEWHERE {
        assert_eq!(machine_paths(&tree("a.md", &format!("in {one}{other}x"))).len(), 1);
    }
    assert_eq!(unfinished(&tree("a.rs", "what to do")).len(), 0);
}

#[test]
fn exceptions_have_reasons() {
    let silent = format!("#{}", "[allow(dead_code)]");
    let inner = format!("\n#!{}", "[allow(\n    dead_code,\n)]");
    let spoken = format!("#{}", "[allow(dead_code, reason = \"why\")]");
    assert_eq!(reasons(&tree("a.rs", &silent)).len(), 1);
    assert_eq!(reasons(&tree("a.rs", &inner)), ["a.rs:2 allows a lint and gives no reason"]);
    assert_eq!(reasons(&tree("a.rs", &spoken)).len(), 0);
}

#[test]
fn crates_say_what_they_are() {
    assert_eq!(crate_docs(&tree("crates/a/src/lib.rs", "mod b;")).len(), 1);
    assert_eq!(crate_docs(&tree("crates/a/src/lib.rs", "//! A.\nmod b;")).len(), 0);
    assert_eq!(crate_docs(&tree("crates/a/src/b.rs", "mod b;")).len(), 0);
}

#[test]
fn links_lead_somewhere() {
    assert_eq!(links(&tree("a.md", "[x](nowhere.md) [y](https://example.org)")).len(), 1);
    assert_eq!(links(&tree("a.md", "[x](Cargo.toml#top) [y](#here)")).len(), 0);
}
