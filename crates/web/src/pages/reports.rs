//! Reports as HTML.

use crate::failure::Failure;
use archive::Archive;
use maud::Markup;
use record::RecordSet;
use report::judged_set::JudgedSet;

/// The report on several named runs or sets. The others are compared with the first.
pub fn report(of: Vec<(String, RecordSet)>) -> Markup {
    let judged_sets: Vec<JudgedSet> =
        of.into_iter().map(|(name, set)| JudgedSet::new(&name, set)).collect();
    report::html::body(&judged_sets)
}

/// The report on a run or set, with the changes since the latest earlier one of the same workload.
/// `id` is its name in the archive.
pub fn report_on(
    archive: &Archive,
    id: &str,
    name: &str,
    set: RecordSet,
) -> Result<Markup, Failure> {
    let judged_set = JudgedSet::new(name, set);
    let judged_set = match archive.load_previous(id)? {
        Some((row, earlier)) => judged_set.since(row.id.short(), earlier),
        None => judged_set,
    };
    Ok(report::html::body(&[judged_set]))
}
