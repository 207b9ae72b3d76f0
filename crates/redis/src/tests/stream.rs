//! The byte path's effects: a replica and a reload come to what the master holds.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::{keyspace::Content, *};

/// Where each key is, what it holds, and until when.
type Dump = BTreeMap<(usize, Vec<u8>), (Content, Option<i64>)>;

fn dump(engine: &Engine) -> Dump {
    let mut all = Dump::new();
    for (number, database) in engine.databases.iter().enumerate() {
        for (slot, id) in database.slots.iter().zip(0..) {
            if !slot.content.is_absent() {
                let key = (number, engine.names.text(id).to_vec());
                all.insert(key, (slot.content.clone(), slot.deadline()));
            }
        }
    }
    all
}

/// A master with an append-only file, and a replica that hears it at once.
struct Pair {
    master: Engine,
    replica: Engine,
    now: u64,
}

impl Pair {
    fn new() -> Self {
        let mut servers = [(); 2].map(|()| Engine::new());
        for (engine, seed) in servers.iter_mut().zip(1..) {
            engine.seed_replication(seed);
            engine.configure("appendonly", "yes").unwrap();
            engine.configure("appendfsync", "always").unwrap();
        }
        let [master, mut replica] = servers;
        replica.configure("replicaof", "host 1").unwrap();
        let mut pair = Self { master, replica, now: 1_000_000 };
        pair.master.start(&mut StandingClock(0), &mut Effects::new());
        pair.replica.start(&mut StandingClock(0), &mut Effects::new());
        // The first tick ends the load of nothing.
        pair.tell_master(Input::Tick);
        pair.tell_replica(Input::Tick);
        pair.tell_replica(Input::MasterConnected);
        pair.tell_replica(Input::RewriteEnded);
        assert_eq!(pair.replica.replication().master_link(), Some(MasterLink::Connected));
        pair
    }

    fn tell_master(&mut self, input: Input) {
        let mut effects = Effects::new();
        self.master.step(input, &mut StandingClock(self.now * 1000), &mut effects);
        for effect in effects.list {
            if let Effect::ToReplica { said, .. } = effect {
                self.tell_replica(Input::FromMaster(said));
            } else if let Effect::Fsync { .. } = effect {
                self.master.step(
                    Input::FsyncEnded,
                    &mut StandingClock(self.now * 1000),
                    &mut Effects::new(),
                );
            }
        }
    }

    fn tell_replica(&mut self, input: Input) {
        let mut effects = Effects::new();
        self.replica.step(input, &mut StandingClock(self.now * 1000), &mut effects);
        for effect in effects.list {
            if let Effect::ToMaster(said) = effect {
                self.tell_master(Input::FromReplica { link: LinkId(1), said });
            }
        }
    }
}

/// Commands; `k`, `v`, `n` and `t` stand for a key, a value, a number or word, and milliseconds.
const SHAPES: &str = "\
    SET k v | SET k n NX | SET k v XX | SET k v PX t | SET k n EX 1 GET | SET k v KEEPTTL | \
    SETNX k n | SETEX k 1 v | PSETEX k t v | GETSET k v | GETDEL k | GETEX k PX t | GETEX k \
    PERSIST | APPEND k v | SETRANGE k 2 v | INCR k | DECRBY k 3 | INCRBYFLOAT k 0.5 | MSET k v k \
    n | MSETNX k v k n | DEL k k | UNLINK k | GET k | EXPIRE k 1 | PEXPIRE k t | PEXPIRE k t GT \
    | PEXPIRE k t NX | EXPIRE k 0 | PEXPIREAT k 5 | PERSIST k | RENAME k k | RENAMENX k k | COPY \
    k k | COPY k k REPLACE | MOVE k 1 | HSET k v n v v | HDEL k v | HINCRBY k v 2 | HINCRBYFLOAT \
    k v 0.1 | HSETNX k v n | LPUSH k v n | RPUSH k n | LPUSHX k v | LPOP k | RPOP k 2 | LSET k 0 \
    v | LINSERT k BEFORE v n | LREM k 1 v | LTRIM k 1 2 | LMOVE k k LEFT RIGHT | RPOPLPUSH k k | \
    BLPOP k k 0.01 | BRPOP k 0 | BLMOVE k k LEFT LEFT 0.01 | SADD k v n | SREM k v | ZADD k 1 v \
    2 n | ZADD k NX 3 v | ZADD k GT CH 4 v | ZINCRBY k 2 v | ZREM k v | ZPOPMIN k | ZPOPMAX k 2 \
    | BZPOPMIN k 0.01 | ZREMRANGEBYSCORE k 0 2 | ZREMRANGEBYRANK k 0 0 | FLUSHDB | FLUSHALL | \
    SWAPDB 0 1 | SELECT 0 | SELECT 1 | MULTI | EXEC | EXEC | DISCARD | WATCH k | PUBLISH k v | \
    DBSIZE | SCAN 0";

/// A command with words from small sets, so that commands meet.
fn words() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let fill = |(shape, picks, millis): (&'static str, Vec<usize>, u8)| {
        let mut picks = picks.into_iter().cycle();
        let mut pick = |from: &[&str]| from[picks.next().unwrap_or(0) % from.len()].to_owned();
        let word = |word: &str| match word {
            "k" => pick(&["a", "b", "c"]),
            "v" => pick(&["x", "7", "c1-2", "y z"]),
            "n" => pick(&["1", "-2", "w"]),
            "t" => millis.to_string(),
            word => word.to_owned(),
        };
        shape.split(' ').map(word).map(String::into_bytes).collect()
    };
    let picks = prop::collection::vec(0..60usize, 1..6);
    (prop::sample::select(SHAPES.split(" | ").collect::<Vec<_>>()), picks, 0..30u8).prop_map(fill)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_replica_and_a_reload_come_to_what_the_master_holds(
        steps in prop::collection::vec((words(), 1..4u64, 0..12u64), 1..60),
    ) {
        let mut pair = Pair::new();
        for (words, connection, pause) in steps {
            pair.now += pause;
            if pause == 11 {
                pair.now += 100;
                pair.tell_master(Input::Tick);
            }
            let shown = words.clone();
            pair.tell_master(Input::Request { connection: ConnectionId(connection), words });
            prop_assert_eq!(dump(&pair.replica), dump(&pair.master), "after {:?}", shown);
        }
        let expected = dump(&pair.master);
        for server in [&mut pair.master, &mut pair.replica] {
            server.kill();
            server.start(&mut StandingClock(pair.now * 1000), &mut Effects::new());
            prop_assert_eq!(dump(server), expected.clone());
        }
    }

    #[test]
    fn a_snapshot_brings_back_what_is_alive(
        steps in prop::collection::vec((words(), 0..12u64), 1..40),
    ) {
        let mut pair = Pair::new();
        pair.master.configure("appendonly", "no").unwrap();
        for (words, pause) in steps {
            pair.now += pause;
            pair.tell_master(Input::Request { connection: ConnectionId(1), words });
        }
        let save = vec![b"SAVE".to_vec()];
        pair.tell_master(Input::Request { connection: ConnectionId(9), words: save });
        pair.now += 5;
        let now = i64::try_from(pair.now).unwrap();
        let mut expected = dump(&pair.master);
        expected.retain(|_, (_, deadline)| deadline.is_none_or(|deadline| now <= deadline));
        pair.master.kill();
        pair.master.start(&mut StandingClock(pair.now * 1000), &mut Effects::new());
        prop_assert_eq!(dump(&pair.master), expected);
    }
}
