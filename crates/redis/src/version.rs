//! The server versions the engine can be, and where they differ.

/// A server and its version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Version {
    /// Redis 7.0.15.
    #[default]
    Redis70,
    /// Redis 7.2 to 8.2.
    Redis72,
    /// Redis 8.4.
    Redis84,
    /// Valkey 8.1.
    Valkey81,
    /// Valkey 9.0.
    Valkey90,
}

impl Version {
    /// Gives the version's number as the server reports it.
    #[must_use]
    pub const fn number(self) -> &'static str {
        match self {
            Self::Redis70 => "7.0.15",
            Self::Redis72 => "7.2.4",
            Self::Redis84 => "8.4.0",
            Self::Valkey81 => "8.1.1",
            Self::Valkey90 => "9.0.0",
        }
    }

    /// Tells whether it is Valkey.
    #[must_use]
    pub const fn is_valkey(self) -> bool {
        matches!(self, Self::Valkey81 | Self::Valkey90)
    }

    /// Gives the name in the reply to HELLO.
    #[must_use]
    pub const fn server(self) -> &'static str {
        if self.is_valkey() { "valkey" } else { "redis" }
    }

    /// Tells whether time stands still inside a script or an EXEC.
    #[must_use]
    pub const fn freezes_time(self) -> bool {
        !matches!(self, Self::Redis70)
    }

    /// Tells whether doubles are printed as the shortest text instead of 17 digits.
    pub(crate) const fn shortest_doubles(self) -> bool {
        !matches!(self, Self::Redis70)
    }

    /// Tells whether SET knows `IFEQ`.
    pub(crate) const fn has_ifeq(self) -> bool {
        matches!(self, Self::Redis84 | Self::Valkey81 | Self::Valkey90)
    }

    /// Tells whether SET knows `IFNE` and DELEX exists.
    pub(crate) const fn has_delex(self) -> bool {
        matches!(self, Self::Redis84)
    }

    /// Tells whether DELIFEQ exists.
    pub(crate) const fn has_delifeq(self) -> bool {
        matches!(self, Self::Valkey90)
    }
}
