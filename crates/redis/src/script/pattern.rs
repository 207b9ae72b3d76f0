//! Lua's patterns, matched with a budget.
//!
//! The rules are those of the reference manual of Lua 5.1, section 5.4.1. The interpreter's own
//! matcher would follow a pattern such as `a?a?a?...aaa` for ever; this one counts its steps.

use super::{fault::Ending, meter::Meter};

/// The most captures of a pattern.
const MAX_CAPTURES: usize = 32;
/// How deep the matcher may call itself.
const MAX_DEPTH: usize = 400;

/// Why a match came to no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The pattern is wrong.
    Malformed(&'static str),
    /// The script has used up its budget.
    Ended(Ending),
}

/// A part of the text that a pattern caught.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Capture {
    /// From here to there.
    Text(usize, usize),
    /// `()`: the place alone.
    Position(usize),
    /// Opened and not closed yet.
    Open(usize),
}

type Matched = Result<Option<usize>, Stop>;

/// One text and one pattern.
pub(super) struct Matcher<'a> {
    pub(super) text: &'a [u8],
    pub(super) pattern: &'a [u8],
    pub(super) meter: &'a Meter,
    pub(super) captures: Vec<Capture>,
    depth: usize,
}

impl<'a> Matcher<'a> {
    pub(super) const fn new(text: &'a [u8], pattern: &'a [u8], meter: &'a Meter) -> Self {
        Self { text, pattern, meter, captures: Vec::new(), depth: 0 }
    }

    /// Matches the pattern from this place of the text; gives where the match ends.
    pub(super) fn match_at(&mut self, start: usize) -> Matched {
        self.captures.clear();
        self.depth = 0;
        self.go(start, 0)
    }

    fn count(&self) -> Result<(), Stop> {
        self.meter.charge(1).map_err(|_| Stop::Ended(Ending::Instructions))
    }

    fn at(&self, place: usize) -> Option<u8> {
        self.pattern.get(place).copied()
    }

    fn go(&mut self, text: usize, pattern: usize) -> Matched {
        if self.depth == MAX_DEPTH {
            return Err(Stop::Malformed("pattern too complex"));
        }
        self.depth += 1;
        let result = self.steps(text, pattern);
        self.depth -= 1;
        result
    }

    fn steps(&mut self, mut text: usize, mut pattern: usize) -> Matched {
        loop {
            self.count()?;
            match (self.at(pattern), self.at(pattern + 1)) {
                (None, _) => return Ok(Some(text)),
                (Some(b'('), Some(b')')) => {
                    return self.open(text, pattern + 2, Capture::Position(text));
                }
                (Some(b'('), _) => return self.open(text, pattern + 1, Capture::Open(text)),
                (Some(b')'), _) => return self.close(text, pattern + 1),
                (Some(b'$'), None) => {
                    return Ok((text == self.text.len()).then_some(text));
                }
                (Some(b'%'), Some(b'b')) => match self.balance(text, pattern + 2)? {
                    Some(end) => (text, pattern) = (end, pattern + 4),
                    None => return Ok(None),
                },
                (Some(b'%'), Some(b'f')) => {
                    let set = pattern + 2;
                    if self.at(set) != Some(b'[') {
                        return Err(Stop::Malformed("missing '[' after '%f' in pattern"));
                    }
                    let end = self.class_end(set)?;
                    let before = text.checked_sub(1).and_then(|place| self.text.get(place));
                    let before = before.copied().unwrap_or(0);
                    let after = self.text.get(text).copied().unwrap_or(0);
                    if self.in_set(before, set, end - 1) || !self.in_set(after, set, end - 1) {
                        return Ok(None);
                    }
                    pattern = end;
                }
                (Some(b'%'), Some(digit @ b'0'..=b'9')) => match self.back(text, digit)? {
                    Some(end) => (text, pattern) = (end, pattern + 2),
                    None => return Ok(None),
                },
                _ => {
                    let end = self.class_end(pattern)?;
                    let fits = self.fits(text, pattern, end);
                    match self.at(end) {
                        Some(b'?') => {
                            if fits && let Some(found) = self.go(text + 1, end + 1)? {
                                return Ok(Some(found));
                            }
                            pattern = end + 1;
                        }
                        Some(b'*') => return self.expand(text, pattern, end),
                        Some(b'+') if fits => return self.expand(text + 1, pattern, end),
                        Some(b'+') => return Ok(None),
                        Some(b'-') => return self.shrink(text, pattern, end),
                        _ if fits => (text, pattern) = (text + 1, end),
                        _ => return Ok(None),
                    }
                }
            }
        }
    }

    /// As many as possible, then fewer.
    fn expand(&mut self, text: usize, pattern: usize, end: usize) -> Matched {
        let mut more = 0;
        while self.fits(text + more, pattern, end) {
            self.count()?;
            more += 1;
        }
        loop {
            if let Some(found) = self.go(text + more, end + 1)? {
                return Ok(Some(found));
            }
            if more == 0 {
                return Ok(None);
            }
            more -= 1;
        }
    }

    /// As few as possible, then more.
    fn shrink(&mut self, mut text: usize, pattern: usize, end: usize) -> Matched {
        loop {
            if let Some(found) = self.go(text, end + 1)? {
                return Ok(Some(found));
            }
            if !self.fits(text, pattern, end) {
                return Ok(None);
            }
            text += 1;
        }
    }

    fn open(&mut self, text: usize, pattern: usize, capture: Capture) -> Matched {
        if self.captures.len() == MAX_CAPTURES {
            return Err(Stop::Malformed("too many captures"));
        }
        self.captures.push(capture);
        let found = self.go(text, pattern)?;
        if found.is_none() {
            self.captures.pop();
        }
        Ok(found)
    }

    fn close(&mut self, text: usize, pattern: usize) -> Matched {
        let is_open = |capture: &Capture| matches!(capture, Capture::Open(_));
        let place = self.captures.iter().rposition(is_open);
        let place = place.ok_or(Stop::Malformed("invalid pattern capture"))?;
        let Capture::Open(start) = self.captures[place] else { return Ok(None) };
        self.captures[place] = Capture::Text(start, text);
        let found = self.go(text, pattern)?;
        if found.is_none() {
            self.captures[place] = Capture::Open(start);
        }
        Ok(found)
    }

    /// `%bxy`: from an x to the y that closes it.
    fn balance(&self, text: usize, pattern: usize) -> Matched {
        let (Some(open), Some(close)) = (self.at(pattern), self.at(pattern + 1)) else {
            return Err(Stop::Malformed("unbalanced pattern"));
        };
        if self.text.get(text) != Some(&open) {
            return Ok(None);
        }
        let mut level = 1;
        for (place, &byte) in self.text.iter().enumerate().skip(text + 1) {
            self.count()?;
            if byte == close {
                level -= 1;
                if level == 0 {
                    return Ok(Some(place + 1));
                }
            } else if byte == open {
                level += 1;
            }
        }
        Ok(None)
    }

    /// `%1`: what a capture caught, once more.
    fn back(&self, text: usize, digit: u8) -> Matched {
        let wrong = Stop::Malformed("invalid capture index");
        let place = usize::from(digit).checked_sub(usize::from(b'1')).ok_or(wrong)?;
        let Some(&Capture::Text(start, end)) = self.captures.get(place) else { return Err(wrong) };
        let caught = &self.text[start..end];
        self.meter.charge(caught.len()).map_err(|_| Stop::Ended(Ending::Instructions))?;
        Ok(self.text[text..].starts_with(caught).then_some(text + caught.len()))
    }

    /// Where a single class ends.
    fn class_end(&self, mut place: usize) -> Result<usize, Stop> {
        match self.at(place) {
            Some(b'%') => match self.at(place + 1) {
                Some(_) => Ok(place + 2),
                None => Err(Stop::Malformed("malformed pattern (ends with '%')")),
            },
            Some(b'[') => {
                place += 1;
                if self.at(place) == Some(b'^') {
                    place += 1;
                }
                loop {
                    let byte = self.at(place);
                    place += 1;
                    match byte {
                        None => return Err(Stop::Malformed("malformed pattern (missing ']')")),
                        Some(b'%') => place += 1,
                        Some(_) => {}
                    }
                    if self.at(place) == Some(b']') {
                        return Ok(place + 1);
                    }
                }
            }
            _ => Ok(place + 1),
        }
    }

    /// Tells whether the byte of the text fits the class.
    fn fits(&self, text: usize, pattern: usize, end: usize) -> bool {
        let Some(&byte) = self.text.get(text) else { return false };
        match self.pattern[pattern] {
            b'.' => true,
            b'%' => in_class(byte, self.pattern[pattern + 1]),
            b'[' => self.in_set(byte, pattern, end - 1),
            own => own == byte,
        }
    }

    /// Tells whether a byte is in the set that starts and ends at these brackets.
    fn in_set(&self, byte: u8, start: usize, end: usize) -> bool {
        let mut place = start + 1;
        let negated = self.at(place) == Some(b'^');
        if negated {
            place += 1;
        }
        let mut found = false;
        while place < end && !found {
            let own = self.pattern[place];
            if own == b'%' {
                found = self.at(place + 1).is_some_and(|class| in_class(byte, class));
                place += 2;
            } else if self.at(place + 1) == Some(b'-') && place + 2 < end {
                found = (own..=self.pattern[place + 2]).contains(&byte);
                place += 3;
            } else {
                found = own == byte;
                place += 1;
            }
        }
        found != negated
    }
}

/// Tells whether a byte is in a class such as `%a`; a class in upper case is the opposite.
fn in_class(byte: u8, class: u8) -> bool {
    let found = match class.to_ascii_lowercase() {
        b'a' => byte.is_ascii_alphabetic(),
        b'c' => byte.is_ascii_control(),
        b'd' => byte.is_ascii_digit(),
        b'l' => byte.is_ascii_lowercase(),
        b'p' => byte.is_ascii_punctuation(),
        b's' => byte.is_ascii_whitespace() || byte == 0x0b,
        b'u' => byte.is_ascii_uppercase(),
        b'w' => byte.is_ascii_alphanumeric(),
        b'x' => byte.is_ascii_hexdigit(),
        b'z' => byte == 0,
        _ => return class == byte,
    };
    found != class.is_ascii_uppercase()
}

/// Finds a text in another, in time linear in both (Knuth, Morris, Pratt 1977).
pub(super) fn find_plain(text: &[u8], wanted: &[u8], start: usize) -> Option<usize> {
    if wanted.is_empty() {
        return Some(start);
    }
    let mut borders = vec![0; wanted.len()];
    let mut known = 0;
    for place in 1..wanted.len() {
        while known > 0 && wanted[place] != wanted[known] {
            known = borders[known - 1];
        }
        known += usize::from(wanted[place] == wanted[known]);
        borders[place] = known;
    }
    known = 0;
    for (place, byte) in text.iter().enumerate().skip(start) {
        while known > 0 && *byte != wanted[known] {
            known = borders[known - 1];
        }
        known += usize::from(*byte == wanted[known]);
        if known == wanted.len() {
            return Some(place + 1 - known);
        }
    }
    None
}
