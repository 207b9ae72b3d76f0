//! Values that are more than a word or a number.

/// A value of any Redis type that does not fit in a slot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Object {
    /// A string that is neither a canonical number nor a token.
    Text(Vec<u8>),
}
