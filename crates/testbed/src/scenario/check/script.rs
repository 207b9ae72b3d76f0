//! A lock made of the user's scripts: whether they are there, and whether they compile.

use super::Check;
use crate::scenario::error::Code;
use crate::scenario::{Persistence, Release, Renew, Script, Store, Strategy, Topology};

pub(super) fn check(check: &mut Check<'_>) {
    let lock = &check.scenario.lock;
    let script = match (lock.strategy == Strategy::Script, &lock.script) {
        (false, None) => return,
        (false, Some(_)) => {
            check.contradiction(
                "lock.script",
                "lock.strategy",
                "this strategy runs no scripts of one's own",
                "use `strategy = \"script\"`, or leave [lock.script] out",
            );
            return;
        }
        (true, None) => {
            check.report(
                Code::MissingKey,
                "lock.strategy",
                "the scripts are missing",
                "needs [lock.script] with `acquire` and `release`",
            );
            return;
        }
        (true, Some(script)) => script,
    };
    if lock.release != Release::CompareAndDelete {
        check.contradiction(
            "lock.release",
            "lock.strategy",
            "the script says how the lock is given back",
            "leave `release` out",
        );
    }
    if lock.renew == Renew::Watchdog && script.extend.is_empty() {
        check.contradiction(
            "lock.renew",
            "lock.script",
            "no script makes the lock's life longer",
            "give `extend`, or leave `renew` out",
        );
    }
    let Store::Redis(redis) = &check.scenario.store;
    if redis.topology != Topology::Single
        || !matches!(redis.persistence, Persistence::Always | Persistence::None)
    {
        let (path, label) = if redis.topology == Topology::Single {
            ("store.redis.persistence", "`always` or `none`")
        } else {
            ("store.redis.topology", "`single`")
        };
        let message = "scripts of one's own run on a single server that keeps all or nothing";
        check.report(Code::NotAvailable, path, message, label);
    }
    compile(check, script);
}

#[cfg(feature = "lua")]
fn compile(check: &mut Check<'_>, script: &Script) {
    let mut interpreter = fencepost_services::Interpreter::new();
    for (path, source) in script.sources() {
        if let Err(text) = interpreter.check(source.as_bytes()) {
            let text = text.replacen("user_script:", "line ", 1);
            check.report(Code::BadScript, path, format!("the script does not compile: {text}"), "");
        }
    }
}

#[cfg(not(feature = "lua"))]
fn compile(check: &mut Check<'_>, _: &Script) {
    check.report(
        Code::NotAvailable,
        "lock.script",
        "this program was built without the cargo feature `lua`",
        "needs the feature `lua`",
    );
}
