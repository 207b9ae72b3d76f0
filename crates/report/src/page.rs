//! The timeline page: one file that opens from disk and asks for nothing.
//!
//! It is complete without any script.

pub(crate) mod picture;

use fencepost_history::History;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::canvas::px;
use crate::canvas::svg::rules;
use crate::palette::{Theme, variables};
use crate::reading::Reading;
use crate::sentences::finding_sentence;
use crate::timeline::{Drawing, Orientation, layout};
use crate::words::clock;
use crate::{Expected, Step, Story, Verdict, sentences, steps};

const STYLE: &str = include_str!("page/style.css");
/// What the page may load: nothing but itself.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      img-src data:";

/// Writes the page.
#[must_use]
pub fn html(story: &Story, history: &History) -> String {
    let reading = Reading::new(history);
    let steps = steps::of_reading(story, &reading);
    let wide = layout(story, history, Orientation::Wide);
    let tall = layout(story, history, Orientation::Tall);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="color-scheme" content="light dark";
                title { (story.verdict.words()) ": " (story.title) }
                style { (PreEscaped(style())) }
            }
            body {
                (header(story))
                main .long[wide.width > px(1_000)] {
                    (figure(&wide, &tall))
                    (list(&steps))
                    (rest(story, &steps))
                }
                (footer(story))
            }
        }
    };
    page.into_string()
}

fn style() -> String {
    let (light, dark) = (variables(Theme::Light), variables(Theme::Dark));
    format!(
        ":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{\
         :root:not([data-theme=light]){{{dark}}}}}\n\
         @media screen{{:root[data-theme=dark]{{{dark}}}}}\n{}\n{STYLE}",
        rules()
    )
}

fn header(story: &Story) -> Markup {
    let violated = story.verdict == Verdict::Violated;
    let class = if violated { "badge violated" } else { "badge" };
    let told = story.told();
    html! {
        header {
            h1 {
                span class=(class) { (story.verdict.symbol(false)) " " (story.verdict.words()) }
                " "
                (story.title)
            }
            @if told.is_empty() {
                p.found { (sentences::summary(story)) }
            }
            @for finding in told {
                p.found { b { (finding.kind) } " " (finding_sentence(finding)) }
            }
            @match &story.expected {
                Expected::Unstated => {}
                Expected::Met => p.expected { "As expected by " code { "[expect]" } "." },
                Expected::Missed(differences) => {
                    @for difference in differences {
                        p.missed { b { "Not as expected:" } " " (difference) }
                    }
                }
            }
            @for note in &story.notes {
                p.note { b { "Note:" } " " (note) }
            }
            dl {
                @if !story.strategy.is_empty() {
                    div { dt { "strategy" } dd { code { (story.strategy) } } }
                }
                div {
                    dt { "faults" }
                    dd {
                        @if story.faults.is_empty() { "none" }
                        @for (index, fault) in story.faults.iter().enumerate() {
                            @if index > 0 { "; " }
                            b { (fault.label) } " " (fault.text) " at " (clock(fault.at))
                        }
                        @if let Some(claim) = &story.faults_claim { " (" (claim) ")" }
                    }
                }
                @if let Some(seed) = &story.seed {
                    div { dt { "seed" } dd { code { (seed) } } }
                }
                div { dt { "replay" } dd { code.command { (story.command) } } }
            }
        }
    }
}

fn figure(wide: &Drawing, tall: &Drawing) -> Markup {
    let picture = |drawing, class| PreEscaped(picture::inline(drawing, class, "caption", "steps"));
    html! {
        figure {
            div.scroll tabindex="0" role="group" aria-label="Timeline" {
                (picture(wide, "wide"))
                (picture(tall, "tall"))
            }
            figcaption id="caption" {
                "Who believed what, and what was true. A dashed bar is a client's belief, a solid "
                "bar is the key at its server, in the colour of its owner. The numbers are the "
                "steps."
            }
        }
    }
}

fn list(steps: &[Step]) -> Markup {
    html! {
        section.steps aria-labelledby="story" {
            h2 id="story" { "What happened" }
            ol id="steps" {
                @for step in steps {
                    @if let Some(number) = step.number {
                        li id={ "step-" (number) } .violation[!step.kinds.is_empty()] {
                            span.number aria-hidden="true" { (number) }
                            p.when { (clock(step.at)) " · " (step.who) }
                            p.what {
                                @if let Some(label) = &step.fault { span.fault { (label) } " " }
                                (step.who) " " (step.text) "."
                                @for kind in &step.kinds { " " span.kind { (kind) } }
                            }
                            (exchanges(step))
                        }
                    }
                }
            }
        }
    }
}

fn exchanges(step: &Step) -> Markup {
    html! {
        @if !step.exchanges.is_empty() {
            details.cli {
                summary {
                    @if step.exchanges.len() == 1 { "command and reply" }
                    @else { (step.exchanges.len()) " commands and replies" }
                }
                pre {
                    @for exchange in &step.exchanges {
                        b { (exchange.server) "> " (exchange.command) } "\n" (exchange.reply) "\n"
                    }
                }
            }
        }
    }
}

fn rest(story: &Story, steps: &[Step]) -> Markup {
    let folded = steps.iter().filter(|step| step.number.is_none()).count();
    html! {
        div.rest {
            @if !story.story_text.is_empty() { p { (story.story_text) } }
            @if folded > 0 {
                details {
                    summary { "All " (steps.len()) " steps" }
                    div.scroll {
                        table {
                            @for step in steps.iter().take(ROWS) {
                                tr {
                                    td { @if let Some(number) = step.number { (number) } }
                                    td { (clock(step.at)) }
                                    td { (step.who) }
                                    td { (step.text) }
                                }
                            }
                        }
                    }
                    @if steps.len() > ROWS {
                        p { "and " (steps.len() - ROWS) " more, in " code { "trace.jsonl" } "." }
                    }
                }
            }
            @if !story.resolved_scenario.is_empty() {
                details {
                    summary { "The scenario with all defaults" }
                    pre { (story.resolved_scenario) }
                }
            }
            @if !story.assumed.is_empty() {
                details {
                    summary { "What was assumed" }
                    ul { @for assumed in &story.assumed { li { (assumed) } } }
                }
            }
        }
    }
}

fn footer(story: &Story) -> Markup {
    html! {
        footer {
            "Fencepost " (story.tool_version) " · " (story.scenario_name) " · trace "
            code { (format!("{:#018x}", story.hash)) }
        }
    }
}

/// The most steps that the page lists in full.
const ROWS: usize = 1_000;
