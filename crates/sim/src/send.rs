//! Messages: five instants of a call, of which the network decides two.

use fencepost_history::{CallId, Duration, Instant, Leg, ServerId, ThreadId, What};

use crate::Services;
use crate::faults::link_place;
use crate::process::{OpState, slot_place};
use crate::queue::{Entry, Order};
use crate::server::{CallRef, NO_SLOT};
use crate::world::{Action, Letter, PeerLetter, Said, World};

impl<S: Services> World<S> {
    /// Lets the network decide about one message; returns when it arrives,
    /// [`Instant::NEVER`] if it is lost.
    #[inline(always)]
    fn carry(&mut self, link: u32, leaves: Instant) -> Instant {
        let state = &mut self.links[link as usize];
        state.sent += 1;
        let mut latency = state.fixed;
        let mut is_lost = false;
        let mut is_planned = state.sent == state.next_fault;
        let cut_until = state.cut_until;
        if let Some(key) = self.choices.key() {
            // One draw decides both: its upper bits the latency, its lower ones the loss.
            let random = key.draw(state.hash, state.sent);
            if state.is_drawn {
                latency = state.latency.sample(random).as_nanos();
            }
            is_lost = random << 32 < state.loss_odds && !self.is_healed;
            let differs = latency != state.fixed || is_lost;
            if differs && self.choices.is_logging() {
                self.log_drawn(link, latency, is_lost);
            }
        }
        if is_planned {
            let (planned_latency, is_planned_loss) = self.link_fault(link, latency);
            latency = planned_latency;
            is_lost |= is_planned_loss;
            is_planned = self.links[link as usize].cut_until > self.now;
        }
        if is_lost || is_planned || cut_until > self.now {
            return Instant::NEVER;
        }
        leaves + Duration::from_nanos(latency)
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

    /// Sends a request; `slot` is [`NO_SLOT`] if nobody waits for the reply.
    #[inline(always)]
    pub(crate) fn send_request(
        &mut self,
        thread: ThreadId,
        server: ServerId,
        slot: u8,
        request: &S::Request,
    ) -> CallId {
        self.last_call += 1;
        let call = CallId(self.last_call);
        let process = self.threads[thread.index()].process;
        let link = link_place(process, server, self.servers.len());
        let arrives = self.carry(link, self.now);
        self.emit(What::Sent { call, thread, server, arrives });
        self.say(Said::Request(server, *request));
        if slot != NO_SLOT {
            self.slots[slot_place(thread, slot)].call = call;
        }
        if arrives == Instant::NEVER {
            self.emit(What::Dropped { call, leg: Leg::Request });
            return call;
        }
        let incarnation = self.processes[process.index()].incarnation;
        let to = CallRef { call, thread, server, incarnation, slot };
        let message = self.requests.put(Letter { to, payload: *request });
        let order = Order::server(server.0, call.0);
        self.queue.push(Entry { at: arrives, order, action: Action::Request { message } });
        call
    }

    /// Sends a reply after `cost` of the server's time.
    #[inline(always)]
    pub(crate) fn send_reply(&mut self, to: CallRef, reply: S::Reply, cost: Duration) {
        let CallRef { call, thread, server, .. } = to;
        let state = &mut self.servers[server.index()];
        let leaves = state.busy_until.max(self.now) + cost;
        state.busy_until = leaves;
        if !to.wants_reply() {
            return;
        }
        let process = self.threads[thread.index()].process;
        let link = link_place(process, server, self.servers.len()) + 1;
        let arrives = self.carry(link, leaves);
        self.emit(What::Replied { call, server, arrives });
        self.say(Said::Reply(server, reply));
        if arrives == Instant::NEVER {
            self.emit(What::Dropped { call, leg: Leg::Reply });
            return;
        }
        let message = self.replies.put(Letter { to, payload: reply });
        let order = Order::reply(process.0, call.0);
        self.queue.push(Entry { at: arrives, order, action: Action::Reply { message } });
    }

    /// Takes a reply that has arrived; returns the thread that sees it, if one does.
    #[inline(always)]
    pub(crate) fn take_reply(&mut self, message: u32) -> Option<ThreadId> {
        let Letter { to, .. } = *self.replies.get(message);
        let thread = to.thread;
        let state = &self.threads[thread.index()];
        let process = state.process;
        let owner = &self.processes[process.index()];
        if !owner.is_alive || owner.incarnation != to.incarnation {
            self.replies.free(message);
            self.emit(What::Dropped { call: to.call, leg: Leg::Reply });
            return None;
        }
        if state.is_stopped {
            self.defer_reply(thread, message);
            return None;
        }
        let op = &mut self.slots[slot_place(thread, to.slot)];
        if op.call != to.call || op.state != OpState::Waiting || state.used & (1 << to.slot) == 0 {
            // The client has given this call up: nobody sees its reply.
            self.replies.free(message);
            return None;
        }
        op.state = OpState::Replied;
        op.reply = Some(self.replies.get(message).payload);
        op.deadline = Instant::NEVER;
        self.replies.free(message);
        if self.threads[thread.index()].used.is_power_of_two() {
            self.timers[thread.index()] = Instant::NEVER.as_nanos();
        } else {
            self.retime(thread);
        }
        self.mention(What::Seen { call: to.call });
        self.count_own(process);
        Some(thread)
    }

    /// Puts a reply off until its thread runs again.
    #[cold]
    fn defer_reply(&mut self, thread: ThreadId, message: u32) {
        let state = &self.threads[thread.index()];
        let process = state.process;
        let at = self.processes[process.index()].paused_until.max(state.stalled_until);
        if at == Instant::NEVER {
            self.replies.free(message);
            return;
        }
        let call = self.replies.get(message).to.call;
        let order = Order::reply(process.0, call.0);
        self.queue.push(Entry { at, order, action: Action::Reply { message } });
    }

    pub(crate) fn send_peer(&mut self, from: ServerId, to: ServerId, message: S::Message) {
        let is_cut = self.peer_cuts.iter().any(|&(one, other, until)| {
            until > self.now && ((one, other) == (from, to) || (one, other) == (to, from))
        });
        let arrives = if is_cut { Instant::NEVER } else { self.now + self.peer_latency };
        self.emit(What::PeerSent { from, to, arrives });
        if is_cut {
            return;
        }
        let message = self.peers.put(PeerLetter { from, to, payload: Some(message) });
        self.push_server(arrives, to, Action::Peer { message });
    }

    /// Cuts two servers off from each other.
    pub(crate) fn cut_peers(&mut self, server: ServerId, peer: ServerId, length: Duration) {
        let until = self.now + length;
        self.peer_cuts.push((server, peer, until));
        self.emit(What::PeersCut { server, peer, until });
    }
}
