//! Did the storage answer, or memory?

use super::{Check, How, Look, Proof};
use crate::case::{Case, Part};
use crate::finding::{Figure, Finding};
use record::{Direction, Severity};

/// Share of what was read that the device must have read at least. Read-ahead only adds to it, so a
/// run without a cache is at 1 or above; a tenth is left for edges of the window.
const FROM_DEVICE_MIN: f64 = 0.9;

/// Less is read within the noise of other traffic.
const READ_MIN: u64 = 16 << 20;

pub(super) const CHECK: Check = Check {
    id: "served-from-cache",
    question: "Did the storage answer the reads, or memory?",
    evidence: "bytes each level of the stack read while the job ran, against the bytes the job read; pages of the files in the page cache before and after",
    threshold: "warning when the lowest devices read less than 90 % of what the job read",
    reason: "read-ahead can only make the device read more than the job; a tenth is left for the edges of the window",
    cause: "the blocks were in the page cache, or in a cache below the filesystem",
    cure: "add --direct=1, or read more than the machine's memory; drop the caches first when the cold cache is the question",
    proof: Proof {
        how: How::Real,
        fires: "crates/cli/tests/checks_cache.rs::a_second_buffered_read_is_served_from_cache",
        silent: "crates/cli/tests/checks_cache.rs::a_direct_read_is_not_served_from_cache",
    },
    look: Look::Run(look),
};

fn look(case: &Case) -> Vec<Finding> {
    case.parts.iter().filter_map(|part| about(case, part)).collect()
}

fn about(case: &Case, part: &Part) -> Option<Finding> {
    let asked = part.bytes(Direction::Read);
    let disks = case.disks_of(part);
    if asked < READ_MIN || disks.is_empty() {
        return None;
    }
    let uses: Option<Vec<_>> = disks.iter().map(|d| case.device_use(part, &d.name)).collect();
    let read: u64 = uses?.iter().map(|device| device.counters.read_bytes).sum();
    let share = read as f64 / asked as f64;
    (share < FROM_DEVICE_MIN).then(|| Finding {
        check: CHECK.id,
        severity: Severity::Warning,
        jobs: vec![part.name.to_owned()],
        text: format!("the device read {:.0} % of the bytes the job read", share * 100.0),
        figures: vec![
            Figure::new("bytes the job read", asked as f64, "bytes"),
            Figure::new("bytes the device read", read as f64, "bytes"),
        ],
        cause: CHECK.cause.into(),
        cure: CHECK.cure.into(),
    })
}
