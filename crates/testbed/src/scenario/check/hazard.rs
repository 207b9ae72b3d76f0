//! What may go wrong at random.

use super::{Check, moment};
use crate::scenario::Trigger;
use crate::scenario::error::Code;

pub(super) fn check(check: &mut Check<'_>) {
    let Some(hazard) = &check.scenario.hazard else { return };
    if let Some(pause) = &hazard.pause {
        if let Some(process) = &pause.process {
            check.client("hazard.pause.process", process);
        }
        trigger(check, "hazard.pause", &pause.trigger);
    }
    if let Some(stall) = &hazard.stall {
        if let Some(thread) = &stall.thread {
            check.thread("hazard.stall.thread", thread);
        }
        trigger(check, "hazard.stall", &stall.trigger);
    }
    if let Some(crash) = &hazard.crash {
        if let Some(process) = &crash.process {
            check.client("hazard.crash.process", process);
        }
        trigger(check, "hazard.crash", &crash.trigger);
    }
    if let Some(lose) = &hazard.lose {
        ends(check, "hazard.lose", lose.from.as_deref(), lose.to.as_deref());
    }
    if hazard.delay.is_some() {
        check.not_available("hazard.delay", "a random delay");
    }
    if let Some((one, other)) = hazard.partition.as_ref().and_then(|cut| cut.between.as_ref()) {
        let paths = ["hazard.partition.between.1", "hazard.partition.between.2"];
        check.link(paths, [one, other]);
    }
    for (path, outage) in
        [("server-restart", &hazard.server_restart), ("server-stall", &hazard.server_stall)]
    {
        if let Some(server) = outage.as_ref().and_then(|outage| outage.server.as_ref()) {
            check.store_server(&format!("hazard.{path}.server"), server);
        }
    }
    if let Some(host) = hazard.clock_step.as_ref().and_then(|step| step.host.as_ref()) {
        check.host("hazard.clock-step.host", host);
    }
}

fn trigger(check: &mut Check<'_>, path: &str, trigger: &Trigger) {
    match trigger {
        Trigger::Rate(_) => {}
        Trigger::Moment { moment, .. } => {
            if let Some(why) = moment::never(check.scenario, *moment) {
                let message = format!("the moment `{}` never comes", moment.name());
                check.report(Code::NeverHappens, &format!("{path}.when"), message, why);
            }
        }
    }
}

fn ends(check: &mut Check<'_>, path: &str, from: Option<&str>, to: Option<&str>) {
    let known = [check.client_names(), check.scenario.server_names()].concat();
    for (key, name) in [("from", from), ("to", to)] {
        if let Some(name) = name.filter(|name| !known.iter().any(|known| known == name)) {
            check.unknown_name(&format!("{path}.{key}"), "client or server", name, &known);
            return;
        }
    }
    if let (Some(from), Some(to)) = (from, to) {
        let paths = [format!("{path}.from"), format!("{path}.to")];
        check.link(paths.each_ref().map(String::as_str), [from, to]);
    }
}
