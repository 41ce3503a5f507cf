//! What jobs on several servers look like: the report of each, then all of them as one.

use crate::{Dress, Format, json, normal, render, render_so_far, terse};
use judge::Judged;
use record::{GroupKey, RunRecord};

/// Of one server.
#[derive(Clone, Debug)]
pub struct ClientReport {
    /// The server, as the user named it.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// As what it names itself.
    pub name: String,
    /// What it measured.
    pub record: RunRecord,
    /// The same, judged.
    pub judged: Judged,
}

/// The jobs of all servers reported as one, as if one group of one host.
#[derive(Clone, Debug)]
pub struct All {
    /// Everything measured.
    pub record: RunRecord,
    /// The same, judged: one unit.
    pub judged: Judged,
}

/// Of all servers, in the order they were named.
#[derive(Clone, Debug)]
pub struct Clients {
    /// Each that ran.
    pub reports: Vec<ClientReport>,
    /// All of them; `None` where that would repeat a single job.
    pub all: Option<All>,
}

impl Clients {
    /// With everything summed up where there is more than one job.
    pub fn new(reports: Vec<ClientReport>) -> Clients {
        let units: usize = reports.iter().map(|report| report.judged.units.len()).sum();
        let all = (units > 1).then(|| All::of(&reports));
        Clients { reports, all }
    }

    /// The reports of one document for all: terse lines, JSON, and what "All clients" adds to the
    /// text of [`server`], in the order of [`crate::render`].
    pub fn render(&self, formats: &[Format], dress: &Dress) -> String {
        let mut out = String::new();
        if formats.contains(&Format::Terse) {
            let judged = self.reports.iter().map(|report| &report.judged);
            let all = self.all.iter().map(|all| &all.judged);
            out.extend(judged.chain(all).map(|judged| terse::render(judged, dress)));
        }
        let bins = formats.contains(&Format::JsonPlus);
        if bins || formats.contains(&Format::Json) {
            out += &json::render_clients(self, bins, dress);
        }
        if let (true, Some(all)) = (formats.contains(&Format::Normal), &self.all) {
            out += &normal::unit_of_all(&all.record, &all.judged, dress);
        }
        out
    }
}

impl All {
    fn of(reports: &[ClientReport]) -> All {
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
        All { record, judged }
    }
}

/// The normal text of one server, headed as fio heads it.
pub fn server(report: &ClientReport, dress: &Dress) -> String {
    let failures = if dress.as_fio { normal::failures(&report.record) } else { String::new() };
    prefixed(&report.name, &(failures + "\n"))
        + render(&report.record, &report.judged, &[Format::Normal], dress).trim_start_matches('\n')
}

/// The normal text of one server that goes on, of what it has measured so far.
pub fn server_so_far(report: &ClientReport, dress: &Dress) -> String {
    let text = render_so_far(&report.record, &report.judged, &[Format::Normal], dress);
    prefixed(&report.name, "\n") + text.trim_start_matches('\n')
}

/// Text of a server, its name before each line.
pub fn prefixed(name: &str, text: &str) -> String {
    text.split_inclusive('\n').map(|line| format!("<{name}> {line}")).collect()
}
