//! Tests of the strategies: the commands that each of them sends, as redis-cli shows them.

mod acquire;
mod keep;
mod lab;
mod list;
mod redlock;
mod release;
