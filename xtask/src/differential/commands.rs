//! What is sent: the commands a lock may use, with arguments that are often right and sometimes
//! wrong.
//!
//! A template is a weight and words. A word is literal, or the name of a menu after `$`; `a|b` is
//! one of several, and a last `?`, `*` or `+` means none or one, up to three, one to three. An
//! entry of a menu is text in the notation of the corpus and may be several words.
//!
//! Times to live are far away or [`SHORT`], and `{s}` and `{ms}` stand for one that no other step
//! of the sequence has: two deadlines never differ by less than a second, so an instant more or
//! less decides nothing.
//!
//! INCRBYFLOAT and HINCRBYFLOAT have a key and a field of their own with small halves in it: the
//! server adds with 64 bits of precision, the engine with 53.

use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, Just, Strategy, prop_oneof};
use proptest::sample::select;
use proptest::strategy::Union;

/// The connections of a sequence.
pub(super) const CONNECTIONS: &[&str] = &["a", "b", "c"];

/// The keys of a sequence.
pub(super) const KEYS: &[&str] = &["lock", "n", "l", "m", "h", "z", "s", "x"];

/// A time to live, a time-out or a pause, in milliseconds, that ends within a [`Step::Wait`].
pub(super) const SHORT: u64 = 100;

/// How long a [`Step::Wait`] lasts, in milliseconds: whatever was short is over with a margin for
/// the server's timer, which comes ten times a second.
pub(super) const WAIT: u64 = 350;

/// One step of a sequence.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A command on a connection, in the notation of the corpus.
    Command {
        /// The connection, as an index of [`CONNECTIONS`].
        connection: usize,
        /// The words.
        text: String,
    },
    /// Time passes.
    Wait,
    /// The client closes its connection.
    Close {
        /// The connection, as an index of [`CONNECTIONS`].
        connection: usize,
    },
}

/// Draws sequences.
pub(super) fn sequences(scripts: bool) -> BoxedStrategy<Vec<Step>> {
    let connection = || prop_oneof![6 => Just(0usize), 3 => Just(1usize), 2 => Just(2usize)];
    let mut templates = TEMPLATES.to_vec();
    if scripts {
        templates.extend(SCRIPTS);
    }
    let commands = Union::new_weighted(templates.iter().map(|text| template(text)).collect());
    let command =
        (connection(), commands).prop_map(|(connection, text)| Step::Command { connection, text });
    let step = prop_oneof![
        200 => command,
        1 => Just(Step::Wait),
        2 => connection().prop_map(|connection| Step::Close { connection }),
    ];
    vec(step, 1..60).prop_map(unblocking_nobody_paused).boxed()
}

/// Leaves CLIENT UNBLOCK out where CLIENT PAUSE is drawn: 7.0.15 takes a client that a pause
/// holds back for a blocked one, answers it twice, and may end.
fn unblocking_nobody_paused(mut steps: Vec<Step>) -> Vec<Step> {
    let says = |step: &Step, words: &str| {
        let Step::Command { text, .. } = step else { return false };
        text.starts_with(words)
    };
    if steps.iter().any(|step| says(step, "client pause")) {
        steps.retain(|step| !says(step, "client unblock"));
    }
    steps
}

/// Reads a template: its weight, and what draws it.
fn template(text: &str) -> (u32, BoxedStrategy<String>) {
    let mut words = text.split(' ');
    let weight = words.next().and_then(|weight| weight.parse().ok());
    let mut all: BoxedStrategy<Vec<String>> = Just(Vec::new()).boxed();
    for word in words {
        let join = |(mut before, more): (Vec<String>, Vec<String>)| {
            before.extend(more);
            before
        };
        all = (all, repeated(word)).prop_map(join).boxed();
    }
    (weight.expect("a template starts with its weight"), all.prop_map(|all| all.join(" ")).boxed())
}

fn repeated(word: &str) -> BoxedStrategy<Vec<String>> {
    let (word, times) = match word.split_at(word.len() - 1) {
        (word, "?") => (word, 0..2),
        (word, "*") => (word, 0..4),
        (word, "+") => (word, 1..4),
        _ => (word, 1..2),
    };
    let mut options = Vec::new();
    for option in word.split('|') {
        options.push(match option.strip_prefix('$') {
            Some(name) => select(menu(name)).prop_map(str::to_owned).boxed(),
            None => Just(option.to_owned()).boxed(),
        });
    }
    vec(Union::new(options), times).boxed()
}

/// The entries of a menu; simple ones stand first, since shrinking goes there.
fn menu(name: &str) -> Vec<&'static str> {
    if name == "script" {
        return SCRIPT_TEXTS.to_vec();
    }
    let found = MENUS.iter().find(|(known, _)| *known == name);
    let (_, entries) = found.unwrap_or_else(|| panic!("there is no menu {name}"));
    entries.split("; ").map(str::trim).collect()
}

/// The menus: entries are parted by semicolons, and what stands there twice is twice as likely.
const MENUS: &[(&str, &str)] = &[
    ("key", "lock; n; l; m; h; z; s"),
    ("string", "lock; lock; lock; lock; n; n; l; h"),
    ("number", "n; n; n; n; n; lock; h"),
    ("list", "l; l; l; l; m; m; lock"),
    ("hash", "h; h; h; h; h; h; n; l"),
    ("zset", "z; z; z; z; z; z; lock"),
    ("plain", "s; s; s; s; s; s; lock"),
    (
        "value",
        "A; A; B; B; 1; 7; -3; c1-7; \"\"; \"a b\"; \"\\x00\\xff\\n\"; 1.5; 01; \
         9223372036854775807",
    ),
    (
        "int",
        "1; 1; -1; 7; 0; -3; 9223372036854775807; -9223372036854775808; x; \" 1\"; 1.0; \
         9223372036854775808; +1; -0; \"\"",
    ),
    ("float", "1; 0.5; -2.5; 3e3; inf; -inf; nan; x; \" 1\"; 5.; .5"),
    ("index", "0; 1; -1; 2; -2; 5; -5; x"),
    ("count", "1; 0; 2; -1; -2; 5; x"),
    ("field", "f; g; 1; \"\""),
    ("member", "A; B; C; 1; \"\""),
    ("score", "1; 2; 2; -1; 0.1; 1e20; inf; -inf; nan; x; 3"),
    ("bound", "0; 1; 2; -inf; +inf; (1; (2; inf; x; (x"),
    ("channel", "ch; news; __keyevent@0__:expired"),
    ("pattern", "*; c?; __key*__:*; n[a-f]ws"),
    ("seconds", "{s}; {s}; {s}; 0; -1; 9223372036854775807; x; \"\""),
    ("millis", "{ms}; {ms}; 100; 100; 0; -1; 9223372036854775807; x; 1.5"),
    ("unix", "4102444800; 4102444801; 1; 0; -1; 9223372036854775807; x"),
    ("unix-millis", "4102444800000; 4102444801000; 1; 0; -1; x"),
    (
        "expiry",
        "PX {ms}; PX {ms}; PX 100; PX 100; EX {s}; EX {s}; PX 0; EX -1; PX x; EX; \
         PXAT 4102444800000; PXAT 4102444801000; EXAT 4102444800; PXAT 1; EXAT 1; \
         EXAT 9223372036854775807; PX 9223372036854775807; EX 9223372036854775807",
    ),
    (
        "set",
        "NX; NX; NX; PX {ms}; PX {ms}; PX 100; XX; XX; GET; GET; KEEPTTL; EX {s}; \
         PXAT 4102444800000; EXAT 4102444801; PX 0; PXAT 1; EXAT 1; EX x; PX; nx; IFEQ A; \
         PERSIST; EX 9223372036854775807; PX 9223372036854775807; junk",
    ),
    ("compare", "IFEQ A; IFEQ A; IFEQ B; IFNE A; IFNE B; GET; PX {ms}; NX; KEEPTTL"),
    ("condition", "NX; XX; GT; LT; gt; junk"),
    ("zadd", "NX; XX; GT; LT; CH; INCR"),
    ("timeout", "0.1; 0.1; 0.1; 0; -1; x; 0.1"),
    ("side", "LEFT; RIGHT; left; junk"),
    ("scan", "MATCH *; MATCH l*; COUNT 1000; COUNT 0; TYPE string; junk"),
    ("limit", "LIMIT 0 1; LIMIT 1 2; LIMIT 0 -1; LIMIT x 1; LIMIT 0"),
    ("db", "0; 1; 1; 0; 16; x"),
    ("client", "{id:a}; {id:b}; {id:c}; 0; x"),
    ("events", "KEA; KEA; \"\"; Ex; Kg$; q"),
    ("hello", "2; 3; 3; 3; 4; x; 3 SETNAME me; 2 junk; 3 SETNAME"),
    ("name", "me; \"a b\"; \"\""),
];

/// The commands, by family.
const TEMPLATES: &[&str] = &[
    // Strings.
    "30 set $string $value $set*",
    "6 set $string $value NX $expiry",
    "3 set $string $value $compare*",
    "4 setnx $string $value",
    "3 setex $string $seconds $value",
    "3 psetex $string $millis $value",
    "12 get $string",
    "3 getset $string $value",
    "3 getdel $string",
    "4 getex $string $expiry|PERSIST?",
    "1 mset $string $value lock $value",
    "1 msetnx $string $value n $value",
    "1 mset $string $value $value?",
    "2 mget $key+",
    "2 append $string $value",
    "1 strlen $string",
    "1 getrange $string $index $index",
    "1 setrange $string $index $value",
    "2 delifeq $string $value",
    "2 delex $string $compare?",
    // Counters.
    "5 incr $number",
    "2 decr $number",
    "3 incrby $number $int",
    "2 decrby $number $int",
    "2 incrbyfloat x|x|x|h $float",
    // Keys.
    "6 del $key+",
    "1 unlink $key+",
    "2 exists $key+",
    "1 touch $key+",
    "2 type $key",
    "2 rename $key $key",
    "1 renamenx $key $key",
    "1 copy $key $key REPLACE|DB?",
    "1 move $key $db",
    "2 select $db",
    "1 swapdb 0 $db",
    "2 dbsize",
    "1 flushdb ASYNC|SYNC|junk?",
    "1 flushall",
    "1 keys $pattern",
    "1 scan 0 $scan*",
    // Expiry.
    "4 expire $key $seconds $condition*",
    "6 pexpire $key $millis $condition*",
    "2 expireat $key $unix $condition*",
    "3 pexpireat $key $unix-millis $condition*",
    "3 persist $key",
    "2 ttl $key",
    "4 pttl $key",
    "1 expiretime $key",
    "2 pexpiretime $key",
    // Hashes.
    "5 hset $hash $field $value",
    "1 hset $hash $field $value $field $value $field?",
    "1 hmset $hash $field $value",
    "3 hsetnx $hash $field $value",
    "2 hget $hash $field",
    "1 hmget $hash $field+",
    "3 hdel $hash $field+",
    "1 hexists $hash $field",
    "1 hlen $hash",
    "1 hstrlen $hash $field",
    "1 hkeys $hash",
    "1 hvals $hash",
    "2 hgetall $hash",
    "4 hincrby $hash $field $int",
    "1 hincrbyfloat $hash x $float",
    "1 hscan $hash 0 $scan*",
    // Lists.
    "5 lpush $list $member+",
    "5 rpush $list $member+",
    "1 lpushx $list $member+",
    "1 rpushx $list $member+",
    "4 lpop $list $count?",
    "2 rpop $list $count?",
    "1 llen $list",
    "2 lrange $list $index $index",
    "1 lindex $list $index",
    "1 lset $list $index $member",
    "1 linsert $list BEFORE|AFTER|junk $member $member",
    "2 lrem $list $count $member",
    "1 ltrim $list $index $index",
    "1 lpos $list $member",
    "2 lmove $list $list $side $side",
    "1 rpoplpush $list $list",
    "5 blpop $list+ $timeout",
    "2 brpop $list $timeout",
    "2 blmove $list $list $side $side $timeout",
    "1 brpoplpush $list $list $timeout",
    // Sorted sets.
    "4 zadd $zset $score $member",
    "3 zadd $zset $zadd+ $score $member",
    "1 zadd $zset $zadd* $score $member $score $member",
    "2 zincrby $zset $score $member",
    "3 zrem $zset $member+",
    "1 zcard $zset",
    "2 zscore $zset $member",
    "1 zmscore $zset $member+",
    "2 zrank $zset $member",
    "1 zrevrank $zset $member",
    "3 zrange $zset $index $index WITHSCORES|REV?",
    "1 zrange $zset $bound $bound BYSCORE $limit? WITHSCORES?",
    "1 zrevrange $zset $index $index WITHSCORES?",
    "2 zrangebyscore $zset $bound $bound WITHSCORES? $limit?",
    "1 zrevrangebyscore $zset $bound $bound $limit?",
    "1 zcount $zset $bound $bound",
    "2 zremrangebyscore $zset $bound $bound",
    "1 zremrangebyrank $zset $index $index",
    "2 zpopmin $zset $count?",
    "1 zpopmax $zset $count?",
    "3 bzpopmin $zset+ $timeout",
    "1 bzpopmax $zset $timeout",
    "1 zscan $zset 0 $scan*",
    // Sets.
    "2 sadd $plain $member+",
    "1 srem $plain $member+",
    "1 scard $plain",
    "1 sismember $plain $member",
    "1 smembers $plain",
    // Transactions.
    "12 multi",
    "14 exec",
    "2 discard",
    "7 watch $key+",
    "1 unwatch",
    // Channels.
    "3 subscribe $channel+",
    "2 psubscribe $pattern",
    "1 ssubscribe $channel",
    "2 unsubscribe $channel",
    "1 punsubscribe $pattern",
    "1 sunsubscribe $channel",
    "6 publish $channel $value",
    "1 spublish $channel $value",
    "1 pubsub channels $pattern?",
    "1 pubsub numsub $channel*",
    "1 pubsub numpat",
    // Connections.
    "2 ping $value?",
    "1 echo $value",
    "3 hello $hello?",
    "1 client id",
    "1 client getname",
    "1 client setname $name",
    "2 client pause 100|{ms} WRITE",
    "2 client unpause",
    "3 client unblock $client TIMEOUT|ERROR|junk?",
    "1 client kill ID $client",
    "1 client reply ON|junk",
    "2 reset",
    "1 quit",
    "2 wait $index 100",
    "3 config set notify-keyspace-events $events",
    "1 config get notify-keyspace-events|timeout",
    // Wrong in themselves.
    "1 set lock",
    "1 get",
    "1 nonsense $value*",
    "1 client nonsense",
    "1 exec now",
    "1 expire lock",
    "1 hset h f",
    "1 blpop l",
    "1 zadd z 1",
];

/// Scripts, where the engine can run them.
const SCRIPTS: &[&str] = &[
    "12 eval $script 1 $string $value",
    "4 eval $script 1 $key $value",
    "1 eval $script $index $string $value",
    "1 evalsha 0123456789012345678901234567890123456789 0",
    "2 script load \"return redis.call('get', KEYS[1])\"",
    "2 evalsha 4e6d8fc8bb01276962cce5371fa795a7763657ae 1 $string",
    "1 script exists 4e6d8fc8bb01276962cce5371fa795a7763657ae x",
    "1 script flush",
];

/// What locks do in scripts, and what goes wrong in them.
const SCRIPT_TEXTS: &[&str] = &[
    "\"if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end \
     return 0\"",
    "\"if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end \
     return redis.call('pexpire', KEYS[1], 300000)\"",
    "\"return redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', 100)\"",
    "\"if redis.call('setnx', KEYS[1], ARGV[1]) == 1 then return redis.call('incr', 'n') end \
     return false\"",
    "\"redis.call('set', KEYS[1], 'B') return redis.call('incr', KEYS[1])\"",
    "\"return redis.pcall('lpush', KEYS[1], ARGV[1])\"",
    "\"redis.call('rpush', 'l', ARGV[1]) return redis.call('publish', 'ch', ARGV[1])\"",
    "\"redis.call('hincrby', 'h', ARGV[1], 1) redis.call('pexpire', 'h', 400000) \
     return redis.call('hgetall', 'h')\"",
    "\"return {KEYS[1], ARGV[1], #ARGV, 3.99, true, false, 'x'}\"",
    "\"return redis.call('ttl', KEYS[1]) >= 0\"",
    "\"return redis.error_reply('MINE refused')\"",
    "\"return redis.status_reply('FINE')\"",
    "\"return tonumber(ARGV[1])\"",
    "\"return nothing\"",
    "\"return redis.call('nonsense')\"",
];
