//! The report for people: fio's normal text, line by line.

mod disks;
mod exchange;
mod failure;
mod groups;
mod latency;
mod unit;

pub use failure::failures;

use crate::Dress;
use judge::{Judged, UnitMetrics};
use record::RunRecord;

/// The normal text of a run, from the empty line after the header on. With `dress.as_fio` it holds
/// nothing that fio would not print.
pub fn render(record: &RunRecord, judged: &Judged, dress: &Dress) -> String {
    let mut out = String::from("\n");
    // fio is silent about a job that moved nothing, also when an error kept it from it.
    let silent = |unit: &&UnitMetrics| {
        dress.as_fio && unit.directions.iter().all(|(_, metrics)| metrics.is_idle())
    };
    for unit in judged.units.iter().filter(|unit| !silent(unit)) {
        unit::render(&mut out, record, unit, dress);
    }
    for group in &judged.groups {
        groups::render(&mut out, group, &judged.units);
    }
    disks::render(&mut out, &judged.disks);
    out.extend(judged.idleness.iter().map(crate::tools::idleness));
    out
}

/// The part of all servers together: as that of a job, but for what only a single job can have.
pub(crate) fn unit_of_all(record: &RunRecord, judged: &Judged, dress: &Dress) -> String {
    let mut out = String::new();
    judged.units.iter().for_each(|unit| unit::render(&mut out, record, unit, dress));
    let lines = out.split_inclusive('\n');
    lines.filter(|line| !line.starts_with("     latency   :")).collect()
}

/// A percentage at `decimals` decimals; a share that is there is never shown as none.
fn share(percent: f64, decimals: usize) -> String {
    let least = 10_f64.powi(-(decimals as i32));
    let shown = if percent > 0.0 { percent.max(least) } else { percent };
    format!("{shown:.decimals$}%")
}

#[cfg(test)]
mod tests;
