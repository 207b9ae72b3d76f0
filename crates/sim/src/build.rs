//! Builds the world of a setup: actors, links, and a site for each decision about them.

use fencepost_choice::{Choices, Distribution, Sampler};
use fencepost_history::{Instant, Leg, ProcessId, RollingHash, ServerId, ThreadId};

use crate::Services;
use crate::clock::Clock;
use crate::faults::{Meaning, link_place};
use crate::hazard::Armed;
use crate::link::{Link, LinkSites};
use crate::process::{Process, ProcessSites, Thread};
use crate::queue::Queue;
use crate::server::Server;
use crate::setup::{LinkModel, ProcessSetup, ServerSetup, Setup};
use crate::timers::Timers;
use crate::world::{Mail, World};

fn id(place: usize) -> u16 {
    u16::try_from(place).expect("a setup has fewer than 65,536 actors of a kind")
}

/// Returns the sampler of a distribution; links of one latency share it.
fn sampler<'a>(
    samplers: &mut Vec<(&'a Distribution, Sampler)>,
    distribution: &'a Distribution,
) -> Sampler {
    if let Some((_, known)) = samplers.iter().find(|(other, _)| *other == distribution) {
        return known.clone();
    }
    let new = Sampler::new(distribution);
    samplers.push((distribution, new.clone()));
    new
}

impl<S: Services> World<S> {
    /// Builds the world of a setup.
    ///
    /// # Panics
    ///
    /// If the setup names no process or no server that a hazard's site belongs to.
    pub(crate) fn build(setup: &Setup) -> Self {
        let mut world = Self {
            now: Instant::ZERO,
            queue: Queue::new(),
            peers: Mail::new(),
            notes: Mail::new(),
            wakes: Mail::new(),
            processes: Vec::new(),
            threads: Vec::new(),
            timers: Timers::new(0),
            servers: Vec::new(),
            links: Vec::new(),
            peer_cuts: Vec::new(),
            peer_latency: setup.peer_latency,
            choices: Choices::new(),
            network_key: None,
            meanings: Vec::new(),
            hazards: Vec::new(),
            moment_hazards: 0,
            later_faults: Vec::new(),
            hash: RollingHash::new(),
            events: Vec::new(),
            handed_on: 0,
            said: Vec::new(),
            is_recording: false,
            last_call: 0,
            last_grant: 0,
            last_number: 0,
            common_memory: 0,
            spawned: Vec::new(),
            crashed: Vec::new(),
            cancelled: Vec::new(),
            has_business: false,
            open_workers: 0,
            is_healed: false,
            max_steps: u32::try_from(setup.max_events).unwrap_or(u32::MAX),
            has_too_many_steps: false,
        };
        for process in &setup.processes {
            world.add_process(process);
        }
        world.timers = Timers::new(world.threads.len());
        for server in &setup.servers {
            world.add_server(server);
        }
        world.add_links(setup);
        for (number, hazard) in setup.hazards.iter().enumerate() {
            let site =
                world.choices.find(&hazard.site).expect("a hazard names a site of its setup");
            let meaning = world.meanings[site.index()];
            world.hazards.push(Armed::new(hazard, site, meaning, number));
        }
        world
    }

    fn add_process(&mut self, setup: &ProcessSetup) {
        let process = ProcessId(id(self.processes.len()));
        let name = &setup.name;
        self.register(&format!("client.pause@{name}"), Meaning::Pause(process));
        self.register(&format!("client.crash@{name}"), Meaning::Crash(process));
        self.register(&format!("clock.step@{name}"), Meaning::ProcessClock(process));
        self.register(&format!("clock.rate@{name}"), Meaning::ProcessRate(process));
        self.register(&format!("clock.slew@{name}"), Meaning::ProcessSlew(process));
        let sites = ProcessSites {
            tie: self.register(&format!("order.tie@{name}"), Meaning::Asked),
            jitter: self.register(&format!("client.jitter@{name}"), Meaning::Asked),
        };
        let first_thread = id(self.threads.len());
        let clock = Clock::new(setup.clock);
        for (place, role) in setup.workers.iter().chain(&setup.helpers).enumerate() {
            let thread = ThreadId(id(self.threads.len()));
            let label = format!("client.stall@{name}/{role}");
            self.register(&label, Meaning::Stall(thread));
            self.threads.push(Thread::new(process, place < setup.workers.len()));
        }
        self.processes.push(Process {
            own: 0,
            next_fault: u32::MAX,
            paused_until: Instant::ZERO,
            is_alive: false,
            starts: 0,
            lost_calls: u32::MAX,
            memory: 0,
            clock,
            first_clock: clock,
            start: setup.start,
            worker_count: u32::from(id(setup.workers.len())),
            first_thread,
            thread_count: id(setup.workers.len() + setup.helpers.len()),
            sites,
        });
    }

    fn add_server(&mut self, setup: &ServerSetup) {
        let server = ServerId(id(self.servers.len()));
        let name = &setup.name;
        self.register(&format!("server.restart@{name}"), Meaning::Restart(server));
        self.register(&format!("server.power-loss@{name}"), Meaning::PowerLoss(server));
        self.register(&format!("server.stall@{name}"), Meaning::ServerStall(server));
        self.register(&format!("clock.step@{name}"), Meaning::ServerClock(server));
        self.register(&format!("clock.rate@{name}"), Meaning::ServerRate(server));
        self.register(&format!("clock.slew@{name}"), Meaning::ServerSlew(server));
        self.register(&format!("server.operation@{name}"), Meaning::Operation(server));
        let tie = self.register(&format!("order.tie@{name}"), Meaning::Asked);
        let clock = Clock::new(setup.clock);
        self.servers.push(Server {
            own: 0,
            next_fault: u32::MAX,
            is_up: true,
            stalled_until: Instant::ZERO,
            busy_until: Instant::ZERO,
            epoch: 1,
            clock,
            first_clock: clock,
            least_downtime: setup.least_downtime,
            tie,
        });
    }

    fn add_links(&mut self, setup: &Setup) {
        let mut samplers = Vec::new();
        for (process, client) in setup.processes.iter().enumerate() {
            for (server, node) in setup.servers.iter().enumerate() {
                let (process, server) = (ProcessId(id(process)), ServerId(id(server)));
                let place = link_place(process, server, setup.servers.len());
                for (leg, link, scope) in [
                    (Leg::Request, place, format!("{}->{}", client.name, node.name)),
                    (Leg::Reply, place + 1, format!("{}->{}", node.name, client.name)),
                ] {
                    let own = setup
                        .links
                        .iter()
                        .rev()
                        .find(|(of, to, way, _)| (*of, *to, *way) == (process, server, leg));
                    let model = own.map_or(&setup.link, |(_, _, _, model)| model);
                    let latency = sampler(&mut samplers, &model.latency);
                    let link = self.add_link(model, latency, &scope, link);
                    self.links.push(link);
                }
            }
        }
    }

    fn add_link(&mut self, model: &LinkModel, latency: Sampler, scope: &str, place: u32) -> Link {
        self.register(&format!("net.delay@{scope}"), Meaning::Delay(place));
        self.register(&format!("net.cut@{scope}"), Meaning::Cut(place));
        self.register(&format!("net.partition@{scope}"), Meaning::Partition(place));
        let sites = LinkSites {
            latency: self.register(&format!("net.latency@{scope}"), Meaning::Latency(place)),
            loss: self.register(&format!("net.loss@{scope}"), Meaning::Loss(place)),
        };
        Link::new(&model.latency, latency, model.loss_odds, scope, sites)
    }
}
