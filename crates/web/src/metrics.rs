//! `/metrics` for Prometheus: runs under way, and the number of archived runs.

use crate::failure::Failure;
use crate::live_runs::RunState;
use crate::site::Site;
use archive::Filter;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use std::time::Duration;

/// Time to wait for a moment of every run under way. Each sends one a second.
const PATIENCE: Duration = Duration::from_millis(1500);

/// The metrics.
pub async fn answer(State(site): State<Site>) -> Result<Response, Failure> {
    let archived = site.archived(|_, archive| Ok(archive.count(&Filter::all())?)).await?;
    let followers = site
        .work(|site| {
            let listed = site.live_runs().list().map_err(Failure::internal)?;
            Ok(listed
                .iter()
                .filter_map(|listed| site.live_runs().follow(listed.pid))
                .collect::<Vec<_>>())
        })
        .await?;
    let until = tokio::time::Instant::now() + PATIENCE;
    let mut known: Vec<Arc<RunState>> = Vec::new();
    for mut follower in followers {
        let first = follower.wait_for(|known| known.moment.is_some() || known.is_gone);
        let _ = tokio::time::timeout_at(until, first).await;
        let now = follower.borrow().clone();
        known.push(now);
    }
    let is_running = |known: &&Arc<RunState>| known.ended.is_none() && !known.is_gone;
    let runs: Vec<_> = known
        .iter()
        .filter(is_running)
        .filter_map(|known| Some((known.head.as_ref()?, known.moment.as_ref())))
        .collect();
    let text = format!(
        "# HELP fathom_archive_runs Runs in the archive.\n# TYPE fathom_archive_runs gauge\n\
         fathom_archive_runs {archived}\n{}",
        live::metrics::text(&runs)
    );
    Ok(([(header::CONTENT_TYPE, live::metrics::CONTENT_TYPE)], text).into_response())
}
