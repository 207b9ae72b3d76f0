//! A plain client: words out, replies in the corpus notation in.

use crate::conformance::replies;
use anyhow::{Context, Result};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// How long a reply is awaited that must come.
const PATIENCE: Duration = Duration::from_secs(15);

/// What came, or did not.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// One reply or pushed message, as lines of the corpus notation.
    Lines(Vec<String>),
    /// Nothing in the time given.
    Nothing,
    /// The server closed the connection.
    Closed,
}

/// A connection to a server.
pub(crate) struct Connection {
    stream: TcpStream,
    inbox: Vec<u8>,
    closed: bool,
}

impl Connection {
    /// Opens a connection to a port of this machine.
    pub(crate) fn open(port: u16) -> Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, inbox: Vec::new(), closed: false })
    }

    /// Sends a command as an array of bulk strings; what a closed peer misses shows when reading.
    pub(crate) fn send<W: AsRef<[u8]>>(&mut self, words: &[W]) {
        let bytes = encoded(words);
        self.send_bytes(&bytes);
    }

    /// Sends several commands at once.
    pub(crate) fn send_all<W: AsRef<[u8]>>(&mut self, commands: &[Vec<W>]) {
        let bytes: Vec<u8> = commands.iter().flat_map(|words| encoded(words)).collect();
        self.send_bytes(&bytes);
    }

    /// Sends bytes as they are.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.closed |= self.stream.write_all(bytes).is_err();
    }

    /// Reads the next reply or message, waiting for it no longer than this.
    pub(crate) fn receive(&mut self, patience: Duration) -> Result<Received> {
        let end = Instant::now() + patience;
        loop {
            if let Some(lines) = replies::decode(&mut self.inbox) {
                return Ok(Received::Lines(lines));
            }
            let left = end.saturating_duration_since(Instant::now());
            if self.closed {
                return Ok(Received::Closed);
            }
            if !self.fill(left)? {
                return Ok(Received::Nothing);
            }
        }
    }

    /// Takes in what has come; false if that is nothing.
    fn fill(&mut self, patience: Duration) -> Result<bool> {
        self.stream.set_nonblocking(patience.is_zero())?;
        if !patience.is_zero() {
            self.stream.set_read_timeout(Some(patience.max(Duration::from_millis(1))))?;
        }
        let mut piece = [0; 16 * 1024];
        let read = self.stream.read(&mut piece);
        self.stream.set_nonblocking(false)?;
        match read {
            Ok(0) => self.closed = true,
            Ok(len) => self.inbox.extend_from_slice(&piece[..len]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Ok(false);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => self.closed = true,
        }
        Ok(true)
    }

    /// Sends a command and awaits its reply.
    pub(crate) fn call<W: AsRef<[u8]>>(&mut self, words: &[W]) -> Result<Vec<String>> {
        self.send(words);
        match self.receive(PATIENCE)? {
            Received::Lines(lines) => Some(lines),
            Received::Nothing | Received::Closed => None,
        }
        .context("the server gives no reply")
    }
}

/// A command as an array of bulk strings.
pub(crate) fn encoded<W: AsRef<[u8]>>(words: &[W]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        let word = word.as_ref();
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}
