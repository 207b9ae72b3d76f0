//! What travels between servers, and what their connections do.

use std::collections::VecDeque;

use fencepost_redis::{ConnectionId, Effect, Input, LinkId};

use super::{Connection, PORTS, RELAYS, World};
use crate::{
    link::{DELAY, Link, Relay},
    node::State,
};

impl World {
    pub(super) fn set_relay(&mut self, name: &str, relay: Relay) {
        self.relays.insert(name.into(), relay);
        if relay != Relay::Cuts {
            return;
        }
        let cut = |link: &Link| link.is_relayed && link.replica == name;
        for link in std::mem::take(&mut self.links) {
            if cut(&link) {
                self.break_link(&link);
            } else {
                self.links.push(link);
            }
        }
        self.run_all(false);
    }

    /// Both ends learn at once that a connection is gone.
    fn break_link(&mut self, link: &Link) {
        if link.master_open {
            self.node(&link.master).push(Input::ReplicaLost { link: link.id });
        }
        if link.replica_open {
            self.node(&link.replica).push(Input::MasterLost);
        }
    }

    /// Brings what leaves a server to where it goes.
    pub(super) fn route(&mut self, name: &str, effects: Vec<Effect>) {
        let due = self.now + DELAY;
        for effect in effects {
            match effect {
                Effect::Send { connection, protocol, frame } => {
                    if let Some(target) = self.client(connection) {
                        frame.encode(protocol, &mut target.inbox);
                    }
                }
                Effect::Close(connection) => {
                    if let Some(target) = self.client(connection) {
                        target.closed = true;
                    }
                }
                Effect::Connect { port, .. } => self.connect(name, usize::from(port)),
                Effect::CloseMaster => {
                    let now = self.now;
                    let own = |link: &&mut Link| link.replica == name;
                    self.links.iter_mut().filter(own).for_each(|link| link.close_replica(now));
                }
                Effect::ToMaster(said) => {
                    let own = |link: &&mut Link| link.replica == name && link.replica_open;
                    if let Some(link) = self.links.iter_mut().find(own) {
                        link.to_master.push_back((due, Some(said)));
                    }
                }
                Effect::ToReplica { link, said } => {
                    if let Some(link) = self.links.iter_mut().find(|known| known.id == link) {
                        link.to_replica.push_back((due, Some(said)));
                    }
                }
                Effect::CloseReplica(link) => {
                    let now = self.now;
                    if let Some(link) = self.links.iter_mut().find(|known| known.id == link) {
                        link.close_master(now);
                    }
                }
                Effect::Exit => self.end(name),
                // The first is in the stream and on the disk; the others stay on the machine.
                Effect::Propagate(_)
                | Effect::Fsync { .. }
                | Effect::Snapshot
                | Effect::Rewrite => {}
            }
        }
    }

    fn client(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        self.connections.values_mut().find(|connection| connection.id == id)
    }

    /// A replica tries to connect to a port.
    fn connect(&mut self, replica: &str, port: usize) {
        let is_relayed = port >= RELAYS;
        let number = port.checked_sub(if is_relayed { RELAYS } else { PORTS });
        let master = number.and_then(|number| self.names.get(number)).cloned();
        let relay = self.relays.get(replica).copied().unwrap_or_default();
        let is_cut = is_relayed && relay == Relay::Cuts;
        let answers = |master: &String| !is_cut && self.nodes[master].state != State::Down;
        let Some(master) = master.filter(answers) else {
            self.node(replica).push(Input::MasterLost);
            return;
        };
        let id = LinkId(self.next);
        self.next += 1;
        self.links.push(Link::new(id, replica, &master, is_relayed));
        self.node(replica).push(Input::MasterConnected);
    }

    /// Hands over what has arrived.
    pub(super) fn deliver(&mut self) {
        let now = self.now;
        let mut inputs: Vec<(String, Input)> = Vec::new();
        for link in &mut self.links {
            let relay = self.relays.get(&link.replica).copied().unwrap_or_default();
            if link.is_relayed && relay == Relay::Stalls {
                continue;
            }
            for said in due(&mut link.to_replica, now) {
                let input = said.map_or(Input::MasterLost, Input::FromMaster);
                // Nobody reads what comes for a side that is closed.
                if link.replica_open {
                    link.replica_open = input != Input::MasterLost;
                    inputs.push((link.replica.clone(), input));
                }
            }
            for said in due(&mut link.to_master, now) {
                let id = link.id;
                let input = match said {
                    Some(said) => Input::FromReplica { link: id, said },
                    None => Input::ReplicaLost { link: id },
                };
                if link.master_open {
                    link.master_open = input != Input::ReplicaLost { link: id };
                    inputs.push((link.master.clone(), input));
                }
            }
        }
        self.links.retain(|link| link.replica_open || link.master_open);
        for (name, input) in inputs {
            self.node(&name).push(input);
        }
    }
}

/// Takes out what has arrived by now.
fn due<T>(queue: &mut VecDeque<(u64, T)>, now: u64) -> Vec<T> {
    let count = queue.iter().take_while(|(due, _)| *due <= now).count();
    queue.drain(..count).map(|(_, said)| said).collect()
}
