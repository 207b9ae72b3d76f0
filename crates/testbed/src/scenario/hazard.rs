//! `[hazard]`: what may go wrong at random, and how often.

use fencepost_choice::Distribution;
use fencepost_history::{Duration, Moment};

use super::numbers::{Odds, Rate};
use super::section::{Key, Keys, Section, section, words};

section! {
    /// What may go wrong at random; each run draws anew.
    pub struct Hazard {
        /// Processes stop for a while.
        pause?: RandomPause,
        /// Single threads stop for a while.
        stall?: RandomStall,
        /// Processes die.
        crash?: RandomCrash,
        /// Messages are lost.
        lose?: RandomLoss,
        /// Messages arrive late.
        delay?: RandomDelay,
        /// Clients and servers are cut off from each other.
        partition?: RandomPartition,
        /// Servers go down and come back.
        server_restart @ "server-restart"?: RandomOutage,
        /// Servers answer nobody for a while.
        server_stall @ "server-stall"?: RandomOutage,
        /// Wall clocks jump.
        clock_step @ "clock-step"?: RandomClockStep,
    }
}

/// When something random may happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// At any time, so often on average for each victim.
    Rate(Rate),
    /// Whenever the victim passes a named moment, with these odds.
    Moment {
        /// The moment.
        moment: Moment,
        /// The odds of each passing.
        odds: Odds,
    },
}

impl Default for Trigger {
    fn default() -> Self {
        Self::Rate(Rate::default())
    }
}

impl Section for Trigger {
    const DOC: &'static str = "When something random may happen.";

    fn keys<K: Keys>(&mut self, keys: &mut K) {
        let (mut rate, mut when, mut odds) = match self.clone() {
            Self::Rate(rate) => (Some(rate), None, None),
            Self::Moment { moment, odds } => (None, Some(moment), Some(odds)),
        };
        let key = |name, doc| Key { name, doc, is_required: false };
        keys.optional(key("rate", "How often on average, such as `\"1/h\"`."), &mut rate);
        keys.optional(key("when", "The named moment at which it may happen."), &mut when);
        keys.optional(key("odds", "How likely it is at that moment, such as `1/64`."), &mut odds);
        keys.exactly_one(&["rate", "when"]);
        keys.together(&["when", "odds"]);
        *self = match (when, odds) {
            (Some(moment), odds) => Self::Moment { moment, odds: odds.unwrap_or_default() },
            (None, _) => Self::Rate(rate.unwrap_or_default()),
        };
    }
}

section! {
    /// Processes stop for a while.
    pub struct RandomPause {
        /// The client; all of them if it is left out.
        process?: String,
        /// When.
        ..trigger: Trigger,
        /// How long each lasts.
        length @ "for" !: Distribution = Distribution::Fixed(Duration::ZERO),
    }
}

section! {
    /// Single threads stop for a while.
    pub struct RandomStall {
        /// The thread; all workers if it is left out.
        thread?: String,
        /// When.
        ..trigger: Trigger,
        /// How long each lasts.
        length @ "for" !: Distribution = Distribution::Fixed(Duration::ZERO),
    }
}

section! {
    /// Processes die.
    pub struct RandomCrash {
        /// The client; all of them if it is left out.
        process?: String,
        /// When.
        ..trigger: Trigger,
        /// How long after it the process is started again; `"none"` for never.
        restart_after: Option<Duration> = None,
    }
}

section! {
    /// Messages are lost.
    pub struct RandomLoss {
        /// The sender; anybody if it is left out.
        from?: String,
        /// The receiver; anybody if it is left out.
        to?: String,
        /// How likely it is for each message.
        odds: Odds,
    }
}

section! {
    /// Messages arrive late.
    pub struct RandomDelay {
        /// The sender; anybody if it is left out.
        from?: String,
        /// The receiver; anybody if it is left out.
        to?: String,
        /// How likely it is for each message.
        odds: Odds,
        /// How much longer than usual it takes.
        length @ "for" !: Distribution = Distribution::Fixed(Duration::ZERO),
    }
}

section! {
    /// Clients and servers are cut off from each other.
    pub struct RandomPartition {
        /// The two machines; any client and server if it is left out.
        between?: (String, String),
        /// How often on average for each pair.
        rate: Rate,
        /// How long each lasts.
        length @ "for" !: Distribution = Distribution::Fixed(Duration::ZERO),
    }
}

section! {
    /// Servers are away for a while.
    pub struct RandomOutage {
        /// The server; all lock servers if it is left out.
        server?: String,
        /// How often on average for each server.
        rate: Rate,
        /// How long each lasts.
        length @ "for" !: Distribution = Distribution::Fixed(Duration::ZERO),
    }
}

section! {
    /// Wall clocks jump.
    pub struct RandomClockStep {
        /// The client or server; all lock servers if it is left out.
        host?: String,
        /// How often on average for each machine.
        rate: Rate,
        /// By how much.
        by!: Distribution = Distribution::Fixed(Duration::ZERO),
        /// In which direction.
        direction: Direction = Direction::Both,
    }
}

words! {
    /// The direction in which a clock jumps.
    pub enum Direction {
        /// Forward or back, each as likely.
        #[default]
        Both = "both",
        /// Forward.
        Forward = "forward",
        /// Back.
        Back = "back",
    }
}
