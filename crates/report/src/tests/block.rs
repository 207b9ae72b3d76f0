use super::zombie::{zombie, zombie_of};
use crate::{Look, block, steps};

fn text(look: Look) -> String {
    let (story, history) = zombie();
    let lines = block(&story, &history, look);
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_block_tells_the_zombie_writer() {
    insta::assert_snapshot!(text(Look::default()));
}

#[test]
fn a_narrow_block_in_ascii_keeps_to_both() {
    let text = text(Look { width: 60, ascii: true });
    assert!(text.is_ascii());
    insta::assert_snapshot!(text);
}

#[test]
fn names_cannot_drive_the_terminal() {
    let (story, history) = zombie_of(["\u{1b}[31mred", "c2"]);
    for line in block(&story, &history, Look::default()) {
        assert!(!line.to_string().contains('\u{1b}'));
    }
}

#[test]
fn sentences_are_short_and_few() {
    let long = "a-client-with-quite-a-long-name-that-somebody-chose-for-reasons";
    let (story, history) = zombie_of([long, "c2"]);
    let steps = steps(&story, &history);
    assert!(steps.iter().filter(|step| step.number.is_some()).count() <= 12);
    for step in steps {
        let length = step.who.chars().count() + 1 + step.text.chars().count();
        assert!(length <= 140, "{}", step.text);
    }
}
