//! Servers as plain data, and what they may do to the world.

use fencepost_history::{CallId, Duration, Instant, ProcessId, ServerId, ThreadId, WallTime, What};

use crate::Fault;
use crate::queue::{Entry, Order};
use crate::run::Core;
use crate::world::{Action, World};

/// All servers of a simulation: one plain-data value that answers requests.
pub trait Services: Sized {
    /// What clients send.
    type Request: Copy;
    /// What they get back.
    type Reply: Copy;
    /// What servers send to each other.
    type Message: Clone;

    /// Makes all servers as they are at the start of a run, keeping their memory for reuse.
    fn reset(&mut self);

    /// Executes a request; the reply goes through `cx`, now or later.
    fn serve(&mut self, call: CallRef, request: &Self::Request, cx: &mut ServerContext<'_, Self>);

    /// Takes a message of another server.
    fn receive(
        &mut self,
        to: ServerId,
        from: ServerId,
        message: &Self::Message,
        cx: &mut ServerContext<'_, Self>,
    );

    /// Is called at an instant that the server asked for by [`ServerContext::wake`].
    fn wake(&mut self, server: ServerId, token: u32, cx: &mut ServerContext<'_, Self>);

    /// Loses what a server loses when it dies: its process alone, or its machine with all that was
    /// not on the disk.
    fn crash(&mut self, server: ServerId, has_power: bool, cx: &mut ServerContext<'_, Self>);

    /// Starts a server after a crash.
    fn start(&mut self, server: ServerId, cx: &mut ServerContext<'_, Self>);

    /// Is told that a server executes nothing until an instant; then it does what has queued up.
    fn stalled(&mut self, _: ServerId, _until: Instant, _: &mut ServerContext<'_, Self>) {}

    /// Is told that a server's wall clock was stepped or changed its rate.
    fn clock_changed(&mut self, server: ServerId, cx: &mut ServerContext<'_, Self>);

    /// Carries out operation number `operation` of those that the setup lists for a server: an
    /// outsider's command, an operator's hand, a fault of the server's own kind.
    fn operate(&mut self, server: ServerId, operation: u32, cx: &mut ServerContext<'_, Self>);

    /// Writes a request as a person would type it.
    fn describe_request(&self, server: ServerId, request: &Self::Request) -> String;

    /// Writes a reply as a person would read it.
    fn describe_reply(&self, server: ServerId, reply: &Self::Reply) -> String;
}

/// Whom a reply goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallRef {
    /// The call.
    pub call: CallId,
    /// The thread that made it.
    pub thread: ThreadId,
    /// The server that was asked.
    pub server: ServerId,
    pub(crate) slot: u8,
}

/// The slot of a call whose reply nobody awaits.
pub(crate) const NO_SLOT: u8 = u8::MAX;

impl CallRef {
    /// Returns whether somebody waits for the reply.
    #[must_use]
    #[inline(always)]
    pub const fn wants_reply(&self) -> bool {
        self.slot != NO_SLOT
    }
}

/// What a server may do while it executes something.
pub struct ServerContext<'a, S: Services> {
    pub(crate) world: &'a mut World<S>,
}

impl<S: Services> ServerContext<'_, S> {
    /// Returns the true time, which servers must not base decisions on; it is for ghost state.
    #[must_use]
    #[inline(always)]
    pub const fn now(&self) -> Instant {
        self.world.now
    }

    /// Reads a server's wall clock.
    #[must_use]
    #[inline(always)]
    pub fn wall(&self, server: ServerId) -> WallTime {
        self.world.servers[server.index()].clock.wall(self.world.now)
    }

    /// Returns when a server's wall clock will show a reading if nothing steps it.
    #[must_use]
    pub fn instant_of(&self, server: ServerId, wall: WallTime) -> Instant {
        self.world.servers[server.index()].clock.instant_of(wall)
    }

    /// Returns whether a server is up.
    #[must_use]
    pub fn is_up(&self, server: ServerId) -> bool {
        self.world.servers[server.index()].is_up
    }

    /// Sends a reply after `cost` of the server's time.
    #[inline(always)]
    pub fn reply(&mut self, to: CallRef, reply: S::Reply, cost: Duration) {
        self.world.send_reply(to, reply, cost);
    }

    /// Sends a message to another server; it takes the link's latency.
    pub fn send(&mut self, from: ServerId, to: ServerId, message: S::Message) {
        self.world.send_peer(from, to, message);
    }

    /// Asks for [`Services::wake`] at an instant; a crash of the server forgets it.
    pub fn wake(&mut self, server: ServerId, at: Instant, token: u32) {
        let epoch = self.world.servers[server.index()].epoch;
        let wake = self.world.wakes.put((token, epoch));
        self.world.push_server(at, server, Action::Wake(wake));
    }

    /// Returns until when a server executes nothing; the past if it runs.
    #[must_use]
    pub fn stalled_until(&self, server: ServerId) -> Instant {
        self.world.servers[server.index()].stalled_until
    }

    /// Takes a server down, as its own crash or an operator's hand does, and starts it again after
    /// `down`, if ever; returns whether it was up. [`Services::crash`] is the caller's to call.
    pub fn take_down(&mut self, server: ServerId, down: Duration) -> bool {
        self.world.take_down(server, down)
    }

    /// Returns whether all faults are over.
    #[must_use]
    pub const fn is_healed(&self) -> bool {
        self.world.is_healed
    }

    /// Returns how many processes there are.
    #[must_use]
    pub fn processes(&self) -> usize {
        self.world.processes.len()
    }

    /// Sends a process a number to remember in the place of another, as a message that nobody asked
    /// for; see [`crate::Client::recall`].
    pub fn notify(&mut self, server: ServerId, process: ProcessId, old: u32, new: u32) {
        self.world.send_note(server, process, old, new);
    }

    /// Lets all processes remember a number at once, and those that start later, too: something
    /// between them and the servers has changed, such as who has an address.
    pub fn tell_all(&mut self, number: u32) {
        self.world.common_memory = number;
        for process in &mut self.world.processes {
            process.memory = number;
        }
    }

    /// Returns until when two servers are cut off from each other; the past if they are not.
    #[must_use]
    pub fn peers_cut_until(&self, server: ServerId, peer: ServerId) -> Instant {
        self.world.peers_cut_until(server, peer)
    }

    /// Loses all messages between a process and a server for a while.
    pub fn cut_off(&mut self, process: ProcessId, server: ServerId, length: Duration) {
        let link = crate::faults::link_place(process, server, self.world.servers.len());
        self.world.inject(Fault::Partition { link, length });
    }

    /// Loses all messages between two servers for a while.
    pub fn cut(&mut self, server: ServerId, peer: ServerId, length: Duration) {
        self.world.cut_peers(server, peer, length);
    }

    /// Tells what happened.
    #[inline(always)]
    pub fn emit(&mut self, what: What) {
        self.world.emit(what);
    }
}

/// A server as the world sees it.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    /// Requests executed so far.
    pub(crate) own: u32,
    /// The request after which the next planned fault takes place; `u32::MAX` if none does.
    pub(crate) next_fault: u32,
    pub(crate) is_up: bool,
    /// Until when it executes nothing.
    pub(crate) stalled_until: Instant,
    /// When it will have executed what it has got.
    pub(crate) busy_until: Instant,
    /// How often it has been started.
    pub(crate) epoch: u16,
    pub(crate) clock: crate::clock::Clock,
    /// The clock at the start of a run.
    pub(crate) first_clock: crate::clock::Clock,
    /// The shortest time it stays down.
    pub(crate) least_downtime: Duration,
    /// Who comes first of two requests at one instant.
    pub(crate) tie: fencepost_choice::SiteId,
}

impl<S: Services> World<S> {
    /// Takes a server down and plans its start; returns whether it was up.
    fn take_down(&mut self, server: ServerId, down: Duration) -> bool {
        let state = &mut self.servers[server.index()];
        if !state.is_up {
            return false;
        }
        state.is_up = false;
        let until = self.now + down.max(state.least_downtime);
        let epoch = state.epoch;
        self.emit(What::ServerDown { server, until });
        if until != Instant::NEVER {
            let number = self.next_number();
            let order = Order::fault(server.0, number);
            let action = Action::ServerStart(epoch.into());
            self.queue.push(Entry { at: until, order, action });
        }
        true
    }
}

impl<S: Services> Core<S> {
    /// Carries out a fault that was put off.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the door puts no other fault off")]
    pub(crate) fn strike_later(&mut self, place: u32) {
        let Self { world, services, .. } = self;
        let fault = world.later_faults[place as usize];
        match fault {
            Fault::Restart { server, down } | Fault::LosePower { server, down } => {
                let has_power = !matches!(fault, Fault::LosePower { .. });
                if world.take_down(server, down) {
                    services.crash(server, has_power, &mut ServerContext { world });
                }
            }
            Fault::StallServer { server, length } => {
                let until = world.now + length;
                let state = &mut world.servers[server.index()];
                state.stalled_until = state.stalled_until.max(until);
                world.emit(What::ServerStalled { server, until });
                services.stalled(server, until, &mut ServerContext { world });
            }
            Fault::StepServerClock { server, by } => {
                world.servers[server.index()].clock.step(by);
                world.emit(What::ServerClock { server, by });
                services.clock_changed(server, &mut ServerContext { world });
            }
            Fault::SetServerRate { server, rate } => {
                world.servers[server.index()].clock.set_rate(world.now, rate);
                world.emit(What::ServerRate { server, rate });
                services.clock_changed(server, &mut ServerContext { world });
            }
            Fault::SlewServer { server, by } => {
                let clock = world.servers[server.index()].clock;
                let (rate, length) = clock.slewed(by);
                world.inject_later(server.0, Fault::SetServerRate { server, rate }, Duration::ZERO);
                let fault = Fault::SetServerRate { server, rate: clock.rate() };
                world.inject_later(server.0, fault, length);
            }
            Fault::Operate { server, operation } => {
                services.operate(server, operation, &mut ServerContext { world });
            }
            Fault::SetRate { .. } => world.inject(fault),
            other => unreachable!("{other:?} is not put off"),
        }
    }
}
