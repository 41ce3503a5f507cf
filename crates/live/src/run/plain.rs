//! Moments as lines for a pipe.

use super::{JobNow, Moment};
use std::fmt::Write;

/// The header of the columns.
pub const HEAD: &str = "# time     job              state       dir         io/s      MiB/s     p50_us     \
                        p99_us   p99.9_us   depth\n";

/// The lines of a moment at time `clock`, one for each direction of each job. Unknown figures are
/// "-".
pub fn lines(clock: &str, moment: &Moment) -> String {
    let mut text = String::new();
    for job in &moment.jobs {
        let directions = || job.directions.iter().filter_map(|(d, now)| Some((d, now.as_ref()?)));
        if directions().next().is_none() {
            let _ = writeln!(text, "{}", named(clock, job, "-").trim_end());
        }
        for (direction, now) in directions() {
            let latency = |pick: fn(&super::LatencyNow) -> u64| {
                let ns = now.latency.as_ref().map(pick);
                ns.map_or("-".to_owned(), |ns| format!("{:.1}", ns as f64 / 1000.0))
            };
            // Writing to text does not fail.
            let _ = writeln!(
                text,
                "{} {:>10.1} {:>10.2} {:>10} {:>10} {:>10} {:>7}",
                named(clock, job, direction.name()),
                now.iops,
                now.bytes_per_second / f64::from(1 << 20),
                latency(|latency| latency.p50_ns),
                latency(|latency| latency.p99_ns),
                latency(|latency| latency.p999_ns),
                job.depth.map_or("-".to_owned(), |depth| format!("{:.1}", depth.now)),
            );
        }
    }
    text
}

/// The columns with time, job, state and direction. Blanks and control characters of names are
/// replaced, because lines are parsed by columns.
fn named(clock: &str, job: &JobNow, direction: &str) -> String {
    let plain = |c: char| if c.is_control() || c.is_whitespace() { '_' } else { c };
    let name: String = job.name.chars().map(plain).collect();
    format!("{clock} {name:<16} {:<11} {direction:<5}", job.state.name())
}

#[cfg(test)]
mod tests {
    use super::super::{DepthNow, DirectionNow, LatencyNow, State};
    use super::*;
    use record::PerDirection;

    #[test]
    fn every_direction_is_a_line_of_the_same_columns() {
        let latency = LatencyNow {
            p50_ns: 81_340,
            p99_ns: 1_250_000,
            p999_ns: 2_000_000,
            ..Default::default()
        };
        let read = DirectionNow {
            iops: 1234.5,
            bytes_per_second: f64::from(3 << 20),
            latency: Some(latency),
            ..DirectionNow::default()
        };
        let write = DirectionNow::default();
        let directions = PerDirection { read: Some(read), write: Some(write), trim: None };
        let depth = Some(DepthNow { requested: 8, now: 7.96 });
        let one = JobNow {
            name: "a b".into(),
            state: State::Running,
            directions,
            depth,
            ..JobNow::default()
        };
        let other = JobNow { name: "later".into(), ..JobNow::default() };
        let moment = Moment { jobs: vec![one, other], ..Moment::default() };
        let text = lines("14:02:11", &moment);
        let words: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(
            words[0],
            [
                "14:02:11", "a_b", "running", "read", "1234.5", "3.00", "81.3", "1250.0", "2000.0",
                "8.0"
            ]
        );
        assert_eq!(words[1][3..9], ["write", "0.0", "0.00", "-", "-", "-"]);
        assert_eq!(words[2], ["14:02:11", "later", "waiting", "-"]);
        assert_eq!(HEAD.split_whitespace().count(), words[0].len() + 1);
    }
}
