//! Faults that come at random in seeded runs.

use fencepost_choice::{Anchor, Distribution, Planned, RunKey, Sampler, Value, site_hash};
use fencepost_history::{Duration, Instant, Moment, ThreadId};

use crate::faults::Meaning;
use crate::queue::{Entry, Order};
use crate::world::{Action, World};
use crate::{Fault, Services};

/// A fault that seeded runs draw; runs by plan alone never have it.
#[derive(Clone, Debug)]
pub struct Hazard {
    /// The site whose deviation it is, such as `client.pause@c1`.
    pub site: String,
    /// When it strikes.
    pub at: HazardAt,
    /// How large it is: the length of a pause, a downtime, the size of a clock step.
    pub magnitude: Distribution,
    /// Whether a clock steps back rather than forward.
    pub is_backward: bool,
}

/// When a hazard strikes.
#[derive(Clone, Debug)]
pub enum HazardAt {
    /// After gaps of this distribution, the first one counted from the start of the run.
    Gap(Distribution),
    /// At each passing of a named moment by a thread of the site's process, with odds of 2^64.
    Moment(Moment, u64),
}

/// A hazard whose site has been found.
#[derive(Clone, Debug)]
pub(crate) struct Armed {
    pub(crate) meaning: Meaning,
    pub(crate) site: fencepost_choice::SiteId,
    pub(crate) at: HazardAt,
    /// The gaps of [`HazardAt::Gap`], ready to draw.
    pub(crate) gaps: Option<Sampler>,
    pub(crate) magnitude: Sampler,
    pub(crate) is_backward: bool,
    /// The label's hash of its gaps or odds, and of its magnitudes.
    pub(crate) hashes: [u64; 2],
    pub(crate) drawn: u32,
    /// Where it struck last.
    pub(crate) last: Option<Anchor>,
}

impl Armed {
    pub(crate) fn new(
        hazard: &Hazard,
        site: fencepost_choice::SiteId,
        meaning: Meaning,
        number: usize,
    ) -> Self {
        let hash = |what: &str| site_hash(&format!("hazard.{what}.{number}@{}", hazard.site));
        Self {
            meaning,
            site,
            at: hazard.at.clone(),
            gaps: match &hazard.at {
                HazardAt::Gap(gap) => Some(Sampler::new(gap)),
                HazardAt::Moment(..) => None,
            },
            magnitude: Sampler::new(&hazard.magnitude),
            is_backward: hazard.is_backward,
            hashes: [hash("when"), hash("size")],
            drawn: 0,
            last: None,
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "all other magnitudes are lengths")]
    fn value(&self, key: RunKey) -> Value {
        let size = self.magnitude.sample(key.draw(self.hashes[1], self.drawn));
        match self.meaning {
            Meaning::ProcessClock(_) | Meaning::ServerClock(_) => {
                let by = i64::try_from(size.as_nanos()).unwrap_or(i64::MAX);
                Value::Step(if self.is_backward { -by } else { by })
            }
            Meaning::Operation(_) => Value::Pick(u32::try_from(size.as_nanos()).unwrap_or(0)),
            _ => Value::Length(size),
        }
    }
}

impl<S: Services> World<S> {
    /// Draws when each hazard strikes first; only in seeded runs.
    pub(crate) fn arm_hazards(&mut self) {
        self.moment_hazards = 0;
        let Some(key) = self.choices.key() else {
            return;
        };
        for place in 0..self.hazards.len() {
            let hazard = &mut self.hazards[place];
            hazard.drawn = 0;
            hazard.last = None;
            match hazard.at {
                HazardAt::Gap(_) => self.schedule_hazard(place, key),
                HazardAt::Moment(moment, _) => self.moment_hazards |= 1 << moment as u32,
            }
        }
    }

    fn schedule_hazard(&mut self, place: usize, key: RunKey) {
        let hazard = &mut self.hazards[place];
        let Some(gaps) = &hazard.gaps else {
            return;
        };
        hazard.drawn += 1;
        let gap = gaps.sample(key.draw(hazard.hashes[0], hazard.drawn));
        let at = self.now + gap;
        if at == Instant::NEVER {
            return;
        }
        let number = u32::try_from(place).expect("hazards are few");
        let order = Order::fault(u16::MAX - 1, number);
        self.queue.push(Entry { at, order, action: Action::Hazard(number) });
    }

    /// Lets a hazard strike and draws when it strikes again.
    pub(crate) fn strike(&mut self, place: u32) {
        let Some(key) = self.choices.key() else {
            return;
        };
        let place = place as usize;
        let hazard = &self.hazards[place];
        let value = hazard.value(key);
        let (site, meaning) = (hazard.site, hazard.meaning);
        self.strike_once(place, Planned { site, anchor: Anchor::At(self.now), value }, meaning);
        self.schedule_hazard(place, key);
    }

    /// Lets a hazard strike, unless its site has a deviation there already: a place has one answer.
    fn strike_once(&mut self, place: usize, planned: Planned, meaning: Meaning) {
        let Planned { site, anchor, value } = planned;
        let is_taken = self.choices.plan().iter().any(|p| (p.site, p.anchor) == (site, anchor))
            || self.hazards.iter().any(|other| (other.site, other.last) == (site, Some(anchor)));
        if !is_taken {
            self.hazards[place].last = Some(anchor);
            self.choices.note(planned);
            self.inject(meaning.fault(value));
        }
    }

    /// Draws the hazards of a moment that a thread passes.
    #[cold]
    pub(crate) fn strike_at_moment(&mut self, thread: ThreadId, moment: Moment) {
        let Some(key) = self.choices.key() else {
            return;
        };
        let process = self.threads[thread.index()].process;
        if !self.threads[thread.index()].is_running {
            return;
        }
        for place in 0..self.hazards.len() {
            let hazard = &mut self.hazards[place];
            let HazardAt::Moment(at, odds) = hazard.at else {
                continue;
            };
            if at != moment || hazard.meaning.process(&self.threads) != Some(process) {
                continue;
            }
            hazard.drawn += 1;
            if key.draw(hazard.hashes[0], hazard.drawn) >= odds {
                continue;
            }
            let value = self.hazards[place].value(key);
            let (site, meaning) = (self.hazards[place].site, self.hazards[place].meaning);
            let own = self.processes[process.index()].own;
            self.strike_once(place, Planned { site, anchor: Anchor::Nth(own), value }, meaning);
        }
    }
}

impl Meaning {
    /// Makes the fault of a site with an answer.
    pub(crate) fn fault(self, value: Value) -> Fault {
        let length = match value {
            Value::Length(length) => length,
            Value::Pick(_) | Value::Step(_) => Duration::from_nanos(value.number()),
        };
        let by = value.number().cast_signed();
        match self {
            Self::Pause(process) => Fault::Pause { process, length },
            Self::Stall(thread) => Fault::Stall { thread, length },
            Self::Crash(process) => Fault::Crash { process, down: length },
            Self::ProcessClock(process) => Fault::StepClock { process, by },
            Self::ProcessRate(process) => Fault::SetRate { process, rate: by },
            Self::ServerRate(server) => Fault::SetServerRate { server, rate: by },
            Self::ProcessSlew(process) => Fault::Slew { process, by },
            Self::ServerSlew(server) => Fault::SlewServer { server, by },
            Self::Restart(server) => Fault::Restart { server, down: length },
            Self::PowerLoss(server) => Fault::LosePower { server, down: length },
            Self::ServerStall(server) => Fault::StallServer { server, length },
            Self::ServerClock(server) => Fault::StepServerClock { server, by },
            Self::Operation(server) => {
                let operation = u32::try_from(value.number()).unwrap_or(u32::MAX);
                Fault::Operate { server, operation }
            }
            Self::Cut(link) => Fault::Cut { link, length },
            Self::Partition(link) => Fault::Partition { link, length },
            Self::Latency(_) | Self::Loss(_) | Self::Delay(_) | Self::Asked => Fault::Nothing,
        }
    }
}
