//! How rows are written: const builders, so that a row names only what is particular to it.

use super::def::{Access, Choice, Group, Kind, OptionDef, Status, Value};
use crate::model::Job;
use record::Nanos;

/// No upper bound.
pub(super) const NO_MAX: i64 = i64::MAX;
/// What a number without unit counts in.
pub(super) const SECOND: Nanos = Nanos::SECOND;
/// What a number without unit counts in.
pub(super) const MILLISECOND: Nanos = Nanos(1_000_000);
/// What a number without unit counts in.
pub(super) const MICROSECOND: Nanos = Nanos(1_000);

/// What options of io_uring_cmd need.
pub(super) const PASSTHROUGH: &str =
    "the io_uring_cmd engine (commands passed through to an NVMe or SCSI character device)";
/// What options of sg need.
pub(super) const SCSI_GENERIC: &str = "the sg engine (SCSI commands to a device behind /dev/sg)";

/// An option that is not built yet, or has no effect, leaves a job as it is.
const NO_ACCESS: Access = Access { set: |_, _| Ok(()), get: None };

/// Starts a row; it is *not yet* until [`OptionDef::sets`] or [`OptionDef::accepted`].
const fn row(group: Group, name: &'static str, kind: Kind, doc: &'static str) -> OptionDef {
    OptionDef {
        name,
        aliases: &[],
        engines: &[],
        kind,
        default: "",
        values: &[],
        group,
        doc,
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
pub(super) const fn text(group: Group, name: &'static str, doc: &'static str) -> OptionDef {
    row(group, name, Kind::Text, doc)
}

/// Any text, or none: alone it means the empty text.
pub(super) const fn text_or_none(group: Group, name: &'static str, doc: &'static str) -> OptionDef {
    OptionDef { alone: true, ..text(group, name, doc) }
}

/// One of `values`.
pub(super) const fn choice(
    group: Group,
    name: &'static str,
    values: &'static [Choice],
    doc: &'static str,
) -> OptionDef {
    OptionDef { values, ..row(group, name, Kind::Choice, doc) }
}

/// One of `values`, then perhaps `:` and more.
pub(super) const fn choice_with(
    group: Group,
    name: &'static str,
    values: &'static [Choice],
    doc: &'static str,
) -> OptionDef {
    OptionDef { values, ..row(group, name, Kind::ChoiceWith, doc) }
}

/// A whole number between two bounds.
pub(super) const fn int(
    group: Group,
    name: &'static str,
    min: i64,
    max: i64,
    doc: &'static str,
) -> OptionDef {
    row(group, name, Kind::Int { min, max, lists: false }, doc)
}

/// One to three whole numbers, by direction.
pub(super) const fn ints(
    group: Group,
    name: &'static str,
    min: i64,
    max: i64,
    doc: &'static str,
) -> OptionDef {
    row(group, name, Kind::Int { min, max, lists: true }, doc)
}

/// A duration whose bare number counts in `bare`.
pub(super) const fn time(
    group: Group,
    name: &'static str,
    bare: Nanos,
    doc: &'static str,
) -> OptionDef {
    row(group, name, Kind::Time { bare, range: false }, doc)
}

/// A duration or a range of durations.
pub(super) const fn time_range(
    group: Group,
    name: &'static str,
    bare: Nanos,
    doc: &'static str,
) -> OptionDef {
    row(group, name, Kind::Time { bare, range: true }, doc)
}

/// One to three durations, by direction; bare numbers count in `bare`.
pub(super) const fn times(
    group: Group,
    name: &'static str,
    bare: Nanos,
    doc: &'static str,
) -> OptionDef {
    row(group, name, Kind::Times { bare }, doc)
}

/// 0 or 1, needed; 0 by default.
pub(super) const fn boolean(group: Group, name: &'static str, doc: &'static str) -> OptionDef {
    row(group, name, Kind::Bool, doc).default("0")
}

/// 0 or 1, alone it means 1; 0 by default.
pub(super) const fn flag(group: Group, name: &'static str, doc: &'static str) -> OptionDef {
    row(group, name, Kind::Flag, doc).default("0")
}

/// One to three ranges.
pub(super) const fn ranges(group: Group, name: &'static str, doc: &'static str) -> OptionDef {
    row(group, name, Kind::Ranges, doc)
}

/// Real numbers split by colons.
pub(super) const fn floats(
    group: Group,
    name: &'static str,
    min: f64,
    max: f64,
    doc: &'static str,
) -> OptionDef {
    row(group, name, Kind::Floats { min, max }, doc)
}

/// A size; `percent` and `zones` say what else it may be.
pub(super) const fn size(
    group: Group,
    name: &'static str,
    percent: bool,
    zones: bool,
    doc: &'static str,
) -> OptionDef {
    row(group, name, Kind::Size { percent, zones }, doc)
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

/// A value that is refused until something is built that `needs` names.
pub(super) const fn unbuilt(name: &'static str, doc: &'static str, needs: &'static str) -> Choice {
    Choice { name, doc, same_as: "", works: false, needs }
}

impl OptionDef {
    /// Its other names.
    pub(super) const fn alias(self, aliases: &'static [&'static str]) -> Self {
        OptionDef { aliases, ..self }
    }

    /// Its default, as typed.
    pub(super) const fn default(self, default: &'static str) -> Self {
        OptionDef { default, ..self }
    }

    /// The engines it belongs to.
    pub(super) const fn of(self, engines: &'static [&'static str]) -> Self {
        OptionDef { engines, ..self }
    }

    /// Its long doc.
    pub(super) const fn long(self, long: &'static str) -> Self {
        OptionDef { long, ..self }
    }

    /// Its value is nobody else's business.
    pub(super) const fn secret(self) -> Self {
        OptionDef { secret: true, ..self }
    }

    /// It works, and sets this field of a job.
    pub(super) const fn sets(self, access: Access) -> Self {
        OptionDef { status: Status::Works, access, ..self }
    }

    /// It works, and this function puts its value into a job.
    pub(super) const fn sets_with(self, set: fn(&mut Job, &Value) -> Result<(), String>) -> Self {
        self.sets(Access { set, get: None })
    }

    /// The record has its value under its own name.
    pub(super) const fn recorded(self) -> Self {
        let name = self.name;
        match self.access.get {
            Some(get) => self.recorded_as(name, get),
            None => panic!("an option that is recorded needs a getter"),
        }
    }

    /// The record has this of it, under this name.
    pub(super) const fn recorded_as(
        self,
        name: &'static str,
        get: fn(&Job) -> Option<String>,
    ) -> Self {
        OptionDef { recorded: Some((name, get)), ..self }
    }

    /// It belongs to something that is not built: `what` it needs.
    pub(super) const fn needs(self, what: &'static str) -> Self {
        OptionDef { status: Status::Needs(what), ..self }
    }

    /// It is checked and has no effect, because of `why`.
    pub(super) const fn accepted(self, why: &'static str) -> Self {
        OptionDef { status: Status::Accepted(why), ..self }
    }

    /// It is checked and kept, and changes nothing else, because of `why`.
    pub(super) const fn accepted_as(self, why: &'static str, access: Access) -> Self {
        OptionDef { status: Status::Accepted(why), access, ..self }
    }

    /// It is checked and not done; using it warns of that, and of `why`.
    pub(super) const fn warned(self, why: &'static str) -> Self {
        OptionDef { status: Status::Accepted(why), warns: true, ..self }
    }
}
