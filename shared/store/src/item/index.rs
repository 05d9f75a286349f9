//! The three indexes: which attributes are their keys, and what they show of an item.

use crate::table::{Attributes, Index, Item, Value};

impl Index {
    /// The attribute that index one shows beside the keys.
    pub const SUMMARY: &str = "su";

    /// Every index.
    pub const EVERY: [Self; 3] = [Self::One, Self::Two, Self::Three];

    /// The names of the attributes that are its partition and its sort key.
    #[must_use]
    pub const fn keys(self) -> [&'static str; 2] {
        match self {
            Self::One => ["g1p", "g1s"],
            Self::Two => ["g2p", "g2s"],
            Self::Three => ["g3p", "g3s"],
        }
    }

    /// Whether it shows the attribute.
    #[must_use]
    pub fn shows(self, attribute: &str) -> bool {
        match self {
            Self::One => attribute == Self::SUMMARY || self.keys().contains(&attribute),
            Self::Two | Self::Three => self.keys().contains(&attribute),
        }
    }
}

impl Item {
    /// Its partition and sort key in the index, where it is in it.
    #[must_use]
    pub fn index_key(&self, index: Index) -> Option<[&str; 2]> {
        let [partition, sort] = index.keys();
        Some([
            text(&self.attributes, partition)?,
            text(&self.attributes, sort)?,
        ])
    }

    /// What the index shows of it.
    #[must_use]
    pub fn projected(mut self, index: Index) -> Self {
        self.attributes.retain(|name, _| index.shows(name));
        self
    }
}

fn text<'a>(attributes: &'a Attributes, name: &str) -> Option<&'a str> {
    match attributes.get(name) {
        Some(Value::S(text)) => Some(text),
        Some(Value::N(_) | Value::B(_) | Value::Ss(_)) | None => None,
    }
}
