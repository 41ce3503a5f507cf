//! DISKSPD: its command line and profiles (those of version 2.2 for Windows, and the letters `d` and
//! `s` of `-S` of its port to Linux), its results as text and as XML.
//!
//! What has no meaning on Linux is refused with the reason; what means something else here runs with
//! a note that says so.

mod command;
mod draft;
mod flags;
mod from_xml;
mod help;
mod jobs;
mod markup;
mod parse;
mod profile;
mod remarks;
mod results;
mod size;
mod terminology;
mod text;
mod to_xml;
mod topology;
mod validate;
mod xml;

pub use command::{DiskspdCommand, Own, ParseContext, Task, Usage};
pub use jobs::{Spans, Unsuitable, only_created};
pub use profile::{
    Access, Affinity, Cache, Content, Format, Profile, Spread, Target, Throughput, TimeSpan,
};
pub use remarks::Remarks;
pub use terminology::TERMINOLOGY;

use record::{Bytes, RecordSet};
use report::style::Style;

impl DiskspdCommand {
    /// The paths it works on, each with the size it is made anew with, where it is.
    pub fn files(&self) -> Vec<(String, Option<Bytes>)> {
        jobs::files(&self.profile)
    }

    /// Whether anything is written to a path.
    pub fn writes_to(&self, path: &str) -> bool {
        let mut targets = self.profile.spans.iter().flat_map(|span| &span.targets);
        targets.any(|target| target.path == path && target.write_percent > 0)
    }

    /// Whether anything was measured.
    pub fn has_measured(&self, set: &RecordSet) -> bool {
        results::measured(&self.profile, set).iter().any(Option::is_some)
    }

    /// The profile as `-Rp` prints it.
    pub fn show(&self, arguments: &[String]) -> String {
        match self.profile.format {
            Format::Text => text::input(&self.profile, arguments),
            Format::Xml => to_xml::profile(&self.profile),
        }
    }

    /// The report in the form asked for. `version` is fathom's.
    pub fn report(&self, set: &RecordSet, arguments: &[String], version: &str) -> String {
        match self.profile.format {
            Format::Text => text::report(&self.profile, set, arguments),
            Format::Xml => xml::report(&self.profile, set, version),
        }
    }
}

/// How to call it.
pub fn usage() -> &'static str {
    help::TEXT
}

/// What fathom says below DISKSPD's own report: how latency is spread, what limited the run and what
/// was found.
pub fn verdict(profile: &Profile, set: &RecordSet, style: &Style) -> String {
    text::verdict(profile, set, style)
}

#[cfg(test)]
mod tests;
