//! The ids of a net's parts, in one text.

use std::fmt;
use std::ops::Index;

/// Ids in the order of the net. They take no more memory than their text and one number each.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Ids {
    text: String,
    /// End of each id in the text.
    ends: Vec<usize>,
}

impl Ids {
    /// Number of ids.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there is no id.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The id at a position, if there is one.
    pub fn get(&self, position: usize) -> Option<&str> {
        let end = *self.ends.get(position)?;
        let start = position.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.text[start..end])
    }

    /// All ids, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        (0..self.len()).map(|position| &self[position])
    }

    /// Position of an id.
    pub fn position(&self, id: &str) -> Option<usize> {
        self.iter().position(|own| own == id)
    }

    /// The ids as texts of their own.
    pub fn to_vec(&self) -> Vec<String> {
        self.iter().map(str::to_owned).collect()
    }
}

impl Default for &Ids {
    fn default() -> Self {
        static NONE: Ids = Ids { text: String::new(), ends: Vec::new() };
        &NONE
    }
}

impl Index<usize> for Ids {
    type Output = str;

    fn index(&self, position: usize) -> &str {
        self.get(position).expect("the net has a part at this position")
    }
}

impl<S: AsRef<str>> FromIterator<S> for Ids {
    fn from_iter<I: IntoIterator<Item = S>>(texts: I) -> Self {
        let mut ids = Self::default();
        for id in texts {
            ids.text.push_str(id.as_ref());
            ids.ends.push(ids.text.len());
        }
        ids
    }
}

impl fmt::Debug for Ids {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_by_index_and_by_text() {
        let texts = ["p", "", "queue", "pö", ""];
        let ids: Ids = texts.into_iter().collect();
        assert_eq!((ids.to_vec(), &ids[2], ids.len()), (texts.map(str::to_owned).to_vec(), "queue", 5));
        assert_eq!((ids.position("pö"), ids.position("q"), ids.get(5)), (Some(3), None, None));
        assert!(Ids::default().is_empty());
    }
}
