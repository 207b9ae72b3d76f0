//! Mistakes that only show when the parts of a scenario are seen together.

use std::ops::Range;

use super::Scenario;
use super::error::{Code, ScenarioError};
use super::reader::{Reader, list, nearest};

mod expect;
mod fault;
mod hazard;
mod lock;
mod moment;
mod redlock;
mod replication;
mod script;
mod world;

/// Reports everything that is wrong between the parts of a scenario.
pub(super) fn check(scenario: &Scenario, reader: &mut Reader) {
    let mut check = Check { scenario, reader };
    world::check(&mut check);
    replication::check(&mut check);
    lock::check(&mut check);
    redlock::check(&mut check);
    script::check(&mut check);
    fault::check(&mut check);
    hazard::check(&mut check);
    expect::check(&mut check);
}

struct Check<'a> {
    scenario: &'a Scenario,
    reader: &'a mut Reader,
}

impl Check<'_> {
    /// Reports a mistake at the value of a key.
    fn report(&mut self, code: Code, path: &str, message: impl Into<String>, label: &str) {
        let span = self.reader.places.near(path);
        self.reader.report_if_new(ScenarioError::new(code, span, message).label(label));
    }

    /// Reports two settings that contradict each other; the second may be a default.
    fn contradiction(&mut self, path: &str, other: &str, message: &str, help: &str) {
        if !self.reader.is_sound(path) || !self.reader.is_sound(other) {
            return;
        }
        let span = self.reader.places.near(path);
        let mut error = ScenarioError::new(Code::Contradiction, span, message).help(help);
        error = match self.reader.places.get(other) {
            Some(place) => error
                .label("these two contradict each other")
                .context(place.value.clone(), "this is the other one"),
            None => error.label("this contradicts a default"),
        };
        self.reader.report_if_new(error);
    }

    /// Reports something that this version cannot simulate.
    fn not_available(&mut self, path: &str, what: &str) {
        let span = self.reader.places.near(path);
        self.reader.report_if_new(
            ScenarioError::new(
                Code::NotAvailable,
                span,
                format!("{what} is not available in this version"),
            )
            .label("not simulated yet"),
        );
    }

    /// Reports a name that nobody has.
    fn unknown_name(&mut self, path: &str, what: &str, name: &str, known: &[String]) {
        let is_missing = name.is_empty() && !self.reader.places.has(path);
        if is_missing || !self.reader.is_sound("workload.clients") {
            return;
        }
        let span: Range<usize> = self.reader.places.near(path);
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let shown = &known[..known.len().min(12)];
        let more = if known.len() > shown.len() { ", ..." } else { "" };
        let mut error = ScenarioError::new(
            Code::UnknownName,
            span.clone(),
            format!("no {what} is called `{name}`"),
        )
        .label(format!("no such {what}"));
        if !shown.is_empty() {
            error = error.note(format!("there are {}{more}", list(shown)));
        }
        // Names are short and alike: `c3` is as near to `c1` as to `c2`.
        if let Some(near) = nearest(name, &known).filter(|near| near.len() > 3) {
            error = error.help(format!("did you mean `{near}`?"));
        }
        self.reader.report_if_new(error);
    }

    /// Asks for a client's name.
    fn client(&mut self, path: &str, name: &str) -> bool {
        let is_known = self.scenario.process(name).is_some();
        if !is_known {
            let known = self.client_names();
            self.unknown_name(path, "client", name, &known);
        }
        is_known
    }

    /// Asks for the name of a client or one of its threads.
    fn client_or_thread(&mut self, path: &str, name: &str) -> bool {
        let is_known =
            self.scenario.process(name).is_some() || self.scenario.thread(name).is_some();
        if !is_known {
            let known = if name.contains('/') { self.thread_names() } else { self.client_names() };
            let what = if name.contains('/') { "thread" } else { "client" };
            self.unknown_name(path, what, name, &known);
        }
        is_known
    }

    /// Asks for a thread's name.
    fn thread(&mut self, path: &str, name: &str) {
        if self.scenario.thread(name).is_none() {
            let known = self.thread_names();
            self.unknown_name(path, "thread", name, &known);
        }
    }

    /// Asks for the name of one of the store's servers.
    fn store_server(&mut self, path: &str, name: &str) {
        let known = self.scenario.store.server_names();
        if !known.iter().any(|server| server == name) {
            self.unknown_name(path, "server of the store", name, &known);
        }
    }

    /// Asks for the name of one of the store's servers or sentinels.
    fn store_machine(&mut self, path: &str, name: &str) {
        let store = &self.scenario.store;
        let known = [store.server_names(), store.sentinel_names()].concat();
        if !known.iter().any(|server| server == name) {
            self.unknown_name(path, "server of the store", name, &known);
        }
    }

    /// Asks for the name of a client or a server of the store.
    fn host(&mut self, path: &str, name: &str) {
        let servers = self.scenario.store.server_names();
        if self.scenario.process(name).is_none() && !servers.iter().any(|server| server == name) {
            let known = [self.client_names(), servers].concat();
            self.unknown_name(path, "client or server", name, &known);
        }
    }

    /// Asks for a client and a server, in either order; returns the client's name.
    fn link<'b>(&mut self, paths: [&str; 2], ends: [&'b str; 2]) -> Option<&'b str> {
        for (path, name) in paths.into_iter().zip(ends) {
            if self.scenario.process(name).is_none() && self.scenario.server(name).is_none() {
                let known = [self.client_names(), self.scenario.server_names()].concat();
                self.unknown_name(path, "client or server", name, &known);
                return None;
            }
        }
        let clients = ends.map(|name| self.scenario.process(name).is_some());
        match clients {
            [true, false] => Some(ends[0]),
            [false, true] => Some(ends[1]),
            [true, true] | [false, false] => {
                let kind = if clients[0] { "clients" } else { "servers" };
                self.report(
                    Code::BadValue,
                    paths[1],
                    format!("`{}` and `{}` are both {kind}", ends[0], ends[1]),
                    "a link has a client at one end and a server at the other",
                );
                None
            }
        }
    }

    fn client_names(&self) -> Vec<String> {
        self.scenario.workload.clients.iter().map(|client| client.name.clone()).collect()
    }

    fn thread_names(&self) -> Vec<String> {
        let renews = self.scenario.lock.renew == super::Renew::Watchdog;
        let mut names = Vec::new();
        for client in &self.scenario.workload.clients {
            for index in 0..client.behaviour.threads.min(4) {
                let number = if index == 0 { String::new() } else { format!("-{}", index + 1) };
                names.push(format!("{}/worker{number}", client.name));
                if renews {
                    names.push(format!("{}/renewer{number}", client.name));
                }
            }
        }
        names
    }
}
