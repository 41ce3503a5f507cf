//! The lines that follow a series of runs: one for each job and direction of a run that ended.

use crate::style::printable;
use judge::{Case, DirectionMetrics, Part};
use record::{Direction, RunRecord, human};

/// Characters for the name of a job.
const NAME_WIDTH: usize = 27;

/// The heading of [`lines`].
pub fn heading(runs: u32) -> String {
    line(&run_column("run", runs), ["job", "", "IOPS", "bandwidth", "p50", "p99"].map(Into::into))
}

/// The results of run `number` (from 1) of `runs`. Latencies are response latencies for jobs with a
/// rate and completion latencies for others. `name`: the cell, where the runs differ.
pub fn lines(number: u32, runs: u32, name: Option<&str>, record: &RunRecord) -> String {
    let case = Case::from_record(record);
    let mut run = run_column(&format!("{number}/{runs}"), runs);
    let mut text = String::new();
    for part in &case.parts {
        let active = |d: &Direction| !part.metrics.directions[*d].is_idle();
        for direction in Direction::ALL.into_iter().filter(active) {
            text += &line(&run, columns(part, direction, name));
            run = run_column("", runs);
        }
    }
    if text.is_empty() { format!("{run}{} did nothing\n", name.unwrap_or("the run")) } else { text }
}

fn columns(part: &Part, direction: Direction, name: Option<&str>) -> [String; 6] {
    let metrics = &part.metrics.directions[direction];
    let job = match name {
        Some(name) if name != part.name => format!("{name}: {}", part.name),
        _ => part.name.into(),
    };
    [
        shorten(&job),
        direction.name().into(),
        human::count(metrics.iops),
        human::rate(metrics.bytes_per_second),
        percentile(metrics, 50.0),
        percentile(metrics, 99.0),
    ]
}

fn percentile(metrics: &DirectionMetrics, wanted: f64) -> String {
    let latency = metrics.response.as_ref().or(metrics.clat.as_ref());
    let known = latency.and_then(|l| l.percentiles.iter().find(|(p, _)| *p == wanted));
    known.map_or("-".into(), |(_, ns)| human::time(*ns as f64))
}

/// A name of at most [`NAME_WIDTH`] characters. The end of a long name is kept: it differs more often
/// than the beginning.
fn shorten(name: &str) -> String {
    let letters: Vec<char> = printable(name).chars().collect();
    match letters.len() > NAME_WIDTH {
        true => {
            "…".to_string() + &letters[letters.len() + 1 - NAME_WIDTH..].iter().collect::<String>()
        }
        false => letters.into_iter().collect(),
    }
}

fn run_column(text: &str, runs: u32) -> String {
    let digits = runs.to_string().len();
    let width = (2 * digits + 1).max(3);
    format!("{text:>width$}  ")
}

fn line(run: &str, [job, direction, iops, bandwidth, p50, p99]: [String; 6]) -> String {
    let text =
        format!("{run}{job:NAME_WIDTH$} {direction:5} {iops:>7} {bandwidth:>10} {p50:>8} {p99:>8}");
    text.trim_end().to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn a_line_for_each_job_and_direction_fits_a_terminal() {
        let record = testing::mixed();
        let text = heading(100) + &lines(7, 100, Some("some/long/path/of/a/job.fio"), &record);
        let expected = [
            "    run  job                                  IOPS  bandwidth      p50      p99",
            "  7/100  …g/path/of/a/job.fio: mixed read      500 1.95 MiB/s   499 µs   891 µs",
            "         …g/path/of/a/job.fio: mixed write     1 k 3.91 MiB/s   152 ms   297 ms",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
        assert!(expected.iter().all(|line| line.chars().count() <= 80));
    }

    #[test]
    fn a_name_that_fits_is_shown_whole() {
        assert_eq!(
            lines(1, 3, None, &testing::mixed()).lines().next().map(|l| &l[..12]),
            Some("1/3  mixed  ")
        );
        assert_eq!(shorten("a\u{1b}[1m"), "a?[1m");
    }

    #[test]
    fn a_run_without_io_is_named() {
        assert_eq!(lines(1, 3, None, &RunRecord::default()), "1/3  the run did nothing\n");
    }
}
