//! What a value may look like, for the schema and the reference.

use super::section::{Key, Keys, Section};
use super::value::Value;

/// What a value may look like.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// A text; the pattern is a regular expression for editors.
    Text {
        /// What the text is, such as `a length of time`.
        what: &'static str,
        /// A regular expression that it matches, or nothing.
        pattern: &'static str,
    },
    /// One of some words, each with its meaning.
    Words(Vec<(&'static str, &'static str)>),
    /// A whole number.
    Integer {
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
    },
    /// A fraction between 0 and 1.
    Fraction,
    /// `true` or `false`.
    Boolean,
    /// A list of so many values at least and at most.
    List(Box<Shape>, usize, usize),
    /// A table.
    Table(&'static str, Vec<KeyShape>),
    /// A table with exactly one key.
    Tagged(Vec<KeyShape>),
    /// One of several shapes.
    Either(Vec<Shape>),
}

/// What a key's value may look like.
#[derive(Clone, Debug)]
pub(super) struct KeyShape {
    /// The key.
    pub(super) name: &'static str,
    /// What it means.
    pub(super) doc: &'static str,
    /// Whether it must be there.
    pub(super) is_required: bool,
    /// Its value's shape.
    pub(super) shape: Shape,
    /// What it is when it is left out.
    pub(super) default: Option<toml::Value>,
}

/// Returns the shape of a section's table.
pub(super) fn table_shape<S: Section>() -> Shape {
    let mut shapes = Shapes(Vec::new());
    S::default().keys(&mut shapes);
    Shape::Table(S::DOC, shapes.0)
}

struct Shapes(Vec<KeyShape>);

impl Keys for Shapes {
    fn key<T: Value>(&mut self, key: Key, field: &mut T) -> bool {
        let default = if key.is_required { None } else { field.write() };
        self.0.push(KeyShape {
            name: key.name,
            doc: key.doc,
            is_required: key.is_required,
            shape: T::shape(),
            default,
        });
        false
    }

    fn optional<T: Value>(&mut self, key: Key, _: &mut Option<T>) -> bool {
        self.0.push(KeyShape {
            name: key.name,
            doc: key.doc,
            is_required: false,
            shape: T::shape(),
            default: None,
        });
        false
    }

    fn list<S: Section>(&mut self, key: Key, _: &mut Vec<S>, _: impl Fn(usize) -> S) {
        self.0.push(KeyShape {
            name: key.name,
            doc: key.doc,
            is_required: false,
            shape: Shape::List(Box::new(table_shape::<S>()), 0, usize::MAX),
            default: None,
        });
    }

    fn exactly_one(&mut self, _: &[&'static str]) {}

    fn together(&mut self, _: &[&'static str]) {}
}
