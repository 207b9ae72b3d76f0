//! What a scenario file says, with every default filled in.
