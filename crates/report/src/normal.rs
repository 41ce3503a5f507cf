//! The report for people: fio's normal text, line by line.

mod disks;
mod exchange;
mod failure;
mod groups;
mod idle;
mod latency;
mod unit;

pub use failure::failures;
pub use idle::calibration;

use crate::clients::ClientReport;
use crate::options::RenderOptions;
use crate::subject::Subject;
use crate::{cpu_profile, fleet, gate, layers, repeats, verdict};
use judge::{Judged, UnitMetrics};
use record::RunRecord;

/// The text of a subject. After fio's text come verdict, findings and gate, unless the run goes on or
/// only fio's text was asked for.
pub fn render(subject: Subject, options: &RenderOptions) -> String {
    match subject {
        Subject::Run(record, judged) if options.so_far || options.as_fio => {
            run(record, judged, &RenderOptions { as_fio: true, ..options.clone() })
        }
        Subject::Run(record, judged) => {
            let profile = record.evidence.cpu_profile.as_ref();
            let profile =
                profile.map(|p| format!("\n{}\n", cpu_profile::text(p, &options.style).trim_end()));
            let layers = layers::section(record, judged, options);
            let fleet = record.fleet.as_ref();
            let fleet = fleet.map(|it| fleet::text(it, judged, &options.style));
            fleet.unwrap_or_default()
                + &run(record, judged, options)
                + &layers
                + &profile.unwrap_or_default()
                + &verdict_and_gate(judged, options)
        }
        Subject::Set { set, together, .. } => {
            repeats::text(&judge::repeats(set), &options.style)
                + &verdict_and_gate(together, options)
        }
        Subject::Clients(clients) => clients
            .all
            .as_ref()
            .map_or(String::new(), |all| all_clients(&all.record, &all.judged, options)),
    }
}

fn verdict_and_gate(judged: &Judged, options: &RenderOptions) -> String {
    let gate = judged.gate.as_ref().map_or(String::new(), |gated| {
        gate::text(&gated.results, gated.undecided_passes, &options.style)
    });
    let found = if options.verbose { verdict::in_full } else { verdict::for_screen };
    found(judged, &options.style) + &gate
}

/// fio's text of a run, from the empty line after the header on.
fn run(record: &RunRecord, judged: &Judged, options: &RenderOptions) -> String {
    let mut out = String::from("\n");
    // fio prints nothing about a job that moved no data, even if an error ended it.
    let is_silent = |unit: &&UnitMetrics| {
        options.as_fio && unit.directions.iter().all(|(_, metrics)| metrics.is_idle())
    };
    for unit in judged.units.iter().filter(|unit| !is_silent(unit)) {
        unit::render(&mut out, record, unit, options);
    }
    for group in &judged.groups {
        groups::render(&mut out, group, &judged.units);
    }
    disks::render(&mut out, &judged.disks, options);
    out.extend(judged.idleness.iter().map(idle::cpus));
    out
}

/// The text of one server, with the heading that fio gives it.
pub fn server(report: &ClientReport, options: &RenderOptions) -> String {
    let has_failures = options.as_fio && !options.so_far;
    let failures = if has_failures { failures(&report.record) } else { String::new() };
    let text = render(Subject::Run(&report.record, &report.judged), options);
    prefixed(&report.name, &(failures + "\n")) + text.trim_start_matches('\n')
}

/// Text of a server, its name before each line.
pub fn prefixed(name: &str, text: &str) -> String {
    text.split_inclusive('\n').map(|line| format!("<{name}> {line}")).collect()
}

/// The text of all servers together: that of a job without the lines that only a single job has.
fn all_clients(record: &RunRecord, judged: &Judged, options: &RenderOptions) -> String {
    let mut out = String::new();
    judged.units.iter().for_each(|unit| unit::render(&mut out, record, unit, options));
    let lines = out.split_inclusive('\n');
    lines.filter(|line| !line.starts_with("     latency   :")).collect()
}

#[cfg(test)]
mod tests;
