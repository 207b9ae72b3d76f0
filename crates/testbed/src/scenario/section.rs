//! One list of keys for each section, from which the reader, the writer, the schema and the
//! reference are made.
//!
//! [`section!`] declares a struct together with its keys; a [`Keys`] walks them.

use super::value::Value;

/// What the lists say about a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    /// Its name in the file.
    pub(super) name: &'static str,
    /// What it means, in a sentence or two.
    pub(super) doc: &'static str,
    /// Whether it must be there.
    pub(super) is_required: bool,
}

/// A part of a scenario that lists its keys.
pub(super) trait Section: Default {
    /// What the section is.
    const DOC: &'static str;

    /// Shows each key to `keys`, which may read it, write it, or describe it.
    fn keys<K: Keys>(&mut self, keys: &mut K);
}

/// Somebody who walks over the keys of a section.
pub(super) trait Keys {
    /// Meets a key; returns whether it was read from a file.
    fn key<T: Value>(&mut self, key: Key, field: &mut T) -> bool;

    /// Meets a key that may be left out and then means nothing.
    fn optional<T: Value>(&mut self, key: Key, field: &mut Option<T>) -> bool;

    /// Meets a list of tables, of which each says how it differs from the template at its index.
    fn list<S: Section>(&mut self, key: Key, field: &mut Vec<S>, template: impl Fn(usize) -> S);

    /// Learns that exactly one of these keys of the section must be there.
    fn exactly_one(&mut self, names: &[&'static str]);

    /// Learns that of these keys of the section all or none must be there.
    fn together(&mut self, names: &[&'static str]);
}

/// Declares a struct whose fields are the keys of a section.
///
/// `field: Type` must be given and so must `field!: Type = blank`, whose type has no default of its
/// own; `field: Type = default` may be left out; `field?: Type` is an `Option` that is left out
/// when it is `None`; `field @ "key"` has another name in the file; and `..field: Type` puts the
/// keys of another section in this one.
macro_rules! section {
    (
        $(#[doc = $doc:literal])+
        pub struct $name:ident {
            $($body:tt)*
        }
    ) => {
        section!(@fields [$(#[doc = $doc])+ $name] [] [] [] $($body)*);
    };
    (@fields [$($head:tt)*] [$($field:tt)*] [$($default:tt)*] [$($key:tt)*]
        $(#[doc = $doc:literal])+ ..$name:ident: $ty:ty, $($rest:tt)*
    ) => {
        section!(@fields [$($head)*]
            [$($field)* $(#[doc = $doc])+ pub $name: $ty,]
            [$($default)* $name: Default::default(),]
            [$($key)* { flat $name [] }]
            $($rest)*);
    };
    (@fields [$($head:tt)*] [$($field:tt)*] [$($default:tt)*] [$($key:tt)*]
        $(#[doc = $doc:literal])+ $name:ident $(@ $alias:literal)? ?: $ty:ty, $($rest:tt)*
    ) => {
        section!(@fields [$($head)*]
            [$($field)* $(#[doc = $doc])+ pub $name: Option<$ty>,]
            [$($default)* $name: None,]
            [$($key)* { optional $name [concat!($($doc),+)] [$($alias)?] }]
            $($rest)*);
    };
    (@fields [$($head:tt)*] [$($field:tt)*] [$($default:tt)*] [$($key:tt)*]
        $(#[doc = $doc:literal])+ $name:ident $(@ $alias:literal)? !: $ty:ty = $value:expr,
        $($rest:tt)*
    ) => {
        section!(@fields [$($head)*]
            [$($field)* $(#[doc = $doc])+ pub $name: $ty,]
            [$($default)* $name: $value,]
            [$($key)* { required $name [concat!($($doc),+)] [$($alias)?] }]
            $($rest)*);
    };
    (@fields [$($head:tt)*] [$($field:tt)*] [$($default:tt)*] [$($key:tt)*]
        $(#[doc = $doc:literal])+ $name:ident $(@ $alias:literal)?: $ty:ty = $value:expr,
        $($rest:tt)*
    ) => {
        section!(@fields [$($head)*]
            [$($field)* $(#[doc = $doc])+ pub $name: $ty,]
            [$($default)* $name: $value,]
            [$($key)* { given $name [concat!($($doc),+)] [$($alias)?] }]
            $($rest)*);
    };
    (@fields [$($head:tt)*] [$($field:tt)*] [$($default:tt)*] [$($key:tt)*]
        $(#[doc = $doc:literal])+ $name:ident $(@ $alias:literal)?: $ty:ty, $($rest:tt)*
    ) => {
        section!(@fields [$($head)*]
            [$($field)* $(#[doc = $doc])+ pub $name: $ty,]
            [$($default)* $name: Default::default(),]
            [$($key)* { required $name [concat!($($doc),+)] [$($alias)?] }]
            $($rest)*);
    };
    (@fields [$(#[doc = $doc:literal])+ $name:ident]
        [$($field:tt)*] [$($default:tt)*] [$($key:tt)*]
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            $($field)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($default)* }
            }
        }

        impl $crate::scenario::section::Section for $name {
            const DOC: &'static str = concat!($($doc),+).trim_ascii();

            fn keys<K: $crate::scenario::section::Keys>(&mut self, keys: &mut K) {
                $(section!(@key self keys $key);)*
            }
        }

        $crate::scenario::value::table_value!($name);
    };
    (@key $self:ident $keys:ident { flat $name:ident [] }) => {
        $crate::scenario::section::Section::keys(&mut $self.$name, $keys)
    };
    (@key $self:ident $keys:ident { optional $name:ident [$doc:expr] [$($alias:literal)?] }) => {
        $keys.optional(section!(@meta $name [$doc] [$($alias)?] false), &mut $self.$name)
    };
    (@key $self:ident $keys:ident { given $name:ident [$doc:expr] [$($alias:literal)?] }) => {
        $keys.key(section!(@meta $name [$doc] [$($alias)?] false), &mut $self.$name)
    };
    (@key $self:ident $keys:ident { required $name:ident [$doc:expr] [$($alias:literal)?] }) => {
        $keys.key(section!(@meta $name [$doc] [$($alias)?] true), &mut $self.$name)
    };
    (@meta $name:ident [$doc:expr] [] $required:literal) => {
        $crate::scenario::section::Key {
            name: stringify!($name),
            doc: const { $doc.trim_ascii() },
            is_required: $required,
        }
    };
    (@meta $name:ident [$doc:expr] [$alias:literal] $required:literal) => {
        $crate::scenario::section::Key {
            name: $alias,
            doc: const { $doc.trim_ascii() },
            is_required: $required,
        }
    };
}

/// Declares an enum whose values are words.
macro_rules! words {
    (
        $(#[doc = $doc:literal])+
        pub enum $name:ident {
            $($(#[doc = $word_doc:literal])+ $(#[$default:ident])? $word:ident = $text:literal,)+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name {
            $($(#[doc = $word_doc])+ $(#[$default])? $word,)+
        }

        impl $name {
            /// All values, in the order of the reference.
            pub const ALL: &'static [Self] = &[$(Self::$word,)+];

            /// Returns the word as scenario files write it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$word => $text,)+
                }
            }

            /// Says in a sentence what the word means.
            #[must_use]
            pub const fn describe(self) -> &'static str {
                match self {
                    $(Self::$word => concat!($($word_doc),+).trim_ascii(),)+
                }
            }
        }

        $crate::scenario::value::word_value!($name);
    };
}

/// Declares an enum that a file writes as a table with one key.
macro_rules! tagged {
    (
        $(#[doc = $doc:literal])+
        pub enum $name:ident {
            $($(#[doc = $kind_doc:literal])+ $kind:ident($ty:ty) = $text:literal,)+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[doc = $kind_doc])+ $kind($ty),)+
        }

        impl $name {
            /// The kinds and what they are, in the order of the reference.
            pub const KINDS: &'static [(&'static str, &'static str)] =
                &[$(($text, concat!($($kind_doc),+).trim_ascii()),)+];

            /// Returns the name of its kind as scenario files write it.
            #[must_use]
            pub const fn kind(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => $text,)+
                }
            }
        }

        impl $crate::scenario::value::Value for $name {
            fn read(
                input: &$crate::scenario::value::Input<'_>,
                reader: &mut $crate::scenario::reader::Reader,
            ) -> Option<Self> {
                let (kind, value) = reader.only_key(input, Self::KINDS)?;
                let read = match kind {
                    $($text => <$ty as $crate::scenario::value::Value>::read(&value, reader)
                        .map(Self::$kind),)+
                    _ => None,
                };
                reader.leave();
                read
            }

            fn write(&self) -> Option<toml::Value> {
                let value = match self {
                    $(Self::$kind(value) => $crate::scenario::value::Value::write(value)?,)+
                };
                Some(toml::Value::Table([(self.kind().to_owned(), value)].into_iter().collect()))
            }

            fn shape() -> $crate::scenario::shape::Shape {
                $crate::scenario::shape::Shape::Tagged(vec![
                    $($crate::scenario::shape::KeyShape {
                        name: $text,
                        doc: concat!($($kind_doc),+).trim_ascii(),
                        is_required: false,
                        shape: <$ty as $crate::scenario::value::Value>::shape(),
                        default: None,
                    },)+
                ])
            }
        }
    };
}

pub(super) use {section, tagged, words};
