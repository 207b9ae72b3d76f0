//! The timer of the event loop.

use super::Context;
use crate::{
    effects::ConnectionId,
    engine::{DATABASES, Role},
};

/// The time between two cycles of active expiry, in microseconds: `hz 10`.
const CYCLE: u64 = 100_000;

impl Context<'_> {
    /// Does what is due: time-outs of blocked and idle clients, the end of a pause, expiry.
    pub(crate) fn tick(&mut self) {
        if self.is_busy() {
            return;
        }
        self.time_out_blocked();
        let server = &mut self.engine.server;
        server.pause = server.pause.filter(|pause| self.frozen < pause.until);
        self.close_idle();
        let now = self.clock.monotonic_micros();
        self.end_loading(now);
        let server = &mut self.engine.server;
        if now.saturating_sub(server.last_cycle) >= CYCLE {
            server.last_cycle = now;
            let is_free = server.pause_at(self.frozen).is_none() && !server.is_loading();
            if server.active_expiry && is_free {
                self.expire_actively();
            }
            self.look_at_save_points();
        }
        self.replication_cron(now);
        self.advance_shutdown();
        self.finish();
    }

    /// Removes every dead key.
    ///
    /// The server looks at 20 keys of a database at a time and repeats while many were dead; with
    /// the few keys of a lock scenario that comes to all of them.
    fn expire_actively(&mut self) {
        if self.engine.role == Role::Replica {
            return;
        }
        let now = self.frozen;
        for database in 0..DATABASES {
            self.database = database;
            let slots = self.engine.databases[database].slots.iter().zip(0u32..);
            let dead: Vec<u32> =
                slots.filter(|(slot, _)| slot.is_dead(now)).map(|(_, id)| id).collect();
            for id in dead {
                self.bury(id);
            }
        }
    }

    /// Closes the clients that have said nothing for too long.
    fn close_idle(&mut self) {
        let server = &self.engine.server;
        let limit = server.config.idle_timeout;
        if limit == 0 {
            return;
        }
        let now = self.frozen;
        let mut idle: Vec<ConnectionId> = Vec::new();
        for (&id, connection) in &server.connections {
            let listens = connection.subscriptions() > 0;
            if connection.blocked.is_none()
                && !listens
                && now / 1000 - connection.last_seen / 1000 > limit
            {
                idle.push(id);
            }
        }
        for id in idle {
            self.close(id);
        }
    }

    /// Goes on with a script that ran out of its slice; without one there is only what waits.
    pub(crate) fn resume(&mut self) {
        if !self.is_busy() {
            self.finish();
        }
    }
}
