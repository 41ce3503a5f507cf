//! Shows a run on the terminal while it goes on.

use super::interim::InterimReports;
use super::live_view::LiveView;
use super::request::{OutputMode, RunRequest};
use super::status_line::StatusTicker;
use crate::output::{Output, write_stderr};
use anyhow::Result;
use job::Invocation;
use judge::Judged;
use record::{Cell, RunRecord};
use runner::{RunControl, RunInProgress, RunObserver, Trigger};
use std::path::Path;

/// A file that asks every fio for a report, as its manual says.
const DUMP_STATUS: &str = "/tmp/fio-dump-status";

/// Shows a run: status line or live view, interim reports, messages about signals.
pub struct Console<'a> {
    output: &'a mut Output,
    mode: OutputMode,
    ticker: Option<StatusTicker>,
    live: LiveView,
    trigger: Trigger,
    interims: Option<InterimReports>,
    stopping: bool,
    /// The cell of the run within a set.
    cell: Option<Cell>,
    /// Whether to write the logs of `--bandwidth-log`.
    aggregates_logs: bool,
    /// Whether all of those logs were written.
    has_aggregated_logs: bool,
}

impl<'a> Console<'a> {
    /// Shows a run without interim reports.
    pub fn new(
        request: &RunRequest,
        invocation: &Invocation,
        output: &'a mut Output,
    ) -> Console<'a> {
        let mode = request.output_mode();
        let ticker = StatusTicker::new(invocation, output, mode.as_fio, mode.text);
        let live = LiveView::new(invocation, output, mode);
        Console {
            output,
            mode,
            ticker,
            live,
            trigger: Trigger::set(&invocation.trigger),
            interims: None,
            stopping: false,
            cell: None,
            aggregates_logs: invocation.bandwidth_log,
            has_aggregated_logs: true,
        }
    }

    /// Shows a run with interim reports (`--status-interval`, SIGUSR1).
    pub fn with_interim_reports(
        request: &RunRequest,
        invocation: &Invocation,
        output: &'a mut Output,
    ) -> Console<'a> {
        let interims = Some(InterimReports::new(request, output));
        Console { interims, ..Console::new(request, invocation, output) }
    }

    /// Shows a run that is a cell of a set.
    pub fn in_cell(self, cell: Cell) -> Console<'a> {
        Console { cell: Some(cell), ..self }
    }

    /// Why the command of `--trigger` failed, if it did.
    pub fn trigger_failure(&self) -> Option<String> {
        self.trigger.failure()
    }

    /// Whether all logs of `--bandwidth-log` were written.
    pub fn has_aggregated_logs(&self) -> bool {
        self.has_aggregated_logs
    }

    /// Adds the results since the last interim report, if there was one.
    pub fn add_since_last_report(&mut self, record: &RunRecord, judged: &mut Judged) {
        if let Some(interims) = &mut self.interims {
            interims.history.add_since(record, judged);
        }
    }

    /// Erases the status line.
    fn clear(&mut self) -> Result<()> {
        match &mut self.ticker {
            Some(ticker) => ticker.clear(),
            None => Ok(()),
        }
    }

    fn leave(&mut self) -> Result<()> {
        match &mut self.ticker {
            Some(ticker) => ticker.leave(),
            None => Ok(()),
        }
    }

    fn show_signal(&mut self, signal: i32) -> Result<()> {
        self.leave()?;
        let line = format!("fio: terminating on signal {signal}\n");
        match (self.mode.as_fio, self.mode.text) {
            (true, true) => self.output.write(&format!("\n{line}"))?,
            (true, false) => write_stderr(&line),
            (false, _) => {
                write_stderr(&format!(
                    "fathom: terminating on signal {signal}; a second one ends it at once\n"
                ));
            }
        }
        Ok(())
    }
}

/// Whether somebody asks for a report by fio's file, which is removed then.
fn take_dump_request() -> bool {
    // Most often it is not there, and a look costs less than the attempt to remove it.
    let path = Path::new(DUMP_STATUS);
    path.exists() && std::fs::remove_file(path).is_ok()
}

impl RunObserver for Console<'_> {
    fn laying_out(&mut self, job: &str, files: u64, bytes: u64) -> Result<()> {
        self.clear()?;
        let line = report::header::layout(job, files, bytes);
        if self.mode.text {
            return self.output.write(&line);
        }
        // Oracle: fio prints this line only with text.
        if !self.mode.quiet && !self.mode.as_fio {
            write_stderr(&line);
        }
        Ok(())
    }

    fn traced(&mut self, lines: &str) -> Result<()> {
        self.output.write(lines)
    }

    fn wants_interim_results(&self) -> bool {
        self.interims.is_some()
    }

    fn interim(&mut self, record: RunRecord) -> Result<()> {
        let Some(interims) = &mut self.interims else { return Ok(()) };
        let report = interims.report(&record);
        self.clear()?;
        self.output.write(&report)
    }

    fn poll(&mut self, run: &RunInProgress) -> Result<RunControl> {
        if let (Some(signal), false) = (run.signals.caught(), self.stopping) {
            self.stopping = true;
            self.show_signal(signal)?;
        }
        self.trigger.goes_off();
        self.trigger.settle(false);
        if self.live.is_due(run) {
            self.clear()?;
            self.live.start(run)?;
        }
        let is_drawn = self.live.poll(run);
        if let Some(ticker) = self.ticker.as_mut().filter(|_| !is_drawn) {
            ticker.tick(|| run.run.snapshot())?;
        }
        let report = self.mode.as_fio && take_dump_request();
        Ok(RunControl { stop: self.stopping || self.trigger.was_pulled(), report })
    }

    fn ended(&mut self, run: &RunInProgress) -> Result<()> {
        self.trigger.settle(true);
        self.live.leave();
        match &mut self.ticker {
            Some(ticker) if !self.stopping => ticker.finish(|| run.run.snapshot()),
            _ => self.leave(),
        }
    }

    fn complete(&mut self, record: &mut RunRecord) {
        record.cell = self.cell.take().or(record.cell.take());
        if self.aggregates_logs {
            let failures = formats::logs::write_aggregate(record, Path::new(""));
            self.has_aggregated_logs = failures.is_empty();
            record.messages.extend(failures);
        }
    }
}
