//! The naive judge.
