//! A relay between a replica and its master whose link can be held, cut and healed.

use anyhow::Result;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// What a relay does with the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// They pass.
    Open,
    /// They are held back, and the connections stay.
    Stalled,
    /// The connections are closed, and new ones are refused.
    Cut,
}

/// A relay; its threads end with it.
pub(crate) struct Relay {
    port: u16,
    state: Arc<Mutex<State>>,
}

struct State {
    link: Link,
    ended: bool,
    streams: Vec<TcpStream>,
}

impl Relay {
    /// Listens on a free port and relays to this one.
    pub(crate) fn to(target: u16) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let state = State { link: Link::Open, ended: false, streams: Vec::new() };
        let state = Arc::new(Mutex::new(state));
        let accepted = Arc::clone(&state);
        thread::spawn(move || accept(&listener, target, &accepted));
        Ok(Self { port, state })
    }

    /// Returns the port that it listens on.
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// Changes what happens to the bytes.
    pub(crate) fn set(&self, link: Link) {
        let mut state = locked(&self.state);
        state.link = link;
        if link == Link::Cut {
            for stream in state.streams.drain(..) {
                // A stream that is closed already is what is wanted.
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.set(Link::Cut);
        locked(&self.state).ended = true;
        // Wakes the thread that accepts, which then sees that it is over.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn locked(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, target: u16, state: &Arc<Mutex<State>>) {
    while let Ok((near, _)) = listener.accept() {
        if locked(state).ended {
            return;
        }
        if locked(state).link == Link::Cut {
            continue;
        }
        let Ok(far) = TcpStream::connect(("127.0.0.1", target)) else { continue };
        for (from, to) in [(&near, &far), (&far, &near)] {
            let (Ok(from), Ok(to)) = (from.try_clone(), to.try_clone()) else { continue };
            let state = Arc::clone(state);
            thread::spawn(move || pump(from, to, &state));
        }
        locked(state).streams.extend([near, far]);
    }
}

fn pump(mut from: TcpStream, mut to: TcpStream, state: &Mutex<State>) {
    let mut piece = [0; 64 * 1024];
    while let Ok(len) = from.read(&mut piece) {
        if len == 0 {
            break;
        }
        while locked(state).link == Link::Stalled {
            thread::sleep(Duration::from_millis(2));
        }
        if locked(state).link == Link::Cut || to.write_all(&piece[..len]).is_err() {
            break;
        }
    }
    for stream in [from, to] {
        let _ = stream.shutdown(Shutdown::Both);
    }
}
