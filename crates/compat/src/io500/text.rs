//! The output, as IO500 prints it.

use super::VERSION;
use super::command::{Io500Command, Phase};
use super::invalid::{is_long_enough, reasons};
use super::results::{Outcome, Row, Score, rows, score};

/// Values besides the call that the output shows.
#[derive(Clone, Debug, Default)]
pub struct Banner {
    /// The version of fathom.
    pub version: String,
    /// The time of the start.
    pub began: String,
    /// The directory of the data of this run.
    pub datadir: String,
    /// The directory of its results.
    pub resultdir: String,
}

const INVALID: &str = " [INVALID]";

/// What comes before the first phase.
pub fn head(banner: &Banner) -> String {
    format!(
        "IO500 version {VERSION}-fathom-{} (standard)\n[      ] data in {}, results in {}\n",
        banner.version, banner.datadir, banner.resultdir
    )
}

fn unit(phase: Phase) -> &'static str {
    if phase.is_ior() { "GiB/s" } else { "kIOPS" }
}

/// The line of a phase.
pub fn result_line(row: &Row) -> String {
    let Row { phase, figure, seconds } = row;
    let mark = if is_long_enough(row) { "" } else { INVALID };
    let (name, unit) = (phase.name(), unit(*phase));
    format!("[RESULT] {name:>20} {figure:>15.6} {unit} : time {seconds:.3} seconds{mark}\n")
}

/// The last line.
pub fn score_line(score: &Score, is_valid: bool) -> String {
    let Score { bandwidth, iops, total } = score;
    let mark = if is_valid { "" } else { INVALID };
    format!(
        "[SCORE ] Bandwidth {bandwidth:.6} GiB/s : IOPS {iops:.6} kiops : TOTAL {total:.6}{mark}\n"
    )
}

/// The file result.txt: a section for each phase, and one for the score.
pub fn result_file(call: &Io500Command, outcome: &Outcome, banner: &Banner) -> String {
    let mut out = format!(
        "[run]\nversion = {VERSION}-fathom-{}\nstarted = {}\nprocs = {}\ndatadir = {}\n\n",
        banner.version, banner.began, call.tasks, banner.datadir
    );
    let rows = rows(outcome);
    for row in &rows {
        out += &format!(
            "[{}]\n{}score = {:.6}\nunit = {}\nt_delta = {:.4}\nvalid = {}\n",
            row.phase.name(),
            command_line(call, row.phase, &banner.datadir),
            row.figure,
            unit(row.phase),
            row.seconds,
            is_long_enough(row)
        );
        if let (Phase::Find, Some(found)) = (row.phase, outcome.found) {
            out += &format!(
                "found = {}\ntotal-files = {}\nnproc = {}\n",
                found.matching, found.names, found.threads
            );
        }
        out.push('\n');
    }
    let Score { bandwidth, iops, total } = score(&rows);
    let reasons = reasons(call, outcome);
    out += &format!(
        "[SCORE]\nMD = {iops:.6}\nBW = {bandwidth:.6}\nSCORE = {total:.6}\nvalid = {}\n",
        reasons.is_empty()
    );
    out.extend(reasons.iter().map(|reason| format!("; {reason}\n")));
    out
}

/// The command line of the test of a phase.
fn command_line(call: &Io500Command, phase: Phase, datadir: &str) -> String {
    let test = usize::from(phase.name().contains("-hard-"));
    match phase {
        Phase::Find => String::new(),
        phase if phase.is_ior() => {
            format!("exe = fathom ior {}\n", call.ior_lines(datadir)[test].join(" "))
        }
        _ => format!("exe = fathom mdtest {}\n", call.mdtest_lines(datadir)[test].join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::results::tests::measured;
    use super::*;

    #[test]
    fn lines_read_as_io500s() {
        let row = Row { phase: Phase::IorEasyWrite, figure: 1.234, seconds: 300.1 };
        let line = "[RESULT]       ior-easy-write        1.234000 GiB/s : time 300.100 seconds";
        assert_eq!(result_line(&row), format!("{line}\n"));
        let short = Row { phase: Phase::MdtestHardWrite, figure: 20.5, seconds: 2.0 };
        let line =
            "[RESULT]    mdtest-hard-write       20.500000 kIOPS : time 2.000 seconds [INVALID]";
        assert_eq!(result_line(&short), format!("{line}\n"));
        let read = Row { phase: Phase::IorEasyRead, ..short };
        assert!(result_line(&read).ends_with("GiB/s : time 2.000 seconds\n"), "reads may be short");
        let score = Score { bandwidth: 4.0, iops: 9.0, total: 6.0 };
        let line = "[SCORE ] Bandwidth 4.000000 GiB/s : IOPS 9.000000 kiops : TOTAL 6.000000";
        assert_eq!(score_line(&score, true), format!("{line}\n"));
        assert_eq!(score_line(&score, false), format!("{line} [INVALID]\n"));
    }

    #[test]
    fn the_file_has_a_section_for_each_phase() {
        let call = Io500Command { tasks: 2, ..Io500Command::default() };
        let banner = Banner { datadir: "/d".into(), ..Banner::default() };
        let file = result_file(&call, &measured(&call, 4), &banner);
        assert_eq!(file.matches("\nscore = ").count(), 12, "{file}");
        assert!(file.contains("[ior-hard-read]\nexe = fathom ior -N 2 "), "{file}");
        assert!(file.contains("\nfound = 18\ntotal-files = 3000\nnproc = 1\n"), "{file}");
        assert!(file.contains("\nvalid = false\n; phases that write lasted"), "{file}");
    }
}
