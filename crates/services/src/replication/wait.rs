//! `WAIT`: how many replicas have a connection's last command.

use fencepost_history::{Duration, Instant};
use fencepost_redis::{ErrorCode, Reply as RedisReply};
use fencepost_sim::{CallRef, ServerContext};

use super::{Replication, id, token};
use crate::Servers;
use crate::servers::Reply;

/// `WAIT replicas milliseconds`, sent right after a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wait {
    /// How many replicas should have it; zero sends no `WAIT`.
    pub replicas: u8,
    /// For how long to wait for them, in milliseconds; zero for ever.
    pub millis: u16,
}

impl Wait {
    /// Writes it as a person would type it.
    pub(crate) fn to_text(self) -> String {
        format!("WAIT {} {}", self.replicas, self.millis)
    }
}

/// A client that waits for replicas.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) call: CallRef,
    /// What the command before gave.
    reply: RedisReply,
    replicas: u8,
    offset: u64,
    deadline: Instant,
}

impl Replication {
    /// Answers once enough replicas have acknowledged an offset, or when the time is up; either
    /// way with how many there are. The write stays, however few they are.
    pub(super) fn wait(
        &mut self,
        call: CallRef,
        reply: RedisReply,
        wait: Wait,
        offset: u64,
        cost: Duration,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        let place = call.server.index();
        let replicas = self.acknowledged(place, offset);
        if replicas >= wait.replicas {
            cx.reply(call, Reply::Waited { reply, replicas }, cost);
            return;
        }
        let deadline = match wait.millis {
            0 => Instant::NEVER,
            millis => cx.now() + cost + Duration::from_millis(u64::from(millis)),
        };
        let replicas = wait.replicas;
        self.waits.push(Waiting { call, reply, replicas, offset, deadline });
        if deadline != Instant::NEVER {
            cx.wake(id(place), deadline, token::of(token::GIVE_UP_WAITS, place));
        }
        let stream = &mut self.members[place].stream;
        stream.ask_for_acknowledgements();
        stream.turn_ended();
        self.enqueue_all(place, cx);
    }

    /// Answers a `WAIT` that comes as a call of its own; on a connection that sent no command
    /// before, there is nothing to wait for.
    pub(crate) fn serve_wait(
        &mut self,
        call: CallRef,
        wait: Wait,
        is_fresh: bool,
        cost: Duration,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        let place = call.server.index();
        if !self.is_master(place) {
            let error = RedisReply::Error(ErrorCode::ReadOnly);
            cx.reply(call, Reply::Redis(error), cost);
            return;
        }
        let last = self.connections.get(call.thread.index());
        let own = last.filter(|(server, _)| *server == call.server && !is_fresh);
        let offset = own.map_or(0, |(_, offset)| *offset);
        self.wait(call, RedisReply::Ok, wait, offset, cost, cx);
    }

    fn acknowledged(&self, place: usize, offset: u64) -> u8 {
        let replicas = self.members[place].stream.acknowledged_by(offset);
        u8::try_from(replicas).unwrap_or(u8::MAX)
    }

    /// Answers those who waited for what has been acknowledged now.
    pub(super) fn answer_acknowledged(
        &mut self,
        place: usize,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        self.answer_waits(place, cx, |wait, replicas, _| replicas >= wait.replicas);
    }

    /// Answers those whose time is up.
    pub(super) fn give_up_waits(&mut self, place: usize, cx: &mut ServerContext<'_, Servers>) {
        self.answer_waits(place, cx, |wait, _, now| wait.deadline <= now);
    }

    fn answer_waits(
        &mut self,
        place: usize,
        cx: &mut ServerContext<'_, Servers>,
        is_over: impl Fn(&Waiting, u8, Instant) -> bool,
    ) {
        let mut next = 0;
        while let Some(&wait) = self.waits.get(next) {
            let replicas = self.acknowledged(place, wait.offset);
            if wait.call.server == id(place) && is_over(&wait, replicas, cx.now()) {
                self.waits.remove(next);
                let reply = Reply::Waited { reply: wait.reply, replicas };
                cx.reply(wait.call, reply, Duration::ZERO);
            } else {
                next += 1;
            }
        }
    }

    /// Lets go of all who wait at a server that is no longer master
    /// (Redis 7.0, `src/blocked.c:disconnectAllBlockedClients`).
    pub(super) fn unblock_waits(&mut self, place: usize, cx: &mut ServerContext<'_, Servers>) {
        for wait in self.waits.extract_if(.., |wait| wait.call.server == id(place)) {
            let error = RedisReply::Error(ErrorCode::Unblocked);
            cx.reply(wait.call, Reply::Redis(error), Duration::ZERO);
        }
    }
}
