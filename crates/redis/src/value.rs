//! The small values a lock key holds.
//!
//! A value is equal to another exactly if their bytes are. That holds because every text has one
//! canonical form: see [`Value::from_text`].

use crate::names::Names;

/// What a lock key or a counter holds, in at most 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// A number, stored by Redis as its decimal text.
    Integer(i64),
    /// A token of one acquisition, `c1-7`.
    Token {
        /// The client that made it.
        client: u16,
        /// The number the client gave it.
        serial: u32,
    },
    /// A word, as a position in the engine's table of names.
    Name(u32),
}

impl Value {
    /// Reads a text that is a canonical number or token; any other text is a name or plain bytes.
    #[must_use]
    pub fn from_text(text: &[u8]) -> Option<Self> {
        if let Some(rest) = text.strip_prefix(b"c") {
            let dash = rest.iter().position(|&byte| byte == b'-')?;
            let client = u16::try_from(parse_integer(&rest[..dash])?).ok()?;
            let serial = u32::try_from(parse_integer(&rest[dash + 1..])?).ok()?;
            return Some(Self::Token { client, serial });
        }
        parse_integer(text).map(Self::Integer)
    }

    /// Writes the bytes this value stands for.
    #[must_use]
    pub fn to_bytes(self, names: &Names) -> Vec<u8> {
        match self {
            Self::Integer(number) => number.to_string().into_bytes(),
            Self::Token { client, serial } => format!("c{client}-{serial}").into_bytes(),
            Self::Name(id) => names.text(id).to_vec(),
        }
    }
}

/// Reads an integer as Redis does: only its canonical form counts.
///
/// No blank, no plus sign, no leading zero, no `-0`: a text is a number only if printing the number
/// gives the text back (`src/util.c:string2ll`).
#[must_use]
pub fn parse_integer(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    match digits {
        [b'0'] if !negative => return Some(0),
        [b'1'..=b'9', rest @ ..] if rest.len() < 19 && rest.iter().all(u8::is_ascii_digit) => {}
        _ => return None,
    }
    let mut magnitude = 0u64;
    for &digit in digits {
        magnitude = magnitude.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
    }
    if negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}
