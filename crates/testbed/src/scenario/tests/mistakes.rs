use super::{FULL, mistakes};
use crate::scenario::{Code, Replacement, Scenario, Source};

#[test]
fn several_mistakes_are_reported_at_once() {
    insta::assert_snapshot!(mistakes(
        r#"
title = "Three mistakes"
[lock]
strategy = "set-nx-px"
renew = "watchdog"
renew_evry = "3s"
ttl = 30
[[fault]]
pause = { process = "c3", when = "acquired", for = "31s" }
"#
    ));
}

/// Each text follows a valid [lock] table, or is a whole file where it begins with `[lock]`.
const BROKEN: &[(&str, &str)] = &[
    ("no table closes", "[workload\nclients = 2"),
    ("a key twice", "[workload]\nclients = 2\nclients = 3"),
    ("no strategy", "[lock]\nttl = \"3s\""),
    ("a text for a number", "[workload]\nclients = \"two\""),
    ("a number for a text", "title = 3"),
    ("a list for a table", "store = []"),
    ("a table for a list", "fault = {}"),
    ("a date for a length", "[workload]\nwork = 2020-01-01"),
    ("true for a number", "[workload]\nclients = true"),
    ("a word for true", "[lock]\nstrategy = \"set-nx-px\"\nretry_release = \"yes\""),
    ("an unknown key at the top", "titel = \"x\""),
    ("an unknown key far from any", "[workload]\nxyzzy = 1"),
    (
        "an unknown key in a line",
        "[[fault]]\npause = { proces = \"c1\", at = \"1s\", for = \"1s\" }",
    ),
    ("an unknown kind", "[[fault]]\npuase = { process = \"c1\", at = \"1s\", for = \"1s\" }"),
    ("no kind", "[[fault]]"),
    (
        "two kinds",
        "[[fault]]\ncrash = { process = \"c1\", at = \"1s\" }\n\
         lose = { from = \"c1\", to = \"r1\", nth = 1 }",
    ),
    ("a bare length", "[workload]\nwork = 5"),
    ("a bare fraction", "[workload]\nwork = 1.5"),
    ("a bare text", "[workload]\nwork = \"5\""),
    ("a month", "[workload]\nwork = \"1M\""),
    ("a day", "[workload]\nwork = \"1d\""),
    ("seconds in words", "[workload]\nwork = \"5 seconds\""),
    ("a sign", "[workload]\nwork = \"-5s\""),
    ("a length too long", "[workload]\nwork = \"200000h\""),
    ("a length too fine", "[workload]\nwork = \"0.5ns\""),
    ("no length", "[workload]\nwork = \"soon\""),
    ("an unknown strategy", "[lock]\nstrategy = \"set-nx-pxx\""),
    ("an unknown word", "[lock]\nstrategy = \"set-nx-px\"\nrelease = \"compare-and-swap\""),
    (
        "an unknown moment",
        "[[fault]]\npause = { process = \"c1\", when = \"aquired\", for = \"1s\" }",
    ),
    ("an unknown violation", "[expect]\nviolations = [\"double-holders\"]"),
    ("a note as a violation", "[expect]\nviolations = [\"stale-read\"]"),
    ("no clients", "[workload]\nclients = 0"),
    ("too many clients", "[workload]\nclients = 1001"),
    (
        "more tables than clients",
        "[workload]\nclients = 1\n[[workload.client]]\n[[workload.client]]\nname = \"b\"",
    ),
    ("a name twice", "[[workload.client]]\nname = \"c2\"\n[[workload.client]]"),
    ("a server's name", "[[workload.client]]\nname = \"r1\""),
    ("a name with a space", "[[workload.client]]\nname = \"my client\""),
    (
        "an unknown thread",
        "[[fault]]\nstall = { thread = \"c1/renewer\", at = \"1s\", for = \"1s\" }",
    ),
    (
        "an unknown server",
        "[[fault]]\nserver-stall = { server = \"r2\", at = \"1s\", for = \"1s\" }",
    ),
    ("two clients as a link", "[[fault]]\npartition = { between = [\"c1\", \"c2\"], at = \"1s\" }"),
    ("three ends", "[[fault]]\npartition = { between = [\"c1\", \"c2\", \"r1\"], at = \"1s\" }"),
    ("no anchor", "[[fault]]\npause = { process = \"c1\", for = \"1s\" }"),
    ("two anchors", "[[fault]]\npause = { process = \"c1\", at = \"1s\", step = 3, for = \"1s\" }"),
    ("step zero", "[[fault]]\npause = { process = \"c1\", step = 0, for = \"1s\" }"),
    ("a pause of nothing", "[[fault]]\npause = { process = \"c1\", at = \"1s\", for = \"0s\" }"),
    ("no message named", "[[fault]]\nlose = { from = \"c1\", to = \"r1\" }"),
    (
        "two messages named",
        "[[fault]]\nlose = { from = \"c1\", to = \"r1\", at = \"1s\", nth = 2 }",
    ),
    (
        "nobody's moment",
        "[[fault]]\npartition = { between = [\"c1\", \"r1\"], when = \"acquired\" }",
    ),
    (
        "a moment that never comes",
        "[[fault]]\npause = { process = \"c1\", when = \"expire-due\", for = \"1s\" }",
    ),
    ("a clock that stands", "[[fault]]\nclock-step = { host = \"r1\", at = \"1s\", by = \"0s\" }"),
    (
        "a command that nobody knows",
        "[[fault]]\noutsider = { server = \"r1\", at = \"1s\", command = \"DLE lock:orders\" }",
    ),
    ("a rate too high", "[[fault]]\nclock-rate = { host = \"r1\", at = \"1s\", ppm = 900000 }"),
    ("no replica", "[store]\nredis = { topology = \"replicated\", replicas = 0 }"),
    ("a lag of nothing", "[store]\nredis = { lag = \"1s\" }"),
    (
        "more differences than replicas",
        "[store]\nredis = { topology = \"sentinel\", replicas = 1, replica = [{}, {}] }",
    ),
    (
        "more good replicas than replicas",
        "[store]\nredis = { topology = \"replicated\", min_replicas = 2 }",
    ),
    ("a quorum of too many", "[store]\nredis = { topology = \"sentinel\", quorum = 4 }"),
    ("sentinels of nobody", "[store]\nredis = { topology = \"replicated\", sentinels = 5 }"),
    (
        "an address that nobody moves",
        "[store]\nredis = { topology = \"sentinel\", discovery = \"address\" }",
    ),
    ("a failover to nobody", "[[fault]]\nfailover = { at = \"1s\", after = \"1s\" }"),
    (
        "a failover besides sentinels",
        "[store]\nredis = { topology = \"sentinel\" }\n\
         [[fault]]\nfailover = { at = \"1s\", after = \"1s\" }",
    ),
    (
        "a replica of its own",
        "[store]\nredis = { topology = \"replicated\" }\n\
         [[fault]]\nfailover = { at = \"1s\", after = \"1s\", to = \"r1\" }",
    ),
    ("a stall of nothing", "[[fault]]\nreplication-stall = { replica = \"r2\", at = \"1s\" }"),
    ("a split of nobody", "[[fault]]\nsplit = { at = \"1s\" }"),
    ("a split of somebody unknown", "[[fault]]\nsplit = { off = [\"c9\"], at = \"1s\" }"),
    ("WAIT for nobody", "[lock]\nstrategy = \"set-nx-px\"\nwait_replicas = 1"),
    (
        "WAIT for too many",
        "[lock]\nstrategy = \"set-nx-px\"\nwait_replicas = 2\n\
         [store]\nredis = { topology = \"replicated\" }",
    ),
    ("a time-out without WAIT", "[lock]\nstrategy = \"set-nx-px\"\nwait_timeout = \"1s\""),
    ("Redlock on one server", "[lock]\nstrategy = \"redlock\"\nttl = \"10s\"\n"),
    (
        "independent servers for one key",
        "[store]\nredis = { topology = \"independent\", nodes = 3 }",
    ),
    (
        "more servers than are asked at once",
        "[lock]\nstrategy = \"redlock\"\nttl = \"10s\"\n[store]\n\
         redis = { topology = \"independent\", nodes = 12 }\n",
    ),
    (
        "one independent server",
        "[lock]\nstrategy = \"redlock\"\nttl = \"10s\"\n[store]\n\
         redis = { topology = \"independent\", nodes = 1 }\n",
    ),
    (
        "a quorum above all servers",
        "[lock]\nstrategy = \"redlock\"\nttl = \"10s\"\n[lock.redlock]\nquorum = 4\n\
         [store]\nredis = { topology = \"independent\", nodes = 3 }\n",
    ),
    (
        "a quorum of nobody",
        "[lock]\nstrategy = \"redlock\"\nttl = \"10s\"\n[lock.redlock]\nquorum = 0\n\
         [store]\nredis = { topology = \"independent\", nodes = 3 }\n",
    ),
    (
        "a drift above the TTL",
        "[lock]\nstrategy = \"redlock\"\nttl = \"10s\"\n[lock.redlock]\n\
         drift = \"10s\"\n[store]\nredis = { topology = \"independent\", nodes = 3 }\n",
    ),
    (
        "a validity that never is",
        "[lock]\nstrategy = \"redlock\"\nttl = \"10s\"\n[lock.redlock]\n\
         min_validity = \"9.9s\"\n[store]\n\
         redis = { topology = \"independent\", nodes = 3 }\n",
    ),
    (
        "a refill without renewal",
        "[lock]\nstrategy = \"redlock\"\nttl = \"10s\"\n[lock.redlock]\n\
         renew_missing = \"refill\"\n[store]\n\
         redis = { topology = \"independent\", nodes = 3 }\n",
    ),
    (
        "a token of Redlock",
        "[lock]\nstrategy = \"redlock\"\nttl = \"10s\"\n\
         fencing_token = \"incr-after-set\"\n[store]\n\
         redis = { topology = \"independent\", nodes = 3 }\n",
    ),
    (
        "a release in two steps",
        "[lock]\nstrategy = \"redlock\"\nttl = \"10s\"\nrelease = \"get-then-del\"\n\
         [store]\nredis = { topology = \"independent\", nodes = 3 }\n",
    ),
    ("settings of another strategy", "[lock]\nstrategy = \"set-nx-px\"\nredlock = { quorum = 1 }"),
    ("a clock that nobody looks at", "[lock]\nstrategy = \"set-nx-px\"\nclock = \"monotonic\""),
    ("a snapshot without snapshots", "[store]\nredis = { save = [{ after = \"60s\" }] }"),
    (
        "a snapshot after half a second",
        "[store]\nredis = { persistence = \"rdb\", save = [{ after = \"500ms\" }] }",
    ),
    ("an fsync that nobody waits for", "[store]\nredis = { fsync_time = \"5ms\" }"),
    ("a slew by nothing", "[[fault]]\nclock-slew = { host = \"r1\", at = \"1s\", by = \"+0s\" }"),
    (
        "a slew at no rate",
        "[[fault]]\nclock-slew = { host = \"r1\", at = \"1s\", by = \"+1s\", ppm = 0 }",
    ),
    (
        "two rates of slewing",
        "[[fault]]\nclock-slew = { host = \"r1\", at = \"1s\", by = \"+1s\" }\n\
         [[fault]]\n\
         clock-slew = { host = \"r1\", at = \"9s\", by = \"-1s\", ppm = 1000 }",
    ),
    ("single with three nodes", "[store]\nredis = { nodes = 3 }"),
    ("an odd too high", "[hazard]\nlose = { odds = \"3/2\" }"),
    ("no odds", "[hazard]\npause = { when = \"acquired\", for = \"1s\" }"),
    ("no rate", "[hazard]\ncrash = { rate = \"often\" }"),
    ("an upside-down range", "[network]\nlatency = { uniform = [\"2ms\", \"1ms\"] }"),
    ("an unknown family", "[network]\nlatency = { normal = \"1ms\" }"),
    ("an expiry for SETNX", "[lock]\nstrategy = \"setnx\"\nttl = \"3s\""),
    ("no expiry for SET PX", "[lock]\nstrategy = \"set-nx-px\"\nttl = \"none\""),
    ("half a second for EXPIRE", "[lock]\nstrategy = \"setnx-expire\"\nttl = \"1500ms\""),
    ("a watchdog without expiry", "[lock]\nstrategy = \"setnx\"\nrenew = \"watchdog\""),
    ("a period without watchdog", "[lock]\nstrategy = \"set-nx-px\"\nrenew_every = \"3s\""),
    (
        "a renewal too late",
        "[lock]\nstrategy = \"set-nx-px\"\nttl = \"3s\"\nrenew = \"watchdog\"\n\
         renew_every = \"3s\"",
    ),
    ("a margin without check", "[lock]\nstrategy = \"set-nx-px\"\nmargin = \"3s\""),
    (
        "a margin too wide",
        "[lock]\nstrategy = \"set-nx-px\"\ndeadline_check = \"before-write\"\nmargin = \"30s\"",
    ),
    ("a fence without tokens", "[workload]\nresource = { fencing = \"writes\" }"),
    ("a refusal without fence", "[workload]\non_refusal = \"other-path\""),
    ("an effect for correctness", "[lock]\nstrategy = \"set-nx-px\"\neffect = \"harmful\""),
    ("an extension after the work", "[workload]\nwork = \"3s\"\nextend_after = \"4s\""),
    ("absent and present", "[expect]\nviolations = [\"double-run\"]\nabsent = [\"double-run\"]"),
    ("an empty takeover", "[expect]\ntakeover = { min = \"2s\", max = \"1s\" }"),
    ("saves without fence", "[expect]\nsaves = 1"),
    ("sometimes nobody", "[expect]\nsometimes = [\"acquired\"]"),
    (
        "sometimes somebody unknown",
        "[expect]\nsometimes = [\"c9 acquired\", \"c1/helper acquired\"]",
    ),
    ("a seed in decimal", "[replay]\ntool = \"0\"\nseed = \"12\"\nrun = 1\nhash = \"0x1\""),
];

#[test]
fn every_mistake_has_its_message_and_place() {
    let mut shown = String::new();
    for (what, text) in BROKEN {
        let whole = match (text.starts_with("[lock]"), text.starts_with(char::is_alphabetic)) {
            (true, _) => (*text).to_owned(),
            (false, true) => format!("{text}\n[lock]\nstrategy = \"set-nx-px\"\n"),
            (false, false) => format!("[lock]\nstrategy = \"set-nx-px\"\n{text}"),
        };
        let mistakes = mistakes(&whole);
        assert_ne!(mistakes, "no mistake\n", "{what}");
        shown += &format!("{what}:\n{mistakes}\n");
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn a_file_above_the_limit_is_refused_unread() {
    let text = " ".repeat((1 << 20) + 1);
    let errors = Scenario::parse(&text).expect_err("too large");
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].code, Code::OutOfLimits);
}

#[test]
fn codes_have_numbers_of_their_own() {
    let mut numbers: Vec<&str> = Code::ALL.iter().map(|code| code.number()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), Code::ALL.len());
    assert!(Code::ALL.iter().all(|code| !code.explain().contains("  ")));
}

#[test]
fn settings_take_the_place_of_what_the_file_says() {
    let settings = [
        "lock.ttl=20s".to_owned(),
        "workload.common=3".to_owned(),
        "fault.1.pause.for = 12s".to_owned(),
        "fault.99.pause.for=12s".to_owned(),
        "lock.tll=20s".to_owned(),
        "lock.margin=3".to_owned(),
        "lock.release=get_then_del".to_owned(),
        "lock.on_loss=\"notifi\"".to_owned(),
        "title.x=3".to_owned(),
        "nothing".to_owned(),
        "lock..ttl=1s".to_owned(),
        "workload.clients=2000".to_owned(),
    ];
    let parsed = Scenario::parse_with(FULL, &[settings[0].clone(), settings[2].clone()]);
    let scenario = parsed.expect("both are right").scenario;
    assert_eq!(scenario.lock.ttl.map(|ttl| ttl.as_millis()), Some(20_000));
    assert!(scenario.fault[0] != Scenario::parse(FULL).expect("right").fault[0]);

    let errors = Scenario::parse_with(FULL, &settings).expect_err("most are wrong");
    let mut shown = String::new();
    for error in errors {
        let text = match error.source {
            Source::File => FULL,
            Source::Set(index) => &settings[index],
        };
        shown += &format!("{:?} {:?}: {error}\n", error.source, &text[error.span.clone()]);
        if let Some(Replacement { span, text: right }) = &error.replacement {
            shown += &format!("  {}{right}{}\n", &text[..span.start], &text[span.end..]);
        }
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn a_file_full_of_mistakes_is_refused_soon() {
    let mut text = "[lock]\nstrategy = \"set-nx-px\"\n[workload]\n".to_owned();
    for number in 0..40_000 {
        text += &format!("retry_evry{number} = 1\n");
    }
    let errors = Scenario::parse(&text).expect_err("full of unknown keys");
    assert_eq!(errors.len(), 100);
}

#[test]
fn a_mistake_that_shows_in_a_run_has_a_place() {
    let settings = ["fault.1.pause.when=renewed".to_owned()];
    let parsed = Scenario::parse_with(FULL, &settings).expect("it is well formed");
    let error = parsed.error("fault.1.pause.when", "never passed");
    assert_eq!((error.source, &settings[0][error.span]), (Source::Set(0), "renewed"));
    let error = parsed.error("fault.2.stall.thread", "unknown");
    assert_eq!((error.source, &FULL[error.span]), (Source::File, "\"c2/renewer-2\""));
}
