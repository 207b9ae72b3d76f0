//! Persistence of the server in bytes: its disk, snapshots, the load at the start, the shutdown.

use super::{Context, Health, Server, Wish};
use crate::{
    effects::{Clock, ConnectionId, Effect, Effects, Operation},
    engine::Engine,
    frame::Frame,
    persistence::{Disk, Flush, Persistence, Saving},
};

/// A shutdown that waits for replicas to catch up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shutdown {
    saving: Saving,
    /// The wall time in milliseconds at which it waits no longer.
    until: i64,
}

impl Server {
    /// Tells whether data are being loaded.
    pub(crate) const fn is_loading(&self) -> bool {
        self.loads_until.is_some() || self.health.loading
    }

    /// What makes the server refuse commands: what comes from outside and what it knows itself.
    pub(crate) fn health_now(&self) -> Health {
        let failed = self.disk.as_ref().is_some_and(|disk| disk.snapshot_failed());
        let saves = !self.config.persistence.save_points.is_empty();
        Health {
            loading: self.is_loading(),
            misconf: self.health.misconf || (failed && saves && self.config.stops_writes),
            too_few_replicas: self.health.too_few_replicas
                || self.replication.has_too_few_replicas(),
            master_down: self.health.master_down || self.is_stale(),
            ..self.health
        }
    }

    /// Tells whether the disk keeps an append-only file.
    fn logs(&self) -> bool {
        self.disk.as_ref().is_some_and(|disk| disk.fsync().is_some())
    }

    /// The disk as it is, if anything was ever stored or loaded.
    pub(crate) fn disk(&self) -> Option<&Disk<Engine, Operation>> {
        self.disk.as_deref()
    }

    /// The disk, made if need be.
    pub(crate) fn disk_mut(&mut self, wall_ms: u64) -> &mut Disk<Engine, Operation> {
        let persistence = &self.config.persistence;
        self.disk.get_or_insert_with(|| {
            Box::new(Disk::new(&Engine::default(), persistence.clone(), wall_ms))
        })
    }
}

impl Engine {
    /// Starts the process: loads what the disk holds, and follows the master that the configuration
    /// names. Connections, scripts and pauses are those of a new process, that is, none. Gives how
    /// long the load takes in microseconds; LOADING is the answer meanwhile.
    pub fn start(&mut self, clock: &mut dyn Clock, out: &mut Effects) -> u64 {
        let wall = clock.wall_micros() / 1000;
        self.server.restart(wall);
        self.role = crate::Role::Master;
        self.server.settle_config(wall);
        let mut disk = match self.server.disk.take() {
            Some(disk) => disk,
            None => {
                Box::new(Disk::new(&Self::default(), self.server.config.persistence.clone(), wall))
            }
        };
        let loaded = disk.start(self, wall);
        self.server.disk = Some(disk);
        let keys = self.databases.iter().map(|database| database.len() as u64).sum::<u64>();
        let delay = self.server.config.key_load_delay;
        let micros =
            loaded.micros(keys) + delay * if loaded.from_log { loaded.writes } else { keys };
        self.server.loads_until = Some(clock.monotonic_micros() + micros);
        let mut cx = Context::new(self, clock, out);
        if let Some((host, port)) = cx.engine.server.config.master.clone() {
            cx.follow_from_start(&host, port);
        }
        if let Some(position) = loaded.position {
            self.server.replication.restored(position);
        }
        micros
    }

    /// Ends the process by SIGKILL: what only its memory had is lost.
    pub fn kill(&mut self) {
        if let Some(disk) = &mut self.server.disk {
            disk.kill();
        }
    }

    /// Tells whether data are still being loaded.
    pub fn is_loading(&self, clock: &dyn Clock) -> bool {
        self.server.loads_until.is_some_and(|until| clock.monotonic_micros() < until)
    }

    /// Gives the disk of the server, if it has started or stored anything.
    pub fn disk(&self) -> Option<&Disk<Self, Operation>> {
        self.server.disk()
    }

    /// Gives it for faults.
    pub fn disk_mut(&mut self) -> Option<&mut Disk<Self, Operation>> {
        self.server.disk.as_deref_mut()
    }
}

impl Context<'_> {
    /// Puts the effects of a command on their way to the disk, as one group.
    pub(super) fn store(&mut self, operations: &[Operation]) {
        let wall = self.wall_ms();
        let server = &mut self.engine.server;
        if server.disk.is_none() && server.config.persistence == Persistence::NONE {
            return;
        }
        let disk = server.disk_mut(wall);
        let is_message = |operation: &&Operation| {
            let verb = operation.words.first().map_or(&[][..], Vec::as_slice);
            verb.eq_ignore_ascii_case(b"publish") || verb.eq_ignore_ascii_case(b"spublish")
        };
        for operation in operations.iter().filter(|operation| !is_message(operation)) {
            disk.append(operation.clone());
        }
        disk.commit();
    }

    /// A full copy from the master replaces what the disk holds.
    pub(super) fn store_copy(&mut self, data: &Engine) {
        self.with_disk(|disk, _, wall| disk.replace(data, wall));
        if self.engine.server.logs() {
            self.out.list.push(Effect::Rewrite);
        }
    }

    /// Counts changes, whatever they are to replicas.
    pub(super) fn count_changes(&mut self, count: u64) {
        if let Some(disk) = &mut self.engine.server.disk {
            disk.changed(count);
        }
    }

    /// Writes what the turn has brought, before its replies go out.
    pub(super) fn flush_disk(&mut self) {
        let wall = self.wall_ms();
        let Some(disk) = &mut self.engine.server.disk else { return };
        let in_foreground = match disk.turn_ended(wall) {
            Flush::Done | Flush::Postponed => return,
            Flush::Foreground => true,
            Flush::Background => false,
        };
        self.out.list.push(Effect::Fsync { in_foreground });
    }

    pub(crate) fn fsync_ended(&mut self) {
        if let Some(disk) = &mut self.engine.server.disk {
            disk.fsync_ended();
        }
    }

    pub(super) fn look_at_save_points(&mut self) {
        let wall = self.wall_ms();
        let is_due = |disk: &Disk<_, _>| disk.snapshot_is_due(wall);
        if self.engine.server.disk().is_some_and(is_due) {
            self.begin_snapshot();
        }
    }

    /// Begins a snapshot in the background.
    pub(crate) fn begin_snapshot(&mut self) {
        self.with_disk(Disk::begin_snapshot);
        self.out.list.push(Effect::Snapshot);
    }

    /// Makes a snapshot while the server waits; false if it fails.
    pub(crate) fn save(&mut self) -> bool {
        let can_save = !self.engine.server.health.cannot_save;
        if can_save {
            self.with_disk(Disk::save);
        }
        can_save
    }

    pub(crate) fn snapshot_ended(&mut self) {
        let can_save = !self.engine.server.health.cannot_save;
        let wall = self.wall_ms();
        self.engine.server.disk_mut(wall).end_snapshot(can_save, wall);
        if std::mem::take(&mut self.engine.server.rewrite_scheduled) {
            self.begin_rewrite();
        }
    }

    /// FLUSHALL kills a snapshot that is being made and, if there are save points, makes one of
    /// nothing at once (`src/db.c:flushAllDataAndResetRDB`).
    pub(crate) fn all_flushed(&mut self) {
        if let Some(disk) = &mut self.engine.server.disk {
            disk.abandon_snapshot();
        }
        if !self.engine.server.config.persistence.save_points.is_empty() {
            self.save();
        }
    }

    /// Begins to write the append-only file anew.
    pub(crate) fn begin_rewrite(&mut self) {
        let wall = self.wall_ms();
        self.engine.server.disk_mut(wall).begin_rewrite(wall);
        self.out.list.push(Effect::Rewrite);
    }

    pub(crate) fn rewrite_ended(&mut self) {
        let wall = self.wall_ms();
        self.engine.server.disk_mut(wall).end_rewrite();
        if std::mem::take(&mut self.engine.server.snapshot_scheduled) {
            self.begin_snapshot();
        }
    }

    /// Does what a parameter that was set entails.
    pub(crate) fn config_changed(&mut self, name: &str) {
        let (wall, had_log) = (self.wall_ms(), self.engine.server.logs());
        self.engine.server.settle_config(wall);
        if name.eq_ignore_ascii_case("appendonly") && !had_log && self.engine.server.logs() {
            // The file begins with what is there now.
            self.with_disk(Disk::begin_log);
            self.out.list.push(Effect::Rewrite);
        }
    }

    /// Hands out the disk and, beside it, the server whose it is.
    fn with_disk<T>(
        &mut self,
        act: impl FnOnce(&mut Disk<Engine, Operation>, &Engine, u64) -> T,
    ) -> T {
        let wall = self.wall_ms();
        self.engine.server.disk_mut(wall);
        let mut disk = self.engine.server.disk.take().expect("it has just been made");
        disk.set_position(self.engine.server.replication.position());
        let result = act(&mut disk, self.engine, wall);
        self.engine.server.disk = Some(disk);
        result
    }

    /// Ends the load when its time is up.
    pub(super) fn end_loading(&mut self, now: u64) {
        let server = &mut self.engine.server;
        server.loads_until = server.loads_until.filter(|until| now < *until);
    }

    /// Begins to end the process: at once, or when the replicas have caught up
    /// (`src/server.c:prepareForShutdown`).
    pub(crate) fn begin_shutdown(&mut self, saving: Saving, waits: bool) {
        let server = &mut self.engine.server;
        let timeout = server.config.shutdown_timeout;
        if waits && timeout > 0 && !self.replicas_have_all() {
            let until = self.frozen.saturating_add(timeout.saturating_mul(1000));
            self.engine.server.shutdown = Some(Shutdown { saving, until });
            self.engine.server.replication.ask_for_acknowledgements();
            return;
        }
        self.shut_down(saving);
    }

    /// Goes on with a shutdown that waits.
    pub(super) fn advance_shutdown(&mut self) {
        let Some(Shutdown { saving, until }) = self.engine.server.shutdown else { return };
        if self.replicas_have_all() || self.frozen >= until {
            self.engine.server.shutdown = None;
            self.shut_down(saving);
        }
    }

    /// Gives a shutdown that waits up: `SHUTDOWN ABORT`.
    pub(crate) fn abort_shutdown(&mut self) -> bool {
        let found = self.engine.server.shutdown.take().is_some();
        if found {
            self.end_shutdown_waits();
        }
        found
    }

    fn replicas_have_all(&self) -> bool {
        let replication = &self.engine.server.replication;
        let offset = replication.offset();
        replication.is_replica()
            || replication.links().iter().all(|link| link.acknowledged == offset)
    }

    /// Ends the process, unless a snapshot is wanted and fails.
    fn shut_down(&mut self, saving: Saving) {
        let can_save = !self.engine.server.health.cannot_save;
        let ended =
            self.with_disk(|disk, engine, wall| disk.shut_down(engine, saving, can_save, wall));
        if ended {
            self.out.list.push(Effect::Exit);
        } else {
            self.end_shutdown_waits();
        }
    }

    fn end_shutdown_waits(&mut self) {
        let connections = &self.engine.server.connections;
        let waits = |(&id, connection): (&ConnectionId, &super::Connection)| {
            let wish = connection.blocked.as_ref().map(|blocked| &blocked.wish);
            (wish == Some(&Wish::Shutdown)).then_some(id)
        };
        let waiting: Vec<ConnectionId> = connections.iter().filter_map(waits).collect();
        for id in waiting {
            let text = "ERR Errors trying to SHUTDOWN. Check logs.";
            self.unblock(id, Frame::Error(text.into()));
        }
    }
}
