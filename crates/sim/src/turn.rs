//! One event: which one is next, who takes it, and whose code runs then.

use fencepost_history::{CallId, Instant, Leg, ProcessId, ServerId, ThreadId, What};

use crate::Services;
use crate::queue::{Entry, Order};
use crate::run::{Core, Next, Stop};
use crate::server::ServerContext;
use crate::world::{Action, Letter, World};

/// Whose code runs after an event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Turn {
    Nobody,
    Thread(ThreadId),
    /// The event is no message and no timer, and still to be taken.
    Rare,
    /// There was no event.
    Still,
}

impl Turn {
    /// It is a thread's turn if its code saw the event.
    #[inline(always)]
    const fn of(thread: ThreadId, has_seen: bool) -> Self {
        if has_seen { Self::Thread(thread) } else { Self::Nobody }
    }
}

impl<S: Services> Core<S> {
    /// Takes the next event, unless it is a rare one.
    #[inline(always)]
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is rare is taken elsewhere")]
    pub(crate) fn take_event(&mut self, until: Instant) -> Turn {
        let world = &mut self.world;
        let queued = world.queue.next_at();
        let (timer, thread) = world.soonest_timer(queued);
        let at = timer.min(queued);
        if at > until.as_nanos() || at == u64::MAX {
            return Turn::Still;
        }
        world.now = world.now.max(Instant::from_nanos(at));
        if timer < queued {
            return Turn::of(thread, world.fire_timer(thread));
        }
        if (timer == queued || world.queue.is_tied())
            && let Some(thread) = world.settle_tie(timer == queued)
        {
            return Turn::of(thread, world.fire_timer(thread));
        }
        let Entry { order, action, .. } = *world.queue.peek().expect("something is queued");
        match action {
            Action::Reply(seat) => {
                world.queue.pop();
                let (thread, slot) = seat.parts();
                Turn::of(thread, world.take_reply(CallId(order.number()), thread, slot))
            }
            Action::Request(message) => {
                world.queue.pop();
                self.execute(message);
                Turn::Nobody
            }
            _ => Turn::Rare,
        }
    }

    /// Lets a server execute a request that has arrived.
    #[inline(never)]
    fn execute(&mut self, message: u32) {
        let Self { world, services, requests } = self;
        let Letter { to, payload } = requests.get(message);
        let server = to.server;
        let state = &mut world.servers[server.index()];
        if !state.is_up {
            world.emit(What::Dropped { call: to.call, leg: Leg::Request });
        } else if state.stalled_until > world.now {
            let at = state.stalled_until;
            if at != Instant::NEVER {
                let order = Order::server(server.0, to.call.0);
                world.queue.push(Entry { at, order, action: Action::Request(message) });
                return;
            }
        } else {
            state.own += 1;
            let has_fault = state.own == state.next_fault;
            world.mention(What::Applied { call: to.call, server });
            services.serve(*to, payload, &mut ServerContext { world });
            if has_fault {
                world.server_fault(server);
            }
        }
        requests.free(message);
    }

    /// Takes an event that is no message and no timer; returns whose code it sets going.
    #[cold]
    pub(crate) fn take_rare(&mut self) -> Option<Next> {
        let Self { world, services, .. } = self;
        let Entry { order, action, .. } = world.queue.pop()?;
        let (process, server) = (ProcessId(order.actor()), ServerId(order.actor()));
        match action {
            Action::Peer(message) => {
                let letter = world.peers.get_mut(message);
                let (from, to) = (letter.from, letter.to);
                if world.put_off(to, action) {
                    return None;
                }
                let letter = world.peers.get_mut(message);
                let payload = letter.payload.take().expect("a message arrives once");
                world.peers.free(message);
                if world.servers[to.index()].is_up {
                    services.receive(to, from, &payload, &mut ServerContext { world });
                }
            }
            Action::Note(note) => world.take_note(process, note),
            Action::Wake(wake) => {
                if world.put_off(server, action) {
                    return None;
                }
                let (token, epoch) = *world.wakes.get(wake);
                world.wakes.free(wake);
                let state = &world.servers[server.index()];
                if state.is_up && state.epoch == epoch {
                    services.wake(server, token, &mut ServerContext { world });
                }
            }
            Action::Start => {
                world.start_process(process);
                return Some(Next::Start(process));
            }
            Action::Resume => {
                world.resume_process(process);
                return Some(Next::Resume(process));
            }
            Action::Unstall(thread) => {
                let thread = ThreadId(u16::try_from(thread).expect("ids have 16 bits"));
                world.resume_thread(thread);
                return Some(Next::Resume(world.threads[thread.index()].process));
            }
            Action::Planned(place) => world.planned_now(place),
            Action::Hazard(_) if world.is_healed => {}
            Action::Hazard(place) => world.strike(place),
            Action::Fault(place) => self.strike_later(place),
            Action::ServerStart(epoch) => {
                let state = &mut world.servers[server.index()];
                if !state.is_up && u32::from(state.epoch) == epoch {
                    state.is_up = true;
                    state.epoch += 1;
                    state.busy_until = world.now;
                    world.emit(What::ServerUp { server });
                    services.start(server, &mut ServerContext { world });
                }
            }
            Action::Request(_) | Action::Reply(_) => {
                unreachable!("the loop takes these itself")
            }
        }
        None
    }
}

impl<S: Services> World<S> {
    /// Returns why there is no event up to an instant, and lets that pass.
    #[cold]
    pub(crate) fn still(&mut self, until: Instant) -> Stop {
        if until == Instant::NEVER {
            return Stop::Idle;
        }
        self.now = self.now.max(until);
        Stop::Reached
    }
}
