//! Who is master: promotion, demotion, and which replica is the best.

use fencepost_history::{Duration, What};
use fencepost_redis::Role;
use fencepost_sim::ServerContext;

use super::member::peer;
use super::{Replication, id, wall_ms};
use crate::Servers;
use crate::node::RedisNode;

impl Replication {
    /// Makes a replica master: `REPLICAOF NO ONE`. With `old` an operator also points the other
    /// servers at it, that one included, and whatever clients use as its address.
    pub(crate) fn promote(
        &mut self,
        nodes: &mut [RedisNode],
        place: usize,
        old: Option<usize>,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        if self.is_master(place) {
            return;
        }
        let wall = wall_ms(place, cx);
        let member = &mut self.members[place];
        member.master = None;
        member.uplink = None;
        member.stream.promote(wall);
        nodes[place].set_role(Role::Master);
        cx.emit(What::Promoted { server: id(place) });
        if self.setup.address_moves {
            cx.tell_all(u32::from(id(place).0) + 1);
        }
        if old.is_some() {
            for other in (0..self.members.len()).filter(|other| *other != place) {
                self.follow(nodes, other, place, cx);
            }
        }
    }

    /// Makes a server a replica of another: `REPLICAOF`. A server that is down reads that in its
    /// configuration when it is started again.
    pub(crate) fn follow(
        &mut self,
        nodes: &mut [RedisNode],
        place: usize,
        master: usize,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        if self.copies(place, master) {
            return;
        }
        let was_master = self.is_master(place);
        for replica in 0..self.members.len() {
            self.close_link(place, replica, cx);
        }
        let wall = wall_ms(place, cx);
        let before = self.members[place].master.replace(master);
        if let Some(before) = before {
            self.close_link(before, place, cx);
        }
        let member = &mut self.members[place];
        member.uplink = None;
        member.stream.follow(peer(master), wall);
        nodes[place].set_role(Role::Replica);
        if was_master {
            cx.emit(What::Demoted { server: id(place) });
            self.unblock_waits(place, cx);
        }
        if cx.is_up(id(place)) {
            self.connect(place, cx);
        }
    }

    /// Returns the replica of a master that should take over: that with the lowest priority but 0,
    /// then the one that is farthest in the stream, then the first
    /// (Redis 7.0, `src/sentinel.c:sentinelSelectSlave`). `is_able` is told for how long its link
    /// to the master has been down.
    pub(crate) fn best_replica(
        &self,
        master: usize,
        is_able: impl Fn(usize, Duration) -> bool,
        cx: &ServerContext<'_, Servers>,
    ) -> Option<usize> {
        let down_for = |place: usize| {
            let seconds = self.members[place].stream.down_for(wall_ms(place, cx)).unwrap_or(0);
            Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
        };
        let replicas = (0..self.members.len())
            .filter(|place| self.copies(*place, master) && self.priority(*place) != 0)
            .filter(|place| is_able(*place, down_for(*place)));
        replicas.min_by_key(|place| {
            let offset = self.members[*place].stream.offset();
            (self.priority(*place), std::cmp::Reverse(offset), *place)
        })
    }

    fn priority(&self, place: usize) -> u32 {
        let replica = self.setup.replicas.get(place.wrapping_sub(1));
        // What a server that began as master has, too: the default of `replica-priority`.
        replica.map_or(100, |replica| replica.priority)
    }
}
