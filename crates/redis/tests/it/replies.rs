//! Replies in the corpus notation: decoding the wire, and comparing with what was recorded.

use regex::RegexBuilder;

/// Takes the next whole reply off the front of the bytes, as lines of the corpus notation.
pub(crate) fn decode(bytes: &mut Vec<u8>) -> Option<Vec<String>> {
    let mut reader = Reader { bytes, at: 0 };
    let lines = reader.reply(0)?;
    let read = reader.at;
    bytes.drain(..read);
    Some(lines)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn line(&mut self) -> Option<String> {
        let rest = &self.bytes[self.at..];
        let end = rest.windows(2).position(|pair| pair == b"\r\n")?;
        self.at += end + 2;
        Some(String::from_utf8_lossy(&rest[..end]).into_owned())
    }

    fn exact(&mut self, len: usize) -> Option<&[u8]> {
        let found = self.bytes.get(self.at..self.at + len)?;
        self.at += len + 2;
        Some(found)
    }

    fn reply(&mut self, depth: usize) -> Option<Vec<String>> {
        let pad = "  ".repeat(depth);
        let line = self.line()?;
        let (kind, rest) = line.split_at(1);
        let one = match kind {
            "+" | "-" | ":" | "," | "(" | "#" => line.clone(),
            "_" => "_".into(),
            "$" if rest == "-1" => "$nil".into(),
            "*" if rest == "-1" => "*nil".into(),
            "$" => format!("$\"{}\"", quote(self.exact(rest.parse().unwrap())?)),
            "=" => {
                let text = self.exact(rest.parse().unwrap())?;
                let format = String::from_utf8_lossy(&text[..3]).into_owned();
                format!("={format}:\"{}\"", quote(&text[4..]))
            }
            "*" | "~" | ">" | "%" => {
                let count: usize = rest.parse().unwrap();
                let items = if kind == "%" { count * 2 } else { count };
                let mut lines = vec![format!("{pad}{line}")];
                for _ in 0..items {
                    lines.extend(self.reply(depth + 1)?);
                }
                return Some(lines);
            }
            _ => panic!("bad reply {line}"),
        };
        Some(vec![format!("{pad}{one}")])
    }
}

/// Escapes bytes as the corpus does.
pub(crate) fn quote(bytes: &[u8]) -> String {
    let mut out = String::new();
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b' '..=b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out
}

/// Tells whether a reply fits what was recorded, exactly or by the case's `@match`.
pub(crate) fn fits(matcher: Option<&str>, got: &[String], want: &[String]) -> bool {
    let Some(spec) = matcher else { return got == want };
    if spec == "any" {
        return true;
    }
    if spec == "unordered" {
        return groups(got) == groups(want);
    }
    if let Some(range) = spec.strip_prefix("int ") {
        let (low, high) = range.split_once("..").unwrap();
        let range = low.parse::<i64>().unwrap()..=high.parse().unwrap();
        let number = got.first().and_then(|line| line.strip_prefix(':'));
        return got.len() == 1
            && number.is_some_and(|number| range.contains(&number.parse().unwrap()));
    }
    let pattern = spec.strip_prefix("re ").unwrap_or_else(|| panic!("bad @match {spec}"));
    let regex = RegexBuilder::new(pattern).dot_matches_new_line(true).build().unwrap();
    regex.is_match(&got.join("\n"))
}

/// The first line, then the elements of the top-level array in a fixed order.
fn groups(lines: &[String]) -> (Option<&String>, Vec<String>) {
    let mut groups: Vec<String> = Vec::new();
    for line in lines.iter().skip(1) {
        match groups.last_mut() {
            Some(last) if line.starts_with("    ") => {
                last.push('\n');
                last.push_str(line);
            }
            _ => groups.push(line.clone()),
        }
    }
    groups.sort();
    (lines.first(), groups)
}
