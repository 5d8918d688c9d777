//! One result, independent of the rendering: title, answer, remarks, tables, figures, provenance.
//!
//! ```text
//! result ──▶ Report::document ──▶ Document ──▶ render::{text, markdown, html, csv}
//!        └─▶ Report::json
//! ```
//!
//! # How to convert one kind of result
//!
//! 1. `impl Report for XReport`: `KIND` is the `kind` of its JSON, `document` builds the [`Document`]. Start from the
//!    function of the page, if the kind has one.
//! 2. Declare each table once. [`Column::new`] takes the title for readers; [`Column::key`] the key in CSV, and
//!    [`Column::unit`] the unit that its header states (its numbers then print without one).
//!    * Long CSV (`measure,name,unit,value,low,high,level,samples`): the key of the column is the measure, the first
//!      cell of the row the name. [`Cell::named`] has one text for readers and another one for CSV. The row's unit is
//!      [`Number::unit`]. A fact without a table, such as `partial`, is one call of [`Document::fact`].
//!    * Wide CSV (a column each): [`Table::wide`]. [`Column::ends`] adds `_low` and `_high`.
//!    * [`Show`] determines the visibility of a table or a column: all, readers with room, `--verbose`, or CSV only.
//! 3. A number is a [`Number`] with its position in the JSON ([`Number::new`], [`Number::measured`]). Never format one by
//!    hand: units, signs, percent and digits are parts of it, and tests compare the position with the JSON.
//! 4. Limitations of a result (stopped early, a lower bound, an assumption) go into `remarks`, into the error
//!    of the number ([`crate::estimate::Measured::at_least`]) or into the note of the table. No renderer can
//!    lose them there. 5. A figure has a picture, a text form, or both: `Figure::bars` makes both from the
//!    same rows.
//! 6. Delete the kind's text, CSV and page functions. In the tool, print with `terminal.report(&report, &args.print)`.
//!    In `read.rs`, add the kind to the list of kinds, so that the `report` command reads it.
//!
//! | question | file |
//! |---|---|
//! | document, figures, the trait | `mod` |
//! | a number with its uncertainty, unit, digits and position | `number` |
//! | the first paragraph | `paragraph` |
//! | tables, columns, cells | `table` |
//! | results compared | `compare` |
//! | the six blocks of an answer, times and sizes in words | `screen` |
//! | parts that several kinds share | `parts` |

pub(crate) mod compare;
mod number;
mod paragraph;
pub(crate) mod parts;
mod rows;
pub(crate) mod screen;
mod table;

use crate::render::{Look, bars_text};
use crate::report::bar_rows::{BarRow, ENDS, are_spans};
use crate::report::{Picture, PlotError};

pub use crate::render::Report;
pub use number::Number;
pub use paragraph::{Paragraph, Piece, Topic};
pub use rows::Rows;
pub use screen::{Blocks, NextCommand, Screen, ScreenChange, ScreenShares, ScreenVerdict, Typed};
pub(crate) use screen::{data_size, decimals};
pub use screen::{human_time, percent_text, short_name};
pub(crate) use table::CHOSEN;
pub use table::{Bar, Cell, Column, Form, Show, Table};

/// One result, or a comparison of several.
#[derive(Debug, Default)]
pub struct Document<'a> {
    /// The kind of result, in one or two words.
    pub kind: &'static str,
    /// The title, which states the subject of the result.
    pub title: String,
    /// The question that the result answers, as a noun phrase.
    pub question: String,
    /// The answer, in a sentence or two, with the check of the plan, where the time goes, and what is assumed.
    pub answer: Paragraph,
    /// Limitations of the answer: partial results, omissions, assumptions.
    pub remarks: Vec<String>,
    /// Tables, figures and paragraphs, in the order of reading.
    pub blocks: Vec<Block<'a>>,
    /// Number of the block that lists what would change the answer, if there is one.
    pub changes: Option<usize>,
    /// Commands that answer the next questions, of a result without a screen.
    pub next: Vec<NextCommand>,
    /// The plan as text; empty without a plan.
    pub plan: String,
    /// Origin of the numbers: names and values.
    pub provenance: Vec<[String; 2]>,
    /// The six blocks for people, if the kind of result has them.
    pub screen: Option<Screen>,
    /// The files that the user has typed.
    pub typed: Typed,
    /// The time by which results are compared, if any.
    pub headline: Option<Headline>,
}

/// A part of a document.
#[derive(Debug)]
pub enum Block<'a> {
    /// A table, or a list of names and values.
    Table(Table),
    /// A figure.
    Figure(Figure<'a>),
    /// A paragraph.
    Text(Vec<Piece>),
}

/// The numbers of a time by which results are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Headline {
    /// The part of the result to which these times apply, if it is not the whole result.
    pub of: Option<String>,
    /// The mean.
    pub mean: Number,
    /// p50, p95, p99.
    pub quantiles: [Option<Number>; 3],
}

/// Draws a picture; returns `None` if there is nothing to draw.
type Draw<'a> = Box<dyn Fn() -> Result<Option<Picture>, PlotError> + 'a>;
/// Writes a figure as text.
type Write<'a> = Box<dyn Fn(&Look) -> String + 'a>;

/// A figure: a picture, lines of text, or both, drawn on demand.
pub struct Figure<'a> {
    /// The figure's title.
    pub title: String,
    /// Advice on how to read the figure.
    pub caption: String,
    /// True if two such figures are placed side by side on a wide page.
    pub half: bool,
    picture: Option<Draw<'a>>,
    text: Option<Write<'a>>,
}

impl<'a> Figure<'a> {
    /// Returns an empty figure.
    pub fn new(title: impl Into<String>, caption: impl Into<String>) -> Self {
        Self { title: title.into(), caption: caption.into(), half: false, picture: None, text: None }
    }

    /// Adds a picture.
    #[must_use]
    pub fn drawn(self, draw: impl Fn() -> Result<Option<Picture>, PlotError> + 'a) -> Self {
        Self { picture: Some(Box::new(draw)), ..self }
    }

    /// Sets the function that writes the text for a terminal.
    #[must_use]
    pub fn written(self, write: impl Fn(&Look) -> String + 'a) -> Self {
        Self { text: Some(Box::new(write)), ..self }
    }

    /// Returns rows of bars on one axis, as a picture called `name` and as text.
    #[cfg_attr(not(feature = "plots"), expect(unused_variables, reason = "without pictures there is no name"))]
    pub(crate) fn bars(
        name: &'static str,
        title: impl Into<String>,
        caption: impl Into<String>,
        axis: impl Into<String>,
        rows: Vec<BarRow>,
    ) -> Self {
        let caption = if are_spans(&rows) { format!("{} {ENDS}", caption.into()) } else { caption.into() };
        let axis = axis.into();
        let figure = Self::new(title, caption);
        #[cfg(feature = "plots")]
        let figure = {
            let (axis, rows) = (axis.clone(), rows.clone());
            figure.drawn(move || crate::report::rows_plot::rows_picture(name, &axis, &rows))
        };
        figure.written(move |look| bars_text(&axis, &rows, look))
    }

    /// Returns the picture; `None` if there is nothing to draw.
    ///
    /// # Errors
    ///
    /// [`PlotError`], which no report of this crate causes.
    pub fn picture(&self) -> Result<Option<Picture>, PlotError> {
        self.picture.as_ref().map_or(Ok(None), |draw| draw())
    }

    /// Returns the lines for a terminal; `None` without a text form.
    pub fn text(&self, look: &Look) -> Option<String> {
        self.text.as_ref().map(|write| write(look)).filter(|text| !text.is_empty())
    }
}

impl std::fmt::Debug for Figure<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Figure").field("title", &self.title).field("caption", &self.caption).finish_non_exhaustive()
    }
}

impl<'a> Document<'a> {
    /// Adds a figure.
    pub fn figure(&mut self, figure: Figure<'a>) {
        self.blocks.push(Block::Figure(figure));
    }
    /// Adds a table, if it has rows.
    pub fn table(&mut self, table: Table) {
        if !table.rows.is_empty() {
            self.blocks.push(Block::Table(table));
        }
    }

    /// Appends the blocks, remarks and sources of the document of a part of the result, whose JSON stands at `at` in the JSON of the whole.
    pub(crate) fn append(&mut self, part: Document<'a>, at: &str) {
        let moved = |number: &mut Number| number.at.insert_str(0, at);
        for mut block in part.blocks {
            match &mut block {
                Block::Table(table) => table.rows.iter_mut().flatten().for_each(|cell| match cell {
                    Cell::Number(number) => moved(number),
                    Cell::Empty | Cell::Text { .. } => {}
                }),
                Block::Text(pieces) => pieces.iter_mut().for_each(|piece| match piece {
                    Piece::Number(number) => moved(number),
                    Piece::Text(_) => {}
                }),
                Block::Figure(_) => {}
            }
            self.blocks.push(block);
        }
        self.remarks.extend(part.remarks);
        self.provenance.extend(part.provenance);
    }

    /// Adds the table of what would change the answer, if it has rows.
    pub(crate) fn add_changes(&mut self, table: Table) {
        self.changes = (!table.rows.is_empty()).then_some(self.blocks.len());
        self.table(table);
    }

    /// Returns the table of what would change the answer.
    pub fn changes_table(&self) -> Option<&Table> {
        match self.changes.and_then(|number| self.blocks.get(number)) {
            Some(Block::Table(table)) => Some(table),
            _ => None,
        }
    }

    /// Returns what the answer says, part by part.
    pub fn six_blocks(&self) -> Blocks {
        if let Some(screen) = &self.screen {
            return screen.blocks(&self.typed);
        }
        let about = |topic| self.answer.about(topic);
        let changes = self.changes_table().map(|table| {
            let row = |row: &Vec<Cell>| {
                let texts: Vec<String> = row.iter().filter(|cell| **cell != Cell::Empty).map(Cell::in_words).collect();
                texts.join(", ")
            };
            table.rows.iter().map(row).collect()
        });
        Blocks {
            answer: about(Topic::Answer),
            reproduced: None,
            own_run: about(Topic::OwnRun),
            parts: about(Topic::Where),
            changes: changes.unwrap_or_default(),
            refused: String::new(),
            assumed: about(Topic::Assumed),
            next: NextCommand::about(&self.next, &self.typed).into_iter().map(|next| next.command).collect(),
        }
    }

    /// Adds a row that only CSV has: a measure without a name.
    pub fn fact(&mut self, measure: &'static str, value: impl Into<Cell>) {
        self.fact_of(measure, "", value);
    }

    /// Adds a row that only CSV has: a measure and a name.
    pub fn fact_of(&mut self, measure: &'static str, name: &str, value: impl Into<Cell>) {
        let columns = [Column::new(""), Column::new("").key(measure)];
        self.table(Table::new("", "", columns).row([name.into(), value.into()]).show(Show::Csv));
    }

    /// Iterates over the tables.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Table(table) => Some(table),
            Block::Figure(_) | Block::Text(_) => None,
        })
    }

    /// Iterates over the figures.
    pub fn figures(&self) -> impl Iterator<Item = &Figure<'a>> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Figure(figure) => Some(figure),
            Block::Table(_) | Block::Text(_) => None,
        })
    }

    /// Draws the pictures of all figures.
    ///
    /// # Errors
    ///
    /// [`PlotError`], which no report of this crate causes.
    pub fn pictures(&self) -> Result<Vec<Picture>, PlotError> {
        let drawn: Result<Vec<_>, _> = self.figures().map(Figure::picture).collect();
        Ok(drawn?.into_iter().flatten().collect())
    }
}
