//! One question about a path, and its answer.

use record::named;

/// How a row is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Nothing to do.
    #[default]
    Ok,
    /// Worth knowing before a figure is believed.
    Look,
    /// Makes a figure wrong, or worthless for most questions.
    Problem,
}

named!(Mark: Ok "ok", Look "look", Problem "problem");

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it is about ("vda", "temperature").
    pub label: String,
    /// What was found.
    pub value: String,
    /// How to read it.
    pub mark: Mark,
}

/// One question and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its number, 1 to 14.
    pub number: u32,
    /// One word for programs ("scheduler").
    pub id: &'static str,
    /// A heading.
    pub title: &'static str,
    /// What was found.
    pub rows: Vec<Row>,
    /// What that means for a benchmark, in a sentence.
    pub means: String,
    /// What to decide or do, in a sentence.
    pub decide: String,
}

impl Section {
    pub(super) fn new(
        (number, id, title): (u32, &'static str, &'static str),
        rows: Vec<Row>,
        means: impl Into<String>,
        decide: impl Into<String>,
    ) -> Section {
        Section { number, id, title, rows, means: means.into(), decide: decide.into() }
    }

    /// The gravest mark of its rows.
    pub fn mark(&self) -> Mark {
        self.rows.iter().map(|row| row.mark).max().unwrap_or_default()
    }
}
