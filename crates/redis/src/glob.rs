//! Glob patterns as KEYS, SCAN and PSUBSCRIBE have them (`src/util.c:stringmatchlen`).

/// Tells whether the text matches: `*`, `?`, `[a-c]`, `[^a]`, and `\` before a plain character.
pub(crate) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    // Going back to the last star only keeps the time bounded for any pattern.
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p + 1, t));
            p += 1;
        } else if let Some(next) = one(pattern, p, text[t]) {
            p = next;
            t += 1;
        } else if let Some((after, from)) = star {
            star = Some((after, from + 1));
            (p, t) = (after, from + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

/// Matches one byte with the element at `p`, and gives where the next element starts.
fn one(pattern: &[u8], p: usize, byte: u8) -> Option<usize> {
    match pattern.get(p)? {
        b'?' => Some(p + 1),
        b'[' => class(pattern, p + 1, byte),
        b'\\' if p + 1 < pattern.len() => (pattern[p + 1] == byte).then_some(p + 2),
        &plain => (plain == byte).then_some(p + 1),
    }
}

fn class(pattern: &[u8], mut p: usize, byte: u8) -> Option<usize> {
    let negated = pattern.get(p) == Some(&b'^');
    p += usize::from(negated);
    let mut found = false;
    while let Some(&first) = pattern.get(p) {
        match (first, pattern.get(p + 1), pattern.get(p + 2)) {
            (b']', _, _) => break,
            (b'\\', Some(&escaped), _) => {
                found |= escaped == byte;
                p += 2;
            }
            (low, Some(b'-'), Some(&high)) => {
                found |= (low.min(high)..=low.max(high)).contains(&byte);
                p += 3;
            }
            (plain, _, _) => {
                found |= plain == byte;
                p += 1;
            }
        }
    }
    (found != negated).then_some(pattern.len().min(p + 1))
}
