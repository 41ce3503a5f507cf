//! Sentences that name options of fathom's, and can be worded with another tool's flags.

use crate::terminology::{Terminology, typed};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Deref, Range};

/// A sentence that records where it names options. It is displayed, compared and stored as its
/// text.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Sentence {
    text: String,
    mentions: Vec<Mention>,
}

/// An option named in a sentence.
#[derive(Clone, Debug)]
struct Mention {
    place: Range<usize>,
    option: String,
    value: Option<String>,
}

impl Sentence {
    /// The sentence continued by text.
    #[must_use]
    pub fn text(mut self, text: impl AsRef<str>) -> Sentence {
        self.text += text.as_ref();
        self
    }

    /// The sentence continued by the name of an option.
    #[must_use]
    pub fn option(self, option: &str) -> Sentence {
        self.mention(option, None)
    }

    /// The sentence continued by an option with its value.
    #[must_use]
    pub fn setting(self, option: &str, value: impl fmt::Display) -> Sentence {
        self.mention(option, Some(value.to_string()))
    }

    fn mention(mut self, option: &str, value: Option<String>) -> Sentence {
        let start = self.text.len();
        self.text += &typed(option, value.as_deref());
        let place = start..self.text.len();
        self.mentions.push(Mention { place, option: option.to_owned(), value });
        self
    }

    /// The sentence continued by another one.
    #[must_use]
    pub fn sentence(mut self, other: &Sentence) -> Sentence {
        let start = self.text.len();
        self.text += &other.text;
        self.mentions.extend(other.mentions.iter().map(|mention| Mention {
            place: mention.place.start + start..mention.place.end + start,
            ..mention.clone()
        }));
        self
    }

    /// The text with options named in a tool's terms.
    pub fn in_terms(&self, terminology: &Terminology) -> String {
        let mut out = String::with_capacity(self.text.len());
        let mut end = 0;
        for Mention { place, option, value } in &self.mentions {
            out += &self.text[end..place.start];
            out += &terminology.mention(option, value.as_deref());
            end = place.end;
        }
        out + &self.text[end..]
    }

    /// The text, with fathom's own names of options.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The options that it names.
    pub fn options(&self) -> impl Iterator<Item = &str> {
        self.mentions.iter().map(|mention| mention.option.as_str())
    }
}

/// A literal, in which options are marked: "the job pauses (`thinktime`)", "use `direct=0`".
impl From<&'static str> for Sentence {
    fn from(literal: &'static str) -> Sentence {
        let mut sentence = Sentence::default();
        for (index, part) in literal.split('`').enumerate() {
            sentence = match (index % 2, part.split_once('=')) {
                (0, _) => sentence.text(part),
                (_, Some((option, value))) => sentence.setting(option, value),
                (_, None) => sentence.option(part),
            };
        }
        sentence
    }
}

/// Text that names no options.
impl From<String> for Sentence {
    fn from(text: String) -> Sentence {
        Sentence { text, mentions: Vec::new() }
    }
}

impl From<&String> for Sentence {
    fn from(text: &String) -> Sentence {
        text.clone().into()
    }
}

impl From<Sentence> for String {
    fn from(sentence: Sentence) -> String {
        sentence.text
    }
}

impl Deref for Sentence {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for Sentence {
    fn eq(&self, other: &Sentence) -> bool {
        self.text == other.text
    }
}

impl Eq for Sentence {}

impl PartialEq<&str> for Sentence {
    fn eq(&self, other: &&str) -> bool {
        self.text == *other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Term;

    const TOOL: Terminology = Terminology {
        terms: &[&[
            Term::Setting("direct", "1", "-Su"),
            Term::Flag("iodepth", "-o"),
            Term::Flag("size", "-s "),
            Term::Absent("invalidate"),
        ]],
        elsewhere: Some("fathom run"),
    };

    #[test]
    fn marked_options_are_named_in_the_terms_of_the_tool() {
        for (literal, plain, of_tool) in [
            ("use `direct=1`", "use direct=1", "use -Su"),
            ("use `direct=0`, é", "use direct=0, é", "use fathom run --direct=0, é"),
            ("`direct` or `iodepth=8`", "direct or iodepth=8", "-Su or -o8"),
            ("`size` and `size=4k`", "size and size=4k", "-s and -s 4k"),
            ("`invalidate` (`rw`)", "invalidate (rw)", "fathom run --invalidate (fathom run --rw)"),
            ("no iodepth=4", "no iodepth=4", "no iodepth=4"),
            ("", "", ""),
        ] {
            let sentence = Sentence::from(literal);
            assert_eq!(sentence, plain);
            assert_eq!(sentence.in_terms(&TOOL), of_tool);
            assert_eq!(sentence.in_terms(&Terminology::default()), plain);
        }
    }

    #[test]
    fn continued_sentences_keep_their_options() {
        let built = Sentence::from(String::from("of `é` ")).setting("iodepth", 4).text("; ");
        let joined = built.sentence(&"use `direct=1`".into());
        assert_eq!(joined, "of `é` iodepth=4; use direct=1");
        assert_eq!(joined.in_terms(&TOOL), "of `é` -o4; use -Su");
        assert_eq!(joined.options().collect::<Vec<_>>(), ["iodepth", "direct"]);
    }

    #[test]
    fn a_sentence_is_stored_as_its_text() {
        let sentence = Sentence::from("use `direct=1`");
        let stored = serde_json::to_string(&sentence).unwrap();
        assert_eq!(stored, "\"use direct=1\"");
        assert_eq!(serde_json::from_str::<Sentence>(&stored).unwrap(), sentence);
    }
}
