//! Sorted sets: adding, removing, and reading single members.

#![expect(clippy::float_arithmetic, reason = "scores are floating-point numbers")]

mod ranges;

use super::{
    Flags, Keys, Spec, is,
    lists::{BLOCKING, timeout},
};
use crate::{
    frame::{Frame, Protocol},
    numbers::{format_double, parse_double},
    object::SortedSet,
    server::{Context, EventClass, Refusal, Wish},
    value::parse_integer,
};
use ranges::{Order, zcount, zrange, zrangebyscore, zremrangebyrank, zremrangebyscore};

pub(super) const COMMANDS: &[Spec] = &[
    Spec::new("zadd", -4, Flags::GROW, Keys::First, zadd),
    Spec::new("zincrby", 4, Flags::GROW, Keys::First, zincrby),
    Spec::new("zrem", -3, Flags::WRITE, Keys::First, zrem),
    Spec::new("zcard", 2, Flags::READ, Keys::First, zcard),
    Spec::new("zscore", 3, Flags::READ, Keys::First, zscore),
    Spec::new("zmscore", -3, Flags::READ, Keys::First, zmscore),
    Spec::new("zrank", 3, Flags::READ, Keys::First, |cx, words| zrank(cx, words, false)),
    Spec::new("zrevrank", 3, Flags::READ, Keys::First, |cx, words| zrank(cx, words, true)),
    Spec::new("zrange", -4, Flags::READ, Keys::First, zrange),
    Spec::new("zrevrange", -4, Flags::READ, Keys::First, ranges::zrevrange),
    Spec::new("zrangebyscore", -4, Flags::READ, Keys::First, |cx, words| {
        zrangebyscore(cx, words, Order::Rising)
    }),
    Spec::new("zrevrangebyscore", -4, Flags::READ, Keys::First, |cx, words| {
        zrangebyscore(cx, words, Order::Falling)
    }),
    Spec::new("zcount", 4, Flags::READ, Keys::First, zcount),
    Spec::new("zremrangebyscore", 4, Flags::WRITE, Keys::First, zremrangebyscore),
    Spec::new("zremrangebyrank", 4, Flags::WRITE, Keys::First, zremrangebyrank),
    Spec::new("zpopmin", -2, Flags::WRITE, Keys::First, |cx, words| zpop(cx, words, true)),
    Spec::new("zpopmax", -2, Flags::WRITE, Keys::First, |cx, words| zpop(cx, words, false)),
    Spec::new("bzpopmin", -3, BLOCKING, Keys::AllButLast, |cx, words| bzpop(cx, words, true)),
    Spec::new("bzpopmax", -3, BLOCKING, Keys::AllButLast, |cx, words| bzpop(cx, words, false)),
];

impl Context<'_> {
    /// A score as a reply.
    pub(crate) fn double(&self, number: f64) -> Frame {
        Frame::Double(format_double(number, self.version().shortest_doubles()))
    }
}

/// The options of ZADD.
#[derive(Clone, Copy, Default)]
struct Options {
    nx: bool,
    xx: bool,
    gt: bool,
    lt: bool,
    changed: bool,
    increment: bool,
}

impl Options {
    /// Reads the options, and says where the scores start.
    fn parse(words: &[Vec<u8>]) -> (Self, usize) {
        let mut options = Self::default();
        for (position, word) in words.iter().enumerate().skip(2) {
            if is(word, "NX") {
                options.nx = true;
            } else if is(word, "XX") {
                options.xx = true;
            } else if is(word, "GT") {
                options.gt = true;
            } else if is(word, "LT") {
                options.lt = true;
            } else if is(word, "CH") {
                options.changed = true;
            } else if is(word, "INCR") {
                options.increment = true;
            } else {
                return (options, position);
            }
        }
        (options, words.len())
    }

    /// Tells whether a member with this score may get that one.
    fn allow(self, old: Option<f64>, new: f64) -> bool {
        match old {
            None => !self.xx,
            Some(old) => {
                let too_low = self.gt && new <= old;
                let too_high = self.lt && new >= old;
                !(self.nx || too_low || too_high)
            }
        }
    }
}

/// `src/t_zset.c:zaddGenericCommand`.
fn zadd(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let (options, start) = Options::parse(words);
    let pairs = &words[start..];
    if pairs.is_empty() || pairs.len() % 2 == 1 {
        return Err(Refusal::SYNTAX);
    }
    if options.nx && options.xx {
        return Err("ERR XX and NX options at the same time are not compatible".into());
    }
    if (options.gt && options.lt) || (options.nx && (options.gt || options.lt)) {
        let text = "ERR GT, LT, and/or NX options at the same time are not compatible";
        return Err(text.into());
    }
    if options.increment && pairs.len() > 2 {
        return Err("ERR INCR option supports a single increment-element pair".into());
    }
    let mut scored = Vec::with_capacity(pairs.len() / 2);
    for pair in pairs.chunks_exact(2) {
        scored.push((parse_double(&pair[0]).ok_or(Refusal::NOT_A_FLOAT)?, &pair[1]));
    }
    add(cx, &words[1], options, &scored)
}

fn add(
    cx: &mut Context<'_>,
    key: &[u8],
    options: Options,
    scored: &[(f64, &Vec<u8>)],
) -> Result<Frame, Refusal> {
    if options.xx && cx.container::<SortedSet>(key)?.is_none() {
        return Ok(if options.increment { Frame::Nil } else { Frame::Integer(0) });
    }
    let zset = cx.container_or_new::<SortedSet>(key)?;
    let (mut added, mut updated, mut last) = (0, 0, None);
    let mut failed = false;
    for (score, member) in scored {
        let old = zset.score(member);
        let new = if options.increment { old.unwrap_or(0.0) + score } else { *score };
        if new.is_nan() {
            failed = true;
            break;
        }
        if !options.allow(old, new) {
            continue;
        }
        last = Some(new);
        if old.is_none() {
            added += 1;
        } else if old != Some(new) {
            updated += 1;
        }
        zset.set(member, new);
    }
    if added + updated > 0 {
        let event = if options.increment { "zincr" } else { "zadd" };
        cx.modified(key, EventClass::ZSET, event);
        cx.counts_as(added + updated);
        cx.signal(key);
    }
    if failed {
        return Err("ERR resulting score is not a number (NaN)".into());
    }
    Ok(if options.increment {
        last.map_or(Frame::Nil, |score| cx.double(score))
    } else {
        Frame::count(if options.changed { added + updated } else { added })
    })
}

fn zincrby(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let by = parse_double(&words[2]).ok_or(Refusal::NOT_A_FLOAT)?;
    let options = Options { increment: true, ..Options::default() };
    add(cx, &words[1], options, &[(by, &words[3])])
}

fn zrem(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let Some(zset) = cx.container::<SortedSet>(&words[1])? else { return Ok(Frame::Integer(0)) };
    let removed = words[2..].iter().filter(|member| zset.remove(member)).count();
    if removed > 0 {
        cx.modified(&words[1], EventClass::ZSET, "zrem");
        cx.counts_as(removed);
    }
    Ok(Frame::count(removed))
}

fn zcard(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    Ok(Frame::count(cx.container::<SortedSet>(&words[1])?.map_or(0, |zset| zset.len())))
}

fn score(cx: &mut Context<'_>, key: &[u8], member: &[u8]) -> Result<Frame, Refusal> {
    let score = cx.container::<SortedSet>(key)?.and_then(|zset| zset.score(member));
    Ok(score.map_or(Frame::Nil, |score| cx.double(score)))
}

fn zscore(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    score(cx, &words[1], &words[2])
}

fn zmscore(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let scores: Result<_, _> =
        words[2..].iter().map(|member| score(cx, &words[1], member)).collect();
    Ok(Frame::Array(scores?))
}

fn zrank(cx: &mut Context<'_>, words: &[Vec<u8>], falling: bool) -> Result<Frame, Refusal> {
    let Some(zset) = cx.container::<SortedSet>(&words[1])? else { return Ok(Frame::Nil) };
    let last = zset.len().saturating_sub(1);
    let rank = zset.rank(&words[2]).map(|rank| if falling { last - rank } else { rank });
    Ok(rank.map_or(Frame::Nil, Frame::count))
}

fn zpop(cx: &mut Context<'_>, words: &[Vec<u8>], lowest: bool) -> Result<Frame, Refusal> {
    let count = match &words[2..] {
        [] => None,
        [count] => {
            let count = parse_integer(count).and_then(|count| usize::try_from(count).ok());
            Some(count.ok_or(Refusal::MUST_BE_POSITIVE)?)
        }
        _ => return Err(Refusal::SYNTAX),
    };
    let popped = cx.pop_scores(&words[1], lowest, count.unwrap_or(1))?;
    // RESP3 nests the pairs, but only if a count was given.
    let nested = count.is_some() && cx.protocol() == Protocol::Resp3;
    Ok(with_scores(cx, popped, nested))
}

/// Members with their scores, in pairs or in one row.
fn with_scores(cx: &Context<'_>, members: Vec<(Vec<u8>, f64)>, nested: bool) -> Frame {
    let pairs = members.into_iter().map(|(member, score)| [Frame::Bulk(member), cx.double(score)]);
    Frame::Array(if nested {
        pairs.map(|pair| Frame::Array(pair.into())).collect()
    } else {
        pairs.flatten().collect()
    })
}

fn bzpop(cx: &mut Context<'_>, words: &[Vec<u8>], lowest: bool) -> Result<Frame, Refusal> {
    let (last, keys) = (&words[words.len() - 1], &words[1..words.len() - 1]);
    let timeout = timeout(last)?;
    cx.pop_or_block(Wish::PopScore { lowest }, keys.to_vec(), timeout)
}
