//! Do mount options change what is measured?

use super::check::{Check, How, Look, Proof};
use crate::case::{Case, Part};
use crate::finding::Finding;
use record::{Direction, Severity};

/// Options that change figures: name as in /proc/self/mountinfo, the filesystems it matters on (none:
/// all), how grave, what it does.
const OPTIONS: &[(&str, &[&str], Severity, &str)] = &[
    ("nobarrier", &[], Severity::Warning, "no flush reaches the disk: fsync ends in its cache"),
    ("barrier=0", &[], Severity::Warning, "no flush reaches the disk: fsync ends in its cache"),
    ("data=writeback", &["ext3", "ext4"], Severity::Note, "files may hold old data after a crash"),
    (
        "data=journal",
        &["ext3", "ext4"],
        Severity::Warning,
        "data is written twice, and O_DIRECT is buffered",
    ),
    ("discard", &[], Severity::Note, "deleting sends discards, which disturb what runs meanwhile"),
    ("sync", &[], Severity::Note, "every write is synchronous, whatever the job asks for"),
    ("dirsync", &[], Severity::Note, "directories are written synchronously"),
    ("lazytime", &[], Severity::Note, "times of files are written late"),
    ("noatime", &[], Severity::Note, "reads do not write access times"),
    ("nodatacow", &["btrfs"], Severity::Note, "no copy on write, no checksums"),
    ("nodatasum", &["btrfs"], Severity::Note, "no checksums of data"),
    ("nocow", &[], Severity::Note, "no copy on write"),
    ("async", &["nfs", "nfs4"], Severity::Warning, "the server may acknowledge before it wrote"),
    ("fsync_mode=nobarrier", &["f2fs"], Severity::Warning, "fsync does not flush the disk"),
    ("logbufs=8", &["xfs"], Severity::Note, "more of the log is kept in memory"),
];

/// Those that matter for a program that reads only.
const READING: [&str; 2] = ["data=journal", "discard"];
/// Options so usual, and of so little effect, that telling them only hides others.
const QUIET: [&str; 2] = ["noatime", "logbufs=8"];

pub(super) const CHECK: Check = Check {
    id: "mount-options",
    question: "Do mount options change what is measured?",
    evidence: "mount options of the filesystems under the files",
    threshold: "warning for options that take durability away or make direct I/O buffered; note for options that shift work in time",
    reason: "a figure got without barriers is not one a program may count on; the others only have to be the same where figures are compared",
    cause: "the filesystem is mounted so",
    remedy: || "mount it as production does, and keep it the same between runs".into(),
    proof: Proof {
        how: How::Recorded,
        fires: "crates/judge/src/checks/mount_options.rs::options_that_cost_durability_warn",
        silent: "crates/judge/src/checks/mount_options.rs::usual_options_are_silent",
    },
    look: Look::Data(look),
};

fn look(case: &Case) -> Vec<Finding> {
    case.parts.iter().flat_map(|part| about(case, part)).collect()
}

fn about(case: &Case, part: &Part) -> Vec<Finding> {
    let writes = part.ios(Direction::Write) > 0;
    let mut found = Vec::new();
    for filesystem in case.filesystems_of(part) {
        for (name, kinds, severity, effect) in OPTIONS {
            let here = filesystem.options.iter().any(|option| option == name);
            let matters = kinds.is_empty() || kinds.contains(&filesystem.kind.as_str());
            let told = !QUIET.contains(name) && (writes || READING.contains(name));
            if here && matters && told {
                let text = format!("{} is mounted with {name}: {effect}", filesystem.mount_point);
                found.push(CHECK.finding(*severity, vec![part.name.to_owned()], text));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::testing::{FILE, findings, job, record};
    use super::*;

    fn found(direction: Direction, options: &[&str]) -> Vec<Finding> {
        let mut record = record(vec![job("job", direction, 10)]);
        let target = record.facts.targets.get_mut(FILE).unwrap();
        target.filesystem.as_mut().unwrap().options =
            options.iter().map(|option| (*option).to_owned()).collect();
        findings(&record, CHECK.id)
    }

    #[test]
    fn options_that_cost_durability_warn() {
        let barrier = found(Direction::Write, &["rw", "nobarrier"]);
        assert_eq!((barrier.len(), barrier[0].severity), (1, Severity::Warning));
        let journal = found(Direction::Read, &["rw", "data=journal"]);
        assert_eq!(journal[0].severity, Severity::Warning);
        assert_eq!(found(Direction::Write, &["discard", "lazytime"]).len(), 2);
    }

    #[test]
    fn usual_options_are_silent() {
        assert!(
            found(Direction::Write, &["rw", "relatime", "noatime", "errors=remount-ro"]).is_empty()
        );
        assert!(found(Direction::Read, &["rw", "nobarrier"]).is_empty(), "nothing is written");
        assert!(found(Direction::Write, &["nodatacow=2", "nodatasum"]).is_empty(), "of btrfs only");
    }
}
