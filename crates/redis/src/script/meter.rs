//! What a script may use up: instructions and memory.
//!
//! An instruction can touch all the memory that a script holds, by one concatenation or one
//! comparison. So beyond the first 64 KiB an instruction counts once more for each 16 KiB that are
//! held, and what a script can make the machine do is bounded by the product. Garbage is collected
//! at fixed points of a script, not when the collector finds it fit.

use std::cell::Cell;

use mlua::{HookTriggers, Lua, Result, VmState, debug::DebugEvent};

use super::{
    ScriptLimits,
    fault::{Ending, end},
};

/// How many instructions pass between two looks at the meter.
const STRIDE: u32 = 1_000;

/// How much of its limits the present script has used.
#[derive(Debug)]
pub(super) struct Meter {
    used: Cell<u64>,
    limits: Cell<ScriptLimits>,
    /// The memory in use when the script started.
    floor: Cell<usize>,
    /// The memory in use after the last collection between two scripts.
    collected: Cell<usize>,
    /// How much a script may hold until garbage is collected.
    patience: Cell<usize>,
    /// The line that ran last, where lines are followed.
    line: Cell<usize>,
}

impl Meter {
    pub(super) const fn new() -> Self {
        Self {
            used: Cell::new(0),
            limits: Cell::new(ScriptLimits::SERVER),
            floor: Cell::new(0),
            collected: Cell::new(0),
            patience: Cell::new(GARBAGE),
            line: Cell::new(1),
        }
    }

    /// Counts work that is not done by instructions.
    pub(super) fn charge(&self, steps: usize) -> Result<()> {
        let used = self.used.get().saturating_add(steps as u64);
        self.used.set(used);
        if used > self.limits.get().instructions { Err(end(Ending::Instructions)) } else { Ok(()) }
    }

    pub(super) const fn limits(&self) -> ScriptLimits {
        self.limits.get()
    }

    /// The line that ran last, as far as it is known.
    pub(super) const fn line(&self) -> usize {
        self.line.get()
    }

    /// Notes where the script is.
    pub(super) fn note_line(&self, line: usize) {
        self.line.set(line);
    }

    /// Starts to count anew, and sets the limits.
    pub(super) fn start(self: &std::rc::Rc<Self>, lua: &Lua, limits: ScriptLimits) -> Result<()> {
        self.used.set(0);
        self.line.set(1);
        self.limits.set(limits);
        lua.gc_stop();
        let floor = lua.used_memory();
        self.floor.set(floor);
        self.patience.set(GARBAGE);
        lua.set_memory_limit(floor.saturating_add(limits.memory))?;
        // Lines are followed where an error has to name one even when memory runs out.
        let triggers = HookTriggers::new().every_nth_instruction(STRIDE);
        let triggers = if limits.is_error { triggers.every_line() } else { triggers };
        let meter = self.clone();
        lua.set_global_hook(triggers, move |lua, debug| {
            if let Some(line) = debug.current_line() {
                meter.note_line(line);
            }
            if debug.event() == DebugEvent::Count {
                let held = meter.held(lua)?;
                meter.charge(STRIDE as usize * (1 + (held.saturating_sub(GARBAGE) >> 14)))?;
            }
            Ok(VmState::Continue)
        })
    }

    /// How much memory the script holds; garbage is counted out when there is much of it.
    fn held(&self, lua: &Lua) -> Result<usize> {
        let held = || lua.used_memory().saturating_sub(self.floor.get());
        if held() > self.patience.get() {
            lua.gc_collect()?;
            lua.gc_stop();
            self.patience.set(GARBAGE.max(2 * held()));
        }
        Ok(held())
    }

    /// Lifts the limits when the script has ended; what it has left is collected now and then.
    pub(super) fn stop(&self, lua: &Lua) -> Result<()> {
        lua.remove_global_hook();
        lua.set_memory_limit(0)?;
        if lua.used_memory() > self.collected.get().saturating_add(4 * GARBAGE) {
            lua.gc_collect()?;
            lua.gc_stop();
            self.collected.set(lua.used_memory());
        }
        Ok(())
    }
}

/// How much garbage may lie around, in a script and between two of them.
const GARBAGE: usize = 1 << 16;
