//! The protected resource: whom its fence refuses, and what it tells.

use fencepost_history::{
    Access::{self, Read, Write},
    AccessOutcome::{self, Accepted, Deduplicated, Refused},
    Duration, GrantId, JobId, ResourceId, ThreadId, Token, What,
};
use fencepost_sim::Slot;
use proptest::prelude::*;

use super::lab::{Rules, STORE, Sending, access, access_by, bare_world, ms, play, run};
use crate::{Accept, AccessRequest, Fencing, Path, Request};

const GAP: Fencing = Fencing::CheckNotAtomic(Duration::from_millis(10));

const fn fence(fencing: Fencing) -> Rules {
    Rules { fencing, accept: Accept::HighestOrAbove, is_idempotent: false }
}

const fn strict(fencing: Fencing) -> Rules {
    Rules { fencing, accept: Accept::Above, is_idempotent: false }
}

/// What became of accesses that are sent one millisecond after the other.
fn outcomes(rules: Rules, accesses: &[(u32, Access)]) -> Vec<AccessOutcome> {
    let by_main = accesses.iter().map(|&(grant, access)| (grant, access, Path::Main));
    outcomes_by(rules, &by_main.collect::<Vec<_>>())
}

fn outcomes_by(rules: Rules, accesses: &[(u32, Access, Path)]) -> Vec<AccessOutcome> {
    let sendings = (0..).zip(accesses);
    let sendings =
        sendings.map(|(at, &(grant, what, path))| access_by(at, grant, what, path, grant));
    outcomes_of(rules, sendings.collect())
}

fn outcomes_of(rules: Rules, sendings: Vec<Sending>) -> Vec<AccessOutcome> {
    let told = run(rules, sendings, &[]).accesses();
    told.into_iter().map(|(_, what)| outcome(&what)).collect()
}

fn outcome(what: &What) -> AccessOutcome {
    match what {
        What::Accessed { outcome, .. } => *outcome,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_access_is_told_with_all_that_checkers_judge() {
    let told = run(fence(Fencing::Writes), vec![access_by(3, 5, Write, Path::Main, 9)], &[]);
    let accessed = What::Accessed {
        resource: ResourceId(3),
        grant: GrantId(5),
        token: Token(5),
        job: JobId(9),
        access: Write,
        outcome: Accepted,
        checked: true,
        regressed: false,
    };
    assert_eq!(told.accesses(), [(ms(3), accessed)]);
}

#[test]
fn no_fence_refuses_nobody() {
    let accesses = [(34, Read), (34, Write), (33, Write), (33, Read)];
    assert_eq!(outcomes(fence(Fencing::Off), &accesses), [Accepted; 4]);
}

#[test]
fn a_fence_of_writes_refuses_the_older_token_once_a_newer_one_has_written() {
    let rules = fence(Fencing::Writes);
    let accesses = [(33, Write), (34, Write), (33, Write), (34, Write), (33, Read)];
    assert_eq!(outcomes(rules, &accesses), [Accepted, Accepted, Refused, Accepted, Accepted]);
    // A read of the newer one leaves no trace, so the older write gets through.
    assert_eq!(outcomes(rules, &[(34, Read), (33, Write)]), [Accepted, Accepted]);
}

#[test]
fn a_fence_of_reads_too_counts_reads_too() {
    let rules = fence(Fencing::ReadsAndWrites);
    assert_eq!(outcomes(rules, &[(34, Read), (33, Write)]), [Accepted, Refused]);
    assert_eq!(outcomes(rules, &[(34, Write), (33, Read)]), [Accepted, Refused]);
    assert_eq!(outcomes(rules, &[(0, Write), (0, Write)]), [Accepted, Accepted]);
}

#[test]
fn a_strict_fence_refuses_the_rightful_holder_s_second_access() {
    let twice = [(33, Write), (33, Write), (34, Write)];
    assert_eq!(outcomes(strict(Fencing::Writes), &twice), [Accepted, Refused, Accepted]);
    let section = [(33, Read), (33, Write)];
    assert_eq!(outcomes(strict(Fencing::Writes), &section), [Accepted, Accepted]);
    assert_eq!(outcomes(strict(Fencing::ReadsAndWrites), &section), [Accepted, Refused]);
}

#[test]
fn a_side_path_is_open_and_unseen() {
    let rules = fence(Fencing::SidePathOpen);
    let (main, side) = (Path::Main, Path::Side);
    let accesses = [(34, Write, main), (33, Write, main), (33, Write, side), (33, Read, side)];
    assert_eq!(outcomes_by(rules, &accesses), [Accepted, Refused, Accepted, Accepted]);
    // What comes by the side raises no fence.
    assert_eq!(outcomes_by(rules, &[(34, Write, side), (33, Write, main)]), [Accepted; 2]);
    let told = run(rules, vec![access_by(0, 33, Write, side, 1)], &[]).accesses();
    assert!(matches!(told[0].1, What::Accessed { checked: false, regressed: false, .. }));
    // Other fences guard both ways.
    let accesses = [(34, Write, main), (33, Write, side)];
    assert_eq!(outcomes_by(fence(Fencing::Writes), &accesses), [Accepted, Refused]);
}

#[test]
fn a_check_that_is_not_atomic_lets_an_old_write_land_late() {
    let sendings = || vec![access(0, 33, Write), access(5, 34, Read), access(6, 33, Write)];
    let told = run(fence(GAP), sendings(), &[]).accesses();
    let seen: Vec<_> = told
        .iter()
        .map(|&(at, what)| match what {
            What::Accessed { token, outcome, regressed, .. } => (at, token.0, outcome, regressed),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        seen,
        [(ms(5), 34, Accepted, false), (ms(6), 33, Refused, false), (ms(10), 33, Accepted, true),]
    );
    // A restart in the gap forgets the write, but no token.
    let told = run(fence(GAP), sendings(), &["server.restart@store@7ms = 1ms"]).accesses();
    assert_eq!(told.len(), 2);
    let later = vec![access(0, 33, Write), access(20, 34, Write), access(40, 33, Write)];
    let told = run(fence(GAP), later, &["server.restart@store@35ms = 1ms"]).accesses();
    assert_eq!(
        told.iter().map(|(_, what)| outcome(what)).collect::<Vec<_>>(),
        [Accepted, Accepted, Refused]
    );
}

#[test]
fn a_fence_without_memory_accepts_what_it_had_refused() {
    let sendings = vec![access(0, 34, Write), access(1, 33, Write), access(10, 33, Write)];
    let told = run(fence(Fencing::Writes), sendings, &["server.operation@store@5ms = 4"]);
    let told = told.accesses();
    assert_eq!(outcome(&told[1].1), Refused);
    assert_eq!(told[2], (ms(5), What::TokensForgotten { resource: ResourceId(3) }));
    let expected = |what| {
        matches!(what, What::Accessed { outcome: Accepted, checked: true, regressed: true, .. })
    };
    assert!(expected(told[3].1), "{:?}", told[3]);
}

#[test]
fn an_effect_that_is_done_is_not_done_again() {
    let rules = Rules { is_idempotent: true, ..fence(Fencing::Off) };
    let write = |at, grant, job| access_by(at, grant, Write, Path::Main, job);
    let sendings = vec![
        write(0, 33, 1),
        write(1, 34, 1),
        access_by(2, 34, Read, Path::Main, 1),
        write(3, 34, 2),
        write(4, 34, 2),
    ];
    let expected = [Accepted, Deduplicated, Accepted, Accepted, Deduplicated];
    assert_eq!(outcomes_of(rules, sendings.clone()), expected);
    // Without the key all of them take effect.
    assert_eq!(outcomes_of(fence(Fencing::Off), sendings), [Accepted; 5]);
    // What the fence refuses has no effect, so it is not done.
    let rules = Rules { is_idempotent: true, ..fence(Fencing::Writes) };
    let sendings = vec![write(0, 34, 1), write(1, 33, 2), write(2, 34, 2)];
    assert_eq!(outcomes_of(rules, sendings), [Accepted, Refused, Accepted]);
}

#[test]
fn accesses_and_answers_read_like_sentences() {
    let rules = Rules { is_idempotent: true, ..fence(Fencing::SidePathOpen) };
    let mut sim = bare_world(rules);
    let client = sim.client(ThreadId(0));
    sim.set_tasks(vec![Box::new(Slot::new(move || {
        let client = client.clone();
        async move {
            for (token, access, path, job) in [
                (Token(34), Read, Path::Main, 1),
                (Token(33), Write, Path::Main, 1),
                (Token(33), Write, Path::Side, 1),
                (Token::NONE, Write, Path::Side, 1),
            ] {
                let (grant, job) = (GrantId(1), JobId(job));
                let request = AccessRequest { grant, token, job, access, path };
                client.call(STORE, Request::Access(request)).await;
            }
        }
    }))]);
    assert_eq!(
        play(&mut sim, &[]).texts(),
        [
            "read store with token 34",
            "accepted",
            "write store with token 33",
            "refused: token 34 has been seen",
            "write store with token 33 by the side path",
            "accepted",
            "write store by the side path",
            "done already",
        ]
    );
}

/// The rules once more, as a list of what has been accepted.
fn naive(rules: Rules, accesses: &[(u32, Access, Path)]) -> Vec<AccessOutcome> {
    let is_checked = |&(_, access, path): &(u32, Access, Path)| match rules.fencing {
        Fencing::Off => false,
        Fencing::Writes => access == Write,
        Fencing::ReadsAndWrites | Fencing::CheckNotAtomic(_) => true,
        Fencing::SidePathOpen => path == Path::Main,
    };
    let mut passed: Vec<(u32, Access, Path)> = Vec::new();
    let mut effects: Vec<u32> = Vec::new();
    accesses
        .iter()
        .map(|asked| {
            let before = passed.iter().filter(|other| is_checked(other));
            let is_refused = is_checked(asked)
                && before.clone().any(|&(token, _, _)| match rules.accept {
                    Accept::HighestOrAbove => token > asked.0,
                    Accept::Above => token >= asked.0,
                });
            if is_refused {
                return Refused;
            }
            passed.push(*asked);
            if !rules.is_idempotent || asked.1 == Read {
                return Accepted;
            }
            if effects.contains(&asked.0) {
                return Deduplicated;
            }
            effects.push(asked.0);
            Accepted
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn the_resource_agrees_with_a_naive_one(
        fencing in prop::sample::select(vec![
            Fencing::Off,
            Fencing::Writes,
            Fencing::ReadsAndWrites,
            Fencing::SidePathOpen,
        ]),
        is_strict: bool,
        is_idempotent: bool,
        accesses in prop::collection::vec((0_u32..6, any::<bool>(), any::<bool>()), 0..20),
    ) {
        let accept = if is_strict { Accept::Above } else { Accept::HighestOrAbove };
        let rules = Rules { fencing, accept, is_idempotent };
        let accesses: Vec<_> = accesses
            .into_iter()
            .map(|(token, is_write, is_main)| {
                let access = if is_write { Write } else { Read };
                (token, access, if is_main { Path::Main } else { Path::Side })
            })
            .collect();
        prop_assert_eq!(outcomes_by(rules, &accesses), naive(rules, &accesses));
    }
}
