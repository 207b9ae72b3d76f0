//! Servers and connections in virtual time.

use std::collections::BTreeMap;

use fencepost_redis::{
    Clock, ConnectionId, Effect, Effects, Engine, Input, Operation, RequestParser, Version,
};
use regex::Regex;

use crate::{corpus::Command, replies};

/// The unix time at which every case starts, in microseconds.
const START: u64 = 1_796_073_000_000_000;
/// How long a reply is awaited, in milliseconds.
const PATIENCE: u64 = 15_000;

/// The clocks of one server's machine.
struct Clocks {
    /// Microseconds since the start.
    monotonic: u64,
    /// How far the wall clock has been stepped, in milliseconds.
    step: i64,
    spent: u64,
}

impl Clock for Clocks {
    fn wall_micros(&self) -> u64 {
        (START + self.monotonic_micros()).saturating_add_signed(self.step * 1000)
    }

    fn monotonic_micros(&self) -> u64 {
        self.monotonic + self.spent
    }

    fn spend(&mut self, micros: u64) {
        self.spent += micros;
    }
}

struct Node {
    engine: Engine,
    up: bool,
    step: i64,
    /// Commands for the append-only file, as the file would have them.
    log: Vec<String>,
    /// The database the last of them was for.
    logged: Option<usize>,
    durable: bool,
}

struct Connection {
    node: String,
    id: ConnectionId,
    parser: RequestParser,
    inbox: Vec<u8>,
    closed: bool,
}

/// All servers and connections of a case.
pub(crate) struct World {
    version: Version,
    nodes: BTreeMap<String, Node>,
    /// The node of a connection that names none.
    first: Option<String>,
    connections: BTreeMap<String, Connection>,
    ids: BTreeMap<String, String>,
    /// Microseconds since the start.
    now: u64,
    next: u64,
}

impl World {
    pub(crate) fn new(version: Version) -> Self {
        Self {
            version,
            nodes: BTreeMap::new(),
            first: None,
            connections: BTreeMap::new(),
            ids: BTreeMap::new(),
            now: 0,
            next: 1,
        }
    }

    /// Does what a directive says, or tells why it cannot.
    pub(crate) fn directive(&mut self, text: &str) -> Result<(), String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["sleep", millis] => self.pass(millis.parse().unwrap()),
            ["@node", name, ref arguments @ ..] => self.start_node(name, arguments)?,
            ["@clock", name, step] => {
                self.node(name).step += step.parse::<i64>().unwrap();
            }
            ["@id", name] => {
                let command = plain(name, &["CLIENT", "ID"]);
                let id = self.command(&command)[0].trim_start_matches(':').to_owned();
                self.ids.insert(name.into(), id);
            }
            ["@close", name] => {
                let connection = self.connections.remove(name).unwrap();
                let input = Input::Disconnect { connection: connection.id };
                self.step_node(&connection.node, input);
            }
            ["@kill9", name] => self.kill(name),
            ["@start", name] => {
                let durable = self.node(name).durable;
                let node = self.node(name);
                node.up = true;
                node.engine.restart();
                if !durable {
                    node.engine.copy_data_from(&Engine::new());
                }
            }
            _ => return Err("not modelled".into()),
        }
        Ok(())
    }

    fn start_node(&mut self, name: &str, arguments: &[&str]) -> Result<(), String> {
        let mut engine = Engine::new();
        engine.config_mut().version = self.version;
        let mut durable = false;
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            if *argument == "wallclock" {
                continue;
            }
            let Some(option) = argument.strip_prefix("--") else {
                return Err(format!("{argument} is not modelled"));
            };
            let value = rest.next().ok_or("an option without value")?;
            durable |= option == "appendonly" && *value == "yes";
            engine.configure(option, value).map_err(|error| error.to_string())?;
        }
        self.first.get_or_insert_with(|| name.into());
        let (log, logged) = (Vec::new(), None);
        self.nodes.insert(name.into(), Node { engine, up: true, step: 0, log, logged, durable });
        Ok(())
    }

    fn node(&mut self, name: &str) -> &mut Node {
        self.nodes.get_mut(name).unwrap_or_else(|| panic!("no node {name}"))
    }

    fn kill(&mut self, name: &str) {
        self.node(name).up = false;
        for connection in self.connections.values_mut().filter(|c| c.node == name) {
            connection.closed = true;
        }
    }

    /// Lets milliseconds pass, one by one, with a tick of every server in each.
    fn pass(&mut self, millis: u64) {
        for _ in 0..millis {
            self.now += 1000;
            let up = self.nodes.iter().filter(|(_, node)| node.up);
            let names: Vec<String> = up.map(|(name, _)| name.clone()).collect();
            for name in names {
                self.step_node(&name, Input::Tick);
            }
        }
    }

    fn step_node(&mut self, name: &str, input: Input) {
        let monotonic = self.now;
        let node = self.node(name);
        let mut clocks = Clocks { monotonic, step: node.step, spent: 0 };
        let mut effects = Effects::new();
        node.engine.step(input, &mut clocks, &mut effects);
        while effects.busy {
            effects.busy = false;
            node.engine.step(Input::Resume, &mut clocks, &mut effects);
        }
        self.now += clocks.spent;
        for effect in effects.list {
            match effect {
                Effect::Send { connection, protocol, frame } => {
                    let target = self.connections.values_mut().find(|c| c.id == connection);
                    if let Some(target) = target {
                        frame.encode(protocol, &mut target.inbox);
                    }
                }
                Effect::Close(connection) => {
                    let target = self.connections.values_mut().find(|c| c.id == connection);
                    if let Some(target) = target {
                        target.closed = true;
                    }
                }
                Effect::Propagate(operations) => self.log(name, &operations),
            }
        }
    }

    /// Writes operations as the append-only file has them.
    fn log(&mut self, name: &str, operations: &[Operation]) {
        let node = self.node(name);
        let kept: Vec<_> =
            operations.iter().filter(|o| !o.words[0].eq_ignore_ascii_case(b"publish")).collect();
        let mut lines = Vec::new();
        for operation in &kept {
            if node.logged != Some(operation.database) {
                node.logged = Some(operation.database);
                lines.push((true, format!("SELECT {}", operation.database)));
            }
            let word = |word: &Vec<u8>| {
                let text = replies::quote(word);
                let time = text.len() == 13 && text.starts_with('1') && text.parse::<u64>().is_ok();
                if time { "<ms>".into() } else { text }
            };
            let words: Vec<String> = operation.words.iter().map(word).collect();
            lines.push((false, words.join(" ")));
        }
        let many = kept.len() > 1;
        let selects = lines.iter().take_while(|(select, _)| *select).count();
        for (at, (_, line)) in lines.into_iter().enumerate() {
            if many && at == selects {
                node.log.push("MULTI".into());
            }
            node.log.push(line);
        }
        if many {
            node.log.push("EXEC".into());
        }
    }

    fn connection(&mut self, name: &str, node: Option<&str>) -> &mut Connection {
        if !self.connections.contains_key(name) {
            if self.nodes.is_empty() {
                self.start_node("main", &[]).unwrap();
            }
            let node = node.or(self.first.as_deref()).unwrap().to_owned();
            let closed = !self.node(&node).up;
            let id = ConnectionId(self.next);
            self.next += 1;
            let (parser, inbox) = (RequestParser::default(), Vec::new());
            self.connections.insert(name.into(), Connection { node, id, parser, inbox, closed });
        }
        self.connections.get_mut(name).unwrap()
    }

    /// Sends a command as bytes and, unless told otherwise, awaits its reply.
    pub(crate) fn command(&mut self, command: &Command) -> Vec<String> {
        let node = command.node.as_deref();
        let name = self.connection(&command.connection, node).node.clone();
        let words: Vec<Vec<u8>> = command.words.iter().map(|word| self.substitute(word)).collect();
        let connection = self.connection(&command.connection, None);
        if connection.closed {
            return self.read(&command.connection, None);
        }
        let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
        for word in &words {
            bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            bytes.extend_from_slice(word);
            bytes.extend_from_slice(b"\r\n");
        }
        connection.parser.feed(&bytes);
        let id = connection.id;
        while let Some(words) =
            self.connection(&command.connection, None).parser.next_request().unwrap()
        {
            self.step_node(&name, Input::Request { connection: id, words });
            self.now += 20;
        }
        if command.waits { self.read(&command.connection, None) } else { Vec::new() }
    }

    /// Reads the next reply or message; time passes until it comes.
    pub(crate) fn read(&mut self, name: &str, none: Option<u64>) -> Vec<String> {
        for _ in 0..=none.unwrap_or(PATIENCE) {
            let connection = self.connection(name, None);
            if let Some(lines) = replies::decode(&mut connection.inbox) {
                return lines;
            }
            if connection.closed {
                return vec!["(closed)".into()];
            }
            self.pass(1);
        }
        vec!["(no reply)".into()]
    }

    pub(crate) fn probe(&mut self, text: &str) -> Vec<String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["aof", node] => self.node(node).log.clone(),
            _ => vec![format!("{text} is not modelled")],
        }
    }

    /// Fills in present times and client ids.
    fn substitute(&self, word: &[u8]) -> Vec<u8> {
        let Ok(text) = std::str::from_utf8(word) else { return word.to_vec() };
        if !text.contains('{') {
            return word.to_vec();
        }
        let ids = Regex::new(r"\{id:([\w-]+)\}").unwrap();
        let text = ids.replace_all(text, |found: &regex::Captures<'_>| self.ids[&found[1]].clone());
        let times = Regex::new(r"\{now_(ms|s)([+-]\d+)?\}").unwrap();
        let millis = i64::try_from((START + self.now) / 1000).unwrap();
        let text = times.replace_all(&text, |found: &regex::Captures<'_>| {
            let base = if &found[1] == "ms" { millis } else { millis / 1000 };
            let shift = found.get(2).map_or(0, |shift| shift.as_str().parse().unwrap());
            (base + shift).to_string()
        });
        text.into_owned().into_bytes()
    }
}

fn plain(connection: &str, words: &[&str]) -> Command {
    Command {
        connection: connection.into(),
        node: None,
        waits: true,
        words: words.iter().map(|word| word.as_bytes().to_vec()).collect(),
    }
}
