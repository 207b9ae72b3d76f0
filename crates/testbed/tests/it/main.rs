//! The testbed against what is known about locks from elsewhere.

mod memory;
mod redlock;
mod witness;
