//! The byte path: agreement with the typed one, bad input, and single traits of the protocol.

use proptest::prelude::*;

use super::{command, engine};
use crate::{
    numbers::{format_double, parse_double},
    *,
};

/// Sends one request at this millisecond and gives what comes back, encoded.
fn send(engine: &mut Engine, connection: u64, words: &[&[u8]], now: u64) -> Vec<u8> {
    let words = words.iter().map(|word| word.to_vec()).collect();
    let mut effects = Effects::new();
    let input = Input::Request { connection: ConnectionId(connection), words };
    engine.step(input, &mut StandingClock(now * 1000), &mut effects);
    let mut bytes = Vec::new();
    for effect in effects.list {
        if let Effect::Send { protocol, frame, .. } = effect {
            frame.encode(protocol, &mut bytes);
        }
    }
    bytes
}

/// The reply of the typed path as RESP2 bytes.
fn encoded(reply: Reply, names: &Names) -> Vec<u8> {
    let frame = match reply {
        Reply::Ok => Frame::ok(),
        Reply::Nil => Frame::Nil,
        Reply::Queued => Frame::Simple("QUEUED".into()),
        Reply::Integer(number) => Frame::Integer(number),
        Reply::Value(value) => Frame::Bulk(value.to_bytes(names)),
        Reply::Error(code) => Frame::Error(code.text().into()),
    };
    let mut bytes = Vec::new();
    frame.encode(Protocol::Resp2, &mut bytes);
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    /// What the typed path does to shared keys, the byte path does, too, and each sees the other.
    #[test]
    fn both_paths_agree(
        steps in prop::collection::vec((command(), any::<bool>(), 0u64..12), 1..30),
    ) {
        let (mut typed, mut mixed) = (engine(), engine());
        let mut now = 1_000;
        for (command, in_bytes, pause) in steps {
            now += pause;
            if command.is_script()
                || matches!(command, Command::Set { expiry: Expiry::Persist, .. })
                || matches!(command, Command::GetEx { expiry: Expiry::Keep, .. })
            {
                continue;
            }
            let names = typed.names().clone();
            let expected = encoded(typed.execute(&command, now).reply, &names);
            let text = command.to_text(&names);
            let got = if in_bytes {
                let words = split_inline(text.as_bytes()).expect("a command is a line");
                let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
                send(&mut mixed, 1, &words, now)
            } else {
                encoded(mixed.execute(&command, now).reply, &names)
            };
            prop_assert_eq!(
                String::from_utf8_lossy(&got), String::from_utf8_lossy(&expected), "{}", text
            );
        }
    }

    #[test]
    fn any_words_get_an_answer(
        requests in prop::collection::vec(
            prop::collection::vec(
                prop_oneof![
                    prop::sample::select(vec![
                        "SET", "GET", "k", "l", "h", "z", "NX", "PX", "10", "-1", "0", "EXPIRE",
                        "RPUSH", "LPOP", "HSET", "ZADD", "1.5", "inf", "MULTI", "EXEC", "WATCH",
                        "SUBSCRIBE", "BLPOP", "CLIENT", "KILL", "ID", "CONFIG", "SCAN", "ZRANGE",
                        "LTRIM", "GETRANGE", "SETRANGE", "COPY", "SWAPDB", "RESET", "HELLO", "3",
                        "LREM", "9223372036854775807", "-9223372036854775808", "OBJECT", "INFO",
                    ]).prop_map(|word| word.as_bytes().to_vec()),
                    prop::collection::vec(any::<u8>(), 0..6),
                ],
                1..7,
            ),
            1..40,
        ),
    ) {
        let mut engine = Engine::new();
        for (at, request) in requests.iter().enumerate() {
            let words: Vec<&[u8]> = request.iter().map(Vec::as_slice).collect();
            send(&mut engine, (at % 3) as u64, &words, at as u64);
        }
    }

    #[test]
    fn any_bytes_are_requests_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        fuzz::requests(&bytes);
    }

    /// Bytes may come in any portions: the requests are the same.
    #[test]
    fn portions_do_not_matter(
        words in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 1..5),
        cut in 0usize..200,
    ) {
        let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
        for word in &words {
            bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            bytes.extend_from_slice(word);
            bytes.extend_from_slice(b"\r\n");
        }
        let (first, second) = bytes.split_at(cut.min(bytes.len()));
        let mut parser = RequestParser::default();
        parser.feed(first);
        let early = parser.next_request().unwrap();
        parser.feed(second);
        let late = parser.next_request().unwrap();
        prop_assert_eq!(early.or(late), Some(words));
    }

    #[test]
    fn doubles_read_back_as_themselves(bits in any::<u64>()) {
        let number = f64::from_bits(bits);
        prop_assume!(!number.is_nan());
        for shortest in [false, true] {
            let text = format_double(number, shortest);
            prop_assert_eq!(parse_double(text.as_bytes()), Some(number), "{}", text);
        }
    }
}

#[test]
fn announced_sizes_are_bounded() {
    for (bytes, error) in [
        (&b"*2147483648\r\n"[..], ProtocolError::MultibulkLength),
        (b"*x\r\n", ProtocolError::MultibulkLength),
        (b"*1\r\n$536870913\r\n", ProtocolError::BulkLength),
        (b"*1\r\n$-1\r\n", ProtocolError::BulkLength),
        (b"*1\r\n:1\r\n", ProtocolError::ExpectedBulk(':')),
        (b"GET \"open\r\n", ProtocolError::UnbalancedQuotes),
    ] {
        let mut parser = RequestParser::default();
        parser.feed(bytes);
        assert_eq!(parser.next_request(), Err(error));
    }
    for (start, error) in
        [(b'a', ProtocolError::InlineTooLong), (b'*', ProtocolError::CountTooLong)]
    {
        let mut parser = RequestParser::default();
        parser.feed(&[start]);
        parser.feed(&vec![b'1'; 70_000]);
        assert_eq!(parser.next_request(), Err(error));
    }
    let mut parser = RequestParser::default();
    parser.feed(b"*2147483647\r\n");
    assert_eq!(parser.next_request(), Ok(None), "announcing words reserves nothing");
}

/// What `cargo xtask differential` sends to a real server, too.
fn seeds() -> Vec<Vec<u8>> {
    let lines = include_str!("../../corpus/requests.escaped").lines();
    let lines = lines.filter(|line| !line.starts_with('#'));
    lines.map(|line| split_inline(line.as_bytes()).unwrap().remove(0)).collect()
}

proptest! {
    /// Two seeds behind each other, with one byte changed and the end cut off.
    #[test]
    fn broken_requests_are_requests_or_an_error(
        first in prop::sample::select(seeds()),
        second in prop::sample::select(seeds()),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        end in any::<prop::sample::Index>(),
    ) {
        let mut bytes = [first, second].concat();
        let place = place.index(bytes.len());
        bytes[place] = byte;
        bytes.truncate(end.index(bytes.len()) + 1);
        fuzz::requests(&bytes);
    }
}

#[test]
fn a_request_has_bounds_in_memory() {
    let mut many = b"*1000\r\n".to_vec();
    many.extend(b"$0\r\n\r\n".repeat(100));
    let mut long = b"*2\r\n$3\r\nGET\r\n$1000000\r\n".to_vec();
    long.extend(vec![b'x'; 2000]);
    for bytes in [many, long] {
        let mut parser = RequestParser::with_limit(1000);
        parser.feed(&bytes);
        assert_eq!(parser.next_request(), Err(ProtocolError::RequestTooBig));
    }
    let mut parser = RequestParser::with_limit(1000);
    parser.feed(&b"PING\r\n".repeat(1000));
    for _ in 0..1000 {
        assert_eq!(parser.next_request(), Ok(Some(vec![b"PING".to_vec()])), "one by one they fit");
    }
}

#[test]
fn large_requests_are_taken_as_they_are() {
    let mut parser = RequestParser::default();
    parser.feed(b"*1000000\r\n");
    parser.feed(&b"$1\r\nx\r\n".repeat(1_000_000));
    let words = parser.next_request().unwrap().unwrap();
    assert_eq!(words.len(), 1_000_000);
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    let reply = send(&mut Engine::new(), 1, &words, 0);
    assert!(reply.starts_with(b"-ERR unknown command 'x'") && reply.len() < 300);

    const SIZE: usize = 100_000_000;
    let mut engine = Engine::new();
    parser.feed(format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${SIZE}\r\n").as_bytes());
    let portion = vec![b'v'; 1_000_000];
    for _ in 0..SIZE / portion.len() {
        assert_eq!(parser.next_request(), Ok(None));
        parser.feed(&portion);
    }
    parser.feed(b"\r\n");
    let words = parser.next_request().unwrap().unwrap();
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    assert_eq!(send(&mut engine, 1, &words, 0), b"+OK\r\n");
    assert_eq!(send(&mut engine, 1, &[b"STRLEN", b"k"], 0), b":100000000\r\n");
}

#[test]
fn names_of_keys_that_are_gone_do_not_pile_up() {
    let mut engine = engine();
    for number in 0..20_000u32 {
        let key = format!("key:{number}");
        send(&mut engine, 1, &[b"SET", key.as_bytes(), b"v"], 1);
        if number != 7 {
            send(&mut engine, 1, &[b"DEL", key.as_bytes()], 1);
        }
    }
    assert!(engine.names().len() < 3_000, "{} names", engine.names().len());
    assert_eq!(send(&mut engine, 1, &[b"GET", b"key:7"], 1), b"$1\r\nv\r\n");
    assert_eq!(engine.names().text(0), b"lock:job1", "names of the scenario stay");
}

#[test]
fn inline_requests_are_split_as_redis_cli_splits_them() {
    let mut parser = RequestParser::default();
    parser.feed(b"\r\nSET k \"a\\x41\\n\" 'it\\'s'\r\n");
    let words: [&[u8]; 4] = [b"SET", b"k", b"aA\n", b"it's"];
    assert_eq!(parser.next_request(), Ok(Some(words.map(<[u8]>::to_vec).to_vec())));
}

#[test]
fn doubles_have_the_digits_of_the_version() {
    assert_eq!(format_double(0.1, false), "0.10000000000000001");
    assert_eq!(format_double(0.1, true), "0.1");
    assert_eq!(format_double(1e20, false), "1e+20");
    assert_eq!(format_double(1e-5, true), "1e-05");
    assert_eq!(format_double(f64::NEG_INFINITY, true), "-inf");
}

#[test]
fn globs_match_as_the_server_matches_them() {
    for (pattern, text, matches) in [
        ("lock:*", "lock:1", true),
        ("l?ck", "lock", true),
        ("[a-c]x", "bx", true),
        ("[^a-c]x", "bx", false),
        ("\\*", "*", true),
        ("\\*", "a", false),
        ("*a*b*", "xxaxxb", true),
        ("a", "ab", false),
        ("[", "[", false),
    ] {
        let found = glob::matches(pattern.as_bytes(), text.as_bytes());
        assert_eq!(found, matches, "{pattern} {text}");
    }
    // Many stars on a text that almost fits end soon.
    let pattern = format!("{}b", "a*".repeat(50));
    assert!(!glob::matches(pattern.as_bytes(), "a".repeat(2000).as_bytes()));
}

#[test]
fn newer_servers_compare_and_set() {
    let ask = |version: Version, lines: &[(&str, &str)]| {
        let mut engine = Engine::new();
        engine.config_mut().version = version;
        for (line, reply) in lines {
            let words = split_inline(line.as_bytes()).unwrap();
            let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
            let got = send(&mut engine, 1, &words, 10);
            assert_eq!(String::from_utf8_lossy(&got), format!("{reply}\r\n"), "{line}");
        }
    };
    let lines = [
        ("SET k a", "+OK"),
        ("SET k b IFEQ x", "$-1"),
        ("SET k b IFNE x", "+OK"),
        ("SET n b IFNE x", "+OK"),
        ("DELEX k IFEQ x", ":0"),
        ("DELEX k IFNE x", ":1"),
        ("DELEX k", ":0"),
    ];
    ask(Version::Redis84, &lines);
    let lines = [("SET k a PX 60000", "+OK"), ("DELIFEQ k b", ":0"), ("DELIFEQ k a", ":1")];
    ask(Version::Valkey90, &lines);
    ask(Version::Valkey81, &[("SET k a PXAT 5", "+OK"), ("DBSIZE", ":0")]);
    ask(Version::Redis72, &[("SET k a PXAT 5", "+OK"), ("DBSIZE", ":1")]);
    ask(Version::Redis72, &[("ZADD z 0.1 a", ":1"), ("ZSCORE z a", "$3\r\n0.1")]);
}
