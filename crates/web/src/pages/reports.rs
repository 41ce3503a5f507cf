//! Reports as HTML.

use crate::failure::Failure;
use archive::Archive;
use maud::Markup;
use record::RecordSet;
use report::exhibit::Exhibit;

/// The report on several named runs or sets. The others are compared with the first.
pub fn report(of: Vec<(String, RecordSet)>) -> Markup {
    let exhibits: Vec<Exhibit> =
        of.into_iter().map(|(name, set)| Exhibit::new(&name, set)).collect();
    report::html::body(&exhibits)
}

/// The report on a run or set, with the changes since the latest earlier one of the same workload.
/// `id` is its name in the archive.
///
/// # Errors
/// When the archive cannot be read.
pub fn report_on(
    archive: &Archive,
    id: &str,
    name: &str,
    set: RecordSet,
) -> Result<Markup, Failure> {
    let exhibit = Exhibit::new(name, set);
    let exhibit = match archive.load_previous(id)? {
        Some((row, earlier)) => exhibit.since(row.id.short(), earlier),
        None => exhibit,
    };
    Ok(report::html::body(&[exhibit]))
}
