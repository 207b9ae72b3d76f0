//! Messages: five instants of a call, of which the network decides two.

use fencepost_history::{CallId, Duration, Instant, Leg, ProcessId, ServerId, ThreadId, What};

use crate::Services;
use crate::faults::link_place;
use crate::process::OpState;
use crate::queue::{Entry, Order};
use crate::run::Core;
use crate::server::{CallRef, NO_SLOT};
use crate::world::{Action, Letter, Note, PeerLetter, Said, Seat, World};

impl<S: Services> World<S> {
    /// Lets the network decide about one message; returns when it arrives,
    /// [`Instant::NEVER`] if it is lost.
    #[inline(always)]
    fn carry(&mut self, link: u32, leaves: Instant) -> Instant {
        let state = &mut self.links[link as usize];
        state.sent += 1;
        let is_watched = (state.sent == state.next_fault) | (state.cut_until > self.now);
        let Some(key) = self.network_key.filter(|_| !is_watched) else {
            return self.carry_watched(link, leaves);
        };
        let random = key.draw(state.hash, state.sent);
        if state.loses(random) { Instant::NEVER } else { leaves + state.latency.sample(random) }
    }

    /// Lets the network decide where faults, a log or the benign answers have a say.
    #[cold]
    fn carry_watched(&mut self, link: u32, leaves: Instant) -> Instant {
        let state = &self.links[link as usize];
        let mut latency = state.fixed;
        let mut is_lost = false;
        let is_planned = state.sent == state.next_fault;
        let mut is_cut = state.cut_until > self.now;
        if let Some(key) = self.choices.key() {
            let random = key.draw(state.hash, state.sent);
            latency = state.latency.sample(random).as_nanos();
            is_lost = state.loses(random) && !self.is_healed;
            let differs = latency != state.fixed || is_lost;
            if differs && self.choices.is_logging() {
                self.log_drawn(link, latency, is_lost);
            }
        }
        if is_planned {
            let (planned_latency, is_planned_loss) = self.link_fault(link, latency);
            latency = planned_latency;
            is_lost |= is_planned_loss;
            is_cut |= self.links[link as usize].cut_until > self.now;
        }
        if is_lost || is_cut { Instant::NEVER } else { leaves + Duration::from_nanos(latency) }
    }

    #[cold]
    fn log_drawn(&mut self, link: u32, latency: u64, is_lost: bool) {
        use fencepost_choice::{Anchor, Planned, Value};
        let state = &self.links[link as usize];
        let (sites, anchor) = (state.sites, Anchor::Nth(state.sent));
        let plan = self.choices.plan();
        // What is planned there is noted when it takes place.
        let is_planned = |site| plan.iter().any(|p| (p.site, p.anchor) == (site, anchor));
        let (has_latency, has_loss) = (is_planned(sites.latency), is_planned(sites.loss));
        if !has_latency && latency != state.fixed {
            let value = Value::Length(Duration::from_nanos(latency));
            self.choices.note(Planned { site: sites.latency, anchor, value });
        }
        if is_lost && !has_loss {
            self.choices.note(Planned { site: sites.loss, anchor, value: Value::Pick(1) });
        }
    }

    /// Sends a reply after `cost` of the server's time.
    #[inline(always)]
    pub(crate) fn send_reply(&mut self, to: CallRef, reply: S::Reply, cost: Duration) {
        let CallRef { call, thread, server, slot } = to;
        let state = &mut self.servers[server.index()];
        let leaves = state.busy_until.max(self.now) + cost;
        state.busy_until = leaves;
        if !to.wants_reply() {
            return;
        }
        let state = &mut self.threads[thread.index()];
        let process = state.process;
        let op = state.op(slot);
        if op.call == call {
            // Only the call that still has the slot will ever see it.
            op.reply = Some(reply);
        }
        let link = link_place(process, server, self.servers.len()) + 1;
        let arrives = self.carry(link, leaves);
        self.emit(What::Replied { call, server, arrives });
        self.say(Said::Reply(server, reply));
        if arrives == Instant::NEVER {
            self.emit(What::Dropped { call, leg: Leg::Reply });
            return;
        }
        let order = Order::reply(process.0, call.0);
        let action = Action::Reply(Seat::new(thread, slot));
        self.queue.push(Entry { at: arrives, order, action });
    }

    /// Takes a reply that has arrived; returns whether its thread sees it.
    #[inline(always)]
    pub(crate) fn take_reply(&mut self, call: CallId, thread: ThreadId, slot: u8) -> bool {
        let state = &mut self.threads[thread.index()];
        let process = state.process;
        let owner = &mut self.processes[process.index()];
        if call.0 <= owner.lost_calls {
            self.emit(What::Dropped { call, leg: Leg::Reply });
            return false;
        }
        if state.is_stopped {
            self.defer_reply(call, thread, slot);
            return false;
        }
        let is_used = state.uses(slot);
        let op = state.op(slot);
        if op.call != call || op.state != OpState::Waiting || !is_used {
            // The client has given this call up: nobody sees its reply.
            return false;
        }
        let wants = state.answer(usize::from(slot), OpState::Replied);
        let passed = owner.pass_step(process);
        self.mention(What::Seen { call });
        self.goes_on(thread, passed, wants)
    }

    /// Puts a reply off until its thread runs again.
    #[cold]
    fn defer_reply(&mut self, call: CallId, thread: ThreadId, slot: u8) {
        let state = &self.threads[thread.index()];
        let process = state.process;
        let at = self.processes[process.index()].paused_until.max(state.stalled_until);
        if at != Instant::NEVER {
            let order = Order::reply(process.0, call.0);
            let action = Action::Reply(Seat::new(thread, slot));
            self.queue.push(Entry { at, order, action });
        }
    }

    /// Sends a process a number to remember in the place of another.
    pub(crate) fn send_note(&mut self, server: ServerId, process: ProcessId, old: u32, new: u32) {
        let link = link_place(process, server, self.servers.len()) + 1;
        let at = self.carry(link, self.now);
        if at == Instant::NEVER {
            return;
        }
        let starts = self.processes[process.index()].starts;
        let note = self.notes.put(Note { old, new, starts });
        let order = Order::reply(process.0, 0);
        self.queue.push(Entry { at, order, action: Action::Note(note) });
    }

    /// Lets a process remember what it was sent, unless it has died since or knows better.
    pub(crate) fn take_note(&mut self, process: ProcessId, note: u32) {
        let Note { old, new, starts } = *self.notes.get(note);
        self.notes.free(note);
        let state = &mut self.processes[process.index()];
        if state.starts == starts && state.memory == old {
            state.memory = new;
        }
    }

    pub(crate) fn peers_cut_until(&self, server: ServerId, peer: ServerId) -> Instant {
        let cuts = self.peer_cuts.iter().filter(|&&(one, other, _)| {
            (one, other) == (server, peer) || (one, other) == (peer, server)
        });
        cuts.map(|&(.., until)| until).max().unwrap_or(Instant::ZERO)
    }

    pub(crate) fn send_peer(&mut self, from: ServerId, to: ServerId, message: S::Message) {
        let is_cut = self.peers_cut_until(from, to) > self.now;
        let arrives = if is_cut { Instant::NEVER } else { self.now + self.peer_latency };
        self.emit(What::PeerSent { from, to, arrives });
        if is_cut {
            return;
        }
        let message = self.peers.put(PeerLetter { from, to, payload: Some(message) });
        self.push_server(arrives, to, Action::Peer(message));
    }

    /// Cuts two servers off from each other.
    pub(crate) fn cut_peers(&mut self, server: ServerId, peer: ServerId, length: Duration) {
        let until = self.now + length;
        self.peer_cuts.push((server, peer, until));
        self.emit(What::PeersCut { server, peer, until });
    }
}

impl<S: Services> Core<S> {
    /// Sends a request whose reply nobody awaits.
    #[inline]
    pub(crate) fn send_unawaited(
        &mut self,
        thread: ThreadId,
        server: ServerId,
        request: &S::Request,
    ) {
        let process = self.world.threads[thread.index()].process;
        self.world.last_call += 1;
        let call = CallId(self.world.last_call);
        self.send_request(CallRef { call, thread, server, slot: NO_SLOT }, process, request);
    }

    /// Sends a request of a process.
    #[inline(always)]
    pub(crate) fn send_request(&mut self, to: CallRef, process: ProcessId, request: &S::Request) {
        let Self { world, requests, .. } = self;
        let CallRef { call, thread, server, .. } = to;
        let link = link_place(process, server, world.servers.len());
        let arrives = world.carry(link, world.now);
        world.emit(What::Sent { call, thread, server, arrives });
        world.say(Said::Request(server, *request));
        if arrives == Instant::NEVER {
            world.emit(What::Dropped { call, leg: Leg::Request });
            return;
        }
        let message = requests.put(Letter { to, payload: *request });
        let order = Order::server(server.0, call.0);
        world.queue.push(Entry { at: arrives, order, action: Action::Request(message) });
    }
}
