//! An event as two words, for the rolling hash.

use super::What;

const fn pair(high: u32, low: u32) -> u64 {
    ((high as u64) << 32) | low as u64
}

impl What {
    /// Packs everything that the event says into two words, for the rolling hash.
    #[must_use]
    #[inline(always)]
    #[expect(clippy::too_many_lines, reason = "one arm for each kind of event, in one place")]
    pub fn words(&self) -> (u64, u64) {
        /// A kind, and 32 and 16 bits beside it.
        const fn head(kind: u8, wide: u32, narrow: u16) -> u64 {
            ((wide as u64) << 32) | ((narrow as u64) << 8) | kind as u64
        }
        match *self {
            Self::AcquireInvoked { thread, lock } => (head(1, thread.0.into(), lock.0), 0),
            Self::Acquired { thread, grant, lock, token } => {
                (head(2, grant.0, lock.0) | (u64::from(thread.0) << 24), token.0)
            }
            Self::Refused { thread, grant, lock } => {
                (head(3, grant.0, lock.0), u64::from(thread.0))
            }
            Self::AcquireUnknown { thread, grant, lock } => {
                (head(4, grant.0, lock.0), u64::from(thread.0))
            }
            Self::AcquireAbandoned { thread, lock } => (head(5, thread.0.into(), lock.0), 0),
            Self::ReleaseInvoked { grant } => (head(6, grant.0, 0), 0),
            Self::ReleaseDone { grant } => (head(7, grant.0, 0), 0),
            Self::Lost { grant } => (head(8, grant.0, 0), 0),
            Self::Step { grant } => (head(9, grant.0, 0), 0),
            Self::KeySet { server, lock, by, owner, deadline, how, commits } => (
                head(if commits { 10 } else { 11 }, by.0, server.0)
                    ^ (u64::from(owner.0) << 16)
                    ^ (u64::from(lock.0) << 48),
                deadline.as_nanos().wrapping_add(how as u64),
            ),
            Self::KeyGone { server, lock, by, owner, how } => {
                (head(12, by.0, server.0) ^ (u64::from(lock.0) << 48), pair(owner.0, how as u32))
            }
            Self::Accessed { resource, grant, token, job, access, outcome, checked, regressed } => {
                (
                    head(13, grant.0, resource.0)
                        | ((access as u64) << 24)
                        | ((outcome as u64) << 26)
                        | ((checked as u64) << 28)
                        | ((regressed as u64) << 29),
                    token.0 ^ (u64::from(job.0) << 32),
                )
            }
            Self::Paused { process, until } => (head(20, 0, process.0), until.as_nanos()),
            Self::Resumed { process } => (head(21, 0, process.0), 0),
            Self::Stalled { thread, until } => (head(22, 0, thread.0), until.as_nanos()),
            Self::Unstalled { thread } => (head(23, 0, thread.0), 0),
            Self::Crashed { process } => (head(24, 0, process.0), 0),
            Self::Restarted { process } => (head(25, 0, process.0), 0),
            Self::Finished { thread } => (head(26, 0, thread.0), 0),
            Self::ServerDown { server, until } => (head(27, 0, server.0), until.as_nanos()),
            Self::ServerUp { server } => (head(28, 0, server.0), 0),
            Self::ServerStalled { server, until } => (head(29, 0, server.0), until.as_nanos()),
            Self::Promoted { server } => (head(30, 0, server.0), 0),
            Self::Demoted { server } => (head(31, 0, server.0), 0),
            Self::DataLost { server } => (head(32, 0, server.0), 0),
            Self::TokensForgotten { resource } => (head(33, 0, resource.0), 0),
            Self::ServerClock { server, by } => (head(34, 0, server.0), by.cast_unsigned()),
            Self::ProcessClock { process, by } => (head(35, 0, process.0), by.cast_unsigned()),
            Self::LinkCut { process, server, until } => {
                (head(36, process.0.into(), server.0), until.as_nanos())
            }
            Self::PeersCut { server, peer, until } => {
                (head(37, peer.0.into(), server.0), until.as_nanos())
            }
            Self::Outsider { server } => (head(38, 0, server.0), 0),
            Self::Healed => (head(39, 0, 0), 0),
            Self::ServerRate { server, rate } => (head(40, 0, server.0), rate.cast_unsigned()),
            Self::ProcessRate { process, rate } => (head(41, 0, process.0), rate.cast_unsigned()),
            Self::StreamStalled { server, peer, until } => {
                (head(42, peer.0.into(), server.0), until.as_nanos())
            }
            Self::Refusing { server, until } => (head(43, 0, server.0), until.as_nanos()),
            Self::Doubted { server, peer } => (head(44, peer.0.into(), server.0), 0),
            Self::Announced { server, peer } => (head(45, peer.0.into(), server.0), 0),
            Self::Sent { call, thread, server, arrives } => {
                (head(50, call.0, server.0) ^ (u64::from(thread.0) << 48), arrives.as_nanos())
            }
            Self::Applied { call, server } => (head(51, call.0, server.0), 0),
            Self::Replied { call, server, arrives } => {
                (head(52, call.0, server.0), arrives.as_nanos())
            }
            Self::Seen { call } => (head(53, call.0, 0), 0),
            Self::GivenUp { call } => (head(54, call.0, 0), 0),
            Self::Dropped { call, leg } => (head(55, call.0, leg as u16), 0),
            Self::PeerSent { from, to, arrives } => {
                (head(56, from.0.into(), to.0), arrives.as_nanos())
            }
            Self::Passed { thread, moment, step } => (head(57, step, thread.0), moment as u64),
        }
    }
}
