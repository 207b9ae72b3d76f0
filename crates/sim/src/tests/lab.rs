//! A small world to try things in: counting servers, and runs as values.

use std::future::Future;

use fencepost_choice::{Deviation, Source};
use fencepost_history::{
    Duration, Event, GrantId, Instant, ProcessId, ResourceId, ServerId, ThreadId, What,
};

use crate::{
    CallRef, Client, HostClock, LinkModel, ProcessSetup, ServerContext, ServerSetup, Services,
    Setup, Sim, Slot, Stop, Task,
};

/// What clients of the counting servers ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// Add to the server's sum and get the new one.
    Add(u64),
    /// Read the server's wall clock.
    Wall,
    /// Get the sum after this many milliseconds.
    Later(u64),
    /// Let another server add, and get the own sum at once.
    Forward(ServerId, u64),
    /// Cut this server off from another one for so many milliseconds.
    Cut(ServerId, u64),
}

/// Servers that add what they are sent.
#[derive(Clone, Debug)]
pub(super) struct Counters {
    pub(super) sums: Vec<u64>,
    pub(super) cost: Duration,
    waiting: Vec<CallRef>,
}

impl Counters {
    fn new(count: usize) -> Self {
        Self { sums: vec![0; count], cost: Duration::ZERO, waiting: Vec::new() }
    }
}

impl Services for Counters {
    type Request = Ask;
    type Reply = u64;
    type Message = u64;

    fn reset(&mut self) {
        self.sums.fill(0);
        self.waiting.clear();
    }

    fn serve(&mut self, call: CallRef, request: &Ask, cx: &mut ServerContext<'_, Self>) {
        let server = call.server;
        let sum = &mut self.sums[server.index()];
        let reply = match *request {
            Ask::Add(by) => {
                *sum += by;
                *sum
            }
            Ask::Wall => cx.wall(server).as_nanos(),
            Ask::Later(millis) => {
                let place = u32::try_from(self.waiting.len()).expect("few wait");
                self.waiting.push(call);
                return cx.wake(server, cx.now() + ms(millis), place);
            }
            Ask::Forward(to, by) => {
                cx.send(server, to, by);
                *sum
            }
            Ask::Cut(peer, millis) => {
                cx.cut(server, peer, ms(millis));
                *sum
            }
        };
        cx.reply(call, reply, self.cost);
    }

    fn receive(
        &mut self,
        to: ServerId,
        _: ServerId,
        message: &u64,
        _: &mut ServerContext<'_, Self>,
    ) {
        self.sums[to.index()] += message;
    }

    fn wake(&mut self, server: ServerId, token: u32, cx: &mut ServerContext<'_, Self>) {
        cx.reply(self.waiting[token as usize], self.sums[server.index()], Duration::ZERO);
    }

    fn crash(&mut self, server: ServerId, has_power: bool, _: &mut ServerContext<'_, Self>) {
        self.sums[server.index()] = if has_power { 0 } else { 5000 };
    }

    fn start(&mut self, server: ServerId, _: &mut ServerContext<'_, Self>) {
        self.sums[server.index()] += 1000;
    }

    fn clock_changed(&mut self, server: ServerId, cx: &mut ServerContext<'_, Self>) {
        cx.emit(What::Promoted { server });
    }

    fn operate(&mut self, server: ServerId, operation: u32, _: &mut ServerContext<'_, Self>) {
        self.sums[server.index()] += 100 * u64::from(operation);
    }

    fn describe_request(&self, _: ServerId, request: &Ask) -> String {
        format!("{request:?}")
    }

    fn describe_reply(&self, _: ServerId, reply: &u64) -> String {
        format!("= {reply}")
    }
}

pub(super) type Port = Client<Counters>;

pub(super) const R1: ServerId = ServerId(0);
pub(super) const R2: ServerId = ServerId(1);

pub(super) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(super) const fn at(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

pub(super) fn list(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

pub(super) fn process(name: &str, workers: &[&str], helpers: &[&str]) -> ProcessSetup {
    ProcessSetup {
        name: name.to_owned(),
        workers: list(workers),
        helpers: list(helpers),
        start: Instant::ZERO,
        clock: HostClock::default(),
    }
}

pub(super) fn server(name: &str) -> ServerSetup {
    let (name, clock) = (name.to_owned(), HostClock::default());
    ServerSetup { name, clock, least_downtime: Duration::ZERO }
}

/// One millisecond each way, no hazards, room enough.
pub(super) fn setup(processes: Vec<ProcessSetup>, servers: &[&str]) -> Setup {
    Setup {
        processes,
        servers: servers.iter().copied().map(server).collect(),
        link: LinkModel::fixed(ms(1)),
        links: Vec::new(),
        peer_latency: ms(3),
        hazards: Vec::new(),
        max_events: 10_000,
    }
}

/// One process with one worker, and one server.
pub(super) fn alone() -> Setup {
    setup(vec![process("c1", &["worker"], &[])], &["r1"])
}

pub(super) fn world(setup: &Setup) -> Sim<Counters> {
    Sim::new(setup, Counters::new(setup.servers.len()))
}

/// The code of a thread.
pub(super) fn code<F, C>(sim: &Sim<Counters>, thread: u16, code: C) -> Box<dyn Task>
where
    C: Fn(Port) -> F + 'static,
    F: Future<Output = ()> + 'static,
{
    let client = sim.client(ThreadId(thread));
    Box::new(Slot::new(move || code(client.clone())))
}

/// A world whose only thread runs this.
pub(super) fn only<F, C>(setup: &Setup, run: C) -> Sim<Counters>
where
    C: Fn(Port) -> F + 'static,
    F: Future<Output = ()> + 'static,
{
    let mut sim = world(setup);
    let task = code(&sim, 0, run);
    sim.set_tasks(vec![task]);
    sim
}

/// Tells that the code has got to a place; no step.
pub(super) fn here(client: &Port, place: u32) {
    client.tell(What::Step { grant: GrantId(place) });
}

/// Tells a number that the code has seen; no step.
pub(super) fn saw(client: &Port, number: u64) {
    client.tell(What::Step { grant: GrantId(u32::try_from(number).expect("a small number")) });
}

/// A note that means nothing; one step.
pub(super) async fn noted(client: &Port) {
    client.note(What::TokensForgotten { resource: ResourceId(0) }).await;
}

/// What came of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) events: Vec<Event>,
    pub(super) stop: Stop,
    pub(super) hash: u64,
    pub(super) log: Vec<Deviation>,
    pub(super) unreached: Vec<String>,
}

impl Run {
    /// The places that code told by [`here`], each with its millisecond.
    pub(super) fn places(&self) -> Vec<(u64, u32)> {
        self.pick(|what| match *what {
            What::Step { grant } => Some(grant.0),
            _ => None,
        })
    }

    /// Those events that `choose` is for, each with its millisecond.
    pub(super) fn pick<T>(&self, choose: impl Fn(&What) -> Option<T>) -> Vec<(u64, T)> {
        let chosen = |event: &Event| Some((millis(event.at), choose(&event.what)?));
        self.events.iter().filter_map(chosen).collect()
    }

    /// When these events happened, in milliseconds.
    pub(super) fn when(&self, is_it: impl Fn(&What) -> bool) -> Vec<u64> {
        self.pick(|what| is_it(what).then_some(())).into_iter().map(|(at, ())| at).collect()
    }
}

fn millis(at: Instant) -> u64 {
    at.as_nanos() / 1_000_000
}

pub(super) fn plan(texts: &[&str]) -> Vec<Deviation> {
    texts.iter().map(|text| text.parse().expect("a well-formed deviation")).collect()
}

/// Records one run to its end, or to the 1,000th second.
pub(super) fn play(sim: &mut Sim<Counters>, texts: &[&str]) -> Run {
    play_from(sim, Source::Benign, &plan(texts))
}

pub(super) fn play_from(sim: &mut Sim<Counters>, source: Source, plan: &[Deviation]) -> Run {
    sim.record(true);
    go(sim, source, plan)
}

/// Runs once, recorded or not.
pub(super) fn go(sim: &mut Sim<Counters>, source: Source, plan: &[Deviation]) -> Run {
    sim.begin(source, plan).expect("the plan names places of this world, each once");
    let mut events = Vec::new();
    let stop = sim.run(at(1_000_000), true, &mut |event: &Event| events.push(*event));
    Run {
        events,
        stop,
        hash: sim.hash(),
        log: sim.choices(|choices| choices.log().collect()),
        unreached: sim.choices(|choices| choices.unreached().map(|d| d.to_string()).collect()),
    }
}

/// In which millisecond each own event of the first process happened.
pub(super) fn own_events(sim: &mut Sim<Counters>, texts: &[&str], until: u64) -> Vec<u64> {
    sim.begin(Source::Benign, &plan(texts)).expect("the plan names places of this world");
    let mut times = Vec::new();
    for millisecond in 0..=until {
        sim.run(at(millisecond), false, &mut |_: &Event| {});
        times.resize(sim.own_events(ProcessId(0)) as usize, millisecond);
    }
    times
}
