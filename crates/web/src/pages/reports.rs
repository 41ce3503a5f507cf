//! Reports as the pages show them.

use crate::failure::Failure;
use archive::Archive;
use maud::Markup;
use record::RecordSet;
use report::exhibit::Exhibit;

/// The report on several runs or sets, the first of which the others are held against; each with its
/// name.
pub fn report(of: Vec<(String, RecordSet)>) -> Markup {
    let exhibits: Vec<Exhibit> =
        of.into_iter().map(|(name, set)| Exhibit::new(&name, set)).collect();
    report::html::body(&exhibits)
}

/// The report on a run or set, with what changed since the last before it that did the same; `id` is
/// its name in the archive.
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
