//! `math.random` as the server has it (`src/rand.c`): the sequence starts equal at each start of
//! the server and goes on from script to script.

#![expect(clippy::float_arithmetic, reason = "numbers of Lua are floating-point")]

use std::rc::Rc;

use mlua::{Lua, Result, Table, Value, Variadic};

use super::{
    convert::{Arguments, truncated},
    fault::{bad_argument, raise},
    host::Shared,
};

const MASK: u64 = (1 << 48) - 1;

/// Draws the next 31 bits.
const fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(0x5_DEEC_E66D).wrapping_add(0xB) & MASK;
    *state >> 17
}

/// Adds `random` and `randomseed`.
pub(super) fn functions(lua: &Lua, native: &Table, shared: &Rc<Shared>) -> Result<()> {
    let own = shared.clone();
    let random = move |lua: &Lua, values: Variadic<Value>| {
        let arguments = Arguments { lua, values: &values, shared: &own };
        let drawn = {
            let mut host = own.host()?;
            draw(&mut host.engine.server.script_random)
        };
        let limit = f64::from(i32::MAX);
        #[expect(clippy::cast_precision_loss, reason = "31 bits")]
        let unit = (drawn % (i32::MAX as u64)) as f64 / limit;
        let (low, high, last) = match values.len() {
            0 => return Ok(unit),
            1 => (1, arguments.integer(1)?, 1),
            2 => (arguments.integer(1)?, arguments.integer(2)?, 2),
            _ => return Err(raise(lua, "wrong number of arguments")),
        };
        if low > high {
            return Err(bad_argument(lua, last, "interval is empty"));
        }
        #[expect(clippy::cast_precision_loss, reason = "as the server computes it")]
        Ok((unit * (high - low + 1) as f64).floor() + low as f64)
    };
    native.raw_set("random", lua.create_function(random)?)?;
    let own = shared.clone();
    let seed = move |lua: &Lua, values: Variadic<Value>| {
        let number = truncated(Arguments { lua, values: &values, shared: &own }.number(1)?);
        let low = number.cast_unsigned() & 0xFFFF_FFFF;
        own.host()?.engine.server.script_random = (low << 16) | 0x330E;
        Ok(())
    };
    native.raw_set("randomseed", lua.create_function(seed)?)
}
