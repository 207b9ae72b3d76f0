//! The corpus format: cases, their steps, and the recorded replies.

use fencepost_redis::split_inline;

/// A case: a name and what happens in it.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) steps: Vec<Step>,
}

/// One line of a case with the reply recorded below it.
pub(crate) struct Step {
    pub(crate) line: usize,
    pub(crate) text: String,
    pub(crate) item: Item,
    pub(crate) matcher: Option<String>,
    pub(crate) reply: Vec<String>,
}

/// What a line asks for.
pub(crate) enum Item {
    /// `@...` or `sleep MS`.
    Directive(String),
    /// `NAME[@NODE][!]> WORDS`.
    Command(Command),
    /// `NAME<` or `NAME< none MS`.
    Read { connection: String, none: Option<u64> },
    /// `info ...` or `aof ...`.
    Probe(String),
}

/// A command sent on a connection.
pub(crate) struct Command {
    pub(crate) connection: String,
    pub(crate) node: Option<String>,
    /// Whether the reply is awaited.
    pub(crate) waits: bool,
    pub(crate) words: Vec<Vec<u8>>,
}

/// Reads a file of cases.
pub(crate) fn parse(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut matcher: Option<String> = None;
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix("== ") {
            cases.push(Case { name: name.trim().into(), steps: Vec::new() });
            continue;
        }
        let Some(case) = cases.last_mut() else { panic!("line {}: no case yet", number + 1) };
        if let Some(reply) = line.strip_prefix("  ") {
            let step = case.steps.last_mut().expect("a reply follows a step");
            step.reply.push(reply.into());
            continue;
        }
        if let Some(spec) = line.strip_prefix("@match ") {
            matcher = Some(spec.into());
            continue;
        }
        let item = item(line).unwrap_or_else(|| panic!("line {}: {line}", number + 1));
        let takes = !matches!(item, Item::Directive(_));
        let matcher = if takes { matcher.take() } else { None };
        let (line, text) = (number + 1, line.to_owned());
        case.steps.push(Step { line, text, item, matcher, reply: Vec::new() });
    }
    cases
}

fn item(line: &str) -> Option<Item> {
    if line.starts_with('@') || line.starts_with("sleep ") {
        return Some(Item::Directive(line.into()));
    }
    if line.starts_with("info ") || line.starts_with("aof ") {
        return Some(Item::Probe(line.into()));
    }
    let end = line.find(['>', '<'])?;
    let (head, rest) = (&line[..end], &line[end + 1..]);
    if line.as_bytes()[end] == b'<' {
        let none = rest.trim().strip_prefix("none ").map(|millis| millis.parse().unwrap());
        return Some(Item::Read { connection: head.into(), none });
    }
    let (head, waits) = head.strip_suffix('!').map_or((head, true), |head| (head, false));
    let (connection, node) = match head.split_once('@') {
        Some((connection, node)) => (connection, Some(node.to_owned())),
        None => (head, None),
    };
    let words = split_inline(rest.as_bytes())?;
    Some(Item::Command(Command { connection: connection.into(), node, waits, words }))
}
