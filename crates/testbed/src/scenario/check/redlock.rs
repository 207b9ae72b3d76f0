//! Redlock and the servers that it is kept on.

use fencepost_history::Duration;

use super::Check;
use crate::scenario::error::Code;
use crate::scenario::{
    FencingToken, LeaseClock, Lock, Missing, NodeCount, Redlock, Release, Renew, Store, Strategy,
    Topology, limits,
};

pub(super) fn check(check: &mut Check<'_>) {
    let lock = &check.scenario.lock;
    let Store::Redis(redis) = &check.scenario.store;
    let is_sound = |path: &str| check.reader.is_sound(path);
    if !is_sound("lock.strategy") || !is_sound("store.redis.topology") {
        return;
    }
    let is_redlock = lock.strategy == Strategy::Redlock;
    let is_independent = redis.topology == Topology::Independent;
    match (is_redlock, is_independent) {
        (true, true) => {
            servers(check, redis.nodes);
            strategy(check, lock);
            if let Some(rules) = &lock.redlock {
                quorum(check, rules, redis.nodes);
                times(check, rules, lock.ttl.unwrap_or_default());
                renewal(check, rules, lock);
            }
        }
        (true, false) => check.contradiction(
            "lock.strategy",
            "store.redis.topology",
            "Redlock needs servers that know nothing of each other",
            "write `redis = { topology = \"independent\", nodes = 5 }` in [store]",
        ),
        (false, true) => check.contradiction(
            "store.redis.topology",
            "lock.strategy",
            "this strategy keeps the lock on one server, not on several independent ones",
            "use `strategy = \"redlock\"`, or leave `topology` out",
        ),
        (false, false) => {}
    }
    if lock.redlock.is_some() && !is_redlock {
        check.contradiction(
            "lock.redlock",
            "lock.strategy",
            "these are settings of Redlock, and the strategy is another one",
            "use `strategy = \"redlock\"`, or leave [lock.redlock] out",
        );
    }
    let reads_clock = lock.redlock.as_ref().is_some_and(|rules| rules.min_validity.is_some());
    let checks = lock.deadline_check != crate::scenario::DeadlineCheck::None;
    if lock.clock == LeaseClock::Monotonic && !reads_clock && !checks {
        check.contradiction(
            "lock.clock",
            "lock.deadline_check",
            "the client never looks at its clock",
            "set `deadline_check`, or leave `clock` out",
        );
    }
}

fn servers(check: &mut Check<'_>, nodes: NodeCount) {
    if !(2..=limits::INDEPENDENT).contains(&nodes.0) {
        check.report(
            Code::BadValue,
            "store.redis.nodes",
            format!("Redlock cannot be kept on {} server{}", nodes.0, plural(nodes.0)),
            "write `nodes = 2` to `nodes = 9` in [store] redis",
        );
    }
}

const fn plural(count: u32) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn strategy(check: &mut Check<'_>, lock: &Lock) {
    if lock.fencing_token != FencingToken::None {
        check.contradiction(
            "lock.fencing_token",
            "lock.strategy",
            "Redlock has no fencing token: counters on independent servers give no common order",
            "leave `fencing_token` out, or use `strategy = \"set-nx-px\"` on one server",
        );
    }
    if lock.release == Release::GetThenDel {
        check.contradiction(
            "lock.release",
            "lock.strategy",
            "no library of Redlock compares and deletes in two steps",
            "use `release = \"compare-and-delete\"`, or \"del\"",
        );
    }
}

fn quorum(check: &mut Check<'_>, rules: &Redlock, nodes: NodeCount) {
    // Half of the servers or fewer are no majority: a mistake that may be tried out.
    let (path, quorum) = ("lock.redlock.quorum", rules.quorum.unwrap_or(0));
    if quorum == 0 {
        check.report(Code::BadValue, path, "a quorum of nobody", "at least 1");
    } else if quorum > nodes.0 && check.reader.is_sound("store.redis.nodes") {
        let message = format!("{quorum} of {} server{} never agree", nodes.0, plural(nodes.0));
        let label = format!("at most {}; a majority is {}", nodes.0, nodes.0 / 2 + 1);
        check.report(Code::NeverHappens, path, message, &label);
    }
}

fn times(check: &mut Check<'_>, rules: &Redlock, ttl: Duration) {
    let drift = rules.drift.unwrap_or_default();
    if drift >= ttl {
        check.report(
            Code::NeverHappens,
            "lock.redlock.drift",
            format!("with a TTL of {ttl} nothing would be left of the lock"),
            "shorter than the TTL",
        );
    } else if rules.min_validity.is_some_and(|least| least >= ttl.saturating_sub(drift)) {
        let left = ttl.saturating_sub(drift);
        check.report(
            Code::NeverHappens,
            "lock.redlock.min_validity",
            format!("the drift leaves {left} of a TTL of {ttl}, so that no lock is ever taken"),
            "shorter than that",
        );
    }
}

fn renewal(check: &mut Check<'_>, rules: &Redlock, lock: &Lock) {
    let clients = &check.scenario.workload.clients;
    let extends = clients.iter().any(|client| client.behaviour.extend_after.is_some());
    if rules.renew_missing != Missing::Leave && lock.renew == Renew::Off && !extends {
        check.contradiction(
            "lock.redlock.renew_missing",
            "lock.renew",
            "nothing renews the lock",
            "set `renew = \"watchdog\"`, or leave this out",
        );
    }
}
