//! Reports on a run in progress (`--status-interval`, SIGUSR1).

use super::request::RunRequest;
use crate::output::Output;
use judge::Judged;
use record::{Format, RunRecord};
use report::{RenderOptions, Subject};

/// Makes the interim reports of a run.
pub struct InterimReports {
    formats: Vec<Format>,
    options: RenderOptions,
    /// The earlier reports.
    pub history: InterimHistory,
}

/// The interim reports that were made of a run.
#[derive(Default)]
pub struct InterimHistory {
    /// Whether the run is reported more than once.
    pub is_wanted: bool,
    reports: u64,
    before: Option<RunRecord>,
}

impl InterimHistory {
    /// Judges the results so far, with those since the previous report.
    pub fn judge_so_far(&mut self, record: &RunRecord) -> Judged {
        let mut judged = judge::figures(record);
        self.is_wanted = true;
        self.add_since(record, &mut judged);
        self.before = Some(record.clone());
        judged
    }

    /// Adds the results since the previous report, if the run is reported more than once.
    pub fn add_since(&mut self, record: &RunRecord, judged: &mut Judged) {
        if self.is_wanted {
            self.reports += 1;
            judged.delta = Some(judge::delta(self.before.as_ref(), record, self.reports));
        }
    }
}

impl InterimReports {
    /// Reports in the formats of a request.
    pub fn new(request: &RunRequest, output: &Output) -> InterimReports {
        let is_wanted = request.invocation.status_interval.is_some();
        InterimReports {
            formats: request.formats().to_vec(),
            options: RenderOptions { so_far: true, ..request.render_options(output) },
            history: InterimHistory { is_wanted, ..InterimHistory::default() },
        }
    }

    /// The report on the results so far.
    pub fn report(&mut self, record: &RunRecord) -> String {
        let judged = self.history.judge_so_far(record);
        report::render(Subject::Run(record, &judged), &self.formats, &self.options)
    }
}
