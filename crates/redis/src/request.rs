//! Requests out of bytes: an array of bulk strings, or one inline line.
//!
//! The limits are the server's (`src/networking.c`): a peer cannot make it reserve memory by
//! announcing more than it sends, and every wrong byte is a protocol error, after which the server
//! closes the connection.

use thiserror::Error;

use crate::value::parse_integer;

/// The longest line that announces a length, and the longest inline command.
const MAX_LINE: usize = 64 * 1024;
/// The most words of one request.
const MAX_WORDS: i64 = i32::MAX as i64;
/// The most memory of one request that is not whole yet, `client-query-buffer-limit`; a word
/// counts for its bytes and its place.
const MAX_REQUEST: usize = 1024 * 1024 * 1024;
/// What the place of a word costs.
const PLACE: usize = size_of::<Vec<u8>>();
/// The longest word.
const MAX_WORD: i64 = 512 * 1024 * 1024;

/// Why the bytes are no request. The text is what the server sends before it closes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
pub enum ProtocolError {
    /// The number of words is no number, or too large.
    #[error("ERR Protocol error: invalid multibulk length")]
    MultibulkLength,
    /// The length of a word is no number, negative, or too large.
    #[error("ERR Protocol error: invalid bulk length")]
    BulkLength,
    /// A word does not start with its length.
    #[error("ERR Protocol error: expected '$', got '{0}'")]
    ExpectedBulk(char),
    /// No line break came within 64 KiB of a length.
    #[error("ERR Protocol error: too big mbulk count string")]
    CountTooLong,
    /// No line break came within 64 KiB of a word's length.
    #[error("ERR Protocol error: too big bulk count string")]
    LengthTooLong,
    /// No line break came within 64 KiB of an inline command.
    #[error("ERR Protocol error: too big inline request")]
    InlineTooLong,
    /// The request is larger than any server would keep; the server closes without a word.
    #[error("ERR Protocol error: too big request")]
    RequestTooBig,
    /// An inline command with an open quote.
    #[error("ERR Protocol error: unbalanced quotes in request")]
    UnbalancedQuotes,
}

/// Collects bytes as they come and gives whole requests.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequestParser {
    buffer: Vec<u8>,
    /// How many bytes of the buffer have been read.
    start: usize,
    words: Vec<Vec<u8>>,
    /// Words of the present request that have not come yet.
    missing: i64,
    /// What the words of the present request take up.
    held: usize,
    limit: usize,
}

impl Default for RequestParser {
    fn default() -> Self {
        Self::with_limit(MAX_REQUEST)
    }
}

impl RequestParser {
    /// Makes a parser that refuses requests that take more memory than this.
    pub(crate) const fn with_limit(limit: usize) -> Self {
        Self { buffer: Vec::new(), start: 0, words: Vec::new(), missing: 0, held: 0, limit }
    }

    /// Takes bytes from the peer.
    pub fn feed(&mut self, bytes: &[u8]) {
        // What was read is thrown away in one go, so that many requests at once cost no more.
        if self.start > self.buffer.len() / 2 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Gives the next whole request, or `None` if more bytes must come.
    ///
    /// # Errors
    ///
    /// Gives the protocol error to send before the connection is closed.
    pub fn next_request(&mut self) -> Result<Option<Vec<Vec<u8>>>, ProtocolError> {
        let mut read = self.start;
        let request = self.advance(&mut read);
        self.start = read;
        let waits = matches!(request, Ok(None));
        if waits && self.held.saturating_add(self.buffer.len() - self.start) > self.limit {
            return Err(ProtocolError::RequestTooBig);
        }
        request
    }

    fn advance(&mut self, read: &mut usize) -> Result<Option<Vec<Vec<u8>>>, ProtocolError> {
        while self.missing == 0 {
            match self.buffer.get(*read) {
                None => return Ok(None),
                Some(b'*') => {
                    let long = ProtocolError::CountTooLong;
                    let Some((text, next)) = self.line(*read + 1, long)? else { return Ok(None) };
                    let count = parse_integer(text).filter(|count| *count <= MAX_WORDS);
                    self.missing = count.ok_or(ProtocolError::MultibulkLength)?.max(0);
                    *read = next;
                }
                Some(_) => {
                    let long = ProtocolError::InlineTooLong;
                    let Some((text, next)) = self.inline(*read, long)? else { return Ok(None) };
                    let words = split_inline(text).ok_or(ProtocolError::UnbalancedQuotes)?;
                    *read = next;
                    if !words.is_empty() {
                        return Ok(Some(words));
                    }
                }
            }
        }
        while self.missing > 0 {
            match self.buffer.get(*read) {
                None => return Ok(None),
                Some(b'$') => {}
                Some(&byte) => return Err(ProtocolError::ExpectedBulk(char::from(byte))),
            }
            let long = ProtocolError::LengthTooLong;
            let Some((text, start)) = self.line(*read + 1, long)? else { return Ok(None) };
            let len = parse_integer(text)
                .filter(|len| (0..=MAX_WORD).contains(len))
                .and_then(|len| usize::try_from(len).ok())
                .ok_or(ProtocolError::BulkLength)?;
            self.held = self.held.saturating_add(PLACE);
            if self.held > self.limit {
                return Err(ProtocolError::RequestTooBig);
            }
            if self.buffer.len() < start + len + 2 {
                self.held -= PLACE;
                return Ok(None);
            }
            self.held = self.held.saturating_add(len);
            self.words.push(self.buffer[start..start + len].to_vec());
            *read = start + len + 2;
            self.missing -= 1;
        }
        self.held = 0;
        Ok(Some(std::mem::take(&mut self.words)))
    }

    /// The length that stands here, up to the carriage return, and where the next line starts.
    /// Which byte stands for the line feed does not matter to the server.
    fn line(
        &self,
        from: usize,
        long: ProtocolError,
    ) -> Result<Option<(&[u8], usize)>, ProtocolError> {
        let rest = &self.buffer[from..];
        match rest.iter().take(MAX_LINE).position(|&byte| byte == b'\r') {
            Some(end) if rest.len() > end + 1 => Ok(Some((&rest[..end], from + end + 2))),
            None if rest.len() >= MAX_LINE => Err(long),
            Some(_) | None => Ok(None),
        }
    }

    /// The inline command that stands here, up to a zero byte, and where the next line starts.
    fn inline(
        &self,
        from: usize,
        long: ProtocolError,
    ) -> Result<Option<(&[u8], usize)>, ProtocolError> {
        let rest = &self.buffer[from..];
        match rest.iter().take(MAX_LINE).position(|&byte| byte == b'\n') {
            Some(end) => {
                let text = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
                let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
                Ok(Some((text, from + end + 1)))
            }
            None if rest.len() >= MAX_LINE => Err(long),
            None => Ok(None),
        }
    }
}

/// Splits a line into words as `redis-cli` and the inline protocol do; `None` if a quote is open.
#[must_use]
pub fn split_inline(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    let mut rest = line;
    loop {
        rest = rest.trim_ascii_start();
        let Some(&first) = rest.first() else { return Some(words) };
        let mut word = Vec::new();
        if first == b'"' || first == b'\'' {
            rest = quoted_word(&rest[1..], first, &mut word)?;
        } else {
            let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
            word.extend_from_slice(&rest[..end]);
            rest = &rest[end..];
        }
        words.push(word);
    }
}

/// Reads up to the closing quote, which a blank or the end must follow.
fn quoted_word<'a>(mut rest: &'a [u8], quote: u8, word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        rest = match (rest, quote) {
            ([b'\\', b'x', high, low, tail @ ..], b'"')
                if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                let digit = |byte: u8| char::from(byte).to_digit(16).unwrap_or(0);
                word.extend(u8::try_from(digit(*high) * 16 + digit(*low)));
                tail
            }
            ([b'\\', byte, tail @ ..], b'"') => {
                word.push(match byte {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 8,
                    b'a' => 7,
                    other => *other,
                });
                tail
            }
            ([b'\\', b'\'', tail @ ..], b'\'') => {
                word.push(b'\'');
                tail
            }
            ([byte, tail @ ..], _) if *byte == quote => {
                let ends = tail.first().is_none_or(u8::is_ascii_whitespace);
                return ends.then_some(tail);
            }
            ([byte, tail @ ..], _) => {
                word.push(*byte);
                tail
            }
            ([], _) => return None,
        };
    }
}
