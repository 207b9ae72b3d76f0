//! Servers, clients and networks in virtual time.

mod network;

use std::collections::BTreeMap;

use fencepost_redis::{ConnectionId, Input, RequestParser, Streamed, Version, split_inline};
use regex::{Captures, Regex, RegexBuilder};

use crate::{
    corpus::Command,
    link::{Link, Relay},
    node::{Node, START, State},
    replies,
    run::Servers,
};

/// How long a reply is awaited, in milliseconds.
const PATIENCE: u64 = 15_000;
/// Ports of servers count from here, and those of the relays in front of them from there.
const PORTS: usize = 20_000;
const RELAYS: usize = 30_000;

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
    /// The names of the nodes in the order in which they came.
    names: Vec<String>,
    connections: BTreeMap<String, Connection>,
    ids: BTreeMap<String, String>,
    links: Vec<Link>,
    /// What the relay in front of each replica does.
    relays: BTreeMap<String, Relay>,
    /// Microseconds since the start.
    now: u64,
    next: u64,
}

impl Servers for World {
    fn directive(&mut self, text: &str) -> Result<(), String> {
        let words = split_inline(text.as_bytes()).ok_or("quotes do not match")?;
        let words: Vec<String> =
            words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words[..] {
            ["sleep", millis] => self.pass(millis.parse().unwrap()),
            ["@node", name, ref arguments @ ..] => self.add_node(name, arguments)?,
            ["@clock", name, step] => self.node(name).step += step.parse::<i64>().unwrap(),
            ["@id", name] => {
                let reply = self.command(&plain(name, None, &["CLIENT", "ID"]));
                self.ids.insert(name.into(), reply[0].trim_start_matches(':').into());
            }
            ["@close", name] => {
                let Connection { node, id, .. } = self.connections.remove(name).unwrap();
                self.node(&node).push(Input::Disconnect { connection: id });
                self.run(&node, false);
            }
            ["@kill9", name] => self.end(name),
            ["@sigterm", name] => {
                self.node(name).push(Input::Terminate);
                self.await_exit(name, 10_000)?;
            }
            ["@wait-exit", name] => self.await_exit(name, PATIENCE)?,
            ["@stop", name] => self.node(name).state = State::Stopped,
            ["@cont", name] => self.node(name).state = State::Up,
            ["@start", name, ref arguments @ ..] => self.start_again(name, arguments)?,
            ["@stall", name] => self.set_relay(name, Relay::Stalls),
            ["@heal", name] => self.set_relay(name, Relay::Passes),
            ["@cut", name] => self.set_relay(name, Relay::Cuts),
            ["@sync", name] => self.await_sync(name)?,
            ["@until", node, millis, pattern, ref command @ ..] => {
                self.until(node, millis.parse().unwrap(), pattern, command)?;
            }
            ["@mkdir", name, "dump.rdb"] => {
                self.node(name).cannot_save = true;
                self.node(name).engine.health_mut().cannot_save = true;
            }
            ["@truncate-aof", name, bytes] => {
                let disk = self.node(name).engine.disk_mut().unwrap();
                disk.tear(bytes.parse().unwrap(), Streamed::stream_len);
            }
            _ => return Err("not modelled".into()),
        }
        Ok(())
    }

    /// Sends a command as bytes and, unless told otherwise, awaits its reply.
    fn command(&mut self, command: &Command) -> Vec<String> {
        let (name, words) = (&command.connection, &command.words);
        let words: Vec<Vec<u8>> = words.iter().map(|word| self.substitute(word)).collect();
        let connection = self.connection(name, command.node.as_deref());
        if connection.closed {
            return self.read(name, None);
        }
        let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
        for word in &words {
            bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            bytes.extend_from_slice(word);
            bytes.extend_from_slice(b"\r\n");
        }
        connection.parser.feed(&bytes);
        let (id, node) = (connection.id, connection.node.clone());
        while let Some(words) = self.connection(name, None).parser.next_request().unwrap() {
            self.node(&node).push(Input::Request { connection: id, words });
            self.run(&node, false);
            self.now += 20;
        }
        if command.waits { self.read(name, None) } else { Vec::new() }
    }

    /// Reads the next reply or message; time passes until it comes.
    fn read(&mut self, name: &str, none: Option<u64>) -> Vec<String> {
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

    fn probe(&mut self, text: &str) -> Vec<String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["aof", node] => self.log(node),
            ["info", node, section, ref fields @ ..] => {
                let info = self.info(node, section);
                let line = |field: &&str| {
                    let value = info.get(*field).map_or("(absent)", String::as_str);
                    format!("{field}:{value}")
                };
                fields.iter().map(line).collect()
            }
            _ => vec![format!("{text} is not modelled")],
        }
    }
}

impl World {
    pub(crate) fn new(version: Version) -> Self {
        Self {
            version,
            nodes: BTreeMap::new(),
            names: Vec::new(),
            connections: BTreeMap::new(),
            ids: BTreeMap::new(),
            links: Vec::new(),
            relays: BTreeMap::new(),
            now: 0,
            next: 1,
        }
    }

    fn node(&mut self, name: &str) -> &mut Node {
        self.nodes.get_mut(name).unwrap_or_else(|| panic!("no node {name}"))
    }

    fn number(&self, name: &str) -> usize {
        self.names.iter().position(|known| known == name).unwrap_or_else(|| panic!("no {name}"))
    }

    fn add_node(&mut self, name: &str, arguments: &[&str]) -> Result<(), String> {
        let arguments: Vec<String> = arguments.iter().map(|word| (*word).into()).collect();
        let number = self.names.len();
        let mut node = Node::new(self.version, number as u64 + 1, &arguments)?;
        node.add_option("port", &(PORTS + number).to_string());
        if let Some(master) = &node.master {
            let relay = RELAYS + self.number(master);
            node.add_option("replicaof", &format!("127.0.0.1 {relay}"));
        }
        self.names.push(name.into());
        self.nodes.insert(name.into(), node);
        self.start(name, true);
        Ok(())
    }

    fn start_again(&mut self, name: &str, arguments: &[&str]) -> Result<(), String> {
        let waits = !arguments.contains(&"loading");
        let options: Vec<String> = arguments
            .iter()
            .filter(|word| **word != "loading")
            .map(|word| (*word).into())
            .collect();
        self.node(name).add_options(&options)?;
        self.start(name, waits);
        Ok(())
    }

    /// Starts a process and, unless it may be loading, waits until it is ready.
    fn start(&mut self, name: &str, waits: bool) {
        let now = self.now;
        let (effects, micros) = self.node(name).start(now);
        self.route(name, effects);
        if waits {
            self.pass(micros.div_ceil(1000));
            while self.nodes[name].is_loading(self.now) {
                self.pass(1);
            }
        }
    }

    /// The process is gone: its kernel closes what it had open.
    fn end(&mut self, name: &str) {
        let now = self.now;
        self.node(name).end();
        for connection in self.connections.values_mut().filter(|c| c.node == name) {
            connection.closed = true;
        }
        for link in &mut self.links {
            if link.master == name {
                link.close_master(now);
            }
            if link.replica == name {
                link.close_replica(now);
            }
        }
    }

    fn await_exit(&mut self, name: &str, millis: u64) -> Result<(), String> {
        for _ in 0..millis {
            if self.nodes[name].state == State::Down {
                return Ok(());
            }
            self.pass(1);
        }
        Err("the server did not end".into())
    }

    /// Lets milliseconds pass, one by one, with a tick of every server in each.
    fn pass(&mut self, millis: u64) {
        for _ in 0..millis {
            self.now += 1000;
            self.deliver();
            self.run_all(true);
        }
    }

    fn run_all(&mut self, ticks: bool) {
        for name in self.names.clone() {
            self.run(&name, ticks);
        }
    }

    fn run(&mut self, name: &str, ticks: bool) {
        let now = self.now;
        let (effects, spent) = self.node(name).run(now, ticks);
        self.now += spent;
        self.route(name, effects);
    }

    fn connection(&mut self, name: &str, node: Option<&str>) -> &mut Connection {
        if !self.connections.contains_key(name) {
            if self.nodes.is_empty() {
                self.add_node("main", &[]).unwrap();
            }
            let node = node.unwrap_or(&self.names[0]).to_owned();
            let closed = self.nodes[&node].state == State::Down;
            let id = ConnectionId(self.next);
            self.next += 1;
            let (parser, inbox) = (RequestParser::default(), Vec::new());
            self.connections.insert(name.into(), Connection { node, id, parser, inbox, closed });
        }
        self.connections.get_mut(name).unwrap()
    }

    /// Sends one command on a new connection.
    fn ask(&mut self, node: &str, words: &[&str]) -> Vec<String> {
        let name = "(asks)";
        let reply = self.command(&plain(name, Some(node), words));
        if self.connections.contains_key(name) {
            let Connection { id, .. } = self.connections.remove(name).unwrap();
            self.node(node).push(Input::Disconnect { connection: id });
        }
        reply
    }

    fn info(&mut self, node: &str, section: &str) -> BTreeMap<String, String> {
        let text = self.ask(node, &["INFO", section]).join("\n").replace("\\r\\n", "\n");
        let pair = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_owned(), value.to_owned()))
        };
        text.lines().filter_map(pair).collect()
    }

    fn await_sync(&mut self, replica: &str) -> Result<(), String> {
        let master = self.node(replica).master.clone().ok_or("it follows nobody")?;
        for _ in 0..500 {
            let (mine, theirs) =
                (self.info(replica, "replication"), self.info(&master, "replication"));
            let is_up = mine.get("master_link_status").is_some_and(|status| status == "up");
            let offset = theirs.get("master_repl_offset");
            let online = theirs.get("slave0").is_some_and(|line| line.contains("state=online"));
            if is_up && online && mine.get("slave_repl_offset") == offset {
                return Ok(());
            }
            self.pass(20);
        }
        Err("not in sync".into())
    }

    fn until(
        &mut self,
        node: &str,
        millis: u64,
        pattern: &str,
        command: &[&str],
    ) -> Result<(), String> {
        let pattern = RegexBuilder::new(pattern).dot_matches_new_line(true).build().unwrap();
        for _ in 0..=millis / 10 {
            if pattern.is_match(&self.ask(node, command).join("\n")) {
                return Ok(());
            }
            self.pass(10);
        }
        Err(format!("not reached, last {:?}", self.ask(node, command)))
    }

    /// Writes the append-only file as commands, one a line.
    fn log(&mut self, name: &str) -> Vec<String> {
        let mut lines = Vec::new();
        let mut selected = None;
        for group in self.node(name).engine.disk().unwrap().groups() {
            let is_transaction = group.len() > 1;
            for (at, operation) in group.into_iter().enumerate() {
                if selected != Some(operation.database) {
                    selected = Some(operation.database);
                    lines.push(format!("SELECT {}", operation.database));
                }
                if is_transaction && at == 0 {
                    lines.push("MULTI".into());
                }
                let words: Vec<String> = operation.words.iter().map(|word| shown(word)).collect();
                lines.push(words.join(" "));
            }
            if is_transaction {
                lines.push("EXEC".into());
            }
        }
        lines
    }

    /// Fills in present times, client ids and ports.
    fn substitute(&self, word: &[u8]) -> Vec<u8> {
        let Ok(text) = std::str::from_utf8(word) else { return word.to_vec() };
        if !text.contains('{') {
            return word.to_vec();
        }
        let fill = Regex::new(r"\{(?:(id|port):([\w-]+)|now_(ms|s)([+-]\d+)?)\}").unwrap();
        let millis = i64::try_from((START + self.now) / 1000).unwrap();
        let text = fill.replace_all(text, |found: &Captures<'_>| match found.get(1) {
            Some(kind) if kind.as_str() == "id" => self.ids[&found[2]].clone(),
            Some(_) => (PORTS + self.number(&found[2])).to_string(),
            None => {
                let base = if &found[3] == "ms" { millis } else { millis / 1000 };
                let shift = found.get(4).map_or(0, |shift| shift.as_str().parse().unwrap());
                (base + shift).to_string()
            }
        });
        text.into_owned().into_bytes()
    }
}

/// A word of the append-only file; present times are not shown.
fn shown(word: &[u8]) -> String {
    let text = replies::quote(word);
    let is_time = text.len() == 13 && text.starts_with('1') && text.parse::<u64>().is_ok();
    if is_time { "<ms>".into() } else { text }
}

fn plain(connection: &str, node: Option<&str>, words: &[&str]) -> Command {
    Command {
        connection: connection.into(),
        node: node.map(Into::into),
        waits: true,
        words: words.iter().map(|word| word.as_bytes().to_vec()).collect(),
    }
}
