//! The operations of servers that a scenario's faults name.

use fencepost_history::{Duration, ProcessId, ServerId};
use fencepost_services::{ErrorCode, KeyId, KeyNames, Operation};

use crate::scenario::{Fault, Scenario, ServerError, StreamFault};

/// Returns the operations in the order of their faults, which is what deviations count by.
pub(crate) fn all(scenario: &Scenario, lock: KeyId, names: &mut KeyNames) -> Vec<Operation> {
    let faults = scenario.fault.iter().filter(|fault| fault.is_operation());
    faults.map(|fault| one(scenario, fault, lock, names)).collect()
}

#[expect(clippy::wildcard_enum_match_arm, reason = "all other faults are no operations")]
fn one(scenario: &Scenario, fault: &Fault, lock: KeyId, names: &mut KeyNames) -> Operation {
    // The reader of the scenario refuses unknown names before.
    let server = |name: &str| scenario.server(name).unwrap_or(ServerId(0));
    match fault {
        Fault::Outsider(outsider) => {
            // A command that the model does not know does nothing; it is refused before, too.
            Operation::parse(&outsider.command, names).unwrap_or(Operation::ForgetTokens)
        }
        Fault::Failover(failover) => Operation::Failover {
            to: server(&failover.to),
            after: failover.after,
            down: failover.back_after.unwrap_or(Duration::MAX),
        },
        Fault::ReplicationStall(StreamFault { replica, length, .. }) => Operation::StallStream {
            replica: server(replica),
            length: length.unwrap_or(Duration::MAX),
        },
        Fault::ReplicationCut(StreamFault { replica, length, .. }) => Operation::CutStream {
            replica: server(replica),
            length: length.unwrap_or(Duration::MAX),
        },
        Fault::Split(split) => {
            let off = split.off.iter();
            let processes: Vec<ProcessId> =
                off.clone().filter_map(|name| scenario.process(name)).collect();
            let servers = off.filter_map(|name| scenario.server(name)).collect();
            let length = split.length.unwrap_or(Duration::MAX);
            Operation::Split { servers, processes, length }
        }
        Fault::ServerErrors(errors) => Operation::Refuse {
            error: match errors.error {
                ServerError::OutOfMemory => ErrorCode::OutOfMemory,
                ServerError::Misconf => ErrorCode::Misconf,
                ServerError::ReadOnly => ErrorCode::ReadOnly,
                ServerError::NoReplicas => ErrorCode::NoReplicas,
                ServerError::Loading => ErrorCode::Loading,
            },
            length: errors.length,
        },
        Fault::Evict(_) => Operation::Evict(lock),
        _ => Operation::ForgetTokens,
    }
}
