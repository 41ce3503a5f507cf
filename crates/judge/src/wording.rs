//! What was judged in the terms of another tool.

use crate::finding::Finding;
use crate::judged::Judged;
use crate::verdict::Verdict;
use record::{Sentence, Terminology};

impl Judged {
    /// The same with options named in a tool's terms.
    #[must_use]
    pub fn in_terms(mut self, terminology: &Terminology) -> Judged {
        let reword = |sentence: &mut Sentence| *sentence = sentence.in_terms(terminology).into();
        for Verdict { because, .. } in &mut self.verdicts {
            reword(because);
        }
        for Finding { text, cause, remedy, .. } in &mut self.findings {
            reword(text);
            reword(cause);
            *remedy = remedy.in_terms(terminology).into();
        }
        self
    }
}
