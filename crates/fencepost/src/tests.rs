//! Tests of the front door as one.
