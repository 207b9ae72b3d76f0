#![expect(clippy::wildcard_enum_match_arm, reason = "tests pick the events that they change")]

use fencepost_history::{
    Access, AccessOutcome, CallId, GrantId, How, Instant, JobId, Leg, LockId, ProcessId,
    ResourceId, ServerId, ThreadId, Token, What,
};

use super::zombie::{Script, ms, zombie, zombie_of};
use crate::canvas::{Rect, Shape};
use crate::timeline::{Drawing, Layer, Orientation, layout};
use crate::{FaultView, FindingView, Story, Verdict, block, steps};

/// A run in which a bit of everything happens.
fn zoo() -> (Story, fencepost_history::History) {
    let mut script = Script::new(&["c1", "a-client-with-a-long-name", "c3", "c4", "c5", "c6"]);
    let redis = ServerId(0);
    script.acquire(0, 0, 1, "c1");
    script.add(ms(3), What::Stalled { thread: ThreadId(0), until: ms(900) });
    let (call, thread, arrives) = (CallId(900), ThreadId(2), Instant::NEVER);
    script.add(ms(10), What::Sent { call, thread, server: redis, arrives });
    script.add(ms(10), What::Dropped { call, leg: Leg::Request });
    script.add(ms(1_010), What::GivenUp { call });
    let clock = script.add(ms(20), What::ServerClock { server: redis, by: -5_000_000_000 });
    script.add(ms(30), What::LinkCut { process: ProcessId(3), server: redis, until: ms(4_000) });
    script.add(ms(40), What::Crashed { process: ProcessId(4) });
    script.add(ms(50), What::Restarted { process: ProcessId(4) });
    script.add(ms(60), What::ServerDown { server: redis, until: ms(80) });
    script.add(ms(80), What::ServerUp { server: redis });
    let gone = |by, owner, how| What::KeyGone { server: redis, lock: LockId(0), by, owner, how };
    script.add(ms(81), gone(GrantId::NONE, GrantId(1), How::Lose));
    let second = script.acquire(90, 1, 2, "c2");
    for (at, outcome) in [
        (100, AccessOutcome::Accepted),
        (101, AccessOutcome::Refused),
        (102, AccessOutcome::Deduplicated),
    ] {
        script.add(
            ms(at),
            What::Accessed {
                resource: ResourceId(0),
                grant: GrantId(2),
                token: Token(123_456_789),
                job: JobId(1),
                access: Access::Write,
                outcome,
                checked: true,
                regressed: false,
            },
        );
    }
    let foreign = script.add(ms(120), gone(GrantId(1), GrantId(2), How::Delete));
    script.add(ms(121), What::Paused { process: ProcessId(1), until: Instant::NEVER });
    let mut history = script.history;
    history.end = ms(60_000);
    let finding = |kind: &str, from, to, event| FindingView {
        kind: kind.to_owned(),
        lock: "orders".to_owned(),
        older: "c1".to_owned(),
        newer: "a-client-with-a-long-name".to_owned(),
        grants: [GrantId(1), GrantId(2)],
        from: ms(from),
        to: ms(to),
        event: Some(event),
        ..FindingView::default()
    };
    let story = Story {
        verdict: Verdict::Violated,
        findings: vec![
            finding("double-holder", 92, 60_000, second),
            finding("foreign-release", 120, 120, foreign),
            finding("ghost-hold", 93, 30_000, foreign),
            finding("a-checker-of-ones-own", 94, 94, second),
        ],
        faults: vec![FaultView {
            label: "F1".to_owned(),
            text: "step the clock of r1 by -5 s".to_owned(),
            at: ms(20),
            event: Some(clock),
        }],
        ..Story::default()
    };
    (story, history)
}

fn words(drawing: &Drawing) -> Vec<(String, Rect)> {
    let shapes = drawing.marks.iter().flat_map(|mark| &mark.shapes);
    let texts = shapes.filter_map(|shape| {
        let Shape::Text { text, .. } = shape else { return None };
        Some((text.clone(), shape.text_box()?))
    });
    texts.collect()
}

#[test]
fn words_never_lie_on_words_and_are_never_cut_off() {
    for (story, history) in [zombie(), zombie_of(["a-rather-long-client-name", "c2"]), zoo()] {
        for orientation in [Orientation::Wide, Orientation::Tall] {
            let drawing = layout(&story, &history, orientation).with_heading(&story);
            let words = words(&drawing);
            for (index, (text, rect)) in words.iter().enumerate() {
                let inside = rect.x >= 0 && rect.x + rect.width <= drawing.width;
                assert!(inside || text == &story.title, "{text} is cut off in {orientation:?}");
                assert!(rect.y + rect.height <= drawing.height, "{text} is below everything");
                for (other, place) in &words[index + 1..] {
                    assert!(!rect.overlaps(place), "{text} lies on {other} in {orientation:?}");
                }
            }
        }
    }
}

#[test]
fn a_quorum_has_a_lane_of_its_own() {
    let (story, mut history) = zombie();
    history.names.servers.extend(["r2".to_owned(), "r3".to_owned()]);
    let rules = &mut history.names.rules[0];
    rules.servers = [0, 2, 3].map(ServerId).to_vec();
    (rules.quorum, rules.independent) = (2, true);
    let titles = |history| {
        let marks = layout(&story, history, Orientation::Wide).marks;
        marks.into_iter().filter(|mark| mark.title.contains("quorum")).count()
    };
    // The lane itself, and a stretch for each of both keys: one server alone is no quorum.
    assert_eq!(titles(&history), 3);
    let other = |event: &fencepost_history::Event| match event.what {
        What::KeySet { lock, by, owner, deadline, how, commits, .. } => {
            let server = ServerId(2);
            let what = What::KeySet { server, lock, by, owner, deadline, how, commits };
            vec![*event, fencepost_history::Event { at: event.at, what }]
        }
        _ => vec![*event],
    };
    history.events = history.events.iter().flat_map(other).collect();
    history.details.clear();
    let drawing = layout(&story, &history, Orientation::Wide);
    assert!(drawing.marks.iter().any(|mark| mark.title.starts_with("a quorum agrees on c1")));
}

#[test]
fn layers_are_drawn_from_the_band_up() {
    let (story, history) = zoo();
    let drawing = layout(&story, &history, Orientation::Wide);
    assert!(drawing.marks.is_sorted_by_key(|mark| mark.layer));
    assert_eq!(drawing.marks.first().map(|mark| mark.layer), Some(Layer::Band));
}

#[test]
fn each_numbered_step_is_in_the_drawing() {
    for (story, history) in [zombie(), zoo()] {
        let numbers = steps(&story, &history).iter().filter_map(|step| step.number).count();
        let drawing = layout(&story, &history, Orientation::Tall);
        let drawn = drawing.marks.iter().filter(|mark| mark.layer == Layer::Number).count();
        assert_eq!(drawn, numbers);
    }
}

#[test]
fn the_zoo_is_told_in_full() {
    let (story, history) = zoo();
    let lines = block(&story, &history, crate::Look::default());
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    insta::assert_snapshot!(text);
}

#[test]
fn an_empty_history_draws_and_tells() {
    let (story, history) = (Story::default(), fencepost_history::History::default());
    assert!(!block(&story, &history, crate::Look::default()).is_empty());
    for format in crate::formats::ALL {
        let _ = (format.write)(&story, &history);
    }
}
