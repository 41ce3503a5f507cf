//! `--vary layer=all`: the job on its file and on each device below it.

use super::cell_jobs::CellJobs;
use super::settings;
use anyhow::Result;
use host::TargetQuery;
use job::Dialect;
use runner::{Refusal, Runner};
use suite::sweep::{ALL_LAYERS, Design, LAYER, layers};

/// Replaces `all` by the layers below the job's file.
///
/// # Errors
/// When the job writes, has several files, or has no device below it.
pub fn expand(mut design: Design, jobs: &CellJobs, runner: &Runner) -> Result<Design> {
    let Some(dimension) = design.dimensions.iter_mut().find(|one| one.name == LAYER) else {
        return Ok(design);
    };
    let refused = |why: &str| Err(Refusal::usage(format!("--vary layer: {why}")));
    if dimension.values != [ALL_LAYERS] {
        return refused("its value is all; --vary target=PATH,… names files and devices");
    }
    let invocation = job::parse(jobs.arguments, Dialect::Fathom, jobs.inputs)
        .map_err(|errors| Refusal::usage(errors.to_string()))?;
    if plan::targets(&invocation.jobs).iter().any(|target| target.write) {
        return refused(
            "the job writes, and the devices hold the file that it works on; vary the target of a \
             job that writes: --vary target=PATH,… with --allow-destroy for each device",
        );
    }
    let targets = settings::targets(&invocation);
    let is_one = invocation.jobs.iter().all(|job| job.target.directories.is_empty());
    let ([path], true) = (&targets[..], is_one) else {
        return refused("name the one file of the job with filename, and no directory");
    };
    let query = TargetQuery { path: path.clone(), will_write: false };
    let facts = runner.host().survey(runner.machine().clone(), &[query]);
    let found = layers(&facts, path);
    if found.len() < 2 {
        return refused(&format!("there is no layer below {path}"));
    }
    dimension.values = found;
    design.check().map_err(Refusal::usage)?;
    Ok(design)
}
