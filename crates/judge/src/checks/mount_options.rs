//! Do mount options change the figures?

use super::prelude::*;

/// Options that change figures: name as in /proc/self/mountinfo, the filesystems it matters on (none:
/// all), the severity, the effect.
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
    ("discard", &[], Severity::Note, "deleting files sends discards, which disturb other I/O"),
    ("sync", &[], Severity::Note, "every write is synchronous, whatever the job asks for"),
    ("dirsync", &[], Severity::Note, "directories are written synchronously"),
    ("lazytime", &[], Severity::Note, "timestamps of files are written late"),
    ("noatime", &[], Severity::Note, "reads do not write access times"),
    ("nodatacow", &["btrfs"], Severity::Note, "no copy on write, no checksums"),
    ("nodatasum", &["btrfs"], Severity::Note, "no checksums of data"),
    ("nocow", &[], Severity::Note, "no copy on write"),
    (
        "async",
        &["nfs", "nfs4"],
        Severity::Warning,
        "the server may acknowledge writes before it stores them",
    ),
    ("fsync_mode=nobarrier", &["f2fs"], Severity::Warning, "fsync does not flush the disk"),
    ("logbufs=8", &["xfs"], Severity::Note, "more of the log is kept in memory"),
];

/// Those that matter for a program that reads only.
const READING: [&str; 2] = ["data=journal", "discard"];
/// Options so usual, and of so little effect, that telling them only hides others.
const QUIET: [&str; 2] = ["noatime", "logbufs=8"];

pub(super) const CHECK: Check = Check {
    id: "mount-options",
    question: "Do mount options change the figures?",
    evidence: "mount options of the filesystems of the files",
    threshold: "warning for options that remove durability or buffer direct I/O; note for options that move work to another time",
    reason: "a program cannot rely on a figure measured without barriers; the other options only have to be equal in runs that are compared",
    cause: "the filesystem is mounted with this option",
    remedy: || "mount it as in production, and keep the options equal between runs".into(),
    proof: Proof::recorded("options_that_cost_durability_warn", "usual_options_are_silent"),
    function: CheckFunction::Run(check),
};

fn check(case: &Case) -> Vec<Finding> {
    case.data_parts().flat_map(|part| check_job(case, part)).collect()
}

fn check_job(case: &Case, part: &Part) -> Vec<Finding> {
    let writes = part.ios(Direction::Write) > 0;
    let mut found = Vec::new();
    for filesystem in case.filesystems_of(part) {
        for (name, kinds, severity, effect) in OPTIONS {
            let here = filesystem.options.iter().any(|option| option == name);
            let matters = kinds.is_empty() || kinds.contains(&filesystem.kind.as_str());
            let is_reported = !QUIET.contains(name) && (writes || READING.contains(name));
            if here && matters && is_reported {
                let text = format!("{} is mounted with {name}: {effect}", filesystem.mount_point);
                found.push(CHECK.finding_for(part, *severity, text));
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
