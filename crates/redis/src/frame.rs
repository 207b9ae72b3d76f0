//! Replies and pushed messages as the protocol has them, and their bytes.
//!
//! A frame is written once for both protocols; what RESP2 lacks is reduced when it is encoded, as
//! the server does it: a map becomes a flat array, a double a bulk string.

use std::borrow::Cow;

/// The protocol a connection speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// The protocol of every new connection.
    #[default]
    Resp2,
    /// After `HELLO 3`.
    Resp3,
}

/// One reply or message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Frame {
    /// A status, `+OK`.
    Simple(Cow<'static, str>),
    /// An error, its code included.
    Error(Cow<'static, str>),
    /// An integer.
    Integer(i64),
    /// A string of bytes.
    Bulk(Vec<u8>),
    /// The null; `$-1` in RESP2.
    Nil,
    /// The null array; `*-1` in RESP2, the same null as any in RESP3.
    NilArray,
    /// An array.
    Array(Vec<Self>),
    /// Pairs; in RESP2 an array of twice the length.
    Map(Vec<(Self, Self)>),
    /// A set; in RESP2 an array.
    Set(Vec<Self>),
    /// A message nobody asked for; in RESP2 an array.
    Push(Vec<Self>),
    /// A floating-point number, as its text; in RESP2 a bulk string.
    Double(String),
    /// A boolean; in RESP2 the integer 1 or null.
    Boolean(bool),
    /// An integer of any length, as its text; in RESP2 a bulk string.
    BigNumber(String),
    /// A text with a three-letter format; in RESP2 a bulk string.
    Verbatim(String, Vec<u8>),
    /// Several replies of one command, one after the other.
    Several(Vec<Self>),
}

impl Frame {
    /// Makes the usual `+OK`.
    #[must_use]
    pub const fn ok() -> Self {
        Self::Simple(Cow::Borrowed("OK"))
    }

    /// Makes a bulk string.
    pub fn bulk(bytes: impl Into<Vec<u8>>) -> Self {
        Self::Bulk(bytes.into())
    }

    /// Makes the reply of commands that say 1 for yes and 0 for no.
    #[must_use]
    pub const fn truth(truth: bool) -> Self {
        Self::Integer(truth as i64)
    }

    /// Makes an integer of a count.
    #[must_use]
    pub fn count(count: usize) -> Self {
        Self::Integer(i64::try_from(count).unwrap_or(i64::MAX))
    }

    /// Makes a bulk string of a present value and the null of an absent one.
    pub fn optional(bytes: Option<Vec<u8>>) -> Self {
        bytes.map_or(Self::Nil, Self::Bulk)
    }

    /// Makes an array of bulk strings.
    pub fn bulks<I: IntoIterator<Item: Into<Vec<u8>>>>(items: I) -> Self {
        Self::Array(items.into_iter().map(Self::bulk).collect())
    }

    /// Tells whether it is nothing but pushed messages.
    pub(crate) fn is_pushed(&self) -> bool {
        if let Self::Several(frames) = self {
            return !frames.is_empty() && frames.iter().all(Self::is_pushed);
        }
        matches!(self, Self::Push(_))
    }

    /// Appends the frame's bytes.
    pub fn encode(&self, protocol: Protocol, out: &mut Vec<u8>) {
        let three = protocol == Protocol::Resp3;
        match self {
            Self::Simple(text) => line(out, '+', text),
            Self::Error(text) => line(out, '-', text),
            Self::Integer(number) => line(out, ':', &number.to_string()),
            Self::Bulk(bytes) => bulk(out, bytes),
            Self::Nil if !three => line(out, '$', "-1"),
            Self::NilArray if !three => line(out, '*', "-1"),
            Self::Nil | Self::NilArray => line(out, '_', ""),
            Self::Array(items) => items_of(out, '*', items, protocol),
            Self::Set(items) => items_of(out, if three { '~' } else { '*' }, items, protocol),
            Self::Push(items) => items_of(out, if three { '>' } else { '*' }, items, protocol),
            Self::Map(pairs) => {
                let (sign, len) = if three { ('%', pairs.len()) } else { ('*', pairs.len() * 2) };
                line(out, sign, &len.to_string());
                for (name, value) in pairs {
                    name.encode(protocol, out);
                    value.encode(protocol, out);
                }
            }
            Self::Double(text) if three => line(out, ',', text),
            Self::BigNumber(text) if three => line(out, '(', text),
            Self::Double(text) | Self::BigNumber(text) => bulk(out, text.as_bytes()),
            Self::Boolean(truth) if three => line(out, '#', if *truth { "t" } else { "f" }),
            Self::Boolean(true) => line(out, ':', "1"),
            Self::Boolean(false) => line(out, '$', "-1"),
            Self::Verbatim(format, text) if three => {
                line(out, '=', &(text.len() + 4).to_string());
                out.extend_from_slice(format.as_bytes());
                out.push(b':');
                out.extend_from_slice(text);
                out.extend_from_slice(b"\r\n");
            }
            Self::Verbatim(_, text) => bulk(out, text),
            Self::Several(frames) => {
                for frame in frames {
                    frame.encode(protocol, out);
                }
            }
        }
    }
}

fn line(out: &mut Vec<u8>, sign: char, text: &str) {
    out.extend_from_slice(sign.encode_utf8(&mut [0; 4]).as_bytes());
    // A line break in a status or an error would end the frame early; the server blanks it, too.
    out.extend(text.bytes().map(|byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { byte }));
    out.extend_from_slice(b"\r\n");
}

fn bulk(out: &mut Vec<u8>, bytes: &[u8]) {
    line(out, '$', &bytes.len().to_string());
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

fn items_of(out: &mut Vec<u8>, sign: char, items: &[Frame], protocol: Protocol) {
    line(out, sign, &items.len().to_string());
    for item in items {
        item.encode(protocol, out);
    }
}
