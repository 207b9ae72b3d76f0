//! Seeds as people write them.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::str::FromStr;

/// What random draws start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seed {
    /// The number.
    pub(crate) value: u64,
    /// Whether it was drawn just now.
    pub(crate) is_drawn: bool,
}

/// The seed where none is given: always the same, so that documentation reproduces.
const DEFAULT: u64 = 0x5eed;

impl Default for Seed {
    fn default() -> Self {
        Self::from(DEFAULT)
    }
}

impl From<u64> for Seed {
    fn from(value: u64) -> Self {
        Self { value, is_drawn: false }
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.value)
    }
}

impl FromStr for Seed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_hex = text.bytes().all(|c| c.is_ascii_hexdigit());
        let read = if text == "random" {
            Some(RandomState::new().build_hasher().finish())
        } else if let Some(digits) = text.strip_prefix("0x") {
            u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))
        } else if text.len() == 40 && is_hex {
            u64::from_str_radix(&text[..16], 16).ok()
        } else {
            text.parse().ok().filter(|_| !text.starts_with('+'))
        };
        let seed = read.map(|value| Self { value, is_drawn: text == "random" });
        seed.ok_or_else(|| "a seed is a number, 0x…, a commit hash, or `random`".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_read_in_each_way() {
        let read = |text: &str| text.parse::<Seed>().map(|seed| seed.value).ok();
        assert_eq!(read("17"), Some(17));
        assert_eq!(read("0xff"), Some(255));
        assert_eq!(read("0123456789abcdef0123456789abcdef01234567"), Some(0x0123_4567_89ab_cdef));
        assert!(read("random").is_some());
        for wrong in ["", "-1", "+1", "0x", "0x+1", "1.5", "0x1ffffffffffffffff", "abc"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert_eq!(Seed::default().to_string().parse(), Ok(Seed::default()));
    }
}
