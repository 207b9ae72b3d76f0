//! The peer job as a bare event loop: the same messages, timers and draws, and nothing else.
//!
//! It is what the job costs without clients' code, servers, faults, checkers or a hash: a sorted
//! vector of events, a small state for each client, one key with its owner and deadline. Its
//! counts must equal the simulator's before a ratio is printed.

use fencepost_choice::{RunKey, site_hash};

use crate::Count;
use crate::jobs::Peer;

const TICK: u64 = 20_000_000;
/// How long a key lives: from the SET to the millisecond after its time to live of 99 ms.
const LIFE: u64 = 5 * TICK;
const WORK: u64 = TICK;
const RETRY: u64 = 2 * TICK;
const PAUSE: u64 = 12 * TICK;
/// A pause comes with odds of 1/64.
const PAUSE_ODDS: u64 = 1 << 58;

/// The servers as the order of events numbers them, and the links to them.
const NODE: u64 = 0;
const RESOURCE: u64 = 1;
const TO_NODE: usize = 0;
const TO_RESOURCE: usize = 2;

/// What orders events at one instant: kind, actor, number of the call.
const KIND: u32 = 60;
const ACTOR: u32 = 44;
const OF_SERVER: u64 = 1;
const OF_REPLY: u64 = 2;

#[derive(Clone, Copy)]
enum What {
    Start,
    Resume,
    Set,
    /// The number of the grant; 0 for a refusal.
    SetReply(u32),
    Write(u32),
    WriteReply,
    Release(u32),
    ReleaseReply,
}

#[derive(Clone, Copy)]
struct Event {
    at: u64,
    order: u64,
    client: u32,
    what: What,
}

impl Event {
    const fn call(&self) -> u64 {
        self.order & ((1 << ACTOR) - 1)
    }

    /// Returns whether it is due with another event of the same server.
    const fn is_tied(&self, other: &Self) -> bool {
        self.at == other.at
            && self.order >> ACTOR == other.order >> ACTOR
            && self.order >> KIND == OF_SERVER
    }
}

#[derive(Clone, Copy)]
enum Timer {
    Retry,
    Work,
}

#[derive(Clone, Copy)]
struct Client {
    timer: Timer,
    grant: u32,
    rounds: u32,
    /// Messages on its links so far: to and from the node, to and from the resource.
    sent: [u32; 4],
    /// Passings of the moment at which a pause may come.
    pauses_asked: u32,
}

/// The hashes of a client's sites.
struct Sites {
    latency: [u64; 4],
    pause: u64,
}

impl Sites {
    fn new(place: usize) -> Self {
        let name = format!("c{}", place + 1);
        let latency = |from: &str, to: &str| site_hash(&format!("net.latency@{from}->{to}"));
        Self {
            latency: [
                latency(&name, "r1"),
                latency("r1", &name),
                latency(&name, "storage"),
                latency("storage", &name),
            ],
            pause: site_hash(&format!("hazard.when.{place}@client.pause@{name}")),
        }
    }
}

/// The loop and all that it knows.
pub(crate) struct Bare {
    job: Peer,
    sites: Vec<Sites>,
    ties: [u64; 2],
    key: RunKey,
    now: u64,
    /// What will happen, soonest last.
    queue: Vec<Event>,
    /// When each client's timer fires.
    timers: Vec<u64>,
    clients: Vec<Client>,
    ties_asked: [u32; 2],
    last_call: u64,
    last_grant: u32,
    /// The grant whose the key is, and until when.
    owner: u32,
    deadline: u64,
    /// The newest grant that has written.
    newest: u32,
    is_stale: bool,
}

impl Bare {
    pub(crate) fn new(job: Peer) -> Self {
        Self {
            job,
            sites: (0..job.clients as usize).map(Sites::new).collect(),
            ties: ["order.tie@r1", "order.tie@storage"].map(site_hash),
            key: RunKey::new(0, 0),
            now: 0,
            queue: Vec::new(),
            timers: Vec::new(),
            clients: Vec::new(),
            ties_asked: [0; 2],
            last_call: 0,
            last_grant: 0,
            owner: 0,
            deadline: 0,
            newest: 0,
            is_stale: false,
        }
    }

    /// Does one run.
    pub(crate) fn run(&mut self, key: RunKey) -> Count {
        self.reset(key);
        let mut events = 0;
        loop {
            let (timer, client) = self.soonest_timer();
            let queued = self.queue.last().map_or(u64::MAX, |event| event.at);
            let at = timer.min(queued);
            if at == u64::MAX {
                return Count { events, stale: u64::from(self.is_stale) };
            }
            self.now = at;
            events += 1;
            if timer < queued {
                self.fire(client);
            } else {
                let event = self.take();
                self.happen(event);
            }
        }
    }

    fn reset(&mut self, key: RunKey) {
        let rounds = self.job.rounds;
        let client =
            Client { timer: Timer::Retry, grant: 0, rounds, sent: [0; 4], pauses_asked: 0 };
        self.key = key;
        self.now = 0;
        self.queue.clear();
        self.timers.clear();
        self.timers.resize(self.sites.len(), u64::MAX);
        self.clients.clear();
        self.clients.resize(self.sites.len(), client);
        self.ties_asked = [0; 2];
        self.last_call = 0;
        self.last_grant = 0;
        self.owner = 0;
        self.newest = 0;
        self.is_stale = false;
        for client in 0..self.job.clients {
            self.push(0, u64::from(client) << ACTOR, client, What::Start);
        }
    }

    fn soonest_timer(&self) -> (u64, u32) {
        let (mut soonest, mut client) = (u64::MAX, 0);
        for (place, &timer) in (0..).zip(&self.timers) {
            if timer < soonest {
                (soonest, client) = (timer, place);
            }
        }
        (soonest, client)
    }

    /// Takes the next event; a draw decides between requests that reach one server together.
    fn take(&mut self) -> Event {
        if let [.., second, head] = self.queue.as_slice()
            && second.is_tied(head)
        {
            let tied = self.queue.iter().rev().take_while(|event| event.is_tied(head)).count();
            let server = usize::from(head.order >> ACTOR & 1 == RESOURCE);
            self.ties_asked[server] += 1;
            let random = self.key.draw(self.ties[server], self.ties_asked[server]);
            let later = usize::try_from((u128::from(random) * tied as u128) >> 64);
            let later = later.expect("it is less than the number of events");
            return self.queue.remove(self.queue.len() - 1 - later);
        }
        self.queue.pop().expect("something is queued")
    }

    fn push(&mut self, at: u64, order: u64, client: u32, what: What) {
        let mut place = self.queue.len();
        while place > 0 && (self.queue[place - 1].at, self.queue[place - 1].order) < (at, order) {
            place -= 1;
        }
        self.queue.insert(place, Event { at, order, client, what });
    }

    /// Draws when a message arrives that is sent now.
    fn arrives(&mut self, client: u32, link: usize) -> u64 {
        let sent = &mut self.clients[client as usize].sent[link];
        *sent += 1;
        let random = self.key.draw(self.sites[client as usize].latency[link], *sent);
        self.now + TICK * (1 + (random >> 63))
    }

    fn request(&mut self, client: u32, what: What) {
        self.last_call += 1;
        let is_access = matches!(what, What::Write(_));
        let (server, link) = if is_access { (RESOURCE, TO_RESOURCE) } else { (NODE, TO_NODE) };
        let at = self.arrives(client, link);
        let order = OF_SERVER << KIND | server << ACTOR | self.last_call;
        self.push(at, order, client, what);
    }

    fn reply(&mut self, event: &Event, link: usize, what: What) {
        let at = self.arrives(event.client, link + 1);
        let order = OF_REPLY << KIND | u64::from(event.client) << ACTOR | event.call();
        self.push(at, order, event.client, what);
    }

    fn start_timer(&mut self, client: u32, timer: Timer, length: u64) {
        self.clients[client as usize].timer = timer;
        self.timers[client as usize] = self.now + length;
    }

    fn fire(&mut self, client: u32) {
        self.timers[client as usize] = u64::MAX;
        let state = &mut self.clients[client as usize];
        match state.timer {
            Timer::Retry => self.request(client, What::Set),
            Timer::Work => {
                state.pauses_asked += 1;
                let (grant, nth) = (state.grant, state.pauses_asked);
                if self.key.draw(self.sites[client as usize].pause, nth) < PAUSE_ODDS {
                    let order = u64::from(client) << ACTOR | u64::from(nth);
                    self.push(self.now + PAUSE, order, client, What::Resume);
                } else {
                    self.request(client, What::Write(grant));
                }
            }
        }
    }

    fn happen(&mut self, event: Event) {
        let client = event.client;
        match event.what {
            What::Start => self.request(client, What::Set),
            What::Resume => {
                let grant = self.clients[client as usize].grant;
                self.request(client, What::Write(grant));
            }
            What::Set => {
                let mut grant = 0;
                if self.owner == 0 || self.now >= self.deadline {
                    self.last_grant += 1;
                    grant = self.last_grant;
                    self.owner = grant;
                    self.deadline = self.now + LIFE;
                }
                self.reply(&event, TO_NODE, What::SetReply(grant));
            }
            What::SetReply(0) => self.start_timer(client, Timer::Retry, RETRY),
            What::SetReply(grant) => {
                self.clients[client as usize].grant = grant;
                self.start_timer(client, Timer::Work, WORK);
            }
            What::Write(grant) => {
                if grant >= self.newest {
                    self.newest = grant;
                } else if !self.job.is_fenced {
                    self.is_stale = true;
                }
                self.reply(&event, TO_RESOURCE, What::WriteReply);
            }
            What::WriteReply => {
                let grant = self.clients[client as usize].grant;
                self.request(client, What::Release(grant));
            }
            What::Release(grant) => {
                if self.owner == grant && self.now < self.deadline {
                    self.owner = 0;
                }
                self.reply(&event, TO_NODE, What::ReleaseReply);
            }
            What::ReleaseReply => {
                let state = &mut self.clients[client as usize];
                state.rounds -= 1;
                if state.rounds > 0 {
                    self.request(client, What::Set);
                }
            }
        }
    }
}
