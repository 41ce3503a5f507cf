//! Files, disks and objects behind a library: what an engine needs to know to reach them.

use crate::names::{clones, file_names};
use crate::problem::Diagnostics;
use crate::sizes::Extent;
use job::{Engine, Job};
use record::{Facts, distinct};

/// The names whose sizes the store has to be asked for, each once; none if an option is missing or
/// the engine uses none.
pub fn store_names(job: &Job) -> Vec<String> {
    if !job.queue.engine.is_store() || !job.unmet.is_empty() || missing(job).is_some() {
        return Vec::new();
    }
    distinct((0..clones(job)).flat_map(|clone| file_names(job, clone)))
}

/// What to look at if the store of an engine cannot be reached.
pub fn store_remedy(engine: Engine) -> &'static str {
    match engine {
        Engine::Nfs => "check nfs_url, the server and its export",
        Engine::Rbd => "check pool, rbdname, clientname and the cluster",
        Engine::Rados => "check pool, conf, clientname and the cluster",
        Engine::Custom => "check custom_program, and run it by hand to see what it says",
        _ => "check the URL in filename and the target",
    }
}

/// The option that is missing, and what to give.
fn missing(job: &Job) -> Option<(&'static str, &'static str)> {
    let options = &job.queue.options;
    let is_empty = |text: &Option<String>| text.as_ref().is_none_or(String::is_empty);
    let engine = job.queue.engine;
    if matches!(engine, Engine::Rbd | Engine::Rados) {
        return match () {
            () if is_empty(&options.ceph.pool) => Some(("pool", "name a pool of the cluster")),
            () if engine == Engine::Rbd && is_empty(&options.ceph.image) => {
                Some(("rbdname", "name an image of the pool"))
            }
            () => None,
        };
    }
    match engine {
        Engine::Nfs if is_empty(&options.nfs_url) => {
            Some(("nfs_url", "give the URL of an export: nfs://server/export"))
        }
        Engine::Custom if is_empty(&options.custom.program) => {
            Some(("custom_program", "name the program that is the engine"))
        }
        Engine::Libiscsi if job.target.filenames.is_empty() => {
            Some(("filename", "give a URL: iscsi\\://host/target/lun, with colons as \\:"))
        }
        _ => None,
    }
}

/// Checks for options that a store needs, and I/O that it does not have.
pub(crate) fn check(job: &Job, diagnostics: &mut Diagnostics) {
    let engine = job.queue.engine;
    if !engine.is_store() {
        return;
    }
    let name = engine.name();
    if let Some((option, cure)) = missing(job) {
        diagnostics.usage(job, option, format!("ioengine={name} needs it"), cure);
    }
    if engine == Engine::Nfs && job.pattern.rw.trims() {
        let what = format!("libnfs cannot answer rw={}", job.pattern.rw.name());
        diagnostics.usage(job, "rw", what, "give reads or writes");
    }
}

/// What a name of a store holds: disks are as large as they are, files and objects grow.
pub(crate) fn extent(job: &Job, path: &str, facts: &Facts) -> Extent {
    let size = facts.targets.get(path).map_or(0, |target| target.size.0);
    match job.queue.engine {
        Engine::Rbd | Engine::Libiscsi => Extent::Device(size),
        _ => Extent::File(size),
    }
}
