//! The faults of a scenario.

use fencepost_history::Duration;
use fencepost_services::{KeyNames, Operation};

use super::{Check, moment, replication};
use crate::scenario::error::Code;
use crate::scenario::{
    Anchor, ClockSlew, Fault, MessageAnchor, Outsider, Partition, Shift, Whose, limits,
};

pub(super) fn check(check: &mut Check<'_>) {
    let count = check.scenario.fault.len();
    if count > limits::FAULTS {
        let message = format!("{count} faults are more than the limit of {}", limits::FAULTS);
        check.report(Code::OutOfLimits, "fault", message, "too many");
        return;
    }
    let numbers = check.reader.item_numbers("fault", count);
    for (number, fault) in numbers.into_iter().zip(&check.scenario.fault) {
        let path = format!("fault.{number}.{}", fault.kind());
        one(check, &path, fault);
    }
}

#[expect(clippy::too_many_lines, reason = "one arm for each kind of fault")]
fn one(check: &mut Check<'_>, path: &str, fault: &Fault) {
    let at = |key: &str| format!("{path}.{key}");
    match fault {
        Fault::Pause(pause) => {
            check.client(&at("process"), &pause.process);
            anchor(check, path, &pause.anchor, true);
            length(check, path, pause.length);
        }
        Fault::Stall(stall) => {
            check.thread(&at("thread"), &stall.thread);
            anchor(check, path, &stall.anchor, true);
            length(check, path, stall.length);
        }
        Fault::Crash(crash) => {
            check.client(&at("process"), &crash.process);
            anchor(check, path, &crash.anchor, true);
        }
        Fault::Lose(lose) => message(check, path, [&lose.from, &lose.to], &lose.anchor),
        Fault::Delay(delay) => {
            message(check, path, [&delay.from, &delay.to], &delay.anchor);
            length(check, path, delay.length);
        }
        Fault::Partition(cut) => partition(check, path, cut),
        Fault::ServerRestart(restart) => {
            check.store_machine(&at("server"), &restart.server);
            anchor(check, path, &restart.anchor, false);
            length(check, path, restart.length);
        }
        Fault::ServerStall(stall) => {
            check.store_machine(&at("server"), &stall.server);
            anchor(check, path, &stall.anchor, false);
            length(check, path, stall.length);
        }
        Fault::Failover(failover) => {
            replication::failover(check, path, failover);
            anchor(check, path, &failover.anchor, false);
        }
        Fault::ReplicationStall(stream) | Fault::ReplicationCut(stream) => {
            replication::stream(check, path, stream);
            anchor(check, path, &stream.anchor, false);
            length(check, path, stream.length.unwrap_or(Duration::MAX));
        }
        Fault::Split(split) => {
            replication::split(check, path, split);
            anchor(check, path, &split.anchor, false);
            length(check, path, split.length.unwrap_or(Duration::MAX));
        }
        Fault::ServerErrors(errors) => {
            check.store_server(&at("server"), &errors.server);
            anchor(check, path, &errors.anchor, false);
            length(check, path, errors.length);
        }
        Fault::Evict(evict) => {
            check.store_server(&at("server"), &evict.server);
            anchor(check, path, &evict.anchor, false);
        }
        Fault::ClockStep(step) => {
            check.host(&at("host"), &step.host);
            let is_client = check.scenario.process(&step.host).is_some();
            anchor(check, path, &step.anchor, is_client);
            if step.by == Shift::ZERO && check.reader.places.has(&at("by")) {
                check.report(Code::BadValue, &at("by"), "the clock does not move", "not zero");
            }
        }
        Fault::ClockRate(rate) => {
            check.host(&at("host"), &rate.host);
            let is_client = check.scenario.process(&rate.host).is_some();
            anchor(check, path, &rate.anchor, is_client);
            super::world::rate(check, &at("ppm"), rate.ppm);
        }
        Fault::ClockSlew(slew) => clock_slew(check, path, slew),
        Fault::Outsider(sent) => outsider(check, path, sent),
        Fault::ForgetTokens(forget) => {
            let resource = &check.scenario.workload.resource.name;
            if forget.resource != *resource {
                let known = [resource.clone()];
                check.unknown_name(&at("resource"), "resource", &forget.resource, &known);
            }
            anchor(check, path, &forget.anchor, false);
        }
    }
}

fn clock_slew(check: &mut Check<'_>, path: &str, slew: &ClockSlew) {
    let at = |key: &str| format!("{path}.{key}");
    check.host(&at("host"), &slew.host);
    let is_client = check.scenario.process(&slew.host).is_some();
    anchor(check, path, &slew.anchor, is_client);
    if slew.by == Shift::ZERO && check.reader.places.has(&at("by")) {
        check.report(Code::BadValue, &at("by"), "the clock does not move", "not zero");
    }
    if !(1..=500_000).contains(&slew.ppm) {
        let message = "no clock is corrected at this rate";
        check.report(Code::BadValue, &at("ppm"), message, "between 1 and 500000");
    }
    let faults = check.scenario.fault.iter();
    let differs = faults.into_iter().any(|other| {
        matches!(other, Fault::ClockSlew(other) if other.host == slew.host && other.ppm != slew.ppm)
    });
    if differs {
        let message = format!("the clocks of `{}` are corrected at two rates", slew.host);
        check.report(Code::Contradiction, &at("ppm"), message, "one rate for one machine");
    }
}

fn partition(check: &mut Check<'_>, path: &str, partition: &Partition) {
    let paths = [format!("{path}.between.1"), format!("{path}.between.2")];
    let ends = [partition.between.0.as_str(), partition.between.1.as_str()];
    check.link(paths.each_ref().map(String::as_str), ends);
    anchor(check, path, &partition.anchor, false);
    if partition.length == Some(Duration::ZERO) {
        length(check, path, Duration::ZERO);
    }
    if matches!(partition.anchor, Anchor::Step(_)) {
        let message = "a link has no events of its own to count";
        let path = format!("{path}.step");
        check.report(Code::BadValue, &path, message, "use `at` or `when` here");
    }
}

fn outsider(check: &mut Check<'_>, path: &str, outsider: &Outsider) {
    check.store_server(&format!("{path}.server"), &outsider.server);
    anchor(check, path, &outsider.anchor, false);
    let path = format!("{path}.command");
    let is_known = Operation::parse(&outsider.command, &mut KeyNames::new()).is_some();
    if !is_known && check.reader.places.has(&path) {
        check.report(
            Code::BadValue,
            &path,
            "no outsider can send this command",
            "DEL, SET, EXPIRE, PEXPIRE, PERSIST, INCR or FLUSHALL, as one would type it",
        );
    }
}

fn length(check: &mut Check<'_>, path: &str, length: Duration) {
    let path = format!("{path}.for");
    if length == Duration::ZERO && check.reader.places.has(&path) {
        check.report(Code::BadValue, &path, "`for` is zero", "longer than 0");
    }
}

/// Checks when a fault begins; `is_own` says whether its victim passes moments itself.
fn anchor(check: &mut Check<'_>, path: &str, anchor: &Anchor, is_own: bool) {
    match anchor {
        Anchor::At(_) => {}
        Anchor::When { moment, nth } => {
            whose(check, &format!("{path}.when"), moment, is_own);
            number(check, &format!("{path}.nth"), *nth);
        }
        Anchor::Step(step) => number(check, &format!("{path}.step"), *step),
    }
}

fn message(check: &mut Check<'_>, path: &str, ends: [&str; 2], anchor: &MessageAnchor) {
    let paths = [format!("{path}.from"), format!("{path}.to")];
    check.link(paths.each_ref().map(String::as_str), ends);
    let places = &check.reader.places;
    let has = |key: &str| places.has(&format!("{path}.{key}"));
    let excess = match (has("at"), has("when"), has("nth")) {
        (true, true, _) => Some("when"),
        (true, false, true) => Some("nth"),
        (true, false, false) | (false, _, _) => None,
    };
    if let Some(key) = excess {
        check.report(
            Code::KeysConflict,
            &format!("{path}.{key}"),
            "a message is named by `at`, or by `when`, or by `nth`",
            "this is one more",
        );
    } else if !has("at") && !has("when") && !has("nth") && check.reader.places.has(path) {
        check.report(
            Code::KeysConflict,
            path,
            "a message is named by `at`, or by `when`, or by `nth`",
            "one is missing here",
        );
    }
    match anchor {
        MessageAnchor::At(_) => {}
        MessageAnchor::When { moment, nth } => {
            whose(check, &format!("{path}.when"), moment, true);
            number(check, &format!("{path}.nth"), *nth);
        }
        MessageAnchor::Nth(nth) => number(check, &format!("{path}.nth"), *nth),
    }
}

fn number(check: &mut Check<'_>, path: &str, number: u32) {
    if number == 0 {
        check.report(Code::BadValue, path, "numbers start at 1", "at least 1");
    }
}

/// Checks a moment and whose it is.
pub(super) fn whose(check: &mut Check<'_>, path: &str, whose: &Whose, is_own: bool) {
    match &whose.who {
        Some(who) => {
            check.client_or_thread(path, who);
        }
        None if is_own => {}
        None => check.report(
            Code::BadValue,
            path,
            format!("nobody is said to pass the moment `{}`", whose.moment.name()),
            "write whose moment it is, such as \"c1 acquired\"",
        ),
    }
    if let Some(why) = moment::never(check.scenario, whose.moment) {
        let message = format!("the moment `{}` never comes", whose.moment.name());
        check.report(Code::NeverHappens, path, message, why);
    }
}
