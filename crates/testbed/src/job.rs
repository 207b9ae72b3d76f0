//! What one worker does, with everything resolved to numbers.

use std::cell::Cell;

use fencepost_choice::Distribution;
use fencepost_history::{Duration, JobId, LockId, ServerId, ThreadId};
use fencepost_locks::{Grant, Identity};

/// What one worker thread does, round by round.
#[derive(Clone, Debug)]
pub struct Job {
    /// Who it is.
    pub who: Identity,
    /// The lock it takes.
    pub lock: LockId,
    /// The resource it reads and writes.
    pub resource: ServerId,
    /// How long after its process it starts.
    pub starts_after: Duration,
    /// How often it takes the lock.
    pub rounds: u32,
    /// How long it waits after a refusal.
    pub retry_every: Distribution,
    /// After how many attempts it stops asking.
    pub attempts: u32,
    /// How many reads a section begins with.
    pub reads: u32,
    /// How long the work between reads and writes takes.
    pub work: Duration,
    /// Whether a pause lengthens the work.
    pub work_is_cpu: bool,
    /// How many writes a section ends with.
    pub writes: u32,
    /// How long it waits for a read's answer; [`Duration::MAX`] for ever.
    pub read_timeout: Duration,
    /// How long it waits for a write's answer; [`Duration::MAX`] for ever.
    pub write_timeout: Duration,
    /// How far into its work it extends the lock by hand.
    pub extend_at: Option<Duration>,
    /// Before which requests it compares its clock with the lock's end.
    pub deadline_check: DeadlineCheck,
    /// How long before the lock's end the check says no.
    pub margin: Duration,
    /// Whether it goes on working and writing until the check says no.
    pub works_until_deadline: bool,
    /// What it does when the resource refuses it.
    pub on_refusal: OnRefusal,
    /// Which of its accesses take the side path.
    pub side_path: SidePath,
    /// The thread that renews the lock, and how often.
    pub renewer: Option<(ThreadId, Duration)>,
    /// Whether the renewer tells the section of a loss.
    pub notifies: bool,
    /// The number of the first effect of its first round.
    pub first_effect: u32,
    /// By how much the number grows from round to round.
    pub effects_a_round: u32,
}

/// Before which requests to the resource a client checks its deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeadlineCheck {
    /// None.
    #[default]
    Never,
    /// Reads and writes.
    BeforeEachSend,
    /// Writes.
    BeforeWrite,
}

/// What a client does when the resource refuses it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnRefusal {
    /// It ends the section and gives the lock back.
    #[default]
    GiveUp,
    /// It fetches a new token without a new grant and tries again.
    RetryWithFreshToken,
    /// It takes the side path.
    OtherPath,
}

/// Which accesses take the side path of the resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SidePath {
    /// None.
    #[default]
    Nothing,
    /// The writes.
    Writes,
    /// The last write, such as a notification.
    LastWrite,
}

impl Job {
    /// Returns the number of an effect.
    #[must_use]
    pub const fn effect(&self, round: u32, write: u32) -> JobId {
        JobId(self.first_effect + round * self.effects_a_round + write)
    }
}

/// What a worker and its renewer share: the memory of their process.
#[derive(Debug, Default)]
pub struct Hold {
    /// The grant that is believed.
    pub grant: Cell<Option<Grant>>,
    /// Whether the renewer told the section that the lock is lost.
    pub is_lost: Cell<bool>,
}
