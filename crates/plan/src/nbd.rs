//! Exports of NBD servers.

use crate::problem::{Diagnostics, Errno};
use crate::safety;
use crate::sizes::Extent;
use job::{Engine, Job};
use record::{Facts, TargetKind};

/// URIs of the exports that jobs work on. The facts about such a target are what its server says;
/// without them it is missing, and its `canonical` says why.
pub fn exports(jobs: &[Job]) -> impl Iterator<Item = &str> {
    jobs.iter().filter_map(export)
}

/// The export of a job; `None` for other engines.
pub(crate) fn export(job: &Job) -> Option<&str> {
    let uri = job.queue.options.nbd_uri.as_deref();
    uri.filter(|_| job.queue.engine == Engine::Nbd)
}

/// Size of an export.
pub(crate) fn extent(
    job: &Job,
    uri: &str,
    facts: &Facts,
    diagnostics: &mut Diagnostics,
) -> Option<Extent> {
    let target = facts.targets.get(uri)?;
    if target.kind == TargetKind::Missing {
        let what = format!("{uri}: {}", target.canonical);
        let cure = "start the server, or give another URI";
        diagnostics.ending(Errno::NotThere).refuse(job, "uri", what, cure);
        return None;
    }
    if !target.writable && safety::changes(job) {
        let what = format!("{uri} is read-only");
        let cure = "only read it, or let the server export it for writing";
        diagnostics.ending(Errno::Access).refuse(job, "uri", what, cure);
    }
    Some(Extent::Device(target.size.0))
}
