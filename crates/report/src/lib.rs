//! A history drawn once, written in several formats.
