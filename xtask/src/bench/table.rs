//! The table: medians of the rounds, one line a case.

use super::bounds::{Bound, Figure, middle};
use super::cases::{Case, Ends, Peer};
use super::measure::Program;
use super::measured::Measured;
use super::options::Options;
use super::sample::Sample;
use std::fmt::Write;

/// All that was measured, with what one needs to do it again. Pairs are peer / fathom.
pub fn markdown(
    measured: &[Measured],
    left_out: &[(&str, &str)],
    programs: &[Program; 2],
    options: &Options,
    facts: &[String],
) -> String {
    let [fio, fathom] = programs.each_ref().map(|program| program.version.as_str());
    let mut text = format!(
        "# fathom against fio\n\n\
         fio is `{fio}`, fathom is `{fathom}`. Medians of {} rounds of {} s, turn by turn. Pairs \
         are peer / fathom.\n\n",
        options.rounds, options.seconds
    );
    text.push_str(DEMANDS);
    for case in measured {
        text.push_str(&demands(case));
    }
    text.push_str(FIGURES);
    for case in measured {
        text.push_str(&line(case));
    }
    text.push_str(NOTES);
    for case in measured {
        text.push_str(&job(case.case));
    }
    for (name, reason) in left_out {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "- {name}: left out, {reason}");
    }
    text.push_str("\n## Machine\n\n");
    for fact in facts {
        let _ = writeln!(text, "- {fact}");
    }
    text.push_str(ROUNDS);
    for case in measured {
        text.push_str(&rounds(case));
    }
    text
}

const DEMANDS: &str = "## What must hold\n\n| case | demanded: measured |\n|---|---|\n";

const FIGURES: &str = "\n## Figures\n\n\
    | case | I/Os per second | ratio | spread | user ns per I/O | system ns per I/O \
    | whole process ns per I/O | clat p50 ns | clat p99 ns | elapsed ms | MiB \
    | instructions per I/O |\n\
    |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";

const NOTES: &str = "\n\
    Ratio: fathom's I/Os per second for one of its peer's, or its peer's time for fathom's where a \
    case ends with its work; the median over the rounds. Spread: (highest − lowest) / median of \
    the same. User and system time are those of the jobs, as each program reports them; the whole \
    process, its time and its memory are the kernel's account from start to exit. Instructions are \
    callgrind's: the difference between a run of 50 000 and one of 250 000 I/Os.\n\n\
    ## Cases\n\n";

const ROUNDS: &str = "\n## Rounds\n\n\
    I/Os per second, or milliseconds where a case ends with its work, peer / fathom.\n\n";

/// The job of a case, and of its peer where that is not fio.
fn job(case: &Case) -> String {
    let mut text = format!("- {}: `{}`", case.name, case.job().join(" "));
    match (case.peer, case.peer_job()) {
        (Peer::OursWith(_) | Peer::OursWithoutLast, Some(job)) => {
            let _ = write!(text, ", beside fathom itself with `{}`", job.join(" "));
        }
        (Peer::None, _) => text.push_str(", beside nothing"),
        _ => {}
    }
    text.push('\n');
    text
}

/// A line a demand; nothing of a case that nothing is demanded of.
fn demands(measured: &Measured) -> String {
    let line =
        |bound: &Bound| format!("| {} | {} |\n", measured.case.name, bound.verdict(measured));
    measured.case.bounds.iter().map(line).collect()
}

/// What the rounds of a case are told apart by.
fn figure_of(case: &Case) -> Figure {
    if case.ends == Ends::Timed { Figure::Rate } else { Figure::Speed }
}

fn line(measured: &Measured) -> String {
    let both = [measured.peer.as_slice(), measured.fathom.as_slice()];
    let pair = |value: fn(&Sample) -> f64| {
        let [peer, fathom] = both.map(|samples| median(samples, value));
        format!("{peer} / {fathom}")
    };
    let main = figure_of(measured.case);
    let ratio = match measured.peer.is_empty() {
        true => "–".to_string(),
        false => format!("{:.2}", measured.ratio(main)),
    };
    let [peer_spread, fathom_spread] = both.map(|samples| spread(samples, main));
    let instructions = measured.instructions.map_or("–".to_string(), |counted| {
        counted.map(|count| count.map_or("–".to_string(), figure)).join(" / ")
    });
    format!(
        "| {} | {} | {ratio} | {peer_spread} / {fathom_spread} | {} | {} | {} | {} | {} | {} | {} \
         | {instructions} |\n",
        measured.case.name,
        pair(|s| s.iops),
        pair(|s| s.user_ns),
        pair(|s| s.system_ns),
        pair(|s| s.process_ns),
        pair(|s| s.p50_ns),
        pair(|s| s.p99_ns),
        pair(|s| s.elapsed_ns / 1e6),
        pair(|s| s.memory_bytes / 1024.0 / 1024.0),
    )
}

fn rounds(measured: &Measured) -> String {
    let value = |sample: &Sample| match measured.case.ends {
        Ends::Timed => figure(sample.iops),
        Ends::Done | Ends::Refused => figure(sample.elapsed_ns / 1e6),
    };
    let all = |samples: &[Sample]| samples.iter().map(value).collect::<Vec<_>>().join(", ");
    let name = measured.case.name;
    format!("- {name}: {} / {}\n", all(&measured.peer), all(&measured.fathom))
}

/// Whole numbers with their thousands set apart; small ones keep a digit after the point.
fn figure(value: f64) -> String {
    if value < 100.0 {
        return format!("{value:.1}");
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// The median of a figure of the rounds; a dash where there are none, or none had it.
fn median(samples: &[Sample], value: fn(&Sample) -> f64) -> String {
    if samples.iter().all(|sample| value(sample) == 0.0) {
        return "–".to_string();
    }
    figure(middle(samples.iter().map(value).collect()))
}

fn spread(samples: &[Sample], of: Figure) -> String {
    if samples.is_empty() {
        return "–".to_string();
    }
    let values: Vec<f64> = samples.iter().map(|sample| of.value(sample)).collect();
    let highest = values.iter().copied().fold(f64::MIN, f64::max);
    let lowest = values.iter().copied().fold(f64::MAX, f64::min);
    format!("{:.1} %", (highest - lowest) / middle(values) * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::cases;
    use crate::bench::measure::tests::of_iops;

    fn measured(case: &str, peer: &[f64], fathom: &[f64]) -> Measured {
        Measured {
            case: cases::select(&[case.to_string()]).unwrap()[0],
            peer: of_iops(peer),
            fathom: of_iops(fathom),
            instructions: Some([None, Some(150.0)]),
        }
    }

    #[test]
    fn a_line_holds_both_programs() {
        let measured =
            measured("null-1", &[1100.0, 1000.0, 900.0], &[3_000_000.0, 3_500_000.0, 3_600_000.0]);
        assert_eq!(
            line(&measured),
            "| null-1 | 1 000 / 3 500 000 | 3500.00 | 20.0 % / 17.1 % | 160 / 160 | 1.0 / 1.0 \
             | 170 / 170 | 30.0 / 30.0 | 12 345 / 12 345 | 2.0 / 2.0 | – / – | – / 150 |\n"
        );
        assert_eq!(
            rounds(&measured),
            "- null-1: 1 100, 1 000, 900 / 3 000 000, 3 500 000, 3 600 000\n"
        );
        assert_eq!(demands(&measured).lines().count(), measured.case.bounds.len());
    }

    #[test]
    fn a_case_beside_nothing_has_no_ratio() {
        let measured = measured("sections", &[], &[0.0]);
        assert!(line(&measured).starts_with("| sections-10000 | – / – | – | – / 0.0 % |"));
        assert!(job(measured.case).ends_with("beside nothing\n"));
    }
}
