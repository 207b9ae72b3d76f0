//! The table `cmsgpack`: values as MessagePack (github.com/msgpack/msgpack/blob/master/spec.md).

use std::rc::Rc;

use mlua::{Lua, MultiValue, Result, Table, Value, Variadic};

use super::{
    convert::{Arguments, truncated},
    fault::{bad_argument, end, raise},
    host::Shared,
    meter::Meter,
};

/// Tables nested deeper than this are packed as nil, and text nested deeper is refused.
const MAX_DEPTH: usize = 16;

/// Makes the table.
pub(super) fn table(lua: &Lua, shared: &Rc<Shared>) -> Result<Table> {
    let table = lua.create_table()?;
    table.raw_set("_NAME", "cmsgpack")?;
    let own = shared.clone();
    let pack = move |lua: &Lua, values: Variadic<Value>| {
        if values.is_empty() {
            return Err(bad_argument(lua, 0, "MessagePack pack needs input."));
        }
        let mut out = Vec::new();
        for value in values.iter() {
            write(&own.meter, value, 0, &mut out)?;
        }
        lua.create_string(&out)
    };
    table.raw_set("pack", lua.create_function(pack)?)?;
    for (name, limited) in [("unpack", false), ("unpack_one", true), ("unpack_limit", true)] {
        let own = shared.clone();
        let unpack = move |lua: &Lua, values: Variadic<Value>| {
            let arguments = Arguments { lua, values: &values, shared: &own };
            let data = arguments.bytes(1)?;
            let (limit, offset) = match name {
                "unpack" => (i64::MAX, 0),
                "unpack_one" => (1, arguments.integer_or(2, 0)?),
                _ => (arguments.integer(2)?, arguments.integer_or(3, 0)?),
            };
            let place = usize::try_from(offset).ok().filter(|place| *place <= data.len());
            let Some(place) = place else {
                return Err(raise(lua, "Start offset greater than input length."));
            };
            unpack(lua, &own.meter, &data, place, limit, limited)
        };
        table.raw_set(name, lua.create_function(unpack)?)?;
    }
    Ok(table)
}

fn write(meter: &Meter, value: &Value, depth: usize, out: &mut Vec<u8>) -> Result<()> {
    meter.charge(1)?;
    if out.len() > meter.limits().memory {
        return Err(end(super::fault::Ending::Memory));
    }
    match value {
        Value::Boolean(truth) => out.push(if *truth { 0xc3 } else { 0xc2 }),
        Value::Integer(number) => write_integer(*number, out),
        Value::Number(number) if number.fract() == 0.0 && number.abs() < 2f64.powi(63) => {
            write_integer(truncated(*number), out);
        }
        Value::Number(number) => {
            #[expect(clippy::cast_possible_truncation, reason = "compared with itself below")]
            let short = *number as f32;
            if f64::from(short) == *number {
                out.push(0xca);
                out.extend_from_slice(&short.to_be_bytes());
            } else {
                out.push(0xcb);
                out.extend_from_slice(&number.to_be_bytes());
            }
        }
        Value::String(text) => {
            let bytes = text.as_bytes();
            meter.charge(bytes.len() / 64)?;
            write_head(bytes.len(), [Some((0xa0, 31)), Some((0xd9, 0xff))], 0xda, out);
            out.extend_from_slice(&bytes);
        }
        Value::Table(table) if depth < MAX_DEPTH => write_table(meter, table, depth, out)?,
        _ => out.push(0xc0),
    }
    Ok(())
}

fn write_table(meter: &Meter, table: &Table, depth: usize, out: &mut Vec<u8>) -> Result<()> {
    let (mut count, mut highest, mut is_array) = (0usize, 0i64, true);
    for pair in table.pairs::<Value, Value>() {
        meter.charge(1)?;
        match pair?.0 {
            Value::Integer(key) if key > 0 => highest = highest.max(key),
            _ => is_array = false,
        }
        count += 1;
    }
    if is_array && usize::try_from(highest) == Ok(count) {
        write_head(count, [Some((0x90, 15)), None], 0xdc, out);
        for place in 1..=highest {
            write(meter, &table.raw_get::<Value>(place)?, depth + 1, out)?;
        }
        return Ok(());
    }
    write_head(count, [Some((0x80, 15)), None], 0xde, out);
    for pair in table.pairs::<Value, Value>() {
        let (key, value) = pair?;
        write(meter, &key, depth + 1, out)?;
        write(meter, &value, depth + 1, out)?;
    }
    Ok(())
}

/// Writes a kind and a length: in the kind's own byte, in one byte, in two, or in four.
fn write_head(length: usize, short: [Option<(u8, usize)>; 2], wide: u8, out: &mut Vec<u8>) {
    let length32 = u32::try_from(length).unwrap_or(u32::MAX);
    match (short, u16::try_from(length)) {
        ([Some((kind, most)), _], _) if length <= most => {
            out.push(kind | length32.to_be_bytes()[3])
        }
        ([_, Some((kind, most))], _) if length <= most => {
            out.extend([kind, length32.to_be_bytes()[3]]);
        }
        (_, Ok(length)) => {
            out.push(wide);
            out.extend_from_slice(&length.to_be_bytes());
        }
        (_, Err(_)) => {
            out.push(wide + 1);
            out.extend_from_slice(&length32.to_be_bytes());
        }
    }
}

fn write_integer(number: i64, out: &mut Vec<u8>) {
    let bytes = number.to_be_bytes();
    let (kind, width) = match number {
        -32..=127 => {
            out.push(bytes[7]);
            return;
        }
        128..=0xff => (0xcc, 1),
        0x100..=0xffff => (0xcd, 2),
        0x1_0000..=0xffff_ffff => (0xce, 4),
        0x1_0000_0000.. => (0xcf, 8),
        -0x80..=-33 => (0xd0, 1),
        -0x8000..=-0x81 => (0xd1, 2),
        -0x8000_0000..=-0x8001 => (0xd2, 4),
        _ => (0xd3, 8),
    };
    out.push(kind);
    out.extend_from_slice(&bytes[8 - width..]);
}

/// Reads up to so many values; with an offset in front where the caller gave one.
fn unpack(
    lua: &Lua,
    meter: &Meter,
    data: &[u8],
    place: usize,
    limit: i64,
    limited: bool,
) -> Result<MultiValue> {
    let mut reader = Reader { lua, meter, data, place };
    let mut values = Vec::new();
    while reader.place < data.len() && (values.len() as u64) < limit.cast_unsigned() {
        let problem = "too many return values at once; use unpack_one or unpack_limit instead.";
        if values.len() > 7_000 {
            return Err(bad_argument(lua, 1, problem));
        }
        values.push(reader.value(0)?);
    }
    if limited {
        let next = if reader.place < data.len() { reader.place as u64 } else { u64::MAX };
        values.insert(0, Value::Integer(next.cast_signed()));
    }
    Ok(MultiValue::from_vec(values))
}

struct Reader<'a> {
    lua: &'a Lua,
    meter: &'a Meter,
    data: &'a [u8],
    place: usize,
}

impl Reader<'_> {
    fn take(&mut self, length: usize) -> Result<&[u8]> {
        let end = self.place.saturating_add(length);
        let Some(bytes) = self.data.get(self.place..end) else {
            return Err(raise(self.lua, "Missing bytes in input."));
        };
        self.place = end;
        Ok(bytes)
    }

    fn unsigned(&mut self, width: usize) -> Result<u64> {
        let mut all = [0; 8];
        all[8 - width..].copy_from_slice(self.take(width)?);
        Ok(u64::from_be_bytes(all))
    }

    fn length(&mut self, width: usize) -> Result<usize> {
        Ok(usize::try_from(self.unsigned(width)?).unwrap_or(usize::MAX))
    }

    fn value(&mut self, depth: usize) -> Result<Value> {
        self.meter.charge(1)?;
        let kind = self.take(1)?[0];
        #[expect(clippy::cast_precision_loss, reason = "numbers of Lua are floating-point")]
        Ok(match kind {
            0x00..=0x7f => Value::Integer(kind.into()),
            0xe0..=0xff => Value::Integer(kind.cast_signed().into()),
            0x80..=0x8f => self.map((kind & 15).into(), depth)?,
            0x90..=0x9f => self.array((kind & 15).into(), depth)?,
            0xa0..=0xbf => self.text((kind & 31).into())?,
            0xc0 => Value::Nil,
            0xc2 | 0xc3 => Value::Boolean(kind == 0xc3),
            0xca => {
                let bits = u32::try_from(self.unsigned(4)?).unwrap_or(0);
                Value::Number(f32::from_bits(bits).into())
            }
            0xcb => Value::Number(f64::from_bits(self.unsigned(8)?)),
            0xcc..=0xcf => Value::Number(self.unsigned(1 << (kind - 0xcc))? as f64),
            0xd0..=0xd3 => {
                let width = 1 << (kind - 0xd0);
                let shift = 64 - 8 * width;
                let number = (self.unsigned(width)? << shift).cast_signed() >> shift;
                Value::Number(number as f64)
            }
            0xd9..=0xdb => {
                let length = self.length(1 << (kind - 0xd9))?;
                self.text(length)?
            }
            0xdc | 0xdd => {
                let length = self.length(2 << (kind - 0xdc))?;
                self.array(length, depth)?
            }
            0xde | 0xdf => {
                let length = self.length(2 << (kind - 0xde))?;
                self.map(length, depth)?
            }
            _ => return Err(raise(self.lua, "Bad data format in input.")),
        })
    }

    fn text(&mut self, length: usize) -> Result<Value> {
        let lua = self.lua;
        lua.create_string(self.take(length)?).map(Value::String)
    }

    fn too_deep(&self, depth: usize) -> Result<()> {
        // The server has no limit but its stack; ours is one that no script of use comes near.
        if depth < 200 { Ok(()) } else { Err(raise(self.lua, "Bad data format in input.")) }
    }

    fn array(&mut self, length: usize, depth: usize) -> Result<Value> {
        self.too_deep(depth)?;
        let table = self.lua.create_table()?;
        for place in 1..=length {
            let value = self.value(depth + 1)?;
            table.raw_set(place, value)?;
        }
        Ok(Value::Table(table))
    }

    fn map(&mut self, length: usize, depth: usize) -> Result<Value> {
        self.too_deep(depth)?;
        let table = self.lua.create_table()?;
        for _ in 0..length {
            let (key, value) = (self.value(depth + 1)?, self.value(depth + 1)?);
            if !key.is_nil() && !matches!(&key, Value::Number(number) if number.is_nan()) {
                table.raw_set(key, value)?;
            }
        }
        Ok(Value::Table(table))
    }
}
