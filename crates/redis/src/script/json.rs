//! JSON text into values of Lua, with the messages of Lua CJSON 2.1.

use mlua::{Lua, Result, Table, Value};

use super::{fault::raise, meter::Meter};

/// How deep values may be nested.
const MAX_DEPTH: usize = 1_000;

/// Reads one text.
pub(super) struct Parser<'a> {
    lua: &'a Lua,
    meter: &'a Meter,
    text: &'a [u8],
    place: usize,
    depth: usize,
}

/// What stands next in the text.
enum Token {
    Sign(u8),
    String(Vec<u8>),
    Number(f64),
    Boolean(bool),
    Null,
    End,
    Wrong(&'static str),
}

impl Token {
    const fn name(&self) -> &'static str {
        match self {
            Self::Sign(b'{') => "T_OBJ_BEGIN",
            Self::Sign(b'}') => "T_OBJ_END",
            Self::Sign(b'[') => "T_ARR_BEGIN",
            Self::Sign(b']') => "T_ARR_END",
            Self::Sign(b':') => "T_COLON",
            Self::Sign(_) => "T_COMMA",
            Self::String(_) => "T_STRING",
            Self::Number(_) => "T_NUMBER",
            Self::Boolean(_) => "T_BOOLEAN",
            Self::Null => "T_NULL",
            Self::End => "T_END",
            Self::Wrong(text) => text,
        }
    }
}

impl<'a> Parser<'a> {
    pub(super) const fn new(lua: &'a Lua, meter: &'a Meter, text: &'a [u8]) -> Self {
        Self { lua, meter, text, place: 0, depth: 0 }
    }

    /// Reads the whole text as one value.
    pub(super) fn whole(mut self) -> Result<Value> {
        if self.text.len() >= 2 && (self.text[0] == 0 || self.text[1] == 0) {
            return Err(raise(self.lua, "JSON parser does not support UTF-16 or UTF-32"));
        }
        let (start, token) = self.next();
        let value = self.value(start, token)?;
        match self.next() {
            (_, Token::End) => Ok(value),
            (start, token) => Err(self.expected("the end", start, &token)),
        }
    }

    fn expected(&self, wanted: &str, start: usize, found: &Token) -> mlua::Error {
        let text =
            format!("Expected {wanted} but found {} at character {}", found.name(), start + 1);
        raise(self.lua, &text)
    }

    fn value(&mut self, start: usize, token: Token) -> Result<Value> {
        self.meter.charge(1)?;
        match token {
            Token::String(text) => self.lua.create_string(text).map(Value::String),
            Token::Number(number) => Ok(Value::Number(number)),
            Token::Boolean(truth) => Ok(Value::Boolean(truth)),
            Token::Null => Ok(Value::NULL),
            Token::Sign(b'{') => self.nested(Self::object),
            Token::Sign(b'[') => self.nested(Self::array),
            other => Err(self.expected("value", start, &other)),
        }
    }

    fn nested(&mut self, read: fn(&mut Self, &Table) -> Result<()>) -> Result<Value> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let text = format!(
                "Found too many nested data structures ({}) at character {}",
                self.depth, self.place
            );
            return Err(raise(self.lua, &text));
        }
        let table = self.lua.create_table()?;
        read(self, &table)?;
        self.depth -= 1;
        Ok(Value::Table(table))
    }

    fn object(&mut self, table: &Table) -> Result<()> {
        let (mut start, mut token) = self.next();
        if matches!(token, Token::Sign(b'}')) {
            return Ok(());
        }
        loop {
            let Token::String(key) = token else {
                return Err(self.expected("object key string", start, &token));
            };
            (start, token) = self.next();
            if !matches!(token, Token::Sign(b':')) {
                return Err(self.expected("colon", start, &token));
            }
            (start, token) = self.next();
            let value = self.value(start, token)?;
            table.raw_set(self.lua.create_string(key)?, value)?;
            (start, token) = self.next();
            match token {
                Token::Sign(b'}') => return Ok(()),
                Token::Sign(b',') => (start, token) = self.next(),
                other => return Err(self.expected("comma or object end", start, &other)),
            }
        }
    }

    fn array(&mut self, table: &Table) -> Result<()> {
        let (mut start, mut token) = self.next();
        if matches!(token, Token::Sign(b']')) {
            return Ok(());
        }
        for place in 1.. {
            let value = self.value(start, token)?;
            table.raw_set(place, value)?;
            (start, token) = self.next();
            match token {
                Token::Sign(b']') => break,
                Token::Sign(b',') => (start, token) = self.next(),
                other => return Err(self.expected("comma or array end", start, &other)),
            }
        }
        Ok(())
    }

    /// Takes the next token off the text; also where it starts.
    fn next(&mut self) -> (usize, Token) {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        while self.text.get(self.place).is_some_and(blank) {
            self.place += 1;
        }
        let start = self.place;
        let Some(&byte) = self.text.get(start) else { return (start, Token::End) };
        let word = |word: &str| self.text[start..].starts_with(word.as_bytes());
        let (length, token) = match byte {
            b'{' | b'}' | b'[' | b']' | b':' | b',' => (1, Token::Sign(byte)),
            b'"' => return (start, self.string()),
            b't' if word("true") => (4, Token::Boolean(true)),
            b'f' if word("false") => (5, Token::Boolean(false)),
            b'n' if word("null") => (4, Token::Null),
            b'-' | b'+' | b'0'..=b'9' | b'i' | b'I' | b'n' | b'N' => self.number(start),
            _ => (0, Token::Wrong("invalid token")),
        };
        self.place += length;
        (start, token)
    }

    fn number(&self, start: usize) -> (usize, Token) {
        let part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let length = self.text[start..].iter().take_while(part).count();
        let text = std::str::from_utf8(&self.text[start..start + length]).unwrap_or_default();
        match text.parse() {
            Ok(number) => (length, Token::Number(number)),
            Err(_) => (0, Token::Wrong("invalid number")),
        }
    }

    fn string(&mut self) -> Token {
        let mut out = Vec::new();
        self.place += 1;
        loop {
            let Some(&byte) = self.text.get(self.place) else {
                return Token::Wrong("unexpected end of string");
            };
            self.place += 1;
            match byte {
                b'"' => return Token::String(out),
                b'\\' => match self.escape() {
                    Some(Ok(byte)) => out.push(byte),
                    Some(Err(letter)) => {
                        out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                    None => return Token::Wrong("invalid escape code"),
                },
                other => out.push(other),
            }
        }
    }

    fn escape(&mut self) -> Option<std::result::Result<u8, char>> {
        let byte = *self.text.get(self.place)?;
        self.place += 1;
        Some(Ok(match byte {
            b'"' | b'\\' | b'/' => byte,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let mut code = self.unit()?;
                if (0xD800..0xDC00).contains(&code) {
                    let rest = self.text.get(self.place..self.place + 2)?;
                    if rest != b"\\u" {
                        return None;
                    }
                    self.place += 2;
                    let low = self.unit()?.checked_sub(0xDC00).filter(|low| *low < 0x400)?;
                    code = 0x10000 + ((code - 0xD800) << 10) + low;
                }
                return Some(Err(char::from_u32(code)?));
            }
            _ => return None,
        }))
    }

    fn unit(&mut self) -> Option<u32> {
        let digits = std::str::from_utf8(self.text.get(self.place..self.place + 4)?).ok()?;
        self.place += 4;
        digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(())?;
        u32::from_str_radix(digits, 16).ok()
    }
}
