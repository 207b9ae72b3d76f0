//! `[lock]`: the protocol by which clients take, keep and give back the lock.

use fencepost_history::Duration;

use super::redlock::Redlock;
use super::script::Script;
use super::section::{section, words};

section! {
    /// The protocol by which clients take, keep and give back the lock.
    pub struct Lock {
        /// The name of the lock; its key in the store is `lock:` and this name.
        name: String = "orders".to_owned(),
        /// How the lock is taken.
        strategy: Strategy,
        /// How long the store keeps the key; `"none"` for ever. Defaults to 30 s where the
        /// strategy sets an expiry.
        ttl: Option<Duration> = None,
        /// What is stored as the lock's value, by which a client knows its own lock.
        token: TokenSource = TokenSource::PerAcquisition,
        /// How the lock is given back. Defaults to `compare-and-delete` for `set-nx-px` and
        /// `redlock`, and to `del` for the others.
        release: Release = Release::CompareAndDelete,
        /// Whether a release that is not answered in time is sent once more.
        retry_release: bool = false,
        /// Whether a background thread keeps the lock alive.
        renew: Renew = Renew::Off,
        /// How often the background thread renews. Defaults to a third of the TTL.
        renew_every: Option<Duration> = None,
        /// Whether a renewal first compares the stored value with its own.
        renew_compare: bool = true,
        /// What the background thread does when a renewal finds the lock lost.
        on_loss: OnLoss = OnLoss::Silent,
        /// By which clock a client knows when its lock ends.
        clock: LeaseClock = LeaseClock::Wall,
        /// When a client compares its own clock with the deadline of its lock.
        deadline_check: DeadlineCheck = DeadlineCheck::None,
        /// How long before the deadline a check already says no.
        margin: Duration = Duration::ZERO,
        /// Where the number comes from that the protected resource compares.
        fencing_token: FencingToken = FencingToken::None,
        /// How many replicas must have the lock before a client believes that it holds it; 0 sends
        /// no `WAIT`.
        wait_replicas: u32 = 0,
        /// How long `WAIT` waits for them.
        wait_timeout: Duration = Duration::from_millis(100),
        /// When `WAIT` is sent.
        wait_sent: WaitSent = WaitSent::Together,
        /// What a client does if too few replicas have its lock.
        on_too_few: OnTooFew = OnTooFew::Undo,
        /// What the lock is for, which decides whether working twice is a violation.
        purpose: Purpose = Purpose::Correctness,
        /// What a second effect of one job does where the purpose is efficiency.
        effect: Effect = Effect::Harmless,
        /// How many servers decide, and where the libraries of Redlock differ.
        redlock?: Redlock,
        /// Lua scripts of one's own, where `strategy = "script"`.
        script?: Script,
    }
}

words! {
    /// How the lock is taken.
    pub enum Strategy {
        /// `SETNX key value`, without any expiry.
        SetNx = "setnx",
        /// `SETNX key value`, and then `EXPIRE key seconds` as a second command.
        SetNxExpire = "setnx-expire",
        /// `SET key value NX PX milliseconds`, one command.
        #[default]
        SetNxPx = "set-nx-px",
        /// `SET key value NX PX milliseconds` on independent servers; a majority decides.
        Redlock = "redlock",
        /// Lua scripts of one's own, given in `[lock.script]`.
        Script = "script",
    }
}

impl Strategy {
    /// Returns whether the strategy gives the key an expiry.
    #[must_use]
    pub const fn expires(self) -> bool {
        match self {
            Self::SetNx => false,
            Self::SetNxExpire | Self::SetNxPx | Self::Redlock | Self::Script => true,
        }
    }
}

words! {
    /// What is stored as the lock's value.
    pub enum TokenSource {
        /// The same value `1` for everybody.
        Fixed = "fixed",
        /// The name of the client's process.
        ProcessName = "process-name",
        /// The number of the thread within its process; other processes have the same numbers.
        ThreadId = "thread-id",
        /// A value that is new for each attempt.
        #[default]
        PerAcquisition = "per-acquisition",
    }
}

words! {
    /// How the lock is given back.
    pub enum Release {
        /// It is not: the key has to expire.
        None = "none",
        /// `DEL key`, whoever's it is.
        Del = "del",
        /// `GET key`, and `DEL key` as a second command if the value is one's own.
        GetThenDel = "get-then-del",
        /// A script that compares and deletes in one step.
        #[default]
        CompareAndDelete = "compare-and-delete",
    }
}

words! {
    /// Whether a background thread keeps the lock alive.
    pub enum Renew {
        /// No: the lock lives for its TTL.
        #[default]
        Off = "off",
        /// A watchdog thread renews the lock for as long as the process lives.
        Watchdog = "watchdog",
    }
}

words! {
    /// What the background thread does when a renewal finds the lock lost.
    pub enum OnLoss {
        /// Nothing: it stops, and the section is not told.
        #[default]
        Silent = "silent",
        /// It tells the section, which stops at its next step.
        Notify = "notify",
    }
}

words! {
    /// By which clock a client knows when its lock ends.
    pub enum LeaseClock {
        /// The wall clock, which can jump.
        #[default]
        Wall = "wall",
        /// The monotonic clock, which cannot.
        Monotonic = "monotonic",
    }
}

words! {
    /// When a client compares its own clock with the deadline of its lock.
    pub enum DeadlineCheck {
        /// Never.
        #[default]
        None = "none",
        /// Before each request to the protected resource.
        BeforeEachSend = "before-each-send",
        /// Before each write.
        BeforeWrite = "before-write",
    }
}

words! {
    /// Where the number comes from that the protected resource compares.
    pub enum FencingToken {
        /// There is none.
        #[default]
        None = "none",
        /// The script that takes the lock also counts up, in one step.
        InAcquireScript = "in-acquire-script",
        /// `INCR` as a second command, after the lock was taken.
        IncrAfterSet = "incr-after-set",
        /// The script that takes the lock counts up, but the client reads the counter later.
        ReadLater = "read-later",
    }
}

words! {
    /// When `WAIT` is sent.
    pub enum WaitSent {
        /// In one message with the command that takes the lock.
        #[default]
        Together = "together",
        /// As the next command of the same connection.
        Afterwards = "afterwards",
        /// As the first command of another connection of a pool, which has nothing to wait for.
        Elsewhere = "elsewhere",
    }
}

words! {
    /// What a client does if too few replicas have its lock.
    pub enum OnTooFew {
        /// It gives the lock back and asks again.
        #[default]
        Undo = "undo",
        /// It works under the lock all the same.
        GoOn = "go-on",
    }
}

words! {
    /// What the lock is for.
    pub enum Purpose {
        /// Two holders at once would do harm.
        #[default]
        Correctness = "correctness",
        /// It saves doing work twice; working twice is a cost, not a violation.
        Efficiency = "efficiency",
    }
}

words! {
    /// What a second effect of one job does.
    pub enum Effect {
        /// Nothing worse than the work.
        #[default]
        Harmless = "harmless",
        /// Harm, so that it is a violation even of an efficiency lock.
        Harmful = "harmful",
    }
}
