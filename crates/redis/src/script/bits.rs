//! The table `bit` (bitop.luajit.org): 32-bit operations on numbers.

#![expect(clippy::float_arithmetic, reason = "numbers of Lua are floating-point")]

use mlua::{Lua, Result, Table, Value, Variadic};

use super::fault::bad_argument;

type Binary = fn(u32, u32) -> u32;
type Unary = fn(u32) -> u32;

/// Makes the table.
pub(super) fn table(lua: &Lua) -> Result<Table> {
    let table = lua.create_table()?;
    let folds: [(&str, Binary); 3] =
        [("band", |a, b| a & b), ("bor", |a, b| a | b), ("bxor", |a, b| a ^ b)];
    for (name, fold) in folds {
        let run = move |lua: &Lua, values: Variadic<Value>| {
            let mut result = bits(lua, &values, 1)?;
            for place in 2..=values.len() {
                result = fold(result, bits(lua, &values, place)?);
            }
            Ok(signed(result))
        };
        table.raw_set(name, lua.create_function(run)?)?;
    }
    let shifts: [(&str, Binary); 5] = [
        ("lshift", |a, n| a << n),
        ("rshift", |a, n| a >> n),
        ("arshift", |a, n| (a.cast_signed() >> n).cast_unsigned()),
        ("rol", u32::rotate_left),
        ("ror", u32::rotate_right),
    ];
    for (name, shift) in shifts {
        let run = move |lua: &Lua, values: Variadic<Value>| {
            let (number, by) = (bits(lua, &values, 1)?, bits(lua, &values, 2)?);
            Ok(signed(shift(number, by & 31)))
        };
        table.raw_set(name, lua.create_function(run)?)?;
    }
    let maps: [(&str, Unary); 3] = [("tobit", |a| a), ("bnot", |a| !a), ("bswap", u32::swap_bytes)];
    for (name, map) in maps {
        let run = move |lua: &Lua, values: Variadic<Value>| Ok(signed(map(bits(lua, &values, 1)?)));
        table.raw_set(name, lua.create_function(run)?)?;
    }
    table.raw_set(
        "tohex",
        lua.create_function(|lua, values: Variadic<Value>| to_hex(lua, &values))?,
    )?;
    Ok(table)
}

fn to_hex(lua: &Lua, values: &[Value]) -> Result<String> {
    let number = bits(lua, values, 1)?;
    let digits = if values.len() < 2 { 8 } else { bits(lua, values, 2)?.cast_signed() };
    let width = usize::try_from(digits.unsigned_abs()).unwrap_or(8).min(8);
    let text = if digits < 0 { format!("{number:08X}") } else { format!("{number:08x}") };
    Ok(text[8 - width..].to_owned())
}

/// A number reduced to 32 bits.
fn bits(lua: &Lua, values: &[Value], place: usize) -> Result<u32> {
    let number = match values.get(place - 1) {
        Some(Value::Integer(number)) => *number as f64,
        Some(Value::Number(number)) => *number,
        other => {
            let value = other.cloned().unwrap_or(Value::Nil);
            match lua.coerce_number(value)? {
                Some(number) if !matches!(other, None | Some(Value::Nil)) => number,
                _ => {
                    let got = other.map_or("no value", super::convert::type_name);
                    let problem = format!("number expected, got {got}");
                    return Err(bad_argument(lua, place, &problem));
                }
            }
        }
    };
    // The library adds 2^52 + 2^51 and takes the low bits, which rounds to the nearest even.
    let rounded = number + 6_755_399_441_055_744.0;
    Ok((rounded.to_bits() & 0xFFFF_FFFF) as u32)
}

fn signed(number: u32) -> f64 {
    f64::from(number.cast_signed())
}
