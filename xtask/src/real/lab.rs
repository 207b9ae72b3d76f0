//! Real servers as the transport of the corpus.

use super::nodes::{Node, Shim};
use crate::conformance::corpus::Command;
use crate::conformance::replies;
use crate::conformance::run::Servers;
use crate::servers::{Connection, Link, Program, Received};
use anyhow::{Context, Result, bail, ensure};
use fencepost_redis::split_inline;
use regex::{Captures, Regex};
use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

/// How long a reply is awaited.
const PATIENCE: Duration = Duration::from_secs(15);
/// The name of the server of cases that start none.
const MAIN: &str = "main";

/// The servers and connections of a case, and one server for all cases of a file that start none.
pub(crate) struct Lab {
    program: Program,
    shim: Option<Shim>,
    shared: Option<Node>,
    nodes: BTreeMap<String, Node>,
    /// The node of a connection that names none.
    first: Option<String>,
    connections: BTreeMap<String, Connection>,
    ids: BTreeMap<String, String>,
}

impl Lab {
    /// Prepares without starting anything.
    pub(crate) fn new(program: &Program) -> Result<Self> {
        Ok(Self {
            program: program.clone(),
            shim: Shim::build()?,
            shared: None,
            nodes: BTreeMap::new(),
            first: None,
            connections: BTreeMap::new(),
            ids: BTreeMap::new(),
        })
    }

    /// Tells whether wall clocks can be stepped here.
    pub(crate) const fn has_shim(&self) -> bool {
        self.shim.is_some()
    }

    /// Ends what a case started; the shared server stays.
    pub(crate) fn clear(&mut self) {
        self.connections.clear();
        self.nodes.clear();
        self.ids.clear();
        self.first = None;
    }

    fn node(&mut self, name: &str) -> Result<&mut Node> {
        if name == MAIN && !self.nodes.contains_key(MAIN) {
            return self.shared.as_mut().context("no server was started");
        }
        self.nodes.get_mut(name).with_context(|| format!("there is no node {name}"))
    }

    /// The node for a connection that names none: the case's first, or the shared one, made clean.
    fn default_node(&mut self) -> Result<String> {
        if let Some(first) = &self.first {
            return Ok(first.clone());
        }
        if self.shared.is_none() {
            self.shared = Some(Node::start(&self.program, None, &[], |_| bail!("no master"))?);
        }
        let mut control = self.node(MAIN)?.server.connect()?;
        for words in [&["FLUSHALL"][..], &["SCRIPT", "FLUSH"], &["CLIENT", "UNPAUSE"]] {
            control.call(words)?;
        }
        self.first = Some(MAIN.to_owned());
        Ok(MAIN.to_owned())
    }

    fn connection(&mut self, name: &str, node: Option<&str>) -> Result<&mut Connection> {
        if !self.connections.contains_key(name) {
            let node = match node {
                Some(node) => node.to_owned(),
                None => self.default_node()?,
            };
            let connection = self.node(&node)?.server.connect()?;
            self.connections.insert(name.to_owned(), connection);
        }
        self.connections.get_mut(name).context("it was just made")
    }

    /// Fills in present times, client ids and ports.
    fn substitute(&mut self, word: &[u8]) -> Result<Vec<u8>> {
        let Ok(text) = std::str::from_utf8(word) else { return Ok(word.to_vec()) };
        if !text.contains('{') {
            return Ok(word.to_vec());
        }
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_millis();
        let now = i64::try_from(now)?;
        let times = Regex::new(r"\{now_(ms|s)([+-]\d+)?\}")?;
        let text = times.replace_all(text, |found: &Captures<'_>| {
            let base = if &found[1] == "ms" { now } else { now / 1000 };
            let shift = found.get(2).and_then(|shift| shift.as_str().parse::<i64>().ok());
            (base + shift.unwrap_or(0)).to_string()
        });
        let mut text = text.into_owned();
        for (name, id) in &self.ids {
            text = text.replace(&format!("{{id:{name}}}"), id);
        }
        let names: Vec<String> = self.nodes.keys().cloned().collect();
        for name in names {
            let port = self.node(&name)?.server.port();
            text = text.replace(&format!("{{port:{name}}}"), &port.to_string());
        }
        Ok(text.into_bytes())
    }

    fn try_command(&mut self, command: &Command) -> Result<Vec<String>> {
        let node = command.node.as_deref();
        let words = command.words.iter().map(|word| self.substitute(word));
        let words = words.collect::<Result<Vec<_>>>()?;
        match self.connection(&command.connection, node) {
            Ok(connection) => connection.send(&words),
            Err(error) if error.is::<std::io::Error>() => return Ok(vec!["(closed)".to_owned()]),
            Err(error) => return Err(error),
        }
        if command.waits { self.try_read(&command.connection, None) } else { Ok(Vec::new()) }
    }

    fn try_read(&mut self, connection: &str, none: Option<u64>) -> Result<Vec<String>> {
        let patience = none.map_or(PATIENCE, Duration::from_millis);
        let connection = self.connections.get_mut(connection).context("there is no connection")?;
        Ok(match connection.receive(patience)? {
            Received::Lines(lines) => lines,
            Received::Nothing => vec!["(no reply)".to_owned()],
            Received::Closed => vec!["(closed)".to_owned()],
        })
    }

    fn try_directive(&mut self, text: &str) -> Result<()> {
        let words = split_inline(text.as_bytes()).context("an open quote")?;
        let words: Vec<String> =
            words.into_iter().map(String::from_utf8).collect::<Result<_, _>>()?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words[..] {
            ["sleep", millis] => std::thread::sleep(Duration::from_millis(millis.parse()?)),
            ["@node", name, ref arguments @ ..] => self.start_node(name, arguments)?,
            ["@start", name, ref arguments @ ..] => {
                let node = self.node(name)?;
                let options = arguments.iter().filter(|word| **word != "loading");
                node.server.add_options(options.map(|word| (*word).to_owned()));
                node.launch(arguments.contains(&"loading"))?;
            }
            ["@kill9", name] => self.node(name)?.server.kill()?,
            ["@sigterm", name] => {
                self.node(name)?.server.signal("TERM")?;
                self.node(name)?.server.await_exit(PATIENCE)?;
            }
            ["@stop", name] => self.node(name)?.server.signal("STOP")?,
            ["@cont", name] => self.node(name)?.server.signal("CONT")?,
            ["@wait-exit", name] => self.node(name)?.server.await_exit(PATIENCE)?,
            ["@cut", name] => self.node(name)?.set_link(Link::Cut)?,
            ["@stall", name] => self.node(name)?.set_link(Link::Stalled)?,
            ["@heal", name] => self.node(name)?.set_link(Link::Open)?,
            ["@clock", name, step] => self.node(name)?.step_clock(step.parse()?)?,
            ["@id", name] => {
                let lines = self.connection(name, None)?.call(&["CLIENT", "ID"])?;
                self.ids.insert(name.to_owned(), lines.concat().trim_start_matches(':').to_owned());
            }
            ["@close", name] => drop(self.connections.remove(name)),
            ["@mkdir", name, folder] => {
                std::fs::create_dir(self.node(name)?.server.folder().join(folder))?;
            }
            ["@truncate-aof", name, bytes] => {
                let files = self.node(name)?.log_files()?;
                let file = std::fs::OpenOptions::new()
                    .write(true)
                    .open(files.last().context("there is no log")?)?;
                file.set_len(file.metadata()?.len().saturating_sub(bytes.parse()?))?;
            }
            ["@sync", name] => self.await_sync(name)?,
            ["@until", name, millis, pattern, ref words @ ..] => {
                self.await_reply(name, millis.parse()?, pattern, words)?;
            }
            _ => bail!("an unknown directive"),
        }
        Ok(())
    }

    fn start_node(&mut self, name: &str, arguments: &[&str]) -> Result<()> {
        let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
        let nodes = &self.nodes;
        let master = |of: &str| {
            let node = nodes.get(of).with_context(|| format!("there is no node {of}"))?;
            Ok(node.server.port())
        };
        let node = Node::start(&self.program, self.shim.as_ref(), &arguments, master)?;
        self.first.get_or_insert_with(|| name.to_owned());
        self.nodes.insert(name.to_owned(), node);
        Ok(())
    }

    /// Repeats a command on new connections until its reply matches.
    fn await_reply(
        &mut self,
        node: &str,
        millis: u64,
        pattern: &str,
        words: &[&str],
    ) -> Result<()> {
        let pattern = regex::RegexBuilder::new(pattern).dot_matches_new_line(true).build()?;
        let end = Instant::now() + Duration::from_millis(millis);
        loop {
            let port = &self.node(node)?.server;
            let reply = port.connect().and_then(|mut connection| connection.call(words));
            let reply = reply.map_or_else(|error| error.to_string(), |lines| lines.join("\n"));
            if pattern.is_match(&reply) {
                return Ok(());
            }
            ensure!(Instant::now() < end, "not reached, the last reply is {reply}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn info(&mut self, node: &str, section: &str) -> Result<BTreeMap<String, String>> {
        let lines = self.node(node)?.server.connect()?.call(&["INFO", section])?;
        let text = lines.join("\n").replace("\\r\\n", "\n");
        let fields = text.lines().filter_map(|line| line.split_once(':'));
        Ok(fields.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// Waits until a replica has caught up.
    fn await_sync(&mut self, name: &str) -> Result<()> {
        let master = self.node(name)?.copies.clone().context("it copies no node")?;
        let end = Instant::now() + Duration::from_secs(10);
        while Instant::now() < end {
            let (own, its) = (self.info(name, "replication")?, self.info(&master, "replication")?);
            let is = |map: &BTreeMap<String, String>, field: &str, text: &str| {
                map.get(field).is_some_and(|value| value.contains(text))
            };
            if is(&own, "master_link_status", "up")
                && own.get("slave_repl_offset") == its.get("master_repl_offset")
                && is(&its, "slave0", "state=online")
            {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        bail!("the replica does not catch up")
    }

    fn try_probe(&mut self, text: &str) -> Result<Vec<String>> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["info", node, section, ref fields @ ..] => {
                let map = self.info(node, section)?;
                let shown = |field: &&str| {
                    format!("{field}:{}", map.get(*field).map_or("(absent)", String::as_str))
                };
                Ok(fields.iter().map(shown).collect())
            }
            ["aof", node] => {
                let mut lines = Vec::new();
                for file in self.node(node)?.log_files()? {
                    lines.extend(logged(&std::fs::read(file)?));
                }
                Ok(lines)
            }
            _ => bail!("an unknown probe"),
        }
    }
}

/// The commands of an append-only file; unix times are shown as `<ms>`.
fn logged(bytes: &[u8]) -> Vec<String> {
    let mut parser = fencepost_redis::RequestParser::default();
    parser.feed(bytes);
    let mut lines = Vec::new();
    while let Ok(Some(words)) = parser.next_request() {
        let word = |word: &Vec<u8>| {
            let is_time =
                word.len() == 13 && word[0] == b'1' && word.iter().all(u8::is_ascii_digit);
            if is_time { "<ms>".to_owned() } else { replies::quote(word) }
        };
        lines.push(words.iter().map(word).collect::<Vec<_>>().join(" "));
    }
    lines
}

fn told(result: Result<Vec<String>>) -> Vec<String> {
    result.unwrap_or_else(|error| vec![format!("({error:#})")])
}

impl Servers for Lab {
    fn directive(&mut self, text: &str) -> Result<(), String> {
        self.try_directive(text).map_err(|error| format!("{error:#}"))
    }

    fn command(&mut self, command: &Command) -> Vec<String> {
        told(self.try_command(command))
    }

    fn read(&mut self, connection: &str, none: Option<u64>) -> Vec<String> {
        told(self.try_read(connection, none))
    }

    fn probe(&mut self, text: &str) -> Vec<String> {
        told(self.try_probe(text))
    }
}
