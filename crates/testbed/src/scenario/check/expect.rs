//! What should come of the run.

use fencepost_check::Kind;

use super::{Check, fault};
use crate::scenario::error::Code;
use crate::scenario::{Expect, Fencing};

pub(super) fn check(check: &mut Check<'_>) {
    let Some(expect) = &check.scenario.expect else { return };
    kinds(check, expect);
    if let Some(range) = expect.takeover.as_ref().filter(|range| range.min > range.max) {
        let message = format!("the range from {} to {} is empty", range.min, range.max);
        check.report(Code::BadValue, "expect.takeover", message, "`min` is above `max`");
    }
    let is_fenced = check.scenario.workload.resource.fencing != Fencing::Off;
    if expect.saves.is_some_and(|saves| saves > 0) && !is_fenced {
        check.report(
            Code::NeverHappens,
            "expect.saves",
            "without fencing nothing is refused",
            "there is no `fencing` in [workload.resource]",
        );
    }
    let numbers = check.reader.item_numbers("expect.sometimes", expect.sometimes.len());
    for (number, whose) in numbers.into_iter().zip(&expect.sometimes) {
        fault::whose(check, &format!("expect.sometimes.{number}"), whose, false);
    }
}

fn kinds(check: &mut Check<'_>, expect: &Expect) {
    for (index, kind) in expect.violations.iter().enumerate() {
        if kind.is_note() {
            let path = format!("expect.violations.{}", index + 1);
            let message = format!("`{kind}` is a remark, not a violation");
            check.report(Code::BadValue, &path, message, "list it in `notes`");
        }
    }
    for (index, kind) in expect.absent.iter().enumerate() {
        let lists: [(&str, &[Kind]); 2] =
            [("violations", &expect.violations), ("also", &expect.also)];
        for (list, _) in lists.into_iter().filter(|(_, kinds)| kinds.contains(kind)) {
            check.contradiction(
                &format!("expect.absent.{}", index + 1),
                &format!("expect.{list}"),
                &format!("`{kind}` cannot be absent and in `{list}`"),
                "keep one of the two",
            );
        }
    }
}
