//! The syntax of rows: a macro for names and documentation, and const builders, so that a row
//! states only what is particular to it.

use super::def::{Access, Choice, Group, Kind, OptionDef, Status, Value};
use crate::model::Job;
use record::Nanos;

/// No upper bound.
pub(super) const NO_MAX: i64 = i64::MAX;
/// The unit of a number without suffix.
pub(super) const SECOND: Nanos = Nanos::SECOND;
/// The unit of a number without suffix.
pub(super) const MILLISECOND: Nanos = Nanos(1_000_000);
/// The unit of a number without suffix.
pub(super) const MICROSECOND: Nanos = Nanos(1_000);

/// What options of SCSI commands of io_uring_cmd need.
pub(super) const PASSTHROUGH: &str =
    "SCSI commands through io_uring, which Linux does not pass; ioengine=sg sends them";

/// The access of an option that does not change a job.
const NO_ACCESS: Access = Access { set: |_, _| Ok(()), get: None };

/// A table of options. The doc comment of a row is its text in help and reference: the first line
/// is the short description, the rest the paragraph below it. The option's name and the row itself
/// follow.
macro_rules! rows {
    ($(#[doc = $doc:literal] $(#[doc = $long:literal])* $name:literal => $row:expr,)+) => {
        &[$($row.named($name, $doc, concat!($($long),*))),+]
    };
}
pub(super) use rows;

/// Starts a row; it is *not yet* until [`OptionDef::sets`] or [`OptionDef::accepted`].
const fn row(group: Group, kind: Kind) -> OptionDef {
    OptionDef {
        name: "",
        aliases: &[],
        engines: &[],
        kind,
        default: "",
        values: &[],
        group,
        doc: "",
        long: "",
        status: Status::NotYet,
        alone: false,
        warns: false,
        secret: false,
        access: NO_ACCESS,
        recorded: None,
    }
}

/// Any text.
pub(super) const fn text(group: Group) -> OptionDef {
    row(group, Kind::Text)
}

/// Any text; without a value it means the empty text.
pub(super) const fn text_or_none(group: Group) -> OptionDef {
    OptionDef { alone: true, ..text(group) }
}

/// One of `values`.
pub(super) const fn choice(group: Group, values: &'static [Choice]) -> OptionDef {
    OptionDef { values, ..row(group, Kind::Choice) }
}

/// One of `values`, then perhaps `:` and more.
pub(super) const fn choice_with(group: Group, values: &'static [Choice]) -> OptionDef {
    OptionDef { values, ..row(group, Kind::ChoiceWith) }
}

/// A whole number between two bounds.
pub(super) const fn int(group: Group, min: i64, max: i64) -> OptionDef {
    row(group, Kind::Int { min, max, lists: false })
}

/// One to three whole numbers, by direction.
pub(super) const fn ints(group: Group, min: i64, max: i64) -> OptionDef {
    row(group, Kind::Int { min, max, lists: true })
}

/// A duration; a number without suffix has the unit `bare`.
pub(super) const fn time(group: Group, bare: Nanos) -> OptionDef {
    row(group, Kind::Time { bare, range: false })
}

/// A duration or a range of durations.
pub(super) const fn time_range(group: Group, bare: Nanos) -> OptionDef {
    row(group, Kind::Time { bare, range: true })
}

/// One to three durations, by direction; bare numbers count in `bare`.
pub(super) const fn times(group: Group, bare: Nanos) -> OptionDef {
    row(group, Kind::Times { bare })
}

/// 0 or 1, 0 by default; a value is required.
pub(super) const fn boolean(group: Group) -> OptionDef {
    row(group, Kind::Bool).default("0")
}

/// 0 or 1, 0 by default; without a value it means 1.
pub(super) const fn flag(group: Group) -> OptionDef {
    row(group, Kind::Flag).default("0")
}

/// One to three ranges.
pub(super) const fn ranges(group: Group) -> OptionDef {
    row(group, Kind::Ranges)
}

/// Real numbers split by colons.
pub(super) const fn floats(group: Group, min: f64, max: f64) -> OptionDef {
    row(group, Kind::Floats { min, max })
}

/// A size; `percent` and `zones` say what else it may be.
pub(super) const fn size(group: Group, percent: bool, zones: bool) -> OptionDef {
    row(group, Kind::Size { percent, zones })
}

/// A value that works.
pub(super) const fn value(name: &'static str, doc: &'static str) -> Choice {
    Choice { name, doc, same_as: "", works: true, needs: "" }
}

/// Another name of a value.
pub(super) const fn same(name: &'static str, as_name: &'static str) -> Choice {
    Choice {
        name,
        doc: "another name of an earlier value",
        same_as: as_name,
        works: true,
        needs: "",
    }
}

/// A value that does not work; `needs` names what it would need.
pub(super) const fn unbuilt(name: &'static str, doc: &'static str, needs: &'static str) -> Choice {
    Choice { name, doc, same_as: "", works: false, needs }
}

impl OptionDef {
    /// Its name and documentation, which [`rows`] gives each row.
    pub(super) const fn named(
        self,
        name: &'static str,
        doc: &'static str,
        long: &'static str,
    ) -> Self {
        let recorded = match self.recorded {
            Some((own, get)) if own.is_empty() => Some((name, get)),
            recorded => recorded,
        };
        let (doc, long) = (doc.trim_ascii(), long.trim_ascii());
        OptionDef { name, doc, long, recorded, ..self }
    }

    /// Its other names.
    pub(super) const fn alias(self, aliases: &'static [&'static str]) -> Self {
        OptionDef { aliases, ..self }
    }

    /// Its default, as typed.
    pub(super) const fn default(self, default: &'static str) -> Self {
        OptionDef { default, ..self }
    }

    /// The engines it belongs to.
    pub(super) const fn for_engines(self, engines: &'static [&'static str]) -> Self {
        OptionDef { engines, ..self }
    }

    /// Its value is a secret.
    pub(super) const fn secret(self) -> Self {
        OptionDef { secret: true, ..self }
    }

    /// The option works, and sets this field of a job.
    pub(super) const fn sets(self, access: Access) -> Self {
        OptionDef { status: Status::Works, access, ..self }
    }

    /// The option works, and this function stores its value in a job.
    pub(super) const fn sets_with(self, set: fn(&mut Job, &Value) -> Result<(), String>) -> Self {
        self.sets(Access { set, get: None })
    }

    /// The record holds the field under the option's name.
    pub(super) const fn recorded(self) -> Self {
        match self.access.get {
            Some(get) => self.recorded_as("", get),
            None => panic!("an option that is recorded needs a getter"),
        }
    }

    /// The record holds the result of this function under this name.
    pub(super) const fn recorded_as(
        self,
        name: &'static str,
        get: fn(&Job) -> Option<String>,
    ) -> Self {
        OptionDef { recorded: Some((name, get)), ..self }
    }

    /// The option belongs to something that is not built: `what`.
    pub(super) const fn needs(self, what: &'static str) -> Self {
        OptionDef { status: Status::Needs(what), ..self }
    }

    /// The option is parsed and has no effect, because of `why`.
    pub(super) const fn accepted(self, why: &'static str) -> Self {
        OptionDef { status: Status::Accepted(why), ..self }
    }

    /// The option is parsed and stored, and has no effect, because of `why`.
    pub(super) const fn accepted_as(self, why: &'static str, access: Access) -> Self {
        OptionDef { status: Status::Accepted(why), access, ..self }
    }

    /// The option is parsed and has no effect; using it causes a warning with the reason `why`.
    pub(super) const fn warned(self, why: &'static str) -> Self {
        OptionDef { status: Status::Accepted(why), warns: true, ..self }
    }
}
