//! The table `struct`: numbers and strings as bytes of a C structure
//! (inf.puc-rio.br/~roberto/struct).

use std::rc::Rc;

use mlua::{Lua, MultiValue, Result, Table, Value, Variadic};

use super::{
    convert::{Arguments, truncated},
    fault::{bad_argument, raise},
    host::Shared,
};

/// Makes the table.
pub(super) fn table(lua: &Lua, shared: &Rc<Shared>) -> Result<Table> {
    type Run = fn(&Arguments<'_>) -> Result<MultiValue>;
    let table = lua.create_table()?;
    let list: [(&str, Run); 3] = [("pack", pack), ("unpack", unpack), ("size", size)];
    for (name, run) in list {
        let own = shared.clone();
        let run = move |lua: &Lua, values: Variadic<Value>| {
            run(&Arguments { lua, values: &values, shared: &own })
        };
        table.raw_set(name, lua.create_function(run)?)?;
    }
    Ok(table)
}

/// One item of a format.
#[derive(Clone, Copy)]
enum Item {
    /// A number of so many bytes; signed or not.
    Integer(usize, bool),
    Float,
    Double,
    /// A string that ends in a zero byte.
    Zero,
    /// So many bytes; none said means all there are, or as the number before said.
    Bytes(usize),
    Padding,
}

struct Format<'a> {
    lua: &'a Lua,
    text: &'a [u8],
    place: usize,
    is_little: bool,
    align: usize,
}

impl Format<'_> {
    fn number(&mut self) -> Option<usize> {
        let start = self.place;
        while self.text.get(self.place).is_some_and(u8::is_ascii_digit) {
            self.place += 1;
        }
        let digits = std::str::from_utf8(&self.text[start..self.place]).ok()?;
        digits.parse().ok()
    }

    fn wide(&mut self) -> Result<usize> {
        let width = self.number().unwrap_or(4);
        if (1..=8).contains(&width) {
            return Ok(width);
        }
        Err(raise(self.lua, &format!("integral size {width} is larger than limit of 32")))
    }

    fn next(&mut self) -> Result<Option<Item>> {
        while let Some(&letter) = self.text.get(self.place) {
            self.place += 1;
            let item = match letter {
                b'<' | b'=' => {
                    self.is_little = true;
                    continue;
                }
                b'>' => {
                    self.is_little = false;
                    continue;
                }
                b'!' => {
                    self.align = self.number().unwrap_or(8);
                    if !self.align.is_power_of_two() {
                        return Err(raise(self.lua, "alignment is not a power of 2"));
                    }
                    continue;
                }
                b' ' => continue,
                b'b' | b'B' => Item::Integer(1, letter == b'b'),
                b'h' | b'H' => Item::Integer(2, letter == b'h'),
                b'l' | b'L' | b'T' => Item::Integer(8, letter == b'l'),
                b'i' | b'I' => Item::Integer(self.wide()?, letter == b'i'),
                b'f' => Item::Float,
                b'd' | b'n' => Item::Double,
                b's' => Item::Zero,
                b'x' => Item::Padding,
                b'c' => Item::Bytes(self.number().unwrap_or(1)),
                other => {
                    let text = format!("invalid format option '{}'", char::from(other));
                    return Err(raise(self.lua, &text));
                }
            };
            return Ok(Some(item));
        }
        Ok(None)
    }

    /// How many bytes must stand in front of an item at this offset.
    fn gap(&self, item: Item, offset: usize) -> usize {
        let width = match item {
            Item::Integer(width, _) => width,
            Item::Float => 4,
            Item::Double => 8,
            Item::Zero | Item::Bytes(_) | Item::Padding => return 0,
        };
        let align = width.min(self.align);
        if align > 1 && align.is_power_of_two() { (align - offset % align) % align } else { 0 }
    }

    fn order(&self, bytes: &mut [u8]) {
        if !self.is_little {
            bytes.reverse();
        }
    }
}

fn format<'a>(lua: &'a Lua, text: &'a [u8]) -> Format<'a> {
    Format { lua, text, place: 0, is_little: true, align: 1 }
}

fn pack(arguments: &Arguments<'_>) -> Result<MultiValue> {
    let text = arguments.bytes(1)?;
    let mut format = format(arguments.lua, &text);
    let (mut out, mut place) = (Vec::new(), 2);
    while let Some(item) = format.next()? {
        arguments.shared.meter.charge(1)?;
        let gap = format.gap(item, out.len());
        out.resize(out.len() + gap, 0);
        match item {
            Item::Padding => {
                out.push(0);
                continue;
            }
            Item::Integer(width, _) => {
                let mut bytes = truncated(arguments.number(place)?).to_le_bytes();
                format.order(&mut bytes[..width]);
                out.extend_from_slice(&bytes[..width]);
            }
            Item::Float => {
                #[expect(clippy::cast_possible_truncation, reason = "that is what `f` means")]
                let mut bytes = (arguments.number(place)? as f32).to_le_bytes();
                format.order(&mut bytes);
                out.extend_from_slice(&bytes);
            }
            Item::Double => {
                let mut bytes = arguments.number(place)?.to_le_bytes();
                format.order(&mut bytes);
                out.extend_from_slice(&bytes);
            }
            Item::Zero => {
                out.extend_from_slice(&arguments.bytes(place)?);
                out.push(0);
            }
            Item::Bytes(length) => {
                let bytes = arguments.bytes(place)?;
                let length = if length == 0 { bytes.len() } else { length };
                let Some(bytes) = bytes.get(..length) else {
                    return Err(bad_argument(arguments.lua, place, "string too short"));
                };
                out.extend_from_slice(bytes);
            }
        }
        place += 1;
    }
    let text = arguments.lua.create_string(&out)?;
    Ok(MultiValue::from_vec(vec![Value::String(text)]))
}

fn unpack(arguments: &Arguments<'_>) -> Result<MultiValue> {
    let lua = arguments.lua;
    let (text, data) = (arguments.bytes(1)?, arguments.bytes(2)?);
    let start = arguments.integer_or(3, 1)?.checked_sub(1);
    let Some(mut place) = start.and_then(|start| usize::try_from(start).ok()) else {
        return Err(bad_argument(lua, 3, "offset must be 1 or greater"));
    };
    let mut format = format(lua, &text);
    let short = || bad_argument(lua, 2, "data string too short");
    let mut values = Vec::new();
    while let Some(item) = format.next()? {
        arguments.shared.meter.charge(1)?;
        place += format.gap(item, place);
        let rest = data.get(place..).ok_or_else(short)?;
        let length = match item {
            Item::Integer(width, _) => width,
            Item::Float => 4,
            Item::Double => 8,
            Item::Padding => 1,
            Item::Zero => match rest.iter().position(|byte| *byte == 0) {
                Some(length) => length + 1,
                None => return Err(raise(lua, "unfinished string in data")),
            },
            Item::Bytes(0) => match values.pop() {
                Some(Value::Number(number)) => {
                    usize::try_from(truncated(number)).map_err(|_| short())?
                }
                _ => return Err(raise(lua, "format 'c0' needs a previous size")),
            },
            Item::Bytes(length) => length,
        };
        let bytes = rest.get(..length).ok_or_else(short)?;
        place += length;
        if let Some(value) = read(lua, &format, item, bytes)? {
            values.push(value);
        }
        if values.len() > 7_000 {
            return Err(raise(lua, "too many results"));
        }
    }
    values.push(Value::Integer(i64::try_from(place + 1).unwrap_or(i64::MAX)));
    Ok(MultiValue::from_vec(values))
}

fn read(lua: &Lua, format: &Format<'_>, item: Item, bytes: &[u8]) -> Result<Option<Value>> {
    let mut all = [0; 8];
    if let Item::Integer(..) | Item::Float | Item::Double = item {
        all[..bytes.len()].copy_from_slice(bytes);
        format.order(&mut all[..bytes.len()]);
    }
    #[expect(clippy::cast_precision_loss, reason = "numbers of Lua are floating-point")]
    Ok(Some(match item {
        Item::Padding => return Ok(None),
        Item::Integer(_, false) => Value::Number(u64::from_le_bytes(all) as f64),
        Item::Integer(width, true) => {
            let shift = 64 - 8 * width;
            Value::Number(((u64::from_le_bytes(all) << shift).cast_signed() >> shift) as f64)
        }
        Item::Float => Value::Number(f32::from_le_bytes([all[0], all[1], all[2], all[3]]).into()),
        Item::Double => Value::Number(f64::from_le_bytes(all)),
        Item::Zero => Value::String(lua.create_string(&bytes[..bytes.len() - 1])?),
        Item::Bytes(_) => Value::String(lua.create_string(bytes)?),
    }))
}

fn size(arguments: &Arguments<'_>) -> Result<MultiValue> {
    let text = arguments.bytes(1)?;
    let mut format = format(arguments.lua, &text);
    let mut total = 0usize;
    while let Some(item) = format.next()? {
        total += format.gap(item, total);
        total += match item {
            Item::Integer(width, _) => width,
            Item::Float => 4,
            Item::Double => 8,
            Item::Padding => 1,
            Item::Zero => {
                return Err(bad_argument(arguments.lua, 1, "variable-size format in struct.size"));
            }
            Item::Bytes(0) => {
                return Err(bad_argument(arguments.lua, 1, "variable-length format"));
            }
            Item::Bytes(length) => length,
        };
    }
    Ok(MultiValue::from_vec(vec![Value::Integer(i64::try_from(total).unwrap_or(i64::MAX))]))
}
