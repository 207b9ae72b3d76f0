//! `[lock.script]`: a lock whose commands are the user's own Lua scripts.

use super::section::{section, words};

section! {
    /// Lua scripts that take, keep and give back the lock. Each is called with the lock's key as
    /// `KEYS[1]`, the key of the fencing counter as `KEYS[2]`, the lock's value as `ARGV[1]` and
    /// the TTL in milliseconds as `ARGV[2]`.
    pub struct Script {
        /// Takes the lock.
        acquire: String,
        /// Gives the lock back.
        release: String,
        /// Makes the lock's life longer; a reply of null or 0 says that the lock is lost. A
        /// watchdog needs it.
        extend: String = String::new(),
        /// What the acquire script answers when the lock is granted. Of a list the first element
        /// counts.
        granted: Granted = Granted::Truthy,
        /// How clients call the scripts, which they have loaded before the run.
        call: Call = Call::Eval,
    }
}

words! {
    /// What the acquire script answers when the lock is granted.
    pub enum Granted {
        /// Anything but null, 0 and an empty list.
        #[default]
        Truthy = "truthy",
        /// Null; anything else says how long to wait.
        Nil = "nil",
    }
}

words! {
    /// How clients call the scripts.
    pub enum Call {
        /// `EVAL`, with the source each time.
        #[default]
        Eval = "eval",
        /// `EVALSHA`, with the digest alone, whatever the server answers.
        EvalSha = "evalsha",
        /// `EVALSHA`, and `EVAL` where the server does not know the digest.
        EvalShaThenEval = "evalsha-then-eval",
    }
}

impl Script {
    /// Gives the scripts with the names of their keys, in the order in which clients number them.
    pub(crate) fn sources(&self) -> [(&'static str, &str); 3] {
        [
            ("lock.script.acquire", &self.acquire),
            ("lock.script.release", &self.release),
            ("lock.script.extend", &self.extend),
        ]
    }
}
