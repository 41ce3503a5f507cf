//! Remarks on the command line or profile.

/// Remarks, a sentence each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// Options without effect, or with an effect on the meaning of the figures.
    pub warnings: Vec<String>,
    /// How options work here; printed with `-v`.
    pub notes: Vec<String>,
}

impl Remarks {
    /// Adds a warning, once.
    pub(super) fn warn(&mut self, text: impl Into<String>) {
        add(&mut self.warnings, text.into());
    }

    /// Adds a note, once.
    pub(super) fn note(&mut self, text: impl Into<String>) {
        add(&mut self.notes, text.into());
    }

    /// Adds other remarks.
    pub(super) fn extend(&mut self, others: Remarks) {
        others.warnings.into_iter().for_each(|text| self.warn(text));
        others.notes.into_iter().for_each(|text| self.note(text));
    }
}

fn add(texts: &mut Vec<String>, text: String) {
    if !texts.contains(&text) {
        texts.push(text);
    }
}
