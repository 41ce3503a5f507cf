//! What is wrong with another tool's command line.

/// What kind of mistake it is, as exit codes tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The command line is wrong.
    Line,
    /// The line is right, but what it names does not suit.
    Target,
}

/// Why a call cannot be made. Nothing was touched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{tool}: {flag}: {what}; {cure}")]
pub struct Usage {
    /// What kind of mistake it is.
    pub fault: Fault,
    /// The tool that was called ("dd").
    pub tool: &'static str,
    /// The flag or operand, as typed.
    pub flag: String,
    /// What is wrong with it, or what was expected.
    pub what: String,
    /// What to do.
    pub cure: String,
}

impl Usage {
    /// The command line is wrong.
    pub fn line(
        tool: &'static str,
        flag: impl Into<String>,
        what: impl Into<String>,
        cure: impl Into<String>,
    ) -> Usage {
        let (flag, what, cure) = (flag.into(), what.into(), cure.into());
        Usage { fault: Fault::Line, tool, flag, what, cure }
    }

    /// What it names does not suit.
    pub fn target(
        tool: &'static str,
        flag: impl Into<String>,
        what: impl Into<String>,
        cure: impl Into<String>,
    ) -> Usage {
        Usage { fault: Fault::Target, ..Usage::line(tool, flag, what, cure) }
    }
}
