//! The chores of this repository, run as `cargo xtask NAME`.

fn main() {}
