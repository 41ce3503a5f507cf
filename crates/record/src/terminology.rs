//! What other tools call fathom's options.

/// What a tool calls one of fathom's options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// The option is this flag of the tool; its value follows the flag without a blank.
    Flag(&'static str, &'static str),
    /// The option with this value is this flag of the tool.
    Setting(&'static str, &'static str, &'static str),
    /// Neither the tool nor `fathom run` in its place helps: advice to set it is left out.
    Absent(&'static str),
}

/// The flags of a tool for fathom's options. The default keeps fathom's own names.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terminology {
    /// The tool's terms; earlier ones come first.
    pub terms: &'static [&'static [Term]],
    /// The command that has the options the tool lacks ("fathom run"); `None`: the options are
    /// fathom's own.
    pub elsewhere: Option<&'static str>,
}

/// How an option is named in a terminology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// By fathom's own name, or by a flag of the tool.
    Here(String),
    /// By its name in the command that has it: the tool lacks the option.
    Elsewhere(String),
    /// Not at all.
    Nowhere,
}

impl Terminology {
    /// The flag of the tool for an option; for an option that the tool lacks, the command and option
    /// that have it.
    pub fn flag(&self, option: &str) -> String {
        match self.named(option, None) {
            Named::Here(flag) if self.elsewhere.is_none() => format!("--{flag}"),
            Named::Here(flag) | Named::Elsewhere(flag) => flag,
            Named::Nowhere => self.of_elsewhere(option, None),
        }
    }

    /// How a sentence names an option, or an option with its value.
    pub(crate) fn mention(&self, option: &str, value: Option<&str>) -> String {
        match self.named(option, value) {
            Named::Here(name) | Named::Elsewhere(name) => name,
            Named::Nowhere => self.of_elsewhere(option, value),
        }
    }

    pub(crate) fn named(&self, option: &str, value: Option<&str>) -> Named {
        let Some(_) = self.elsewhere else { return Named::Here(typed(option, value)) };
        let terms = || self.terms.iter().copied().flatten();
        let exact = |term: &&Term| matches!(term, Term::Setting(name, set, _) if *name == option && Some(*set) == value);
        let general = |term: &&Term| matches!(term, Term::Flag(name, _) | Term::Absent(name) if *name == option);
        // Without a value, an option is known by the flag of any of its values.
        let any = |term: &&Term| matches!(term, Term::Setting(name, ..) if *name == option && value.is_none());
        match terms().find(exact).or_else(|| terms().find(general)).or_else(|| terms().find(any)) {
            Some(Term::Setting(.., flag)) => Named::Here((*flag).to_owned()),
            Some(Term::Flag(_, flag)) => Named::Here(match value {
                Some(value) => format!("{flag}{value}"),
                None => flag.trim_end().to_owned(),
            }),
            Some(Term::Absent(_)) => Named::Nowhere,
            None => Named::Elsewhere(self.of_elsewhere(option, value)),
        }
    }

    fn of_elsewhere(&self, option: &str, value: Option<&str>) -> String {
        format!("{} --{}", self.elsewhere.unwrap_or_default(), typed(option, value))
    }
}

/// "iodepth", "iodepth=8".
pub(crate) fn typed(option: &str, value: Option<&str>) -> String {
    match value {
        Some(value) => format!("{option}={value}"),
        None => option.to_owned(),
    }
}
