//! States of verified writes (`verify_state_save`, `verify_state_load`): clients keep them, since a
//! server may lose its power.

use super::Session;
use plan::{Plan, state_name};
use record::RunRecord;
use remote::{FromClient, FromServer};
use std::path::Path;

/// Asks the client for the states that jobs go by, and puts those it has where the jobs look for
/// them. One that it does not have may be here, from before.
///
/// # Errors
/// The client is gone, or a state cannot be written.
pub(super) fn fetch(session: &Session, plan: &Plan) -> Result<(), String> {
    let loads =
        |worker: &&plan::Worker| worker.verify.as_ref().is_some_and(|verify| verify.state_load);
    let wanted: Vec<String> = plan
        .workers
        .iter()
        .filter(loads)
        .map(|worker| state_name(&worker.name, worker.number.saturating_sub(1).into()))
        .collect();
    if wanted.is_empty() {
        return Ok(());
    }
    session.say(&FromServer::Wants(wanted.clone()))?;
    let FromClient::Files(files) = session.next()? else {
        return Err("the client gave no answer about states".into());
    };
    // Only what was asked for: a client has no say in what else is written here.
    for file in files.iter().filter(|file| wanted.contains(&file.name)) {
        let path = Path::new(&session.server.own.aux_path).join(&file.name);
        std::fs::write(&path, &file.bytes)
            .map_err(|error| format!("cannot write '{}': {error}", path.display()))?;
    }
    Ok(())
}

/// Sends the states that a run has left.
pub(super) fn hand_over(session: &Session, record: &RunRecord) {
    for job in &record.jobs {
        let state = state_name(&job.name, job.worker.saturating_sub(1).into());
        // Whether it is heard shows when the client is listened to.
        let _ = session.send(&Path::new(&session.server.own.aux_path).join(state));
    }
}
