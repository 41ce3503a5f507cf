//! Refusals: why a command does not do what it was asked to.

use thiserror::Error;

/// The kind of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// The command line is wrong.
    Usage,
    /// The target is unsuitable, or would lose data.
    Target,
    /// This signal came before anything was measured.
    Interrupted(i32),
}

/// A command refuses to do what it was asked to; nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text}")]
pub struct Refusal {
    /// The kind, which decides the exit code.
    pub kind: RefusalKind,
    /// What is wrong, and what to do.
    pub text: String,
}

impl Refusal {
    /// The command line is wrong.
    pub fn usage(text: impl Into<String>) -> anyhow::Error {
        Refusal { kind: RefusalKind::Usage, text: text.into() }.into()
    }

    /// A signal came before anything was measured.
    pub fn interrupted(signal: i32, text: impl Into<String>) -> anyhow::Error {
        Refusal { kind: RefusalKind::Interrupted(signal), text: text.into() }.into()
    }

    /// The target is unsuitable.
    pub fn target(text: impl Into<String>) -> anyhow::Error {
        Refusal { kind: RefusalKind::Target, text: text.into() }.into()
    }
}

/// An error with its causes in one line, without the error numbers that Rust appends.
pub fn describe(error: &anyhow::Error) -> String {
    let plain = |cause: &(dyn std::error::Error + 'static)| {
        cause.to_string().split(" (os error ").next().unwrap_or_default().to_owned()
    };
    error.chain().map(plain).collect::<Vec<_>>().join(": ")
}
