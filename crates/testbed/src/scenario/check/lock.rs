//! The lock's own settings.

use fencepost_history::Duration;

use super::Check;
use crate::scenario::error::Code;
use crate::scenario::{
    DeadlineCheck, Effect, FencingToken, Lock, OnLoss, Purpose, Release, Renew, Strategy,
};

pub(super) fn check(check: &mut Check<'_>) {
    let lock = &check.scenario.lock;
    if check.reader.is_sound("lock.strategy") && check.reader.is_sound("lock.ttl") {
        ttl(check, lock);
        renewal(check, lock);
        deadline(check, lock);
    }
    if lock.retry_release && lock.release == Release::None {
        check.contradiction(
            "lock.retry_release",
            "lock.release",
            "a lock that is not given back is not given back twice",
            "set `release`, or leave `retry_release` out",
        );
    }
    let counts_in_script =
        matches!(lock.fencing_token, FencingToken::InAcquireScript | FencingToken::ReadLater);
    if counts_in_script
        && !matches!(lock.strategy, Strategy::SetNxPx | Strategy::Redlock | Strategy::Script)
    {
        check.contradiction(
            "lock.fencing_token",
            "lock.strategy",
            "this strategy takes the lock without a script, so that none can count up",
            "use `strategy = \"set-nx-px\"`, or `fencing_token = \"incr-after-set\"`",
        );
    }
    if lock.effect == Effect::Harmful && lock.purpose == Purpose::Correctness {
        check.contradiction(
            "lock.effect",
            "lock.purpose",
            "for correctness a second effect always is a violation",
            "set `purpose = \"efficiency\"`, or leave `effect` out",
        );
    }
}

fn ttl(check: &mut Check<'_>, lock: &Lock) {
    let strategy = lock.strategy.name();
    match (lock.ttl, lock.strategy.expires()) {
        (Some(_), false) => check.contradiction(
            "lock.ttl",
            "lock.strategy",
            &format!("the strategy `{strategy}` sets no expiry"),
            "leave `ttl` out, or use `strategy = \"setnx-expire\"` or \"set-nx-px\"",
        ),
        (None, true) => check.contradiction(
            "lock.ttl",
            "lock.strategy",
            &format!("the strategy `{strategy}` needs an expiry"),
            "give a length, or use `strategy = \"setnx\"`",
        ),
        (Some(Duration::ZERO), true) => {
            check.report(Code::BadValue, "lock.ttl", "the TTL is zero", "longer than 0");
        }
        (Some(ttl), true) => {
            let unit = match lock.strategy {
                Strategy::SetNxExpire => Duration::from_secs(1),
                Strategy::SetNx | Strategy::SetNxPx | Strategy::Redlock | Strategy::Script => {
                    Duration::from_millis(1)
                }
            };
            if ttl.as_nanos() % unit.as_nanos() != 0 {
                let message = format!("`{strategy}` cannot set a TTL of {ttl}");
                let label = format!("a whole number of times {unit}");
                check.report(Code::BadValue, "lock.ttl", message, &label);
            }
        }
        (None, false) => {}
    }
}

fn renewal(check: &mut Check<'_>, lock: &Lock) {
    match lock.renew {
        Renew::Off => {
            let unused = [
                ("lock.renew_every", lock.renew_every.is_some()),
                ("lock.renew_compare", !lock.renew_compare),
                ("lock.on_loss", lock.on_loss != OnLoss::Silent),
            ];
            for (path, _) in unused.into_iter().filter(|(_, is_set)| *is_set) {
                check.contradiction(
                    path,
                    "lock.renew",
                    "nothing renews the lock",
                    "set `renew = \"watchdog\"`, or leave this out",
                );
            }
        }
        Renew::Watchdog => match (lock.ttl, lock.renew_every) {
            (None, _) => check.contradiction(
                "lock.renew",
                "lock.strategy",
                "a lock without expiry needs no renewal",
                "leave `renew` out, or use a strategy with an expiry",
            ),
            (Some(_), None | Some(Duration::ZERO)) => check.report(
                Code::BadValue,
                "lock.renew_every",
                "a watchdog needs a period",
                "longer than 0, and shorter than the TTL",
            ),
            (Some(ttl), Some(every)) if every >= ttl => check.report(
                Code::RenewsTooLate,
                "lock.renew_every",
                format!("the first renewal after {every} comes when the TTL of {ttl} is over"),
                "not shorter than the TTL",
            ),
            (Some(_), Some(_)) => {}
        },
    }
}

fn deadline(check: &mut Check<'_>, lock: &Lock) {
    if lock.deadline_check == DeadlineCheck::None {
        if lock.margin != Duration::ZERO {
            check.contradiction(
                "lock.margin",
                "lock.deadline_check",
                "no deadline is checked",
                "set `deadline_check`, or leave `margin` out",
            );
        }
        return;
    }
    match lock.ttl {
        None => check.contradiction(
            "lock.deadline_check",
            "lock.ttl",
            "a lock without expiry has no deadline",
            "use a strategy with an expiry, or leave `deadline_check` out",
        ),
        Some(ttl) if lock.margin >= ttl => check.report(
            Code::NeverHappens,
            "lock.margin",
            format!("with a TTL of {ttl} the check would always say no"),
            "not shorter than the TTL",
        ),
        Some(_) => {}
    }
}
