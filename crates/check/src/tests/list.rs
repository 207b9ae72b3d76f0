use fencepost_history::{Event, GrantId, Instant, What};

use super::tale::{Tale, rules};
use crate::{Checker, Checkers, Finding, Findings, Kind, KindSet, LIST, Purpose, entry};

#[test]
fn every_kind_has_an_entry_a_name_and_a_sentence() {
    for kind in Kind::ALL {
        assert_eq!(Kind::from_name(kind.name()), Some(*kind));
        assert!(kind.definition().ends_with('.'), "{kind}");
        assert_eq!(entry(*kind).is_none(), *kind == Kind::Own, "{kind}");
        assert!(!kind.companions().contains(*kind), "{kind}");
    }
    assert_eq!(Kind::from_name("double-trouble"), None);
}

#[test]
fn the_list_is_in_the_order_of_severity() {
    let kinds: Vec<Kind> = LIST.iter().map(|entry| entry.kind).collect();
    assert!(kinds.is_sorted());
    assert_eq!(kinds.len() + 1, Kind::ALL.len());
}

#[test]
fn sets_name_their_members_by_severity() {
    let mut set = KindSet::of(&[Kind::DoubleHolder, Kind::StaleWrite]);
    assert_eq!(set.to_string(), "stale-write, double-holder");
    assert_eq!((set.len(), set.is_empty()), (2, false));
    set.remove(Kind::StaleWrite);
    assert_eq!(set.minus(KindSet::of(&[Kind::DoubleHolder])), KindSet::EMPTY);
    assert!(set.is_subset(set.union(Kind::Save.companions())));
}

#[test]
fn an_efficiency_lock_counts_double_runs_and_is_not_violated_by_them() {
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).at(31).acquire(2, 2).at(32).step(1).at(33).write(1);
    let strict = tale.judge();
    assert_eq!(strict.violated.to_string(), "late-write, double-run, double-holder");
    tale.rules.purpose = Purpose::Efficiency { harmful: false };
    let lax = tale.judge();
    assert_eq!(lax.violated, KindSet::EMPTY);
    assert_eq!((lax.tally.double_runs, strict.tally.double_runs), (1, 1));
}

/// Finds steps at even seconds.
#[derive(Default)]
struct EvenSteps {
    seen: u32,
}

impl Checker for EvenSteps {
    fn reset(&mut self) {
        self.seen = 0;
    }

    fn event(&mut self, index: u32, event: &Event, findings: &mut Findings) {
        if let What::Step { grant } = event.what {
            self.seen += 1;
            if event.at.as_nanos().is_multiple_of(2_000_000_000) {
                let mut finding = Finding::own("even-step", index, event.at);
                finding.grants = [grant, GrantId::NONE];
                findings.add(finding);
            }
        }
    }

    fn end(&mut self, at: Instant, findings: &mut Findings) {
        if self.seen == 0 {
            let mut finding = Finding::own("no-step", 0, at);
            finding.note = true;
            findings.add(finding);
        }
    }
}

#[test]
fn a_checker_of_ones_own_finds_what_it_looks_for() {
    let mut checkers = Checkers::new(&rules());
    checkers.add(Box::new(EvenSteps::default()));
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).at(3).step(1).at(4).step(1).step(1).at(5).free(1);
    let judged = super::tale::stream(&mut checkers, &tale.events, tale.now);
    let names: Vec<&str> = judged.findings.iter().map(Finding::name).collect();
    assert_eq!(names, ["even-step"]);
    assert_eq!(judged.violated, KindSet::of(&[Kind::Own]));
    let quiet = super::tale::stream(&mut checkers, &[], tale.now);
    assert_eq!(quiet.findings[0].name(), "no-step");
    assert_eq!((quiet.violated, quiet.noted), (KindSet::EMPTY, KindSet::of(&[Kind::Own])));
}

#[test]
fn sixteen_findings_of_a_kind_are_kept() {
    let mut tale = Tale::new();
    for grant in 1..40 {
        tale.at(u64::from(grant)).acquire(if grant % 2 == 0 { 0 } else { 2 }, grant);
    }
    let mut checkers = Checkers::new(&tale.rules);
    let judged = super::tale::stream(&mut checkers, &tale.events, tale.now);
    let count = |kind| judged.findings.iter().filter(|finding| finding.kind == kind).count();
    assert_eq!(count(Kind::DoubleHolder), 16);
    assert!(judged.findings.iter().map(|finding| finding.event).is_sorted());
}
