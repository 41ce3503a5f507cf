//! The table: medians of the rounds, one line a case.

use super::cases::Peer;
use super::measure::{Program, Sample};
use super::{Measured, Options};
use std::fmt::Write;

/// All that was measured, with what one needs to do it again. Pairs are fio / fathom.
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
         are fio / fathom.\n\n",
        options.rounds, options.seconds
    );
    text.push_str(
        "| case | I/Os per second | ratio | spread | user ns per I/O | system ns per I/O \
         | whole process ns per I/O | clat p50 ns | clat p99 ns |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for case in measured {
        text.push_str(&line(case));
    }
    text.push_str(
        "\nRatio: fathom's I/Os per second for one of fio's, the median over the rounds. Spread: (highest − lowest) / median \
         of I/Os per second. User and system time are those of the jobs, as each program \
         reports them; the whole process is the kernel's account of both together from start \
         to exit.\n\n",
    );
    for case in measured {
        // Writing to a String cannot fail.
        let _ = write!(text, "- {}: `{}`", case.case.name, case.case.job().join(" "));
        if let Peer::OursWith(argument) = case.case.peer {
            let _ = write!(text, ", beside fathom itself with `{argument}` in fio's place");
        }
        text.push('\n');
    }
    for (name, reason) in left_out {
        let _ = writeln!(text, "- {name}: left out, {reason}");
    }
    text.push('\n');
    for fact in facts {
        let _ = writeln!(text, "- {fact}");
    }
    text
}

fn line(measured: &Measured) -> String {
    let both = [measured.peer.as_slice(), measured.fathom.as_slice()];
    let pair = |value: fn(&Sample) -> f64| {
        let [fio, fathom] = both.map(|samples| figure(median(samples, value)));
        format!("{fio} / {fathom}")
    };
    let [fio_spread, fathom_spread] = both.map(spread_percent);
    format!(
        "| {} | {} | {:.2} | {fio_spread:.1} % / {fathom_spread:.1} % | {} | {} | {} | {} | {} |\n",
        measured.case.name,
        pair(|s| s.iops),
        ratio(measured),
        pair(|s| s.user_ns),
        pair(|s| s.system_ns),
        pair(|s| s.process_ns),
        pair(|s| s.p50_ns),
        pair(|s| s.p99_ns),
    )
}

/// The median of the rounds' ratios: a machine that changes its speed between two rounds changes it
/// for both programs.
fn ratio(measured: &Measured) -> f64 {
    let rounds = measured.peer.iter().zip(&measured.fathom);
    middle(rounds.map(|(peer, fathom)| fathom.iops / peer.iops).collect())
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

fn median(samples: &[Sample], value: fn(&Sample) -> f64) -> f64 {
    middle(samples.iter().map(value).collect())
}

/// The middle value, or the mean of the two in the middle. There is at least one.
fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        1 => values[middle],
        _ => (values[middle - 1] + values[middle]) / 2.0,
    }
}

fn spread_percent(samples: &[Sample]) -> f64 {
    let values = samples.iter().map(|sample| sample.iops);
    let highest = values.clone().fold(f64::MIN, f64::max);
    let lowest = values.fold(f64::MAX, f64::min);
    (highest - lowest) / median(samples, |sample| sample.iops) * 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::cases;

    fn samples(iops: &[f64]) -> Vec<Sample> {
        let sample = |&iops: &f64| Sample {
            iops,
            user_ns: 160.25,
            system_ns: 1.0,
            process_ns: 170.0,
            p50_ns: 30.0,
            p99_ns: 12345.0,
        };
        iops.iter().map(sample).collect()
    }

    #[test]
    fn medians_of_odd_and_even_counts() {
        assert_eq!(median(&samples(&[3.0, 1.0, 2.0]), |s| s.iops), 2.0);
        assert_eq!(median(&samples(&[3.0, 1.0, 2.0, 10.0]), |s| s.iops), 2.5);
    }

    #[test]
    fn a_line_holds_both_programs() {
        let case = cases::select(&["null-1".to_string()]).unwrap()[0];
        let measured = Measured {
            case,
            peer: samples(&[1100.0, 1000.0, 900.0]),
            fathom: samples(&[3_000_000.0, 3_500_000.0, 3_600_000.0]),
        };
        assert_eq!(
            line(&measured),
            "| null-1 | 1 000 / 3 500 000 | 3500.00 | 20.0 % / 17.1 % | 160 / 160 | 1.0 / 1.0 \
             | 170 / 170 | 30.0 / 30.0 | 12 345 / 12 345 |\n"
        );
    }
}
