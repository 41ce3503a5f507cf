//! The subject of a report.

use crate::clients::Clients;
use judge::Judged;
use record::{RecordSet, RunRecord};

/// The subject of a report.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// A run.
    Run(&'a RunRecord, &'a Judged),
    /// Runs made together.
    Set {
        /// The runs.
        set: &'a RecordSet,
        /// Each run, judged.
        judged: &'a [Judged],
        /// All runs as one ([`judge::judge_set`]).
        together: &'a Judged,
    },
    /// Jobs on several servers. Text is printed server by server ([`crate::normal::server`]) and
    /// is the sum of all here.
    Clients(&'a Clients),
}

impl<'a> Subject<'a> {
    /// The judged runs that terse lines show one after the other.
    pub(crate) fn judged_runs(self) -> Vec<&'a Judged> {
        match self {
            Subject::Run(_, judged) => vec![judged],
            Subject::Set { judged, .. } => judged.iter().collect(),
            Subject::Clients(clients) => {
                let each = clients.reports.iter().map(|report| &report.judged);
                each.chain(clients.all.iter().map(|all| &all.judged)).collect()
            }
        }
    }
}
