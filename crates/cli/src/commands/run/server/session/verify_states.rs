//! Verify states (`verify_state_save`, `verify_state_load`). Clients store them, because a server may
//! lose its power.

use super::client::ClientSession;
use plan::{Plan, state_name};
use record::RunRecord;
use remote::{FromClient, FromServer};
use std::path::Path;

/// Fetches the states that jobs load from the client. A state that the client does not have may be on
/// this machine from an earlier run.
///
/// # Errors
/// When the client is gone or a state cannot be written.
pub(super) fn fetch(session: &ClientSession, plan: &Plan) -> Result<(), String> {
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
    session.send(&FromServer::Wants(wanted.clone()))?;
    let FromClient::Files(files) = session.next()? else {
        return Err("the client did not answer with its verify states".into());
    };
    // Only the requested files: a client must not write other files here.
    for file in files.iter().filter(|file| wanted.contains(&file.name)) {
        let path = Path::new(&session.server.own.aux_path).join(&file.name);
        std::fs::write(&path, &file.bytes)
            .map_err(|error| format!("cannot write '{}': {error}", path.display()))?;
    }
    Ok(())
}

/// Sends the states that a run saved.
pub(super) fn send(session: &ClientSession, record: &RunRecord) {
    for job in &record.jobs {
        let state = state_name(&job.name, job.worker.saturating_sub(1).into());
        // An error shows at the next read.
        let _ = session.send_file(&Path::new(&session.server.own.aux_path).join(state));
    }
}
