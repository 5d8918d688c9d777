//! The first paragraph of a document: the answer, the check of the plan on its own runs, where the time goes, and what is assumed.

use crate::document::number::Number;

/// A part of a sentence.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Words.
    Text(String),
    /// A number of the result.
    Number(Number),
}

impl From<&str> for Piece {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Piece {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Number> for Piece {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl Piece {
    /// Returns the words, with the interval of a number.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.in_words(),
        }
    }
}

/// The topic of a part of the first paragraph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// The answer to the question.
    Answer,
    /// The verdict on the model: the runs that it was made from are reproduced, or not.
    OwnRun,
    /// Where the time goes.
    Where,
    /// Assumptions in place of measurements.
    Assumed,
}

/// The first paragraph of a document, in the order of reading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paragraph(Vec<(Topic, Vec<Piece>)>);

impl From<Vec<Piece>> for Paragraph {
    fn from(answer: Vec<Piece>) -> Self {
        Self(vec![(Topic::Answer, answer)])
    }
}

impl Paragraph {
    /// Adds words about a topic.
    pub fn say(&mut self, topic: Topic, pieces: impl IntoIterator<Item = Piece>) {
        self.0.push((topic, pieces.into_iter().collect()));
    }

    /// Returns the words with their numbers, in the order of reading.
    pub fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.0.iter().flat_map(|(_, pieces)| pieces)
    }

    /// Returns true if there are no words.
    pub fn is_empty(&self) -> bool {
        self.pieces().next().is_none()
    }

    /// Returns this paragraph, continued by another one.
    #[must_use]
    pub(crate) fn and(mut self, mut other: Self) -> Self {
        self.0.append(&mut other.0);
        self
    }

    /// Returns the text on a topic; empty without one.
    pub fn about(&self, topic: Topic) -> String {
        let own = self.0.iter().filter(|(other, _)| *other == topic);
        let words: String = own.flat_map(|(_, pieces)| pieces).map(Piece::words).collect();
        words.trim().to_owned()
    }
}
