//! What to do about a finding or a problem: options to set, drop, raise or lower, or advice in words.

use crate::sentence::Sentence;
use crate::terminology::{Named, Terminology, typed};
use std::fmt;

/// Steps, of which one suffices unless [`Remedy::also`] joins them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remedy {
    steps: Vec<Step>,
}

/// Actions that are taken together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Step {
    /// Whether it is taken in addition to the step before, not in its place.
    is_besides: bool,
    actions: Vec<Action>,
    /// The end of its clause: the amount or purpose ("to 32", "to measure the storage").
    ending: String,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Action {
    /// Something to do with an option: "use", with its value; "drop", "raise", "lower"; "set", with a
    /// value that the ending of the step describes.
    Change { verb: &'static str, option: &'static str, value: Option<String> },
    /// Advice in words.
    Text(Sentence),
}

/// Set an option.
pub fn set(option: &'static str, value: impl fmt::Display) -> Remedy {
    Action::Change { verb: "use", option, value: Some(value.to_string()) }.into()
}

/// Drop one of these options.
pub fn drop<const N: usize>(options: [&'static str; N]) -> Remedy {
    any("drop", options)
}

/// Raise one of these options.
pub fn raise<const N: usize>(options: [&'static str; N]) -> Remedy {
    any("raise", options)
}

/// Lower one of these options.
pub fn lower<const N: usize>(options: [&'static str; N]) -> Remedy {
    any("lower", options)
}

/// Choose values of all these options; [`Remedy::ending`] says which.
pub fn choose<const N: usize>(options: [&'static str; N]) -> Remedy {
    any("set", options).and(Remedy::default())
}

fn any<const N: usize>(verb: &'static str, options: [&'static str; N]) -> Remedy {
    let actions = options.map(|option| Action::Change { verb, option, value: None });
    Remedy { steps: actions.map(Step::from).into() }
}

impl Remedy {
    /// Either this or the other.
    #[must_use]
    pub fn or(mut self, other: impl Into<Remedy>) -> Remedy {
        self.steps.extend(other.into().steps);
        self
    }

    /// This and the other.
    #[must_use]
    pub fn also(mut self, other: impl Into<Remedy>) -> Remedy {
        let first = self.steps.len();
        self.steps.extend(other.into().steps);
        if let Some(step) = self.steps.get_mut(first) {
            step.is_besides = first > 0;
        }
        self
    }

    /// All actions of this remedy and of the other, together.
    #[must_use]
    pub fn and(self, other: impl Into<Remedy>) -> Remedy {
        let steps = self.steps.into_iter().chain(other.into().steps);
        let actions = steps.flat_map(|step| step.actions).collect();
        Remedy { steps: vec![Step { actions, ..Step::default() }] }
    }

    /// The same with an ending for each of its clauses: the amount or purpose ("to 32", "to measure
    /// the storage", "above the machine's memory").
    #[must_use]
    pub fn ending(mut self, words: impl Into<String>) -> Remedy {
        let words = words.into();
        self.steps.iter_mut().for_each(|step| step.ending.clone_from(&words));
        self
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// In words, with options named in a tool's terms. A step that the tool cannot take is left out,
    /// unless none is left.
    pub fn in_terms(&self, terminology: &Terminology) -> String {
        let mut clauses: Vec<Clause> = Vec::new();
        for mut clause in self.steps.iter().filter_map(|step| step.clause(terminology)) {
            match clauses.last_mut().filter(|last| last.takes(&clause)) {
                Some(last) => last.objects.append(&mut clause.objects),
                None => clauses.push(clause),
            }
        }
        if let (true, false, Some(elsewhere)) =
            (clauses.is_empty(), self.is_empty(), terminology.elsewhere)
        {
            return format!("with {elsewhere}, {self}");
        }
        let mut out = String::new();
        for clause in &clauses {
            out += match (out.is_empty(), clause.is_besides) {
                (true, _) => "",
                (false, true) => "; ",
                (false, false) => ", or ",
            };
            out += &clause.text();
        }
        out
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_terms(&Terminology::default()))
    }
}

impl From<Action> for Step {
    fn from(action: Action) -> Step {
        Step { actions: vec![action], ..Step::default() }
    }
}

impl From<Action> for Remedy {
    fn from(action: Action) -> Remedy {
        Remedy { steps: vec![action.into()] }
    }
}

impl From<Sentence> for Remedy {
    fn from(text: Sentence) -> Remedy {
        if text.is_empty() { Remedy::default() } else { Action::Text(text).into() }
    }
}

impl From<&'static str> for Remedy {
    fn from(literal: &'static str) -> Remedy {
        Sentence::from(literal).into()
    }
}

impl From<String> for Remedy {
    fn from(text: String) -> Remedy {
        Sentence::from(text).into()
    }
}

/// A verb with its objects: "lower --size or --numjobs".
struct Clause {
    is_besides: bool,
    verb: &'static str,
    objects: Vec<String>,
    ending: String,
}

impl Clause {
    /// Whether the objects of the next clause can be in one list with these.
    fn takes(&self, next: &Clause) -> bool {
        !next.verb.is_empty()
            && !next.is_besides
            && (self.verb, &self.ending) == (next.verb, &next.ending)
    }

    fn text(&self) -> String {
        let text = phrase(self.verb, &self.objects, "or");
        if self.ending.is_empty() { text } else { format!("{text} {}", self.ending) }
    }
}

impl Step {
    /// The step in a tool's terms; `None` when the tool cannot take it.
    fn clause(&self, terminology: &Terminology) -> Option<Clause> {
        let mut phrases: Vec<(&'static str, Vec<String>)> = Vec::new();
        let mut elsewhere: Vec<String> = Vec::new();
        for action in &self.actions {
            let (verb, object) = match action.worded(terminology) {
                Worded::Here(verb, object) => (verb, object),
                Worded::Elsewhere(option) => {
                    elsewhere.push(option);
                    continue;
                }
                Worded::Nowhere => continue,
            };
            match phrases.last_mut().filter(|last| last.0 == verb && !verb.is_empty()) {
                Some((_, objects)) if objects.contains(&object) => {}
                Some((_, objects)) => objects.push(object),
                None => phrases.push((verb, vec![object])),
            }
        }
        if !elsewhere.is_empty() {
            let command = terminology.elsewhere.unwrap_or_default();
            phrases.push(("use", vec![format!("{command} {}", elsewhere.join(" "))]));
        }
        let (verb, objects) = match phrases.as_slice() {
            [] => return None,
            [(verb, objects)] if objects.len() == 1 => (*verb, objects.clone()),
            several => {
                let all = several.iter().map(|(verb, objects)| phrase(verb, objects, "and"));
                ("", vec![all.collect::<Vec<_>>().join(" and ")])
            }
        };
        Some(Clause { is_besides: self.is_besides, verb, objects, ending: self.ending.clone() })
    }
}

/// An action in a tool's terms.
enum Worded {
    /// A verb, and the flag it is about.
    Here(&'static str, String),
    /// An option of the command that has the options that the tool lacks.
    Elsewhere(String),
    Nowhere,
}

impl Action {
    fn worded(&self, terminology: &Terminology) -> Worded {
        let (verb, option, value) = match self {
            Action::Change { verb, option, value } => (*verb, option, value.as_deref()),
            Action::Text(text) => return Worded::Here("", text.in_terms(terminology)),
        };
        match terminology.named(option, value) {
            Named::Here(name) => {
                let dashes = if terminology.elsewhere.is_none() { "--" } else { "" };
                Worded::Here(verb, format!("{dashes}{name}"))
            }
            // What the tool does not set cannot be dropped or lowered.
            Named::Elsewhere(_) if matches!(verb, "use" | "raise") => {
                Worded::Elsewhere(format!("--{}", typed(option, value)))
            }
            Named::Elsewhere(_) | Named::Nowhere => Worded::Nowhere,
        }
    }
}

/// "lower a, b or c".
fn phrase(verb: &str, objects: &[String], conjunction: &str) -> String {
    let objects = match objects {
        [first @ .., last] if !first.is_empty() => {
            format!("{} {conjunction} {last}", first.join(", "))
        }
        objects => objects.concat(),
    };
    if verb.is_empty() { objects } else { format!("{verb} {objects}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Term;

    const TOOL: Terminology = Terminology {
        terms: &[&[
            Term::Setting("direct", "1", "-Su"),
            Term::Flag("iodepth", "-o"),
            Term::Flag("size", "count="),
            Term::Absent("invalidate"),
        ]],
        elsewhere: Some("fathom run"),
    };

    #[test]
    fn remedies_read_as_sentences_in_both_terms() {
        for (remedy, plain, of_tool) in [
            (
                set("direct", 1).or("work on more than the machine's memory"),
                "use --direct=1, or work on more than the machine's memory",
                "use -Su, or work on more than the machine's memory",
            ),
            (
                Remedy::from("make room").or(lower(["size", "numjobs", "nrfiles"])),
                "make room, or lower --size, --numjobs or --nrfiles",
                "make room, or lower count=",
            ),
            (
                set("randrepeat", 0).and(set("invalidate", 1)).or(set("direct", 1)),
                "use --randrepeat=0 and --invalidate=1, or use --direct=1",
                "use fathom run --randrepeat=0 or -Su",
            ),
            (
                set("runtime", 30).and(set("time_based", 1)).also("minutes for flash"),
                "use --runtime=30 and --time_based=1; minutes for flash",
                "use fathom run --runtime=30 --time_based=1; minutes for flash",
            ),
            (
                drop(["zero_buffers"]).and(set("direct", 1)).ending("to measure the disk"),
                "drop --zero_buffers and use --direct=1 to measure the disk",
                "use -Su to measure the disk",
            ),
            (lower(["iodepth"]).ending("to 4"), "lower --iodepth to 4", "lower -o to 4"),
            (lower(["numjobs"]), "lower --numjobs", "with fathom run, lower --numjobs"),
            (
                choose(["size", "iodepth", "offset"]).ending("to multiples of 4 KiB"),
                "set --size, --iodepth and --offset to multiples of 4 KiB",
                "set count= and -o to multiples of 4 KiB",
            ),
            (set("iodepth", 4), "use --iodepth=4", "use -o4"),
            (Remedy::default(), "", ""),
            (
                raise(["numjobs"]).ending("to share the work"),
                "raise --numjobs to share the work",
                "use fathom run --numjobs to share the work",
            ),
        ] {
            assert_eq!(remedy.to_string(), plain);
            assert_eq!(remedy.in_terms(&TOOL), of_tool);
        }
    }
}
