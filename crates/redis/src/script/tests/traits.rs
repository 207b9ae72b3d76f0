//! Single traits of scripts, checked on a Redis 7.0.15 by hand.

use super::{Server, eval};
use crate::*;

#[track_caller]
fn gives(script: &str, reply: &str) {
    assert_eq!(eval(script), format!("{reply}\r\n"), "{script}");
}

/// The error in front of ` script: DIGEST, on @user_script:1.`.
#[track_caller]
fn fails(script: &str, error: &str) {
    let reply = eval(script);
    let digest = digest(script.as_bytes());
    let wanted = format!("-{error} script: {digest}, on @user_script:1.\r\n");
    assert_eq!(reply, wanted, "{script}");
}

#[test]
fn the_environment_is_read_only_and_has_no_way_out() {
    let readonly = "ERR user_script:1: Attempt to modify a readonly table";
    for script in [
        "_G.x = 1",
        "string.x = 1",
        "redis.call = nil",
        "cjson.encode = 1",
        "getmetatable('').__index = nil",
        "getmetatable(_G).__index = nil",
        "pcall = nil",
    ] {
        fails(script, readonly);
    }
    fails("rawset(_G, 'x', 1)", "ERR Attempt to modify a readonly table");
    fails("setmetatable(_G, {})", "ERR Attempt to modify a readonly table");
    fails("table.insert(_G, 1)", "ERR Attempt to modify a readonly table");
    for name in [
        "os", "io", "debug", "package", "require", "dofile", "loadfile", "print", "getfenv",
        "setfenv", "newproxy", "module",
    ] {
        let error = format!(
            "ERR user_script:1: Script attempted to access nonexistent global variable '{name}'"
        );
        fails(&format!("return {name}"), &error);
    }
    gives("return string.x", "$-1");
    gives("local n = 0 for _ in pairs(string) do n = n + 1 end return n", ":15");
    gives("return loadstring(string.dump(function() return 5 end))", "$-1");
    gives("return loadstring('return 7')()", ":7");
}

#[test]
fn one_script_leaves_nothing_to_the_next() {
    let mut server = Server::new(Version::Redis70, ScriptLimits::SCENARIO);
    server.eval("local _, t = pairs(string) t.leak = 1 KEYS.leak = 1 rawset(ARGV, 'leak', 1)");
    assert_eq!(server.eval("return {string.leak, KEYS.leak, ARGV.leak}"), "*0\r\n");
    let name = server.eval("return tostring({})");
    assert_eq!(server.eval("return tostring({})"), name);
    assert_eq!(server.eval("return {tostring({}) == tostring({}), 1}"), "*2\r\n$-1\r\n:1\r\n");
}

#[test]
fn errors_are_what_the_server_makes_of_them() {
    fails("error('a', 0)", "ERR a");
    fails("error(5.5)", "ERR user_script:1: 5.5");
    fails("error({err = 'X y', line = 7})", "X y");
    fails(
        "return ('x'):sub()",
        "ERR user_script:1: bad argument #1 to 'sub' (number expected, got no value)",
    );
    fails(
        "return string.find(nil, 'a')",
        "ERR user_script:1: bad argument #1 to 'find' (string expected, got nil)",
    );
    fails(
        "return ('a'):find({})",
        "ERR user_script:1: bad argument #1 to 'find' (string expected, got table)",
    );
    fails("return ('a'):find('[')", "ERR user_script:1: malformed pattern (missing ']')");
    fails("return ('a'):gsub('a', '%2')", "ERR user_script:1: invalid capture index");
    fails(
        "return math.random(0)",
        "ERR user_script:1: bad argument #1 to 'random' (interval is empty)",
    );
    fails(
        "return table.insert(nil, 1)",
        "ERR user_script:1: bad argument #1 to 'insert' (table expected, got nil)",
    );
    fails(
        "local co = coroutine.wrap(function() redis.call('nosuch') end) return co()",
        "ERR Unknown Redis command called from script",
    );
    gives("return {pcall(error)}", "*1\r\n$-1");
    gives(
        "local ok, e = pcall(error, {err = 'X y'}) return {type(e), e}",
        "*2\r\n$6\r\nstring\r\n$3\r\nX y",
    );
    gives(
        "local ok, e = xpcall(function() redis.call('nosuch') end, \
           function(m) return m.err end) return e",
        "$44\r\nERR Unknown Redis command called from script",
    );
}

#[test]
fn numbers_are_printed_as_c_prints_them() {
    gives("return tostring(1/3)", "$16\r\n0.33333333333333");
    gives("return tostring(1e15)", "$5\r\n1e+15");
    gives("return ('%5.2f|%-5s|%x'):format(1.234, 'a', 255)", "$14\r\n 1.23|a    |ff");
    gives("return {double = 0/0}", "$4\r\n-nan");
    gives(
        "return cjson.encode({1, 2.5, 1e20, {a = cjson.null}})",
        "$28\r\n[1,2.5,1e+20,{\"a\":null}]".replace("28", "24").as_str(),
    );
}

#[test]
fn the_libraries_read_what_they_wrote() {
    gives("return cjson.decode(cjson.encode({a = {1, 'x', true}})).a[2]", "$1\r\nx");
    gives("return cjson.encode('a/\"\\n\\1')", "$15\r\n\"a\\/\\\"\\n\\u0001\"");
    gives("return cjson.decode('\"\\\\u00e9\\\\ud83d\\\\ude00\"')", "$6\r\né😀");
    fails(
        "return cjson.decode('[1,')",
        "ERR user_script:1: Expected value but found T_END at character 4",
    );
    gives(
        "return {cmsgpack.unpack(cmsgpack.pack(-5, 3.5, 'x', {1, 2}))}",
        "*4\r\n:-5\r\n:3\r\n$1\r\nx\r\n*2\r\n:1\r\n:2",
    );
    gives("return cmsgpack.unpack(cmsgpack.pack({a = 70000})).a", ":70000");
    gives(
        "return {struct.unpack('>I2hs', struct.pack('>I2hs', 258, -2, 'ab'))}",
        "*4\r\n:258\r\n:-2\r\n$2\r\nab\r\n:8",
    );
    gives("return {bit.bor(1, 6), bit.lshift(1, 4), bit.bnot(0)}", "*3\r\n:7\r\n:16\r\n:-1");
    gives("return bit.tohex(255)", "$8\r\n000000ff");
}

#[test]
fn patterns_are_those_of_the_manual() {
    for (script, reply) in [
        ("return {('hello world'):find('o w')}", "*2\r\n:5\r\n:7"),
        ("return {('key = value'):match('^(%w+)%s*=%s*(%w+)$')}", "*2\r\n$3\r\nkey\r\n$5\r\nvalue"),
        ("return {('abc'):gsub('%w', '%0%0')}", "*2\r\n$6\r\naabbcc\r\n:3"),
        ("return {('hello'):gsub('', '-')}", "*2\r\n$11\r\n-h-e-l-l-o-\r\n:6"),
        ("return (('THE (quick) fox'):find('%((%a+)%)'))", ":5"),
        ("return ('f(a(b)c)d'):match('%b()')", "$7\r\n(a(b)c)"),
        ("return (('THE quick'):gsub('%f[%a]%a', string.lower))", "$9\r\ntHE quick"),
        ("return ('[[x]]'):match('%[%[(.-)%]%]')", "$1\r\nx"),
        ("return {('x'):match('()x()')}", "*2\r\n:1\r\n:2"),
        ("return ('abab'):match('(ab)%1')", "$2\r\nab"),
        ("return (('$n $m'):gsub('%$(%w+)', {n = 'one'}))", "$6\r\none $m"),
        (
            "local t = {} for k, v in ('a=1,b=2'):gmatch('(%w)=(%w)') do t[#t+1] = k .. v end return t",
            "*2\r\n$2\r\na1\r\n$2\r\nb2",
        ),
        ("return ('a.b'):find('.', 2, true)", ":2"),
        ("return ('x]'):match('[]]')", "$1\r\n]"),
        ("return ('a-b'):match('[a-]+')", "$2\r\na-"),
    ] {
        gives(script, reply);
    }
}

#[test]
fn time_stands_in_newer_scripts() {
    let script = "local a = redis.call('TIME') for i = 1, 10 do redis.call('PING') end\n\
                  local b = redis.call('TIME') return (b[1] - a[1]) * 1000000 + b[2] - a[2]";
    let ask = |version| Server::new(version, ScriptLimits::SCENARIO).eval(script);
    assert_eq!(ask(Version::Redis70), ":22\r\n");
    assert_eq!(ask(Version::Redis72), ":0\r\n");
}

#[test]
fn versions_differ_in_their_words() {
    let mut server = Server::new(Version::Valkey90, ScriptLimits::SCENARIO);
    let reply = server.eval("error('x')");
    assert_eq!(reply, "-ERR user_script:1: x script: on @user_script:1.\r\n");
    assert_eq!(server.eval("return redis.REDIS_VERSION"), "$5\r\n9.0.0\r\n");
    assert_eq!(server.send(&[b"EVALSHA", b"x", b"0"]), "-NOSCRIPT No matching script.\r\n");
}

#[test]
fn undoing_replication_is_heard() {
    let mut server = Server::new(Version::Redis70, ScriptLimits::SCENARIO);
    let mut effects = Effects::new();
    let script =
        b"redis.call('SET', 'a', 1) redis.set_repl(redis.REPL_NONE) redis.call('SET', 'b', 1)";
    let words = vec![b"EVAL".to_vec(), script.to_vec(), b"0".to_vec()];
    let input = Input::Request { connection: ConnectionId(1), words };
    server.engine.step(input, &mut server.clock, &mut effects);
    let mut sent = Vec::new();
    for effect in &effects.list {
        if let Effect::Propagate(operations) = effect {
            sent.push(operations.len());
        }
    }
    assert_eq!(sent, [1]);
}
