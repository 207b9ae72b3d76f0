//! Whatever happens, servers that follow one master end with its data, and nobody continues a
//! history that is not his.

use proptest::prelude::*;

use super::{FENCE, Servers};
use crate::{Command, Role};

const COUNT: usize = 4;

#[derive(Clone, Debug)]
enum Step {
    /// A write of this size; the sums differ wherever histories do.
    Write(usize, i64),
    Settle,
    Second,
    Stall(usize),
    Cut(usize),
    Heal(usize),
    Promote(usize),
    Follow(usize, usize),
    /// The process starts again, with its data or empty, and as it says its history.
    Restart(usize, bool),
    Leap(usize),
    HandOver(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let server = || 0..COUNT;
    prop_oneof![
        6 => (server(), 1..1_000_000i64).prop_map(|(at, by)| Step::Write(at, by)),
        3 => Just(Step::Settle),
        2 => Just(Step::Second),
        2 => server().prop_map(Step::Stall),
        2 => server().prop_map(Step::Cut),
        4 => server().prop_map(Step::Heal),
        2 => server().prop_map(Step::Promote),
        3 => (server(), server()).prop_map(|(at, master)| Step::Follow(at, master)),
        1 => (server(), any::<bool>()).prop_map(|(at, keeps)| Step::Restart(at, keeps)),
        1 => server().prop_map(Step::Leap),
        1 => server().prop_map(Step::HandOver),
    ]
}

impl Servers {
    fn do_step(&mut self, step: &Step) {
        match *step {
            Step::Write(at, by) => {
                if self.all[at].engine.role() == Role::Master {
                    self.run(at, Command::IncrBy { key: FENCE, by });
                }
            }
            Step::Settle => self.settle(),
            Step::Second => self.second(),
            Step::Stall(at) => self.all[at].is_stalled = true,
            Step::Cut(at) => self.cut(at),
            Step::Heal(at) => self.heal(at),
            Step::Promote(at) => self.promote(at),
            Step::Follow(at, master) => {
                if at != master && !self.all[at].replication.fails_over() {
                    self.break_link(at);
                    self.demote(at, u16::try_from(master).unwrap());
                }
            }
            Step::Restart(at, keeps_data) => self.restart(at, keeps_data),
            Step::Leap(at) => self.all[at].wall += 600_000,
            Step::HandOver(at) => {
                let wall = self.all[at].wall;
                let replication = self.replication(at);
                if replication.begin_failover(None, Some(wall + 2_000), false).is_ok() {
                    replication.ask_for_acknowledgements();
                    self.settle();
                }
                self.advance(at);
            }
        }
    }

    fn restart(&mut self, at: usize, keeps_data: bool) {
        let position = self.replication(at).position().filter(|_| keeps_data);
        for other in 0..self.all.len() {
            if self.all[other].up.is_some_and(|(master, _)| master == at) {
                self.break_link(other);
            }
        }
        self.break_link(at);
        let Self { all, .. } = self;
        let server = &mut all[at];
        let (master, wall) = (server.replication.master(), server.wall);
        server.replication.restart(wall);
        if let Some(master) = master {
            server.replication.follow_from_start(master, wall);
        }
        if let Some(position) = position {
            server.replication.restored(position);
        }
        if !keeps_data {
            server.engine.reset();
            server.engine.set_role(if master.is_some() { Role::Replica } else { Role::Master });
        }
    }

    /// Goes on with a failover.
    fn advance(&mut self, at: usize) {
        let wall = self.all[at].wall;
        if self.replication(at).advance_failover(wall) {
            self.all[at].engine.set_role(Role::Replica);
            self.settle();
        }
    }

    /// Ends all faults and has everybody follow one master, which is given.
    fn unite(&mut self) -> usize {
        for at in 0..COUNT {
            let wall = self.all[at].wall;
            self.replication(at).abort_failover(wall);
        }
        let is_replica = |at: &usize| self.all[*at].replication.is_replica();
        let master = (0..COUNT).find(|at| !is_replica(at)).unwrap_or(0);
        self.promote(master);
        for at in 0..COUNT {
            (self.all[at].is_cut, self.all[at].is_stalled) = (false, false);
            if at != master {
                self.break_link(at);
                self.demote(at, u16::try_from(master).unwrap());
            }
        }
        for _ in 0..3 {
            self.second();
        }
        master
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn followers_of_one_master_end_with_its_data(
        backlog in prop_oneof![Just(64u64), Just(200), Just(1 << 20)],
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut servers = Servers::new(u16::try_from(COUNT).unwrap());
        for at in 0..COUNT {
            servers.replication(at).settings.backlog_size = backlog;
        }
        for step in &steps {
            servers.do_step(step);
        }
        let master = servers.unite();
        let (id, offset) = (servers.replication(master).id(), servers.replication(master).offset());
        for at in 0..COUNT {
            prop_assert_eq!(servers.number(at), servers.number(master), "server {}", at);
            prop_assert_eq!(servers.replication(at).id(), id);
            prop_assert_eq!(servers.replication(at).offset(), offset);
        }
    }
}
