//! Moments that a scenario's settings never pass.

use fencepost_history::Moment;

use crate::scenario::{
    DeadlineCheck, Fencing, FencingToken, Release, Renew, Scenario, Strategy, WaitSent,
};

/// Says why a moment cannot come, if it cannot.
pub(super) fn never(scenario: &Scenario, moment: Moment) -> Option<&'static str> {
    let lock = &scenario.lock;
    let reads = scenario.workload.clients.iter().any(|client| client.behaviour.reads > 0);
    let writes = scenario.workload.clients.iter().any(|client| client.behaviour.writes > 0);
    let extends =
        scenario.workload.clients.iter().any(|client| client.behaviour.extend_after.is_some());
    let (is_possible, why) = match moment {
        Moment::ExpireDue => (
            lock.strategy == Strategy::SetNxExpire,
            "only `strategy = \"setnx-expire\"` sends the expiry apart",
        ),
        Moment::QuorumReached => {
            (lock.strategy == Strategy::Redlock, "only `strategy = \"redlock\"` has a quorum")
        }
        Moment::ValidityChecked | Moment::TooLate => (
            lock.redlock.as_ref().is_some_and(|rules| rules.min_validity.is_some()),
            "only Redlock with a `min_validity` looks at how much of the lock is left",
        ),
        Moment::CopiesAsked => (
            lock.wait_replicas > 0 && lock.wait_sent != WaitSent::Together,
            "no `WAIT` is sent apart from the command that takes the lock",
        ),
        Moment::TokenTaken => (
            matches!(lock.fencing_token, FencingToken::IncrAfterSet | FencingToken::ReadLater),
            "no `fencing_token` is taken apart from the lock",
        ),
        Moment::RenewSent | Moment::Renewed => {
            (lock.renew == Renew::Watchdog || extends, "nothing renews or extends the lock")
        }
        Moment::CheckedDeadline => {
            (lock.deadline_check != DeadlineCheck::None, "there is no `deadline_check`")
        }
        Moment::BeforeRead | Moment::ReadSent | Moment::ReadDone => (reads, "`reads` is 0"),
        Moment::BeforeWrite | Moment::WriteSent | Moment::WriteDone => (writes, "`writes` is 0"),
        Moment::AccessRefused => {
            (scenario.workload.resource.fencing != Fencing::Off, "there is no fencing")
        }
        Moment::ReleaseCompared => (
            lock.release == Release::GetThenDel,
            "only `release = \"get-then-del\"` compares apart from deleting",
        ),
        Moment::ReleaseSent | Moment::Released => {
            (lock.release != Release::None, "the lock is not given back")
        }
        Moment::Started
        | Moment::AcquireSent
        | Moment::Refused
        | Moment::Acquired
        | Moment::LossNoticed
        | Moment::WorkDone
        | Moment::BeforeRelease
        | Moment::Finished => (true, ""),
    };
    (!is_possible).then_some(why)
}
