//! The story of a run in numbered sentences.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each pass picks the events that it tells of; all others are none of its business"
)]

mod accesses;
mod keys;
mod past;
mod tell;

use std::collections::BTreeMap;

pub(crate) use accesses::noun as access_noun;
use fencepost_history::{History, Instant};

use crate::Story;
use crate::reading::{Actor, Reading};
use crate::words::cut;

/// The most steps that are shown unfolded.
const SHOWN: usize = 12;
/// The longest sentence, in characters.
const LONGEST: usize = 140;

/// One thing that happened, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its number in the drawing, from 1; a folded step has none.
    pub number: Option<usize>,
    /// When it happened.
    pub at: Instant,
    /// Who did it: a process's, a server's or a resource's name.
    pub who: String,
    /// The sentence without its subject, in the present tense.
    pub text: String,
    /// The commands that were exchanged meanwhile.
    pub exchanges: Vec<Exchange>,
    /// The index of its event in the history.
    pub event: usize,
    /// The kinds of violation that it completes.
    pub kinds: Vec<String>,
    /// The label of the fault that it is, which lists print before the sentence.
    pub fault: Option<String>,
    /// Whose lane it belongs to.
    pub(crate) actor: Actor,
    /// How much the reader needs it.
    weight: u8,
}

/// A command and its reply, as `redis-cli` would show them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Who was asked.
    pub server: String,
    /// The command.
    pub command: String,
    /// The reply as printed, or what became of it.
    pub reply: String,
    /// The call's index.
    call: usize,
}

/// Tells a run in steps, in order of time.
///
/// Those of the violation's causal past that matter most, at most twelve, have numbers; the rest
/// is folded.
#[must_use]
pub fn steps(story: &Story, history: &History) -> Vec<Step> {
    of_reading(story, &Reading::new(history))
}

pub(crate) fn of_reading(story: &Story, reading: &Reading<'_>) -> Vec<Step> {
    let mut steps = tell::all(story, reading);
    for step in &mut steps {
        mark_findings(story, step);
        step.text = cut(&step.text, LONGEST.saturating_sub(step.who.chars().count() + 1));
    }
    steps.sort_by_key(|step| (step.at, step.event));
    number(story, reading, &mut steps);
    steps
}

/// Leaves each call at one step only: where it took effect, or else where it comes up first.
fn show_once(steps: &mut [Step], shown: &[usize]) {
    let mut best: BTreeMap<usize, usize> = BTreeMap::new();
    for &index in shown {
        for exchange in &steps[index].exchanges {
            let known = best.entry(exchange.call).or_insert(index);
            let at_server = |index: usize| matches!(steps[index].actor, Actor::Server(_));
            if at_server(index) && !at_server(*known) {
                *known = index;
            }
        }
    }
    for &index in shown {
        steps[index].exchanges.retain(|exchange| best.get(&exchange.call) == Some(&index));
    }
}

fn mark_findings(story: &Story, step: &mut Step) {
    let here = story.firsts().into_iter().filter(|finding| finding.event == Some(step.event));
    step.kinds = here.map(|finding| finding.kind.clone()).collect();
    if !step.kinds.is_empty() {
        step.weight = u8::MAX;
    }
}

fn number(story: &Story, reading: &Reading<'_>, steps: &mut [Step]) {
    let past = past::of(story, reading);
    let mut ranked: Vec<usize> = (0..steps.len())
        .filter(|&index| {
            let step = &steps[index];
            step.weight >= tell::PLAIN && past.as_ref().is_none_or(|past| past.holds(step.event))
        })
        .collect();
    ranked.sort_by_key(|&index| (u8::MAX - steps[index].weight, index));
    ranked.truncate(SHOWN);
    ranked.sort_unstable();
    for (number, &index) in ranked.iter().enumerate() {
        steps[index].number = Some(number + 1);
    }
    show_once(steps, &ranked);
}
