//! Bytes that are no proper requests: what either server answers, and whether it closes.

use super::session::Session;
use crate::conformance::replies;
use crate::servers::Received;
use anyhow::{Context, Result};
use fencepost_redis::{ConnectionId, Effect, Effects, Engine, Input, RequestParser, StandingClock};
use std::time::Duration;

/// How long the real server may take with an answer.
const PATIENCE: Duration = Duration::from_millis(200);

/// Sends every line of the file of byte sequences to both; gives how many there are, and prints
/// and counts those that differ.
pub(super) fn compare(session: &mut Session) -> Result<(usize, usize)> {
    let text = include_str!("../../../crates/redis/corpus/requests.escaped");
    let (mut compared, mut differences) = (0, 0);
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words = fencepost_redis::split_inline(line.as_bytes()).context("an open quote")?;
        let bytes = words.first().context("an empty line")?;
        let (real, model) = (real(session, bytes)?, model(session, bytes));
        compared += 1;
        if real != model {
            differences += 1;
            println!("{line}\n    the server {real:?}\n    the engine {model:?}");
        }
    }
    session.reset()?;
    Ok((compared, differences))
}

fn real(session: &Session, bytes: &[u8]) -> Result<Vec<Vec<String>>> {
    let mut connection = session.server.connect()?;
    connection.send_bytes(bytes);
    let mut all = Vec::new();
    loop {
        match connection.receive(PATIENCE)? {
            Received::Lines(lines) => all.push(lines),
            Received::Nothing => return Ok(all),
            Received::Closed => {
                all.push(vec!["(closed)".to_owned()]);
                return Ok(all);
            }
        }
    }
}

fn model(session: &Session, bytes: &[u8]) -> Vec<Vec<String>> {
    let (mut engine, mut parser) = (Engine::new(), RequestParser::default());
    engine.config_mut().version = session.version;
    parser.feed(bytes);
    let (mut sent, mut closed) = (Vec::new(), false);
    while !closed {
        match parser.next_request() {
            Ok(None) => break,
            Ok(Some(words)) => {
                let input = Input::Request { connection: ConnectionId(1), words };
                let mut effects = Effects::new();
                engine.step(input, &mut StandingClock(0), &mut effects);
                for effect in effects.list {
                    if let Effect::Send { protocol, frame, .. } = effect {
                        frame.encode(protocol, &mut sent);
                    }
                }
            }
            Err(error) => {
                sent.extend(format!("-{error}\r\n").replace("got '\r'", "got ' '").into_bytes());
                closed = true;
            }
        }
    }
    let mut all = Vec::new();
    while let Some(lines) = replies::decode(&mut sent) {
        all.push(lines);
    }
    if closed {
        all.push(vec!["(closed)".to_owned()]);
    }
    all
}
