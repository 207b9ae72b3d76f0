//! Carries out what outsiders and operators do to servers.

use fencepost_history::{Duration, GrantId, Instant, ProcessId, ServerId, What};
use fencepost_redis::Command;
use fencepost_sim::{ServerContext, Services as _};

use crate::Servers;
use crate::operation::Operation;
use crate::replication::{id, token};

impl Servers {
    pub(crate) fn carry_out(
        &mut self,
        server: ServerId,
        operation: &Operation,
        cx: &mut ServerContext<'_, Self>,
    ) {
        match *operation {
            Operation::Command(ref command) => self.outsider(server, command, cx),
            Operation::ForgetTokens => {
                if let Some(resource) = self.resource_mut(server) {
                    resource.forget_tokens(cx);
                }
            }
            Operation::Failover { to, after, down } => {
                if cx.take_down(server, down) {
                    self.crash(server, true, cx);
                    let token = token::of(token::PROMOTE, server.index());
                    cx.wake(to, cx.now() + after, token);
                }
            }
            Operation::StallStream { replica, length } => {
                if let Some(replication) = &mut self.replication {
                    let until = cx.now() + length;
                    replication.stall_stream(server.index(), replica.index(), until);
                    cx.emit(What::StreamStalled { server, peer: replica, until });
                }
            }
            Operation::CutStream { replica, length } => {
                if let Some(replication) = &mut self.replication {
                    let until = cx.now() + length;
                    cx.emit(What::PeersCut { server, peer: replica, until });
                    replication.cut_stream(server.index(), replica.index(), until, cx);
                }
            }
            Operation::Split { ref servers, ref processes, length } => {
                self.split(servers, processes, length, cx);
            }
            Operation::Refuse { error, length } => {
                if let Some(node) = self.nodes.get_mut(server.index()) {
                    node.refuse(error, cx.now() + length);
                    cx.emit(What::Refusing { server, until: cx.now() + length });
                }
            }
            Operation::Evict(key) => {
                if cx.is_up(server) && server.index() < self.nodes.len() {
                    self.evict(server, key, cx);
                }
            }
        }
    }

    fn outsider(&mut self, server: ServerId, command: &Command, cx: &mut ServerContext<'_, Self>) {
        if !cx.is_up(server) {
            return;
        }
        cx.emit(What::Outsider { server });
        let place = server.index();
        let Some(node) = self.nodes.get_mut(place) else {
            return;
        };
        let outcome = node.execute(command, GrantId::NONE, cx);
        if let Some(replication) = &mut self.replication {
            replication.publish(node, place, command, &outcome, cx);
        }
    }

    /// Deletes a key as `maxmemory-policy` does, and tells the replicas of a deletion.
    fn evict(
        &mut self,
        server: ServerId,
        key: fencepost_redis::KeyId,
        cx: &mut ServerContext<'_, Self>,
    ) {
        let place = server.index();
        let (command, node) = (Command::Del { key }, &mut self.nodes[place]);
        let outcome = node.evict(key, cx);
        if let Some(replication) = &mut self.replication {
            replication.publish(node, place, &command, &outcome, cx);
        }
    }

    /// Cuts all links between some machines and all others.
    fn split(
        &mut self,
        servers: &[ServerId],
        processes: &[ProcessId],
        length: Duration,
        cx: &mut ServerContext<'_, Self>,
    ) {
        // What the lock protects stays in reach of everybody: it is another network's.
        let all = (0..self.first_resource()).map(id);
        let nodes = self.nodes.len();
        for other in all.filter(|other| !servers.contains(other)) {
            for &server in servers {
                cx.cut(server, other, length);
                if let Some(replication) = &mut self.replication
                    && server.index() < nodes
                    && other.index() < nodes
                {
                    replication.fall_silent(server.index(), other.index(), cx.now());
                }
            }
            for &process in processes {
                cx.cut_off(process, other, length);
            }
        }
        for place in 0..cx.processes() {
            let process = ProcessId(u16::try_from(place).expect("processes are few"));
            if !processes.contains(&process) {
                for &server in servers {
                    cx.cut_off(process, server, length);
                }
            }
        }
        let until = cx.now() + length;
        if until != Instant::NEVER
            && let Some(sentinels) = &self.sentinels
        {
            sentinels.look_again_at(until, cx);
        }
        self.look(cx);
    }
}
