//! `fencepost explain WORD`.

use fencepost::scenario::Code;
use fencepost::{Kind, Verdict};
use serde::Serialize;

use super::list::wrap;
use crate::arguments::Explain;
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// What a word means.
#[derive(Debug, Serialize)]
struct Meaning {
    word: String,
    is: &'static str,
    meaning: String,
}

/// Explains a kind of violation, a verdict, or the code of an error.
pub(crate) fn explain(asked: &Explain, output: &mut Output) -> Result<Exit, Failure> {
    let Some(meaning) = meaning(&asked.word) else {
        return Err(Failure::Usage(format!(
            "nothing is called `{}`; there are the kinds of `fencepost list checkers`, the \
             verdicts violated, none-found, clean and inconclusive, and codes such as E0103",
            asked.word
        )));
    };
    if !output.is_human() {
        output.data(&meaning)?;
        return Ok(Exit::Fine);
    }
    let mut text = format!("{}: {}\n\n", meaning.word, meaning.is);
    for row in wrap(&meaning.meaning, output.look.width.saturating_sub(2)) {
        text.push_str(&format!("  {row}\n"));
    }
    output.text(&text)?;
    Ok(Exit::Fine)
}

fn meaning(word: &str) -> Option<Meaning> {
    let lower = word.to_lowercase();
    if let Some(kind) = Kind::from_name(&lower) {
        let is = if kind.is_note() { "a note" } else { "a kind of violation" };
        let companions = kind.companions();
        let mut meaning = kind.definition().to_owned();
        if !companions.is_empty() {
            meaning.push_str(&format!(" It may bring along: {companions}."));
        }
        return Some(Meaning { word: lower, is, meaning });
    }
    if let Some(code) = Code::ALL.iter().find(|code| code.number().eq_ignore_ascii_case(word)) {
        let (word, meaning) = (code.number().to_owned(), code.explain().to_owned());
        return Some(Meaning { word, is: "a mistake in a scenario file", meaning });
    }
    let verdict = [
        (
            Verdict::Violated,
            "The run shown broke a promise of the lock. The same file and seed show it again, byte \
             for byte. It does not say how likely that is.",
        ),
        (
            Verdict::Clean,
            "This one schedule was run and broke nothing. That says nothing about other schedules.",
        ),
        (
            Verdict::NoneFound,
            "Many schedules were drawn at random, and none broke anything. With 95 % confidence, \
             the chance of a violation in a run drawn the same way is at most the bound printed. \
             Your production may draw in other ways.",
        ),
        (
            Verdict::Inconclusive,
            "There is no answer: a limit was hit, somebody interrupted, or a fault never took \
             effect. It does not mean that nothing was wrong.",
        ),
    ];
    let found = verdict.into_iter().find(|(verdict, _)| verdict.name() == lower);
    found.map(|(_, meaning)| Meaning { word: lower, is: "a verdict", meaning: meaning.to_owned() })
}
