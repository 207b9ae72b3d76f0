//! The types that stand on the right of a key.

use fencepost_history::{Duration, Instant, Moment};
use toml::de::DeValue;
use toml::{Spanned, Value as Toml};

use super::anchor::Whose;
use super::error::{Code, ScenarioError};
use super::reader::Reader;
use super::shape::Shape;
use super::units;

/// A value of a file, with its place.
pub(super) type Input<'i> = Spanned<DeValue<'i>>;

/// A type that stands on the right of a key.
pub(super) trait Value: Sized {
    /// Reads it; `None` means that an error was reported.
    fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self>;

    /// Writes it, so that it reads back the same; `None` means that the key is left out.
    fn write(&self) -> Option<Toml>;

    /// Says what it may look like.
    fn shape() -> Shape;
}

/// Makes a section the value of a key.
macro_rules! table_value {
    ($name:ident) => {
        impl $crate::scenario::value::Value for $name {
            fn read(
                input: &$crate::scenario::value::Input<'_>,
                reader: &mut $crate::scenario::reader::Reader,
            ) -> Option<Self> {
                let mut value = Self::default();
                reader.table(input, &mut value)?;
                Some(value)
            }

            fn write(&self) -> Option<toml::Value> {
                Some(toml::Value::Table($crate::scenario::write::table(self)))
            }

            fn shape() -> $crate::scenario::shape::Shape {
                $crate::scenario::shape::table_shape::<Self>()
            }
        }
    };
}

/// Makes an enum of words the value of a key.
macro_rules! word_value {
    ($name:ident) => {
        impl $crate::scenario::value::Value for $name {
            fn read(
                input: &$crate::scenario::value::Input<'_>,
                reader: &mut $crate::scenario::reader::Reader,
            ) -> Option<Self> {
                reader.word(input, Self::ALL, Self::name)
            }

            fn write(&self) -> Option<toml::Value> {
                Some(toml::Value::String(self.name().to_owned()))
            }

            fn shape() -> $crate::scenario::shape::Shape {
                $crate::scenario::shape::Shape::Words(
                    Self::ALL.iter().map(|word| (word.name(), word.describe())).collect(),
                )
            }
        }
    };
}

pub(super) use {table_value, word_value};

word_value!(Moment);

impl Value for fencepost_check::Kind {
    fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
        reader.word(input, Self::ALL, Self::name)
    }

    fn write(&self) -> Option<Toml> {
        Some(Toml::String(self.name().to_owned()))
    }

    fn shape() -> Shape {
        Shape::Words(Self::ALL.iter().map(|kind| (kind.name(), "")).collect())
    }
}

impl Value for String {
    fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
        reader.text(input, "a text").map(ToOwned::to_owned)
    }

    fn write(&self) -> Option<Toml> {
        Some(Toml::String(self.clone()))
    }

    fn shape() -> Shape {
        Shape::Text { what: "a text", pattern: "" }
    }
}

impl Value for bool {
    fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
        match input.get_ref().as_bool() {
            Some(value) => Some(value),
            None => reader.wrong_type(input, "`true` or `false`"),
        }
    }

    fn write(&self) -> Option<Toml> {
        Some(Toml::Boolean(*self))
    }

    fn shape() -> Shape {
        Shape::Boolean
    }
}

macro_rules! integer_value {
    ($name:ident, $min:expr, $max:expr) => {
        impl Value for $name {
            fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
                reader.integer(input, $min, $max).and_then(|number| Self::try_from(number).ok())
            }

            fn write(&self) -> Option<Toml> {
                Some(Toml::Integer(i64::try_from(*self).unwrap_or(i64::MAX)))
            }

            fn shape() -> Shape {
                Shape::Integer { min: $min, max: $max }
            }
        }
    };
}

integer_value!(u32, 0, u32::MAX as i64);
integer_value!(u64, 0, i64::MAX);
integer_value!(i64, -1_000_000, 1_000_000);

impl Value for Duration {
    fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
        reader.length(input, units::length)
    }

    fn write(&self) -> Option<Toml> {
        Some(Toml::String(self.to_string()))
    }

    fn shape() -> Shape {
        Shape::Text { what: "a length of time", pattern: LENGTH }
    }
}

/// What a length of time looks like, for editors.
const LENGTH: &str = r"^\s*([0-9]+(\.[0-9]+)?\s*(ns|us|µs|ms|s|m|min|h)\s*)+$";
impl Value for Instant {
    fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
        Duration::read(input, reader).map(|length| Self::ZERO + length)
    }

    fn write(&self) -> Option<Toml> {
        self.since(Self::ZERO).write()
    }

    fn shape() -> Shape {
        Duration::shape()
    }
}

macro_rules! or_none {
    ($name:ident) => {
        impl Value for Option<$name> {
            fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
                if input.get_ref().as_str() == Some("none") {
                    return Some(None);
                }
                $name::read(input, reader).map(Some)
            }

            fn write(&self) -> Option<Toml> {
                match self {
                    Some(value) => value.write(),
                    None => Some(Toml::String("none".to_owned())),
                }
            }

            fn shape() -> Shape {
                Shape::Either(vec![$name::shape(), Shape::Words(vec![("none", "")])])
            }
        }
    };
}

or_none!(Duration);
or_none!(u32);

impl Value for Whose {
    fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
        let text = reader.text(input, "a moment such as \"acquired\" or \"c1 acquired\"")?;
        let (who, word) = match text.trim().rsplit_once(char::is_whitespace) {
            Some((who, word)) => (Some(who.trim().to_owned()), word),
            None => (None, text.trim()),
        };
        let before = who.as_ref().map_or(String::new(), |who| format!("{who} "));
        let moment = reader.find_word(input.span(), &before, word, Moment::ALL, Moment::name)?;
        Some(Self { who, moment })
    }

    fn write(&self) -> Option<Toml> {
        Some(Toml::String(self.to_string()))
    }

    fn shape() -> Shape {
        Shape::Text { what: "a moment, with or without whose it is", pattern: "" }
    }
}

impl<T: Value> Value for Vec<T> {
    fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
        let Some(list) = input.get_ref().as_array() else {
            return reader.wrong_type(input, "a list");
        };
        let mut values = Self::new();
        for (index, item) in list.iter().enumerate() {
            reader.enter(&(index + 1).to_string(), item.span(), item.span());
            match T::read(item, reader) {
                Some(value) => values.push(value),
                None => reader.skip(),
            }
            reader.leave();
        }
        Some(values)
    }

    fn write(&self) -> Option<Toml> {
        if self.is_empty() {
            return None;
        }
        Some(Toml::Array(self.iter().filter_map(Value::write).collect()))
    }

    fn shape() -> Shape {
        Shape::List(Box::new(T::shape()), 0, usize::MAX)
    }
}

impl<T: Value> Value for (T, T) {
    fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
        let list = Vec::<T>::read(input, reader)?;
        match <[T; 2]>::try_from(list) {
            Ok([first, second]) => Some((first, second)),
            Err(list) => {
                reader.report(
                    ScenarioError::new(
                        Code::WrongType,
                        input.span(),
                        format!("two values belong here, not {}", list.len()),
                    )
                    .label("a list of two"),
                );
                None
            }
        }
    }

    fn write(&self) -> Option<Toml> {
        Some(Toml::Array([self.0.write(), self.1.write()].into_iter().flatten().collect()))
    }

    fn shape() -> Shape {
        Shape::List(Box::new(T::shape()), 2, 2)
    }
}
