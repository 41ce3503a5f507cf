//! What the user should know of what was typed.

/// Remarks, a sentence each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// Something that was asked for has no effect, or changes what the figures are of.
    pub warnings: Vec<String>,
    /// How something is done here; for `-v`.
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

    /// Adds those of another part.
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
