//! Scripts that never end, recurse, or eat memory: an error with the script's line.

use super::{Server, eval};
use crate::*;

const LONG: &str = "-ERR the script ran more than 1000000 instructions script: ";
const LARGE: &str = "-ERR the script asked for more than 16 MiB of memory script: ";

/// The script ends with this error, and the error names this line.
#[track_caller]
fn ends(script: &str, start: &str, line: usize) {
    let reply = eval(script);
    assert!(reply.starts_with(start), "{script}\n{reply}");
    assert!(reply.ends_with(&format!(", on @user_script:{line}.\r\n")), "{script}\n{reply}");
}

#[test]
fn a_loop_without_end_is_ended() {
    ends("local x = 1\nwhile true do x = x + 1 end", LONG, 2);
    ends("repeat until false", LONG, 1);
    ends("local function f() return f() end\nreturn f()", LONG, 1);
}

#[test]
fn nothing_catches_the_end() {
    ends("while true do\npcall(function() while true do end end) end", LONG, 2);
    ends("while true do xpcall(function() while true do end end, function() end) end", LONG, 1);
    ends("xpcall(function() while true do end end,\nfunction() while true do end end)", LONG, 1);
    ends("local r = pcall(pcall, pcall, function() while true do end end) return r", LONG, 1);
    ends(
        "while true do local f = coroutine.wrap(function() while true do end end) pcall(f) end",
        LONG,
        1,
    );
    ends(
        "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
        LONG,
        1,
    );
    ends("redis.pcall('PING') while true do pcall(redis.call, 'NOSUCH') end", LONG, 1);
    ends("return load(function() while true do end end)", LONG, 1);
    ends(
        "local t = setmetatable({}, {__index = function() while true do end end})\n\
          while true do pcall(function() return t.x end) end",
        LONG,
        2,
    );
    ends("table.sort({3, 2, 1}, function() while true do end end)", LONG, 1);
    ends("return ('x'):gsub('x', function() while true do end end)", LONG, 1);
}

#[test]
fn memory_is_bounded_however_it_is_asked_for() {
    ends("local s = 'x'\nwhile true do s = s .. s end", LARGE, 2);
    ends("local t = {}\nfor i = 1, 1e9 do\nt[i] = ('x'):rep(1e6) .. i end", LARGE, 3);
    ends("return string.rep('x', 1e9)", LARGE, 1);
    ends("return ('x'):rep(2^40)", LARGE, 1);
    ends(
        "local s = ('x'):rep(2^20) return table.concat({s,s,s,s,s,s,s,s,s,s,s,s,s,s,s,s,s})",
        LARGE,
        1,
    );
    ends("local s = ('x'):rep(2^16) return (s:gsub('x', s))", LARGE, 1);
    ends("local s = ('x'):rep(2^23) pcall(function() return s .. s .. s end) return 1", LARGE, 1);
    ends("local t = {} for i = 1, 25 do t[i] = ('y'):rep(2^20) .. i end", LARGE, 1);
}

#[test]
fn empty_repetitions_take_no_time() {
    assert_eq!(eval("return #string.rep('', 1e15)"), ":0\r\n");
    assert_eq!(eval("return #string.rep('x', -5)"), ":0\r\n");
}

#[test]
fn a_pattern_that_goes_back_and_forth_is_ended() {
    ends("local n = 30\nreturn ('a'):rep(n):find(('a?'):rep(n) .. ('a'):rep(n))", LONG, 2);
    ends("return ('a'):rep(10000):find('.-.-.-.-b')", LONG, 1);
    ends("return ('a'):rep(10000):match('(a*)(a*)(a*)b')", LONG, 1);
    ends("for _ in ('a'):rep(10000):gmatch('.-.-.-b') do end", LONG, 1);
    let reply = eval("return ('a'):rep(5000):find(('a?'):rep(5000))");
    assert!(reply.starts_with("-ERR user_script:1: pattern too complex script: "), "{reply}");
    assert_eq!(eval("return ('a'):rep(1e6):find(('a'):rep(5e5) .. 'b', 1, true)"), "$-1\r\n");
}

#[test]
fn deep_recursion_is_an_error_that_can_be_caught() {
    let eval = |script: &str| Server::new(Version::Redis70, ScriptLimits::SERVER).eval(script);
    let reply = eval("local function f() return 1 + f() end\nreturn f()");
    assert!(reply.starts_with("-ERR user_script:1: stack overflow"), "{reply}");
    assert_eq!(
        eval("local function f() return 1 + f() end return tostring((pcall(f)))"),
        "$5\r\nfalse\r\n"
    );
    let nested = "local function f() return coroutine.wrap(f)() end return f()";
    assert!(eval(nested).contains("C stack overflow"), "{}", eval(nested));
    let nested = "local function f() return ('x'):gsub('x', f) end return f()";
    assert!(eval(nested).starts_with('-'), "{}", eval(nested));
    let deep = format!("return {}1{}", "(".repeat(5_000), ")".repeat(5_000));
    assert!(eval(&deep).starts_with("-ERR Error compiling script"), "{}", eval(&deep));
}

#[test]
fn a_reply_without_end_is_ended() {
    assert!(eval("local t = {} t[1] = t return t").contains("reached lua stack limit"));
    ends("local t = {} t[1] = t t[2] = t return t", LONG, 1);
    let reply = eval("local t = {} t.x = t return cjson.encode(t)");
    assert!(reply.contains("Cannot serialise, excessive depth"), "{reply}");
    let reply = eval("return cjson.decode(('['):rep(5000))");
    assert!(reply.contains("Found too many nested data structures"), "{reply}");
    assert_eq!(eval("local t = {} t[1] = t return #cmsgpack.pack(t)"), ":17\r\n");
}

#[test]
fn work_inside_a_function_of_ours_counts() {
    ends(
        "local t = {} for i = 1, 2e4 do t[i] = i end\n\
          while true do table.insert(t, 1, 1) table.remove(t, 1) end",
        LONG,
        2,
    );
    ends("local s = ('x'):rep(2^20)\nwhile true do local t = s:upper() end", LONG, 2);
    ends("local s = ('x'):rep(2^22)\nwhile true do local t = (s .. 'y') == s end", LONG, 2);
}

#[test]
fn a_server_is_busy_for_ever_instead() {
    let mut server = Server::new(Version::Redis70, ScriptLimits::SERVER);
    assert_eq!(server.eval("redis.call('SET', 'k', 'v') while true do end"), "");
    server.clock.0 += 5_000_000;
    let mut other = |words: &[&[u8]]| {
        let words = words.iter().map(|word| word.to_vec()).collect();
        let mut effects = Effects::new();
        let input = Input::Request { connection: ConnectionId(2), words };
        server.engine.step(input, &mut server.clock, &mut effects);
        assert!(effects.busy);
        format!("{:?}", effects.list)
    };
    assert!(other(&[b"GET", b"k"]).contains("BUSY Redis is busy"));
    assert!(other(&[b"SCRIPT", b"KILL"]).contains("UNKILLABLE"));
}

#[test]
fn a_kill_takes_back_what_came_later() {
    let mut server = Server::new(Version::Redis70, ScriptLimits::SERVER);
    let script = "local t = redis.call('TIME') local s = t[1] * 1e6 + t[2]\n\
                  repeat t = redis.call('TIME') until t[1] * 1e6 + t[2] - s > 200000\n\
                  redis.call('SET', 'k', 'v') return 1";
    server.engine.configure("busy-reply-threshold", "50").unwrap();
    assert_eq!(server.eval(script), "");
    server.clock.0 += 100_000;
    let mut effects = Effects::new();
    let words = vec![b"SCRIPT".to_vec(), b"KILL".to_vec()];
    let input = Input::Request { connection: ConnectionId(2), words };
    server.engine.step(input, &mut server.clock, &mut effects);
    assert!(!effects.busy);
    assert!(format!("{:?}", effects.list).contains("Script killed by user"));
    assert_eq!(server.send(&[b"GET", b"k"]), "$-1\r\n");
}
