//! `[workload]`: what clients do with the lock, and what the lock protects.

use fencepost_history::Duration;

use super::numbers::ClientCount;
use super::section::{Key, Keys, Section, section, words};

/// What clients do with the lock, and what the lock protects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// The client processes, in order.
    pub clients: Vec<Client>,
    /// What every client does where its own entry says nothing else.
    pub common: Behaviour,
    /// Whether each round of each client is a job of its own.
    pub occurrence: Occurrence,
    /// The virtual time after which faults heal and the run is brought to its end.
    pub horizon: Duration,
    /// The thing that the lock protects.
    pub resource: Resource,
}

impl Default for Workload {
    fn default() -> Self {
        let common = Behaviour::default();
        Self {
            clients: (0..2).map(|index| Client::nth(index, &common)).collect(),
            common,
            occurrence: Occurrence::Own,
            horizon: Duration::from_secs(3600),
            resource: Resource::default(),
        }
    }
}

impl Section for Workload {
    const DOC: &'static str = "What clients do with the lock, and what the lock protects.";

    fn keys<K: Keys>(&mut self, keys: &mut K) {
        let key = |name, doc| Key { name, doc, is_required: false };
        let mut count = ClientCount(u32::try_from(self.clients.len()).unwrap_or(u32::MAX));
        let is_count_given = keys.key(
            key("clients", "How many client processes there are; they are called c1, c2, ..."),
            &mut count,
        );
        self.common.keys(keys);
        keys.key(
            key("occurrence", "Whether each round of each client is a job of its own."),
            &mut self.occurrence,
        );
        keys.key(
            key("horizon", "The virtual time after which faults heal and the run ends."),
            &mut self.horizon,
        );
        keys.key(key("resource", Resource::DOC), &mut self.resource);
        let common = self.common.clone();
        keys.list(key("client", Client::DOC), &mut self.clients, |i| Client::nth(i, &common));
        let count = count.0 as usize;
        if is_count_given {
            self.clients.truncate(count);
        }
        for index in self.clients.len()..count {
            self.clients.push(Client::nth(index, &common));
        }
    }
}

super::value::table_value!(Workload);

section! {
    /// A client process: its name and start, and what it does differently from the others.
    pub struct Client {
        /// Its name.
        name: String = String::new(),
        /// When it starts. Defaults to 0 ms for the first, 1 ms for the second, and so on; the
        /// threads of one process start 0.1 ms apart.
        start: Duration = Duration::ZERO,
        /// What it does.
        ..behaviour: Behaviour,
    }
}

impl Client {
    /// Returns the client at an index where nothing is said about it.
    #[must_use]
    pub fn nth(index: usize, common: &Behaviour) -> Self {
        Self {
            name: format!("c{}", index + 1),
            start: Duration::from_millis(index as u64),
            behaviour: common.clone(),
        }
    }

    /// Returns when the client's thread at an index starts.
    #[must_use]
    pub fn thread_start(&self, index: u32) -> Duration {
        self.start.saturating_add(Duration::from_micros(100).saturating_mul(index.into()))
    }
}

section! {
    /// What a client does: rounds of taking the lock, reading, working, writing and giving back.
    pub struct Behaviour {
        /// How often each thread takes the lock.
        rounds: u32 = 1,
        /// How many threads of the process contend for the lock.
        threads: u32 = 1,
        /// How long after a refusal a thread asks again.
        retry_every: Duration = Duration::from_millis(100),
        /// By how much longer than `retry_every` it waits at most; the length is drawn at random,
        /// and is the middle one where nothing is.
        retry_jitter: Duration = Duration::ZERO,
        /// After how many attempts a thread stops asking; `"none"` for never.
        attempts: Option<u32> = None,
        /// How long a client waits for a server of the store; `"none"` for ever. Defaults to 50 ms
        /// for Redlock, and to 1 s for the other strategies.
        request_timeout: Option<Duration> = Some(Duration::from_secs(1)),
        /// How many reads a round makes before its work.
        reads: u32 = 1,
        /// How long the work takes.
        work: Duration = Duration::from_secs(5),
        /// What the work is.
        work_kind: WorkKind = WorkKind::Cpu,
        /// How many writes a round makes after its work.
        writes: u32 = 1,
        /// How long a client waits for the answer to a read; `"none"` for ever.
        read_timeout: Option<Duration> = Some(Duration::from_secs(1)),
        /// How long a client waits for the answer to a write, after which it gives the lock back;
        /// `"none"` for ever.
        write_timeout: Option<Duration> = Some(Duration::from_secs(1)),
        /// How far into its work a client extends the lock by hand; `"none"` for never.
        extend_after: Option<Duration> = None,
        /// What a client does when the protected resource refuses it.
        on_refusal: OnRefusal = OnRefusal::GiveUp,
    }
}

section! {
    /// The thing that the lock protects.
    pub struct Resource {
        /// Its name.
        name: String = "storage".to_owned(),
        /// Which accesses are compared with the highest token seen.
        fencing: Fencing = Fencing::Off,
        /// Which tokens pass the comparison.
        accept: Accept = Accept::AtLeast,
        /// Whether a write whose job is already done has no further effect.
        idempotency: bool = false,
    }
}

words! {
    /// Whether each round of each client is a job of its own.
    pub enum Occurrence {
        /// Each round is its own job.
        #[default]
        Own = "own",
        /// All rounds do the same job, whose effect should happen once.
        Shared = "shared",
    }
}

words! {
    /// What the work is.
    pub enum WorkKind {
        /// Computing, which a pause lengthens.
        #[default]
        Cpu = "cpu",
        /// Waiting for something outside, which goes on during a pause.
        Wait = "wait",
    }
}

words! {
    /// What a client does when the protected resource refuses it.
    pub enum OnRefusal {
        /// It ends its round and gives the lock back.
        #[default]
        GiveUp = "give-up",
        /// It fetches a new token, without a new grant, and tries again.
        RetryWithFreshToken = "retry-with-fresh-token",
        /// It takes a path that does not compare tokens.
        OtherPath = "other-path",
    }
}

words! {
    /// Which accesses are compared with the highest token seen.
    pub enum Fencing {
        /// None.
        #[default]
        Off = "off",
        /// Writes.
        Writes = "writes",
        /// Reads and writes.
        ReadsAndWrites = "reads-and-writes",
        /// Writes, but the comparison and the write are two steps.
        CheckNotAtomic = "check-not-atomic",
        /// Reads and writes, but a second way in compares nothing.
        SidePathOpen = "side-path-open",
    }
}

words! {
    /// Which tokens pass the comparison.
    pub enum Accept {
        /// The highest seen and higher ones.
        #[default]
        AtLeast = ">=",
        /// Only higher ones than the highest seen.
        Above = ">",
    }
}
