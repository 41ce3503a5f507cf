//! mdtest's summary.

use super::VERSION;
use super::command::{MdtestCommand, Phase};
use super::results::{Outcome, PhaseResult};
use crate::hpc::{self, Statistics};

/// Values besides the call that the head of the output shows.
#[derive(Clone, Debug, Default)]
pub struct Banner {
    /// The version of fathom.
    pub version: String,
    /// The time of the start, as MM/DD/YYYY hh:mm:ss.
    pub began: String,
    /// The command line.
    pub command: String,
    /// Bytes of the filesystem, and those in use; `None`: not known.
    pub capacity: Option<(u64, u64)>,
}

/// The text, part by part.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a>(pub &'a MdtestCommand);

/// The rows of the summary. No directory is renamed.
const ROWS: [(&str, Option<Phase>); 10] = [
    ("Directory creation", Some(Phase::DirectoryCreate)),
    ("Directory stat", Some(Phase::DirectoryStat)),
    ("Directory rename", None),
    ("Directory removal", Some(Phase::DirectoryRemove)),
    ("File creation", Some(Phase::FileCreate)),
    ("File stat", Some(Phase::FileStat)),
    ("File read", Some(Phase::FileRead)),
    ("File removal", Some(Phase::FileRemove)),
    ("Tree creation", Some(Phase::TreeCreate)),
    ("Tree removal", Some(Phase::TreeRemove)),
];

impl Table<'_> {
    /// What comes before the first phase.
    pub fn head(&self, banner: &Banner) -> String {
        let call = self.0;
        let tasks = call.tasks;
        let mut out = format!(
            "-- started at {} --\n\nmdtest-{VERSION}-fathom-{} was launched with {tasks} total \
             task(s) on {} node(s)\nCommand line used: {}\nNodemap: {}\n",
            banner.began, banner.version, call.nodes, banner.command, call.node_map
        );
        out += &format!("{:<20}: {}\n", "Path", call.directory);
        out += &hpc::filesystem_line(banner.capacity);
        let what = match (call.files_only, call.directories_only) {
            (true, _) => "files",
            (_, true) => "directories",
            _ => "files/directories",
        };
        let all = call.items_per_task() * u64::from(tasks);
        out + &format!("\n{tasks} tasks, {all} {what}\n")
    }

    /// What comes after the last phase. `finished`: the time, as that of the start.
    pub fn end(&self, outcome: &Outcome, finished: &str) -> String {
        let call = self.0;
        let mut out = String::new();
        if !call.times || call.rates_and_times {
            out += &self.summary("rate (in ops/sec)", outcome, PhaseResult::rate);
        }
        if call.times || call.rates_and_times {
            out += &self.summary("time (in s)", outcome, |result| result.seconds);
        }
        out + &format!("-- finished at {finished} --\n")
    }

    fn summary(&self, what: &str, outcome: &Outcome, of: fn(&PhaseResult) -> f64) -> String {
        let mut out = format!("\nSUMMARY {what}: (of {} iterations)\n", self.0.iterations);
        out += &row("Operation", ["Max", "Min", "Mean", "Std Dev"].map(str::to_owned));
        out += &row("---------", ["---", "---", "----", "-------"].map(str::to_owned));
        for (name, phase) in ROWS {
            let values: Vec<f64> =
                phase.map(|phase| outcome.of_phase(phase).map(of).collect()).unwrap_or_default();
            let Statistics { max, min, mean, .. } = Statistics::from_values(&values);
            let deviation = sample_deviation(&values);
            out += &row(name, [max, min, mean, deviation].map(|value| format!("{value:.3}")));
        }
        out
    }
}

/// mdtest's deviation is that of a sample, unlike IOR's.
fn sample_deviation(values: &[f64]) -> f64 {
    match values.len() {
        0 | 1 => 0.0,
        count => {
            Statistics::from_values(values).deviation * (count as f64 / (count - 1) as f64).sqrt()
        }
    }
}

fn row(name: &str, cells: [String; 4]) -> String {
    let cells = cells.map(|cell| format!("{cell:>14}"));
    format!("   {name:<22} {}\n", cells.join(" "))
}

#[cfg(test)]
mod tests {
    use super::super::results::tests::run;
    use super::*;

    #[test]
    fn the_summary_reads_as_mdtests() {
        let call =
            MdtestCommand { items: 100, tasks: 2, iterations: 2, ..MdtestCommand::default() };
        let mut outcome = Outcome::default();
        outcome.add(&run(Phase::FileStat, 0), 0.0);
        outcome.add(&run(Phase::FileStat, 1), 2.0);
        let end = Table(&call).end(&outcome, "now");
        assert!(end.starts_with("\nSUMMARY rate (in ops/sec): (of 2 iterations)\n"), "{end}");
        let row = "   File stat                     100.000         50.000         75.000         35.355\n";
        assert!(end.contains(row), "{end}");
        assert!(end.contains("   Directory rename                0.000 "), "{end}");
        assert!(!end.contains("-0.000"), "{end}");
        assert!(end.ends_with("-- finished at now --\n"), "{end}");
        assert_eq!(end.lines().count(), 15, "{end}");
        let both = MdtestCommand { rates_and_times: true, ..call };
        assert!(Table(&both).end(&outcome, "").contains("SUMMARY time (in s): (of 2 iterations)"));
        let head = Table(&both).head(&Banner::default());
        assert!(head.contains("2 total task(s) on 1 node(s)\n"), "{head}");
        assert!(head.ends_with("\n2 tasks, 200 files/directories\n"), "{head}");
    }
}
