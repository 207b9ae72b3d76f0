//! Who answers the questions of a run.

use crate::{Anchor, Deviation, RunKey, Value, site_hash};

/// A site: an index into the run's list of labelled questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SiteId(u32);

impl SiteId {
    /// Returns the id as an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Who answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Nobody: each answer is the benign one, unless a deviation is planned there.
    Benign,
    /// A seed: each answer is drawn, unless a deviation is planned there.
    Seeded(RunKey),
    /// Dense bytes, as fuzzers make them: each question takes the next byte, 0 and the end of the
    /// bytes being benign.
    Dense(Vec<u8>),
}

/// A deviation whose site has been found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The site.
    pub site: SiteId,
    /// At which question, or when.
    pub anchor: Anchor,
    /// The answer.
    pub value: Value,
}

/// One site's state; a question at a site touches nothing else.
#[derive(Clone, Copy, Debug)]
struct Site {
    /// The label's hash.
    hash: u64,
    /// Questions asked so far.
    asked: u32,
    /// The question at which a deviation is planned; `u32::MAX` if none is.
    planned: u32,
    /// Its place in the plan.
    place: u32,
}

/// The sites of a run and who answers their questions.
///
/// ```
/// use fencepost_choice::{Choices, RunKey, Source};
///
/// let mut choices = Choices::new();
/// let delay = choices.site("net.delay@c1->r1");
/// choices.begin(Source::Seeded(RunKey::new(1, 0)), &["net.delay@c1->r1#2 = 5ms".parse()?])?;
/// let drawn = choices.draw(delay, 100, |random| random % 200);
/// assert!(drawn < 200);
/// assert_eq!(choices.draw(delay, 100, |random| random % 200), 5_000_000);
/// assert_eq!(choices.unreached().count(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Choices {
    labels: Vec<String>,
    sites: Vec<Site>,
    /// The sites that were asked or have something planned; the others are as new.
    touched: Vec<SiteId>,
    source: Answers,
    key: RunKey,
    bytes: Vec<u8>,
    next_byte: usize,
    plan: Vec<Planned>,
    reached: Vec<bool>,
    log: Option<Vec<Planned>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answers {
    Benign,
    Seeded,
    Dense,
}

/// A deviation that names a site the run does not have, or one whose answer does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// There is no such site.
    #[error("`{0}` names no place of this scenario")]
    NoSuchSite(Deviation),
    /// Two deviations want the same question.
    #[error("`{0}` stands beside another deviation for the same place")]
    Twice(Deviation),
}

impl Default for Choices {
    fn default() -> Self {
        Self::new()
    }
}

impl Choices {
    /// Makes a run without sites.
    #[must_use]
    pub fn new() -> Self {
        Self {
            labels: Vec::new(),
            sites: Vec::new(),
            touched: Vec::new(),
            source: Answers::Benign,
            key: RunKey::new(0, 0),
            bytes: Vec::new(),
            next_byte: 0,
            plan: Vec::new(),
            reached: Vec::new(),
            log: None,
        }
    }

    /// Registers a site, or finds the one of that label.
    pub fn site(&mut self, label: &str) -> SiteId {
        if let Some(found) = self.find(label) {
            return found;
        }
        let id = SiteId(u32::try_from(self.sites.len()).expect("sites are few"));
        self.labels.push(label.to_owned());
        self.sites.push(Site { hash: site_hash(label), asked: 0, planned: u32::MAX, place: 0 });
        self.touched.reserve(self.sites.len());
        id
    }

    /// Finds the site of a label.
    #[must_use]
    pub fn find(&self, label: &str) -> Option<SiteId> {
        let place = self.labels.iter().position(|known| known == label)?;
        Some(SiteId(u32::try_from(place).expect("sites are few")))
    }

    /// Returns a site's label.
    #[must_use]
    pub fn label(&self, site: SiteId) -> &str {
        &self.labels[site.index()]
    }

    /// Finds the sites of deviations.
    ///
    /// # Errors
    ///
    /// A deviation that names no site of this run.
    pub fn resolve(&self, plan: &[Deviation]) -> Result<Vec<Planned>, PlanError> {
        plan.iter()
            .map(|deviation| {
                let site = self.find(&deviation.site);
                let site = site.ok_or_else(|| PlanError::NoSuchSite(deviation.clone()))?;
                Ok(Planned { site, anchor: deviation.anchor, value: deviation.value })
            })
            .collect()
    }

    /// Starts a run: all counters at zero, answers from `source`, deviations from `plan`.
    ///
    /// # Errors
    ///
    /// A deviation that names no site of this run, or the same question twice.
    pub fn begin(&mut self, source: Source, plan: &[Deviation]) -> Result<(), PlanError> {
        let planned = self.resolve(plan)?;
        match self.begin_planned(source, &planned) {
            Ok(()) => Ok(()),
            Err(place) => Err(PlanError::Twice(plan[place].clone())),
        }
    }

    /// Starts a run with deviations whose sites have been found; the hot path of a search.
    ///
    /// # Errors
    ///
    /// The place in `plan` of a deviation that wants the same question as another one.
    pub fn begin_planned(&mut self, source: Source, plan: &[Planned]) -> Result<(), usize> {
        for site in self.touched.drain(..) {
            let site = &mut self.sites[site.index()];
            site.asked = 0;
            site.planned = u32::MAX;
        }
        self.next_byte = 0;
        self.source = match source {
            Source::Benign => Answers::Benign,
            Source::Seeded(key) => {
                self.key = key;
                Answers::Seeded
            }
            Source::Dense(bytes) => {
                self.bytes = bytes;
                Answers::Dense
            }
        };
        self.plan.clear();
        self.plan.extend_from_slice(plan);
        self.reached.clear();
        self.reached.resize(plan.len(), false);
        if let Some(log) = &mut self.log {
            log.clear();
        }
        for place in 0..plan.len() {
            let Planned { site, anchor, .. } = plan[place];
            if plan[..place].iter().any(|other| (other.site, other.anchor) == (site, anchor)) {
                return Err(place);
            }
            self.aim(site);
        }
        Ok(())
    }

    /// Returns the key of a seeded run, for those who draw without asking at a site.
    #[must_use]
    #[inline(always)]
    pub const fn key(&self) -> Option<RunKey> {
        match self.source {
            Answers::Seeded => Some(self.key),
            Answers::Benign | Answers::Dense => None,
        }
    }

    /// Returns whether deviations are logged.
    #[must_use]
    #[inline(always)]
    pub const fn is_logging(&self) -> bool {
        self.log.is_some()
    }

    /// Turns the log of deviations on or off; it costs an allocation a deviation.
    pub fn keep_log(&mut self, keep: bool) {
        self.log = keep.then(Vec::new);
    }

    /// Returns what deviated so far, in the order in which it did.
    pub fn log(&self) -> impl Iterator<Item = Deviation> + '_ {
        self.log.iter().flatten().map(|planned| self.named(planned))
    }

    /// Returns the deviations of the plan that did not take place.
    pub fn unreached(&self) -> impl Iterator<Item = Deviation> + '_ {
        let missed = self.plan.iter().zip(&self.reached).filter(|(_, reached)| !**reached);
        missed.map(|(planned, _)| self.named(planned))
    }

    /// Returns the plan, for those whose sites are not asked but acted on (faults).
    #[must_use]
    pub fn plan(&self) -> &[Planned] {
        &self.plan
    }

    /// Notes that a deviation of the plan took place, for those who act on the plan themselves.
    pub fn reach(&mut self, place: usize) {
        self.reached[place] = true;
        let planned = self.plan[place];
        self.note(planned);
    }

    /// Notes a deviation that somebody else decided, such as a hazard.
    pub fn note(&mut self, planned: Planned) {
        if let Some(log) = &mut self.log {
            log.push(planned);
        }
    }

    /// Picks an entry of a menu of `menu` entries; entry 0 is benign.
    #[inline]
    pub fn pick(&mut self, site: SiteId, menu: u32) -> u32 {
        if menu < 2 {
            return 0;
        }
        let value = self.answer(site, 0, |random| {
            u64::try_from((u128::from(random) * u128::from(menu)) >> 64).unwrap_or(0)
        });
        let entry = u32::try_from(value).unwrap_or(u32::MAX).min(menu - 1);
        if entry != 0 {
            self.log_number(site, Value::Pick(entry));
        }
        entry
    }

    /// Draws a number of nanoseconds whose benign answer is `nominal`; `sample` turns 64 random
    /// bits into one.
    #[inline]
    pub fn draw(&mut self, site: SiteId, nominal: u64, sample: impl FnOnce(u64) -> u64) -> u64 {
        let value = self.answer(site, nominal, sample);
        if value != nominal {
            let length = fencepost_history::Duration::from_nanos(value);
            self.log_number(site, Value::Length(length));
        }
        value
    }

    #[inline]
    fn answer(&mut self, site: SiteId, benign: u64, sample: impl FnOnce(u64) -> u64) -> u64 {
        let state = &mut self.sites[site.index()];
        if state.asked == 0 {
            self.touched.push(site);
        }
        state.asked += 1;
        if state.asked == state.planned {
            return self.planned_answer(site);
        }
        match self.source {
            Answers::Benign => benign,
            Answers::Seeded => sample(self.key.draw(state.hash, state.asked)),
            Answers::Dense => {
                let byte = self.bytes.get(self.next_byte).copied().unwrap_or(0);
                self.next_byte += 1;
                if byte == 0 { benign } else { sample(u64::from(byte) << 56) }
            }
        }
    }

    #[cold]
    fn planned_answer(&mut self, site: SiteId) -> u64 {
        let place = self.sites[site.index()].place as usize;
        self.reached[place] = true;
        self.aim(site);
        self.plan[place].value.number()
    }

    /// Points a site at the next deviation that is planned for it.
    fn aim(&mut self, site: SiteId) {
        self.touched.push(site);
        let asked = self.sites[site.index()].asked;
        let next = self
            .plan
            .iter()
            .enumerate()
            .filter(|(_, planned)| planned.site == site)
            .filter_map(|(place, planned)| match planned.anchor {
                Anchor::Nth(nth) if nth > asked => Some((nth, place)),
                Anchor::Nth(_) | Anchor::At(_) => None,
            })
            .min();
        let state = &mut self.sites[site.index()];
        (state.planned, state.place) = match next {
            Some((nth, place)) => (nth, u32::try_from(place).expect("plans are short")),
            None => (u32::MAX, 0),
        };
    }

    fn log_number(&mut self, site: SiteId, value: Value) {
        if self.log.is_some() {
            let nth = self.sites[site.index()].asked;
            self.note(Planned { site, anchor: Anchor::Nth(nth), value });
        }
    }

    fn named(&self, planned: &Planned) -> Deviation {
        Deviation {
            site: self.labels[planned.site.index()].clone(),
            anchor: planned.anchor,
            value: planned.value,
        }
    }
}
