//! Values that are more than a word or a number.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::numbers::Score;

/// A value of any Redis type that does not fit in a slot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Object {
    /// A string that is neither a canonical number nor a token.
    Text(Vec<u8>),
    /// A hash.
    Hash(Hash),
    /// A list.
    List(List),
    /// A set.
    Set(Set),
    /// A sorted set.
    SortedSet(SortedSet),
}

/// A list.
pub(crate) type List = VecDeque<Vec<u8>>;
/// A set, in the order of its members' bytes.
pub(crate) type Set = BTreeSet<Vec<u8>>;

impl Object {
    /// The word that TYPE says.
    pub(crate) const fn type_name(&self) -> &'static str {
        match self {
            Self::Text(_) => "string",
            Self::Hash(_) => "hash",
            Self::List(_) => "list",
            Self::Set(_) => "set",
            Self::SortedSet(_) => "zset",
        }
    }

    /// Tells whether a container has nothing in it, so that its key must go.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Text(_) => false,
            Self::Hash(hash) => hash.len() == 0,
            Self::List(list) => list.is_empty(),
            Self::Set(set) => set.is_empty(),
            Self::SortedSet(zset) => zset.len() == 0,
        }
    }
}

/// A kind of container, found in an object or made when missing.
pub(crate) trait Kind: Default {
    /// The container in the object, if the object is of this kind.
    fn of(object: &mut Object) -> Option<&mut Self>;
    /// The object around the container.
    fn into_object(self) -> Object;
}

macro_rules! kind {
    ($type:ty, $variant:ident) => {
        impl Kind for $type {
            fn of(object: &mut Object) -> Option<&mut Self> {
                if let Object::$variant(inner) = object { Some(inner) } else { None }
            }

            fn into_object(self) -> Object {
                Object::$variant(self)
            }
        }
    };
}

kind!(Hash, Hash);
kind!(List, List);
kind!(Set, Set);
kind!(SortedSet, SortedSet);

/// A hash that lists its fields in the order in which they came.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Hash {
    places: BTreeMap<Vec<u8>, u64>,
    entries: BTreeMap<u64, (Vec<u8>, Vec<u8>)>,
    next: u64,
}

impl Hash {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn get(&self, field: &[u8]) -> Option<&Vec<u8>> {
        let place = self.places.get(field)?;
        self.entries.get(place).map(|(_, value)| value)
    }

    /// Sets a field, and says whether it is new.
    pub(crate) fn set(&mut self, field: &[u8], value: Vec<u8>) -> bool {
        if let Some(entry) = self.places.get(field).and_then(|place| self.entries.get_mut(place)) {
            entry.1 = value;
            return false;
        }
        self.places.insert(field.to_vec(), self.next);
        self.entries.insert(self.next, (field.to_vec(), value));
        self.next += 1;
        true
    }

    pub(crate) fn remove(&mut self, field: &[u8]) -> Option<Vec<u8>> {
        let place = self.places.remove(field)?;
        self.entries.remove(&place).map(|(_, value)| value)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(Vec<u8>, Vec<u8>)> {
        self.entries.values()
    }
}

/// A sorted set: members by score, ties by their bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct SortedSet {
    scores: BTreeMap<Vec<u8>, Score>,
    order: BTreeSet<(Score, Vec<u8>)>,
}

impl SortedSet {
    pub(crate) fn len(&self) -> usize {
        self.scores.len()
    }

    pub(crate) fn score(&self, member: &[u8]) -> Option<f64> {
        self.scores.get(member).map(|score| score.0)
    }

    /// Sets a member's score, and says whether the member is new.
    pub(crate) fn set(&mut self, member: &[u8], score: f64) -> bool {
        let score = Score::new(score);
        let old = self.scores.insert(member.to_vec(), score);
        if let Some(old) = old {
            self.order.remove(&(old, member.to_vec()));
        }
        self.order.insert((score, member.to_vec()));
        old.is_none()
    }

    pub(crate) fn remove(&mut self, member: &[u8]) -> bool {
        let Some(old) = self.scores.remove(member) else { return false };
        self.order.remove(&(old, member.to_vec()))
    }

    /// The position of a member, counted from the lowest score.
    pub(crate) fn rank(&self, member: &[u8]) -> Option<usize> {
        let score = *self.scores.get(member)?;
        Some(self.order.range(..(score, member.to_vec())).count())
    }

    /// The members from the lowest score to the highest.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (&[u8], f64)> {
        self.order.iter().map(|(score, member)| (member.as_slice(), score.0))
    }
}
