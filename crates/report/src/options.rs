//! How reports are rendered.

use crate::style::Style;
use record::{FioVersion, with_defaults};

/// The version of fio that the formats follow, and our own.
pub const FIO_VERSION: &str = version_line(FioVersion::V3_42);

/// The same for the formats of one version of fio.
pub const fn version_line(version: FioVersion) -> &'static str {
    match version {
        FioVersion::V3_42 => concat!("fio-3.42-fathom-", env!("CARGO_PKG_VERSION")),
        FioVersion::V3_33 => concat!("fio-3.33-fathom-", env!("CARGO_PKG_VERSION")),
    }
}

with_defaults! {
    /// How reports are rendered.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RenderOptions {
        /// Print what fio prints and nothing else (the program was called as fio).
        pub as_fio: bool,
        /// The version of fio whose formats are used.
        pub compat: FioVersion,
        /// Version of terse lines, 2 to 5.
        pub terse_version: u8 = 3,
        /// Print a JSON document on one line, so that several are JSON Lines.
        pub json_lines: bool,
        /// Show every note in full, with its cause and cure.
        pub verbose: bool,
        /// The run goes on: text has no verdict and no findings, JSON no estimated end.
        pub so_far: bool,
        /// Width and colours of the parts that fio does not print: verdict and findings.
        pub style: Style,
        /// The name of the run in the archive, or that of the set of several.
        pub archived_as: Option<String>,
    }
}

impl RenderOptions {
    /// The version of fio whose formats are used, and our own.
    pub fn version_line(&self) -> &'static str {
        version_line(self.compat)
    }
}
