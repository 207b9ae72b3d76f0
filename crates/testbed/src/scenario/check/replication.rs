//! Replicas, sentinels, `WAIT`, and the faults that only they can have.

use fencepost_history::Duration;

use super::Check;
use crate::scenario::error::Code;
use crate::scenario::{
    Discovery, Failover, OnTooFew, Persistence, Redis, Split, Store, Strategy, StreamFault,
    Topology, WaitSent,
};

/// The most replicas or sentinels: `WAIT` counts them in a byte here.
const MOST: u32 = 100;

pub(super) fn check(check: &mut Check<'_>) {
    let Store::Redis(redis) = &check.scenario.store;
    if !check.reader.is_sound("store.redis.topology") {
        return;
    }
    if redis.topology.has_replicas() {
        replicas(check, redis);
    } else {
        without_replicas(check, redis);
    }
    if redis.topology == Topology::Sentinel {
        sentinels(check, redis);
    } else {
        without_sentinels(check, redis);
    }
    wait(check, redis);
}

fn replicas(check: &mut Check<'_>, redis: &Redis) {
    if redis.replicas == 0 {
        check.contradiction(
            "store.redis.replicas",
            "store.redis.topology",
            "without a replica there is nothing to fail over to",
            "give at least one, or use `topology = \"single\"`",
        );
    }
    if redis.replicas > MOST {
        let message = format!("{} replicas are more than the limit of {MOST}", redis.replicas);
        check.report(Code::OutOfLimits, "store.redis.replicas", message, "too many");
    }
    if redis.replica.len() > redis.replicas as usize {
        check.contradiction(
            "store.redis.replica",
            "store.redis.replicas",
            "there are more `replica` tables than replicas",
            "leave `replicas` out: it follows from the tables",
        );
    }
    if redis.nodes.0 != 1 {
        check.contradiction(
            "store.redis.nodes",
            "store.redis.topology",
            "servers that copy a master are counted by `replicas`",
            "leave `nodes` out, and set `replicas`",
        );
    }
    if !matches!(redis.persistence, Persistence::Always | Persistence::None) {
        let what = format!("`persistence = \"{}\"` with replicas", redis.persistence.name());
        check.not_available("store.redis.persistence", &what);
    }
    if redis.min_replicas > redis.replicas {
        let label = "not more than `replicas`";
        let message = "the master would never take a write";
        check.report(Code::NeverHappens, "store.redis.min_replicas", message, label);
    }
}

fn without_replicas(check: &mut Check<'_>, redis: &Redis) {
    let usual = Redis::default();
    let unused = [
        ("replicas", redis.replicas != usual.replicas),
        ("replica", redis.replica != usual.replica),
        ("lag", redis.lag != usual.lag),
        ("min_replicas", redis.min_replicas != usual.min_replicas),
        ("min_replicas_max_lag", redis.min_replicas_max_lag != usual.min_replicas_max_lag),
        ("discovery", redis.discovery != usual.discovery),
    ];
    for (key, _) in unused.into_iter().filter(|(_, is_set)| *is_set) {
        check.contradiction(
            &format!("store.redis.{key}"),
            "store.redis.topology",
            "this topology has no replicas",
            "set `topology = \"replicated\"` or \"sentinel\", or leave this out",
        );
    }
}

fn sentinels(check: &mut Check<'_>, redis: &Redis) {
    if redis.sentinels == 0 || redis.sentinels > MOST {
        let label = format!("1 to {MOST}");
        let message = "this many sentinels cannot be";
        check.report(Code::BadValue, "store.redis.sentinels", message, &label);
    }
    if redis.quorum == 0 {
        check.report(Code::BadValue, "store.redis.quorum", "the quorum is zero", "at least 1");
    }
    if redis.quorum > redis.sentinels {
        check.contradiction(
            "store.redis.quorum",
            "store.redis.sentinels",
            "so many sentinels never agree: there are fewer",
            "a quorum of more than half of them is usual",
        );
    }
    if redis.down_after == Duration::ZERO {
        check.report(Code::BadValue, "store.redis.down_after", "it is zero", "longer than 0");
    }
    if redis.discovery == Discovery::Address {
        check.contradiction(
            "store.redis.discovery",
            "store.redis.topology",
            "sentinels move no address: clients ask them, or are told",
            "use `discovery = \"sentinels\"` or \"switch-master\"",
        );
    }
}

fn without_sentinels(check: &mut Check<'_>, redis: &Redis) {
    let usual = Redis::default();
    let needs = redis.topology.has_replicas() && redis.discovery != Discovery::Address;
    let unused = [
        ("sentinels", redis.sentinels != usual.sentinels),
        ("quorum", redis.quorum != usual.quorum),
        ("down_after", redis.down_after != usual.down_after),
        ("failover_timeout", redis.failover_timeout != usual.failover_timeout),
        ("discovery", needs),
    ];
    for (key, _) in unused.into_iter().filter(|(_, is_set)| *is_set) {
        check.contradiction(
            &format!("store.redis.{key}"),
            "store.redis.topology",
            "this topology has no sentinels",
            "set `topology = \"sentinel\"`, or leave this out",
        );
    }
}

fn wait(check: &mut Check<'_>, redis: &Redis) {
    let lock = &check.scenario.lock;
    if lock.wait_replicas == 0 {
        let unused = [
            ("lock.wait_timeout", lock.wait_timeout != Duration::from_millis(100)),
            ("lock.wait_sent", lock.wait_sent != WaitSent::Together),
            ("lock.on_too_few", lock.on_too_few != OnTooFew::Undo),
        ];
        for (path, _) in unused.into_iter().filter(|(_, is_set)| *is_set) {
            check.contradiction(
                path,
                "lock.wait_replicas",
                "no `WAIT` is sent",
                "set `wait_replicas`, or leave this out",
            );
        }
        return;
    }
    if !redis.topology.has_replicas() {
        check.contradiction(
            "lock.wait_replicas",
            "store.redis.topology",
            "there are no replicas to wait for",
            "set `topology = \"replicated\"` or \"sentinel\", or leave this out",
        );
    } else if lock.wait_replicas > redis.replicas {
        check.contradiction(
            "lock.wait_replicas",
            "store.redis.replicas",
            "so many replicas never have the lock: there are fewer",
            "wait for fewer",
        );
    }
    if lock.strategy != Strategy::SetNxPx {
        check.contradiction(
            "lock.wait_replicas",
            "lock.strategy",
            "only `set-nx-px` waits for replicas",
            "use `strategy = \"set-nx-px\"`, or leave this out",
        );
    }
    if lock.wait_timeout == Duration::ZERO || lock.wait_timeout > Duration::from_secs(60) {
        let label = "1 ms to 60 s";
        check.report(Code::BadValue, "lock.wait_timeout", "the time-out is out of range", label);
    }
}

pub(super) fn failover(check: &mut Check<'_>, path: &str, failover: &Failover) {
    let Store::Redis(redis) = &check.scenario.store;
    if redis.topology != Topology::Replicated {
        let (message, help) = match redis.topology {
            Topology::Sentinel => (
                "with sentinels nobody else promotes a replica",
                "let the master die by `server-restart`, and the sentinels see to the rest",
            ),
            Topology::Single | Topology::Independent | Topology::Replicated => (
                "there is no replica to fail over to",
                "set `topology = \"replicated\"`, or use `server-restart`",
            ),
        };
        check.contradiction(path, "store.redis.topology", message, help);
        return;
    }
    check.store_server(&format!("{path}.master"), &failover.master);
    check.store_server(&format!("{path}.to"), &failover.to);
    different(check, &format!("{path}.to"), &failover.master, &failover.to);
}

fn different(check: &mut Check<'_>, path: &str, one: &str, other: &str) {
    if one == other {
        let message = format!("`{one}` cannot be its own replica");
        check.report(Code::BadValue, path, message, "another server");
    }
}

pub(super) fn stream(check: &mut Check<'_>, path: &str, fault: &StreamFault) {
    let Store::Redis(redis) = &check.scenario.store;
    if !redis.topology.has_replicas() {
        check.contradiction(
            path,
            "store.redis.topology",
            "nothing is copied in this topology",
            "set `topology = \"replicated\"` or \"sentinel\"",
        );
        return;
    }
    check.store_server(&format!("{path}.master"), &fault.master);
    check.store_server(&format!("{path}.replica"), &fault.replica);
    different(check, &format!("{path}.replica"), &fault.master, &fault.replica);
}

pub(super) fn split(check: &mut Check<'_>, path: &str, split: &Split) {
    let scenario = check.scenario;
    let known =
        [check.client_names(), scenario.store.server_names(), scenario.store.sentinel_names()]
            .concat();
    for (place, name) in split.off.iter().enumerate() {
        if !known.contains(name) {
            let path = format!("{path}.off.{}", place + 1);
            check.unknown_name(&path, "client, server or sentinel", name, &known);
        }
    }
    if split.off.is_empty() {
        let path = format!("{path}.off");
        check.report(Code::BadValue, &path, "nobody is cut off", "name at least one machine");
    }
}
