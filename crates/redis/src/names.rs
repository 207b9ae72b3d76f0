//! Interned texts: key names and lock values that are words.
//!
//! Names are resolved once, when a scenario is built or a request is parsed. From then on a key is
//! a small number and no string is hashed, compared or allocated.

use std::collections::{BTreeMap, BTreeSet};

use crate::value::Value;

/// A key, as a position in the engine's table of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub u32);

/// The table that gives every name a number and every number its name back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Names {
    texts: Vec<Box<[u8]>>,
    index: BTreeMap<Box<[u8]>, u32>,
    /// Numbers that may be given to another name once nothing refers to them.
    transient: BTreeSet<u32>,
    free: Vec<u32>,
}

impl Names {
    /// Makes an empty table.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives the number of a text, which is the same number each time it is asked.
    ///
    /// # Panics
    ///
    /// Panics if more than `u32::MAX` different texts are interned.
    pub fn intern(&mut self, text: &[u8]) -> u32 {
        let id = self.intern_transient(text);
        self.transient.remove(&id);
        id
    }

    /// Gives the number of a text that a client made up: it can be released again.
    pub(crate) fn intern_transient(&mut self, text: &[u8]) -> u32 {
        if let Some(&id) = self.index.get(text) {
            return id;
        }
        if let Some(id) = self.free.pop() {
            self.texts[id as usize] = text.into();
            self.index.insert(text.into(), id);
            self.transient.insert(id);
            return id;
        }
        let id = u32::try_from(self.texts.len()).expect("fewer than u32::MAX names");
        self.texts.push(text.into());
        self.index.insert(text.into(), id);
        self.transient.insert(id);
        id
    }

    /// Counts the names that clients made up.
    pub(crate) fn transient_len(&self) -> usize {
        self.transient.len()
    }

    /// Forgets the names that clients made up and nothing refers to any more.
    pub(crate) fn release(&mut self, mut is_used: impl FnMut(u32) -> bool) {
        let unused: Vec<u32> = self.transient.iter().copied().filter(|id| !is_used(*id)).collect();
        for id in unused {
            self.transient.remove(&id);
            let text = std::mem::take(&mut self.texts[id as usize]);
            self.index.remove(&text);
            self.free.push(id);
        }
    }

    /// Gives the key of this name.
    pub fn key(&mut self, text: &str) -> KeyId {
        KeyId(self.intern(text.as_bytes()))
    }

    /// Gives the value whose bytes are this text, in its canonical form.
    pub fn value(&mut self, text: &str) -> Value {
        Value::from_text(text.as_bytes())
            .unwrap_or_else(|| Value::Name(self.intern(text.as_bytes())))
    }

    /// Finds the number of a text without making one.
    #[must_use]
    pub fn find(&self, text: &[u8]) -> Option<u32> {
        self.index.get(text).copied()
    }

    /// Gives the text of a number; a number never handed out has an empty text.
    #[must_use]
    pub fn text(&self, id: u32) -> &[u8] {
        self.texts.get(id as usize).map_or(&[], |text| text)
    }

    /// Counts the names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Tells whether there is no name.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}
