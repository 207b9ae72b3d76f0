//! One sequence on both servers, step by step.
//!
//! The real server's clock runs; the engine gets the instant just before each step. So an outcome
//! may depend on which side of an instant a step fell only if the machine was slow, and that is
//! noticed: such a sequence is unsure and says nothing.

use super::commands::{CONNECTIONS, KEYS, SHORT, Step, WAIT};
use super::compare::{self, Tolerance};
use super::model::Model;
use super::session::{FIRST_CLIENT, Session};
use crate::servers::{Connection, Received};
use anyhow::{Context, Result, ensure};
use fencepost_redis::split_inline;
use std::time::{Duration, SystemTime};

/// The real server's timer comes ten times a second; this is a margin around it, in microseconds.
const TIMER: u64 = 120_000;
/// How long a message is awaited that the engine has sent and the server has not.
const LATE: Duration = Duration::from_millis(300);

/// What came of a sequence.
pub(super) enum Outcome {
    /// As many replies and messages were the same.
    Same(usize),
    /// It took so long that an instant may have decided.
    Unsure,
    /// They differ: everything that happened up to there.
    Different(Vec<Event>),
}

/// What a step was and what came of it.
pub(super) struct Event {
    /// The connection that acted.
    pub(super) connection: Option<usize>,
    /// The command, or empty.
    pub(super) text: String,
    /// What each connection got of the real server and of the engine.
    pub(super) messages: Vec<Messages>,
}

/// What one connection got in a step.
pub(super) struct Messages {
    pub(super) connection: usize,
    pub(super) real: Vec<Vec<String>>,
    pub(super) model: Vec<Vec<String>>,
}

/// A connection to both.
struct Client {
    real: Connection,
    model: u64,
    /// CLIENT ID of either.
    ids: (i64, i64),
    closed: bool,
}

/// A sequence under way.
pub(super) struct Sequence<'a> {
    session: &'a mut Session,
    model: Model,
    clients: Vec<Option<Client>>,
    events: Vec<Event>,
    compared: usize,
    /// How long the steps took that the engine did in no time, in microseconds.
    elapsed: u64,
    /// The connections that sent something short which has not begun: queued, or held back.
    loose: Vec<usize>,
    /// Whether ids may be among the replies.
    masked: bool,
    /// When something may end, in unix microseconds.
    ends: Vec<(u64, u64)>,
    /// Whether a reply without order may come, now or after a wait or an EXEC.
    unordered: bool,
}

impl<'a> Sequence<'a> {
    /// Runs the steps on a clean server.
    pub(super) fn run(session: &'a mut Session, steps: &[Step]) -> Result<Outcome> {
        let model = session.template.clone();
        let clients = (0..=CONNECTIONS.len()).map(|_| None).collect();
        let mut sequence = Sequence {
            session,
            model,
            clients,
            events: Vec::new(),
            compared: 0,
            elapsed: 0,
            loose: Vec::new(),
            masked: false,
            ends: Vec::new(),
            unordered: false,
        };
        let outcome = sequence.steps(steps)?;
        let Sequence { session, clients, .. } = sequence;
        drop(clients);
        session.settle()?;
        session.reset()?;
        Ok(outcome)
    }

    fn steps(&mut self, steps: &[Step]) -> Result<Outcome> {
        for (number, step) in steps.iter().enumerate() {
            match self.step(number, step)? {
                Some(true) => {}
                Some(false) => return Ok(Outcome::Different(std::mem::take(&mut self.events))),
                None => return Ok(Outcome::Unsure),
            }
        }
        match self.keyspace()? {
            Some(true) => Ok(Outcome::Same(self.compared)),
            Some(false) => Ok(Outcome::Different(std::mem::take(&mut self.events))),
            None => Ok(Outcome::Unsure),
        }
    }

    /// Does one step on both; `None` if an instant may have decided, false if they differ.
    fn step(&mut self, number: usize, step: &Step) -> Result<Option<bool>> {
        match step {
            Step::Wait => self.wait(),
            Step::Close { connection } => self.close(*connection),
            Step::Command { connection, text } => {
                let time = 200 + number;
                let text = text.replace("{s}", &time.to_string());
                let text = text.replace("{ms}", &(time * 1000).to_string());
                self.command(*connection, text)
            }
        }
    }

    fn wait(&mut self) -> Result<Option<bool>> {
        let started = now()?;
        std::thread::sleep(Duration::from_millis(WAIT));
        self.session.settle()?;
        for passed in (0..=WAIT).step_by(5) {
            self.model.tick(started + passed * 1000);
        }
        let expected = self.take_all()?;
        let same = self.compare(None, String::new(), expected)?;
        let brought = self.events.last().is_some_and(|event| !event.messages.is_empty());
        if brought && !self.loose.is_empty() {
            self.ends.push((started, now()? + (SHORT + 1) * 1000 + TIMER));
        }
        Ok(same)
    }

    fn close(&mut self, connection: usize) -> Result<Option<bool>> {
        let Some(client) = self.clients[connection].take() else { return Ok(Some(true)) };
        let (started, id) = (now()?, client.model);
        drop(client);
        self.session.settle()?;
        self.model.tick(started);
        self.model.close(id, started);
        let text = format!("@close {}", CONNECTIONS[connection]);
        self.loose.retain(|loose| *loose != connection);
        self.note_instant(started, false)?;
        let expected = self.take_all()?;
        self.compare(None, text, expected)
    }

    fn command(&mut self, connection: usize, text: String) -> Result<Option<bool>> {
        self.connect(connection)?;
        let words = split_inline(text.as_bytes()).context("a template gives whole words")?;
        let short = is_short(&text);
        let name = words[0].to_ascii_lowercase();
        let name = String::from_utf8(name).context("a command is a word")?;
        let fill = |real: bool| words.iter().map(|word| self.filled(word, real)).collect();
        let (for_real, for_model): (Vec<Vec<u8>>, Vec<Vec<u8>>) = (fill(true), fill(false));
        let client = self.clients[connection].as_mut().context("it is connected")?;
        let (model, started) = (client.model, now()?);
        client.real.send(&for_real);
        self.model.tick(started);
        self.model.request(model, &for_model, started);
        let expected = self.take_all()?;
        if expected[connection].1.is_empty()
            || expected.iter().any(|(real, model)| real.len() < model.len())
        {
            // Nothing is to come, which only shows when the server has done it; or it is late.
            self.session.settle()?;
        }
        if self.note_instant(started, short)? {
            return Ok(None);
        }
        self.masked |= matches!(name.as_str(), "client" | "hello");
        self.unordered |= compare::is_unordered(&name);
        let same = self.compare(Some(connection), text, expected)?;
        let event = self.events.last().context("the step was noted")?;
        let own = event.messages.iter().find(|got| got.connection == connection);
        let begun = own.is_some_and(|own| own.model != [["+QUEUED"]]);
        if begun && matches!(name.as_str(), "exec" | "discard" | "reset") {
            self.loose.retain(|loose| *loose != connection);
        } else if short && !begun {
            self.loose.push(connection);
        }
        Ok(same)
    }

    /// Opens a connection to both, unless it is there.
    fn connect(&mut self, connection: usize) -> Result<()> {
        if self.clients[connection].as_ref().is_some_and(|client| client.closed) {
            self.clients[connection] = None;
            let text = format!("@close {}", name(connection));
            self.events.push(Event { connection: None, text, messages: Vec::new() });
        }
        if self.clients[connection].is_some() {
            return Ok(());
        }
        let mut real = self.session.server.connect()?;
        let model = self.model.connect();
        let words = ["CLIENT", "ID"];
        let lines = real.call(&words)?;
        self.model.request(model, &words.map(|word| word.as_bytes().to_vec()), now()?);
        let own = self.model.take(model).concat();
        let id = |lines: &[String]| lines.concat()[1..].parse::<i64>();
        let ids = (id(&lines)?, id(&own)?);
        ensure!(ids.0 >= FIRST_CLIENT && ids.1 >= FIRST_CLIENT, "{ids:?} are small ids");
        self.clients[connection] = Some(Client { real, model, ids, closed: false });
        Ok(())
    }

    /// Fills in client ids, which differ.
    fn filled(&self, word: &[u8], real: bool) -> Vec<u8> {
        for (index, client) in self.clients.iter().enumerate() {
            if word == format!("{{id:{}}}", name(index)).as_bytes() {
                let ids = client.as_ref().map_or((999, 999), |client| client.ids);
                return if real { ids.0 } else { ids.1 }.to_string().into_bytes();
            }
        }
        word.to_vec()
    }

    /// Notes what a step took; true if something may have ended while it ran.
    fn note_instant(&mut self, started: u64, short: bool) -> Result<bool> {
        let ended = now()?;
        self.elapsed += ended.saturating_sub(started) + 1000;
        let meets = |(from, to): &(u64, u64)| started <= *to && ended >= *from;
        let unsure = self.ends.iter().any(meets) || ended < started;
        if short || !self.loose.is_empty() {
            let (from, to) = (started + (SHORT - 1) * 1000, ended + (SHORT + 1) * 1000 + TIMER);
            self.ends.push((from, to));
        }
        Ok(unsure)
    }

    /// Takes what every connection has got of both; what the engine has sent is waited for.
    fn take_all(&mut self) -> Result<Vec<Both>> {
        let mut all = Vec::new();
        for client in &mut self.clients {
            let mut both = (Vec::new(), Vec::new());
            if let Some(client) = client {
                both.1 = self.model.take(client.model);
                take(client, &mut both.0, both.1.len())?;
            }
            all.push(both);
        }
        Ok(all)
    }

    /// Compares what came, and what came after it.
    fn compare(
        &mut self,
        by: Option<usize>,
        text: String,
        taken: Vec<Both>,
    ) -> Result<Option<bool>> {
        let within = self.tolerance();
        let mut event = Event { connection: by, text, messages: Vec::new() };
        let mut all_same = true;
        for (connection, (mut real, mut model)) in taken.into_iter().enumerate() {
            let Some(client) = &mut self.clients[connection] else { continue };
            take(client, &mut real, 0)?;
            if self.masked {
                self.mask(&mut real, true);
                self.mask(&mut model, false);
            }
            all_same &= compare::same(self.unordered, &real, &model, within);
            self.compared += real.len();
            if !real.is_empty() || !model.is_empty() {
                event.messages.push(Messages { connection, real, model });
            }
        }
        let several = event.messages.len() > 1;
        let waited = event.connection.is_none() && event.text.is_empty();
        self.events.push(event);
        // Which of several things ended first is the timer's business.
        Ok(if !all_same && waited && several { None } else { Some(all_same) })
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance(i64::try_from(self.elapsed / 1000).unwrap_or(i64::MAX) + 2)
    }

    /// Puts names in the place of ids and of the server's own number, and leaves out modules.
    fn mask(&self, messages: &mut [Vec<String>], real: bool) {
        let number = if real { &self.session.number } else { self.session.version.number() };
        let number = format!("$\"{number}\"");
        for message in messages.iter_mut() {
            without_modules(message);
        }
        for line in messages.iter_mut().flatten() {
            for (index, client) in self.clients.iter().enumerate() {
                let Some(client) = client else { continue };
                let id = if real { client.ids.0 } else { client.ids.1 };
                if line.trim_start() == format!(":{id}") {
                    *line = line.replace(&id.to_string(), &format!("{{id:{}}}", name(index)));
                }
            }
            if line.trim_start() == number {
                *line = line.replace(&number, "$\"{version}\"");
            }
        }
    }

    /// Compares everything that is left in the two databases that are used, times to live too.
    fn keyspace(&mut self) -> Result<Option<bool>> {
        let observer = CONNECTIONS.len();
        self.connect(observer)?;
        let mut texts = Vec::new();
        for database in ["0", "1"] {
            texts.extend([format!("select {database}"), "dbsize".to_owned()]);
            for key in KEYS {
                texts.extend(LOOKS.iter().map(|look| look.replace("KEY", key)));
            }
        }
        let words = |text: &String| split_inline(text.as_bytes()).context("whole words");
        let all = texts.iter().map(words).collect::<Result<Vec<_>>>()?;
        let client = self.clients[observer].as_mut().context("it is connected")?;
        let (model, started) = (client.model, now()?);
        client.real.send_all(&all);
        for words in &all {
            self.model.request(model, words, started);
        }
        let (mut real, mine) = (Vec::new(), self.model.take(model));
        take(client, &mut real, mine.len())?;
        if self.note_instant(started, false)? {
            return Ok(None);
        }
        for (text, (real, mine)) in texts.into_iter().zip(real.into_iter().zip(mine)) {
            let unordered = text.starts_with("smembers");
            let (real, model) = (vec![real], vec![mine]);
            self.compared += 1;
            if !compare::same(unordered, &real, &model, self.tolerance()) {
                let messages = vec![Messages { connection: observer, real, model }];
                self.events.push(Event { connection: Some(observer), text, messages });
                return Ok(Some(false));
            }
        }
        Ok(Some(true))
    }
}

/// What a connection got of the real server and of the engine.
type Both = (Vec<Vec<String>>, Vec<Vec<String>>);

/// What is asked of every key in the end; most give WRONGTYPE, which is compared, too.
const LOOKS: &[&str] = &[
    "type KEY",
    "get KEY",
    "lrange KEY 0 -1",
    "hgetall KEY",
    "zrange KEY 0 -1 WITHSCORES",
    "smembers KEY",
    "pttl KEY",
];

/// Takes what has come from the real server, waiting for as many messages; a closed connection
/// says so once.
fn take(client: &mut Client, into: &mut Vec<Vec<String>>, wanted: usize) -> Result<()> {
    while !client.closed {
        let patience = if into.len() < wanted { LATE } else { Duration::ZERO };
        match client.real.receive(patience)? {
            Received::Lines(lines) => into.push(lines),
            Received::Nothing => break,
            Received::Closed => {
                client.closed = true;
                into.push(vec!["(closed)".to_owned()]);
            }
        }
    }
    Ok(())
}

/// Leaves out which modules are built in: it is no business of locks.
fn without_modules(message: &mut Vec<String>) {
    let Some(at) = message.iter().position(|line| line.ends_with("$\"modules\"")) else { return };
    let depth = |line: &String| line.len() - line.trim_start().len();
    let own = depth(&message[at]);
    let rest = message.split_off(at + 1).into_iter().skip(1);
    message.extend(rest.skip_while(|line| depth(line) > own));
}

/// Tells whether a command sets something that ends soon.
fn is_short(text: &str) -> bool {
    let seconds = format!("0.{}", SHORT / 100);
    text.split([' ', ')']).any(|word| word == SHORT.to_string() || word == seconds)
}

/// The name of a connection; the observer's is the one after the last.
pub(super) fn name(connection: usize) -> &'static str {
    CONNECTIONS.get(connection).copied().unwrap_or("observer")
}

fn now() -> Result<u64> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    Ok(u64::try_from(since.as_micros())?)
}
