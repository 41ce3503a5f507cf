//! Results of jobs on several servers, and their sum.

use judge::Judged;
use record::{GroupKey, RunRecord};

/// The result of one server.
#[derive(Clone, Debug)]
pub struct ClientReport {
    /// The server, as the user named it.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Its own host name.
    pub name: String,
    /// The record of its run.
    pub record: RunRecord,
    /// The same, judged.
    pub judged: Judged,
}

/// The jobs of all servers reported as one, as if one group of one host.
#[derive(Clone, Debug)]
pub struct AllClients {
    /// The jobs of all servers.
    pub record: RunRecord,
    /// The same, judged: one unit.
    pub judged: Judged,
}

/// The results of all servers, in the order in which the user named them.
#[derive(Clone, Debug)]
pub struct Clients {
    /// One for each server that ran its jobs.
    pub reports: Vec<ClientReport>,
    /// Their sum; `None` where there is only one job.
    pub all: Option<AllClients>,
}

impl Clients {
    /// Adds the sum where there is more than one job.
    pub fn new(reports: Vec<ClientReport>) -> Clients {
        let units: usize = reports.iter().map(|report| report.judged.units.len()).sum();
        let all = (units > 1).then(|| AllClients::sum_of(&reports));
        Clients { reports, all }
    }
}

impl AllClients {
    fn sum_of(reports: &[ClientReport]) -> AllClients {
        let first = reports.first().map(|report| report.record.clone()).unwrap_or_default();
        let last = reports.iter().flat_map(|report| &report.record.jobs).last();
        let group = GroupKey { group: last.map_or(0, |job| job.group.group), report: 0 };
        let all = reports.iter().flat_map(|report| &report.record.jobs);
        let jobs = all.map(|job| record::JobRecord {
            name: "All clients".into(),
            description: String::new(),
            options: Vec::new(),
            tid: 0,
            group,
            ..job.clone()
        });
        let record = RunRecord { jobs: jobs.collect(), disks: Vec::new(), ..first };
        let judged = judge::judge(&record);
        AllClients { record, judged }
    }
}
