//! Making a worker's files before its I/O.

use crate::files::{LayoutError, LayoutReport, survey};
use crate::job_record::{FinishedJob, failed};
use crate::run_shared::{Event, RunShared};
use plan::Worker;
use record::{LayoutProgress, Message};
use std::io;

/// Makes the files of worker `index`. Returns a message for the user, if any. The error is the
/// worker's finished record.
pub(crate) fn lay_out(
    shared: &RunShared,
    index: usize,
) -> Result<Option<Message>, Box<FinishedJob>> {
    let worker = &shared.plan.workers[index];
    if let Some(errno) = worker.unready {
        // The plan has already reported why the worker cannot run.
        let error = io::Error::from_raw_os_error(errno);
        let mut finished = failed(worker, shared.plan.interval, "set up", &error);
        finished.messages.clear();
        return Err(Box::new(finished));
    }
    let error = match make_files(shared, worker) {
        Ok(report) => return Ok(unallocated(worker, &report)),
        // The run ends here; the files made so far are kept for the next one.
        Err(LayoutError::Interrupted) => return Ok(None),
        Err(error) => error,
    };
    let text = error.to_string();
    let source = match error {
        LayoutError::File(error) => error.source,
        LayoutError::NoSpace { .. } => io::Error::from_raw_os_error(libc::ENOSPC),
        other => io::Error::other(other.to_string()),
    };
    let mut finished = failed(worker, shared.plan.interval, "lay out", &source);
    finished.messages = vec![Message::error(Some(&worker.name), text)];
    Err(Box::new(finished))
}

/// Warns about files that the filesystem has no room for.
fn unallocated(worker: &Worker, report: &LayoutReport) -> Option<Message> {
    let (first, others) = report.unallocated.split_first()?;
    let more = match others.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let text = format!(
        "the filesystem has no room for all of '{first}'{more}; space is taken as it is written"
    );
    Some(Message::warning(Some(&worker.name), text))
}

fn make_files(shared: &RunShared, worker: &Worker) -> Result<LayoutReport, LayoutError> {
    let survey = survey(worker)?;
    if survey.files() == 0 {
        return Ok(LayoutReport::default());
    }
    let (job, files) = (worker.name.clone(), survey.files() as u64);
    shared.add_event(Event::LayingOut { job: job.clone(), files, bytes: survey.size() });
    let progress = |done: u64, total: u64| {
        shared.set_layout(Some(LayoutProgress { job: job.clone(), files, total, done }));
    };
    survey.run(worker, &progress, &shared.stop)
}
