//! The store, the workload, the network and the clocks.

use fencepost_history::Duration;

use super::Check;
use crate::scenario::error::Code;
use crate::scenario::{
    Accept, Behaviour, Fencing, FencingToken, NodeCount, OnRefusal, Persistence, Redis, Store,
    Topology, limits,
};

pub(super) fn check(check: &mut Check<'_>) {
    store(check);
    clients(check);
    let common = &check.scenario.workload.common;
    behaviour(check, "workload", common);
    for (index, client) in check.scenario.workload.clients.iter().enumerate() {
        if client.behaviour != check.scenario.workload.common {
            behaviour(check, &format!("workload.client.{}", index + 1), &client.behaviour);
        }
    }
    if check.scenario.workload.horizon == Duration::ZERO {
        check.report(Code::BadValue, "workload.horizon", "the horizon is zero", "longer than 0");
    }
    resource(check);
    network(check);
}

fn store(check: &mut Check<'_>) {
    let Store::Redis(redis) = &check.scenario.store;
    storage(check, redis);
    if redis.topology == Topology::Single && redis.nodes != NodeCount(1) {
        check.contradiction(
            "store.redis.nodes",
            "store.redis.topology",
            "the topology `single` has one server",
            "write `nodes = 1`, or leave it out",
        );
    }
}

fn storage(check: &mut Check<'_>, redis: &Redis) {
    if !redis.save.is_empty() && redis.persistence != Persistence::Rdb {
        check.contradiction(
            "store.redis.save",
            "store.redis.persistence",
            "without snapshots there is nothing to save",
            "set `persistence = \"rdb\"`, or leave `save` out",
        );
    }
    for (number, point) in (1..).zip(&redis.save) {
        let path = format!("store.redis.save.{number}.after");
        if point.after.as_nanos() % 1_000_000_000 != 0 || point.after == Duration::ZERO {
            let message = format!("a server cannot save after {}", point.after);
            check.report(Code::BadValue, &path, message, "whole seconds, at least one");
        }
    }
    if redis.fsync_time != Duration::ZERO && redis.persistence != Persistence::EverySecond {
        check.contradiction(
            "store.redis.fsync_time",
            "store.redis.persistence",
            "only a server that syncs once a second goes on while it does",
            "set `persistence = \"everysec\"`, or leave `fsync_time` out",
        );
    }
}

fn clients(check: &mut Check<'_>) {
    let clients = &check.scenario.workload.clients;
    let extra = format!("workload.client.{}", clients.len() + 1);
    if check.reader.places.has(&extra) {
        check.contradiction(
            &extra,
            "workload.clients",
            "there are more `[[workload.client]]` tables than clients",
            "leave `clients` out: it follows from the tables",
        );
    }
    let threads: u64 = clients.iter().map(|client| u64::from(client.behaviour.threads)).sum();
    if threads > limits::THREADS {
        check.report(
            Code::OutOfLimits,
            "workload.threads",
            format!("{threads} threads are more than the limit of {}", limits::THREADS),
            "too many",
        );
    }
    let servers = check.scenario.server_names();
    for (index, client) in clients.iter().enumerate() {
        let path = format!("workload.client.{}.name", index + 1);
        name(check, &path, &client.name);
        let is_taken = servers.contains(&client.name)
            || clients[..index].iter().any(|other| other.name == client.name);
        if is_taken {
            let message = format!("the name `{}` is given twice", client.name);
            check.report(Code::BadValue, &path, message, "somebody else has it");
        }
    }
    let resource = &check.scenario.workload.resource.name;
    name(check, "workload.resource.name", resource);
    if servers.iter().filter(|server| *server == resource).count() > 1 {
        let message = format!("the name `{resource}` is given twice");
        check.report(Code::BadValue, "workload.resource.name", message, "a server has it");
    }
    name(check, "lock.name", &check.scenario.lock.name);
}

/// Asks that a name can stand in `c1 acquired` and `c1/worker`.
fn name(check: &mut Check<'_>, path: &str, name: &str) {
    let is_good = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '#');
    if name.is_empty() || name.chars().count() > 64 || !name.chars().all(is_good) {
        check.report(
            Code::BadValue,
            path,
            "this cannot be a name",
            "1 to 64 letters, digits, or any of - _ . : #",
        );
    }
}

fn behaviour(check: &mut Check<'_>, table: &str, behaviour: &Behaviour) {
    let path = |key: &str| format!("{table}.{key}");
    let ones = [
        ("rounds", behaviour.rounds == 0),
        ("threads", behaviour.threads == 0),
        ("attempts", behaviour.attempts == Some(0)),
    ];
    for (key, _) in ones.into_iter().filter(|(_, is_zero)| *is_zero) {
        check.report(Code::BadValue, &path(key), format!("`{key}` is zero"), "at least 1");
    }
    let lengths = [
        ("retry_every", Some(behaviour.retry_every)),
        ("request_timeout", behaviour.request_timeout),
        ("read_timeout", behaviour.read_timeout),
        ("write_timeout", behaviour.write_timeout),
        ("extend_after", behaviour.extend_after),
    ];
    for (key, _) in lengths.into_iter().filter(|(_, length)| *length == Some(Duration::ZERO)) {
        check.report(Code::BadValue, &path(key), format!("`{key}` is zero"), "longer than 0");
    }
    if let Some(after) = behaviour.extend_after {
        if check.scenario.lock.ttl.is_none() {
            check.contradiction(
                &path("extend_after"),
                "lock.ttl",
                "a lock without expiry cannot be extended",
                "give the lock a `ttl`, or leave `extend_after` out",
            );
        }
        if after >= behaviour.work {
            check.report(
                Code::NeverHappens,
                &path("extend_after"),
                format!("the work is over after {}, before the extension", behaviour.work),
                "shorter than `work`",
            );
        }
    }
}

fn resource(check: &mut Check<'_>) {
    let workload = &check.scenario.workload;
    let (fencing, token) = (workload.resource.fencing, check.scenario.lock.fencing_token);
    if fencing == Fencing::Off {
        if workload.resource.accept != Accept::AtLeast {
            check.contradiction(
                "workload.resource.accept",
                "workload.resource.fencing",
                "without fencing no token is compared",
                "set `fencing`, or leave `accept` out",
            );
        }
        refusal_without_fence(check);
    } else if token == FencingToken::None {
        check.contradiction(
            "workload.resource.fencing",
            "lock.fencing_token",
            "the lock gives no token that the resource could compare",
            "set `fencing_token` in [lock], for example to \"in-acquire-script\"",
        );
    }
}

fn refusal_without_fence(check: &mut Check<'_>) {
    let workload = &check.scenario.workload;
    let mut tables = vec![("workload".to_owned(), workload.common.on_refusal)];
    for (index, client) in workload.clients.iter().enumerate() {
        if client.behaviour.on_refusal != workload.common.on_refusal {
            let table = format!("workload.client.{}", index + 1);
            tables.push((table, client.behaviour.on_refusal));
        }
    }
    for (table, _) in tables.into_iter().filter(|(_, react)| *react != OnRefusal::GiveUp) {
        check.contradiction(
            &format!("{table}.on_refusal"),
            "workload.resource.fencing",
            "without fencing nothing is refused",
            "set `fencing` in [workload.resource]",
        );
    }
}

fn network(check: &mut Check<'_>) {
    for (index, link) in check.scenario.network.link.iter().enumerate() {
        let path = format!("network.link.{}.between", index + 1);
        let paths = [format!("{path}.1"), format!("{path}.2")];
        check.link(paths.each_ref().map(String::as_str), [&link.between.0, &link.between.1]);
    }
    for (index, clock) in check.scenario.clock.iter().enumerate() {
        let path = format!("clock.{}", index + 1);
        check.host(&format!("{path}.host"), &clock.host);
        let is_twice = check.scenario.clock[..index].iter().any(|other| other.host == clock.host);
        if is_twice {
            let message = format!("the clock of `{}` is set twice", clock.host);
            check.report(Code::BadValue, &format!("{path}.host"), message, "already set above");
        }
        rate(check, &format!("{path}.rate_ppm"), clock.rate_ppm);
    }
}

/// Asks that a clock runs at half to one and a half times its proper rate.
pub(super) fn rate(check: &mut Check<'_>, path: &str, ppm: i64) {
    if ppm.abs() > 500_000 {
        let label = "between -500000 and 500000";
        check.report(Code::BadValue, path, "the rate is out of its range", label);
    }
}
