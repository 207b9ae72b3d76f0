//! The lock strategies.
