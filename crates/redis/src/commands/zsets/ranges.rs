//! Sorted sets: reading and removing ranges by rank and by score.

use super::{is, with_scores};
use crate::{
    commands::{integer, lists::range},
    frame::{Frame, Protocol},
    numbers::parse_double,
    object::SortedSet,
    server::{Context, EventClass, Refusal},
};

/// From the lowest score to the highest, or the other way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Rising,
    Falling,
}

/// A range of scores.
struct Scores {
    low: f64,
    low_open: bool,
    high: f64,
    high_open: bool,
}

impl Scores {
    fn parse(low: &[u8], high: &[u8]) -> Result<Self, Refusal> {
        let end = |word: &[u8]| {
            let (open, text) = word.strip_prefix(b"(").map_or((false, word), |rest| (true, rest));
            let number = parse_double(text);
            number.map(|number| (number, open)).ok_or("ERR min or max is not a float")
        };
        let (low, low_open) = end(low)?;
        let (high, high_open) = end(high)?;
        Ok(Self { low, low_open, high, high_open })
    }

    fn contains(&self, score: f64) -> bool {
        let above = if self.low_open { score > self.low } else { score >= self.low };
        let below = if self.high_open { score < self.high } else { score <= self.high };
        above && below
    }
}

/// The members whose scores are in the range.
fn by_score(
    cx: &mut Context<'_>,
    key: &[u8],
    scores: &Scores,
) -> Result<Vec<(Vec<u8>, f64)>, Refusal> {
    let Some(zset) = cx.container::<SortedSet>(key)? else { return Ok(Vec::new()) };
    let inside = zset.iter().filter(|(_, score)| scores.contains(*score));
    Ok(inside.map(|(member, score)| (member.to_vec(), score)).collect())
}

/// The members whose ranks are in the range.
fn by_rank(
    cx: &mut Context<'_>,
    key: &[u8],
    (start, end): (i64, i64),
    order: Order,
) -> Result<Vec<(Vec<u8>, f64)>, Refusal> {
    let Some(zset) = cx.container::<SortedSet>(key)? else { return Ok(Vec::new()) };
    let range = range(zset.len(), start, end);
    let own = |(member, score): (&[u8], f64)| (member.to_vec(), score);
    let (skip, take) = (range.start, range.len());
    Ok(if order == Order::Rising {
        zset.iter().skip(skip).take(take).map(own).collect()
    } else {
        zset.iter().rev().skip(skip).take(take).map(own).collect()
    })
}

/// `LIMIT offset count`; a negative count means all.
#[derive(Clone, Copy)]
struct Limit {
    offset: i64,
    count: i64,
}

impl Limit {
    fn apply<T>(self, items: Vec<T>) -> Vec<T> {
        let Ok(offset) = usize::try_from(self.offset) else { return Vec::new() };
        let count = usize::try_from(self.count).unwrap_or(usize::MAX);
        items.into_iter().skip(offset).take(count).collect()
    }
}

/// The options that come after the ends of a range.
struct Options {
    by_score: bool,
    order: Order,
    scores: bool,
    limit: Option<Limit>,
}

fn options(words: &[Vec<u8>], order: Order, full: bool) -> Result<Options, Refusal> {
    let mut options = Options { by_score: false, order, scores: false, limit: None };
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if is(word, "WITHSCORES") {
            options.scores = true;
        } else if is(word, "LIMIT") {
            let offset = rest.next().ok_or(Refusal::SYNTAX)?;
            let count = rest.next().ok_or(Refusal::SYNTAX)?;
            options.limit = Some(Limit { offset: integer(offset)?, count: integer(count)? });
        } else if full && is(word, "BYSCORE") && !options.by_score {
            options.by_score = true;
        } else if full && is(word, "REV") && options.order == Order::Rising {
            options.order = Order::Falling;
        } else {
            return Err(Refusal::SYNTAX);
        }
    }
    Ok(options)
}

pub(super) fn zrange(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let options = options(&words[4..], Order::Rising, true)?;
    if options.limit.is_some_and(|limit| limit.count != -1) && !options.by_score {
        let text = "ERR syntax error, LIMIT is only supported in combination with either BYSCORE \
                    or BYLEX";
        return Err(text.into());
    }
    if options.by_score {
        return scored(cx, words, &options);
    }
    let ends = (integer(&words[2])?, integer(&words[3])?);
    let members = by_rank(cx, &words[1], ends, options.order)?;
    Ok(shown(cx, members, options.scores))
}

pub(super) fn zrevrange(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let scores = match &words[4..] {
        [] => false,
        [word] if is(word, "WITHSCORES") => true,
        _ => return Err(Refusal::SYNTAX),
    };
    let ends = (integer(&words[2])?, integer(&words[3])?);
    let members = by_rank(cx, &words[1], ends, Order::Falling)?;
    Ok(shown(cx, members, scores))
}

pub(super) fn zrangebyscore(
    cx: &mut Context<'_>,
    words: &[Vec<u8>],
    order: Order,
) -> Result<Frame, Refusal> {
    let options = options(&words[4..], order, false)?;
    scored(cx, words, &options)
}

/// A range by score; with a falling order the highest end comes first among the words.
fn scored(cx: &mut Context<'_>, words: &[Vec<u8>], options: &Options) -> Result<Frame, Refusal> {
    let (low, high) = match options.order {
        Order::Rising => (&words[2], &words[3]),
        Order::Falling => (&words[3], &words[2]),
    };
    let mut members = by_score(cx, &words[1], &Scores::parse(low, high)?)?;
    if options.order == Order::Falling {
        members.reverse();
    }
    if let Some(limit) = options.limit {
        members = limit.apply(members);
    }
    Ok(shown(cx, members, options.scores))
}

fn shown(cx: &mut Context<'_>, members: Vec<(Vec<u8>, f64)>, scores: bool) -> Frame {
    if scores {
        let nested = cx.protocol() == Protocol::Resp3;
        return with_scores(cx, members, nested);
    }
    Frame::bulks(members.into_iter().map(|(member, _)| member))
}

pub(super) fn zcount(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let scores = Scores::parse(&words[2], &words[3])?;
    Ok(Frame::count(by_score(cx, &words[1], &scores)?.len()))
}

pub(super) fn zremrangebyscore(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let scores = Scores::parse(&words[2], &words[3])?;
    let members = by_score(cx, &words[1], &scores)?;
    remove(cx, &words[1], members, "zremrangebyscore")
}

pub(super) fn zremrangebyrank(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let ends = (integer(&words[2])?, integer(&words[3])?);
    let members = by_rank(cx, &words[1], ends, Order::Rising)?;
    remove(cx, &words[1], members, "zremrangebyrank")
}

fn remove(
    cx: &mut Context<'_>,
    key: &[u8],
    members: Vec<(Vec<u8>, f64)>,
    event: &str,
) -> Result<Frame, Refusal> {
    let count = members.len();
    if let Some(zset) = cx.container::<SortedSet>(key)?.filter(|_| count > 0) {
        for (member, _) in members {
            zset.remove(&member);
        }
        cx.modified(key, EventClass::ZSET, event);
    }
    Ok(Frame::count(count))
}
