//! A finding that points at events, and the bounded list of them.

use fencepost_history::{GrantId, Instant, LockId, ResourceId, ServerId, ThreadId, Token};

use crate::{Kind, KindSet};

/// How many findings of one kind are kept.
const KEPT: u8 = 16;
/// For how many findings there is room from the start.
const ROOM: usize = 128;

/// Something that a checker found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub kind: Kind,
    /// The name that a checker of one's own gives it, with [`Kind::Own`].
    pub own: Option<&'static str>,
    /// Whether it is a note and no violation.
    pub note: bool,
    /// The lock.
    pub lock: Option<LockId>,
    /// The protected resource.
    pub resource: Option<ResourceId>,
    /// The server whose key it is about.
    pub server: Option<ServerId>,
    /// The older and the newer grant; [`GrantId::NONE`] where there is none.
    ///
    /// Where a command or a write hits another grant, the first is the one that does wrong:
    /// whose command deletes or renews, whose write is stale or lost another's update.
    pub grants: [GrantId; 2],
    /// Their threads; of a wait, whose key is in the way and who waits.
    pub threads: [Option<ThreadId>; 2],
    /// The tokens of the grants, or the one that was sent.
    pub tokens: [Token; 2],
    /// Since when it is so.
    pub from: Instant,
    /// Until when; the same instant if it is one event.
    pub to: Instant,
    /// The index of the event that makes the later one wrong.
    pub first_event: u32,
    /// The index of the event at which it is established.
    pub event: u32,
}

impl Finding {
    /// Makes a finding that is about one event and nothing else yet.
    #[must_use]
    pub const fn new(kind: Kind, event: u32, at: Instant) -> Self {
        Self {
            kind,
            own: None,
            note: kind.is_note(),
            lock: None,
            resource: None,
            server: None,
            grants: [GrantId::NONE; 2],
            threads: [None; 2],
            tokens: [Token::NONE; 2],
            from: at,
            to: at,
            first_event: event,
            event,
        }
    }

    /// Makes a finding of a checker of one's own.
    #[must_use]
    pub const fn own(name: &'static str, event: u32, at: Instant) -> Self {
        let mut finding = Self::new(Kind::Own, event, at);
        finding.own = Some(name);
        finding
    }

    /// Returns the name to print.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self.own {
            Some(name) => name,
            None => self.kind.name(),
        }
    }

    fn is_about_the_same(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.own == other.own
            && self.grants == other.grants
            && self.resource == other.resource
            && self.server == other.server
            && self.threads == other.threads
            && self.note == other.note
    }
}

/// The findings of one run: the first of each kind and pair of grants, up to 16 of a kind.
#[derive(Clone, Debug)]
pub struct Findings {
    list: Vec<Finding>,
    kept: [u8; Kind::ALL.len()],
    judged: KindSet,
    violated: KindSet,
    noted: KindSet,
}

impl Findings {
    pub(crate) fn new(judged: KindSet) -> Self {
        Self {
            list: Vec::with_capacity(ROOM),
            kept: [0; Kind::ALL.len()],
            judged,
            violated: KindSet::EMPTY,
            noted: KindSet::EMPTY,
        }
    }

    /// Adds a finding, unless its like is there already.
    #[cold]
    pub fn add(&mut self, finding: Finding) {
        if !self.judged.contains(finding.kind) {
            return;
        }
        let set = if finding.note { &mut self.noted } else { &mut self.violated };
        set.insert(finding.kind);
        let kept = &mut self.kept[finding.kind as usize];
        if *kept < KEPT && !self.list.iter().any(|other| other.is_about_the_same(&finding)) {
            *kept += 1;
            self.list.push(finding);
        }
    }

    pub(crate) fn list(&self) -> &[Finding] {
        &self.list
    }

    pub(crate) const fn violated(&self) -> KindSet {
        self.violated
    }

    pub(crate) const fn noted(&self) -> KindSet {
        self.noted
    }

    /// Brings the findings into the order of their events.
    pub(crate) fn sort(&mut self) {
        if self.list.len() > 1 {
            self.list.sort_unstable_by_key(|finding| {
                (finding.event, finding.kind, finding.grants, finding.resource, finding.server)
            });
        }
    }

    pub(crate) fn reset(&mut self) {
        if !self.list.is_empty() {
            self.list.clear();
            self.kept = [0; Kind::ALL.len()];
        }
        self.violated = KindSet::EMPTY;
        self.noted = KindSet::EMPTY;
    }
}
