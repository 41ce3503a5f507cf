//! Do the slowest I/Os come all the time, or from a few moments?

use super::noisy_neighbour::processes;
use super::prelude::*;
use crate::tail::{Tail, TailDevice, tail};

/// Half of the tail within this share of the steps is a burst.
const STEPS_SHARE: f64 = 0.1;
/// Steps that show a course.
const STEPS_MIN: usize = 20;
/// Moments named.
const NAMED: usize = 4;
/// How many times slower a device is whose fault it is.
const SLOWER: f64 = 2.0;
/// Bytes a second of others that disturb.
const OTHERS_MIN: f64 = 1_048_576.0;

pub(super) const CHECK: Check = Check {
    id: "tail-in-bursts",
    question: "Do the slowest I/Os come all the time, or from a few moments?",
    evidence: "completion latencies over time: the steps of the run in which the slowest thousandth completed; in these steps and otherwise, the mean time in each device (/sys/block/*/stat), and bytes that the jobs did not ask for",
    threshold: "note when at least half of the slowest thousandth (50 I/Os or more) completed in at most a tenth of the steps, of 20 or more",
    reason: "slow I/Os that depth makes are spread evenly over the run; a tenth of the steps then holds about a tenth of them",
    cause: "something that comes and goes: garbage collection or a flush in the disk, another process, a timer",
    remedy: || {
        "look at these moments in the heat map of fathom report; a percentile over the run shows neither them nor the time between"
            .into()
    },
    proof: Proof::recorded(
        "the_moments_of_a_tail_are_named_with_the_device_and_its_other_users",
        "a_tail_that_is_spread_over_the_run_is_none",
    ),
    function: CheckFunction::Data(check),
};

fn check(case: &Case, part: &Part) -> Option<Finding> {
    let tails = Direction::ALL.into_iter().filter_map(|direction| tail(case, part, direction));
    let is_burst = |tail: &Tail| {
        tail.steps >= STEPS_MIN && tail.half_in as f64 <= tail.steps as f64 * STEPS_SHARE
    };
    let tail = tails.filter(is_burst).max_by_key(|tail| tail.ios)?;
    let held: f64 = tail.worst.iter().take(tail.half_in).map(|step| step.share).sum();
    let mut moments: Vec<u64> =
        tail.worst.iter().take(tail.half_in.min(NAMED)).map(|step| step.start_ns).collect();
    moments.sort_unstable();
    let moments: Vec<String> = moments.iter().map(|at| time(*at as f64)).collect();
    let text = format!(
        "{} of the slowest 0.1 % of {}s ({} or more) completed in {} of {} steps of {}: after {}",
        percent(held),
        tail.direction.name(),
        time(tail.from_ns),
        tail.half_in,
        tail.steps,
        time(tail.step_ns as f64),
        list(&moments),
    );
    let figures = vec![
        Figure::new("tail from", tail.from_ns, "ns"),
        Figure::new("share of the tail", held * 100.0, "percent"),
        Figure::new("steps", tail.half_in as f64, ""),
        Figure::new("step", tail.step_ns as f64, "ns"),
    ];
    Some(CHECK.finding_for(part, Severity::Note, text).figures(figures).cause(cause(case, &tail)))
}

/// What the devices and others did in these moments.
fn cause(case: &Case, tail: &Tail) -> Sentence {
    let disturbed = tail.devices.iter().find(|device| {
        device.others >= OTHERS_MIN && device.others >= device.others_otherwise * SLOWER
    });
    let slower = |device: &&TailDevice| {
        device
            .latency_ns
            .zip(device.latency_otherwise_ns)
            .is_some_and(|(now, usual)| now > 0.0 && now >= usual * SLOWER)
    };
    let slow = tail
        .devices
        .iter()
        .filter(slower)
        .max_by(|a, b| a.latency_ns.unwrap_or(0.0).total_cmp(&b.latency_ns.unwrap_or(0.0)));
    if let Some(device) = disturbed {
        let mut text = format!(
            "others moved {}/s on {} then, {}/s otherwise",
            size(device.others),
            device.name,
            size(device.others_otherwise)
        );
        if let Some(busiest) = processes(case).first() {
            text +=
                &format!("; the busiest process of the run is {} ({})", busiest.name, busiest.pid);
        }
        return text.into();
    }
    match (slow, tail.devices.is_empty()) {
        (Some(device), _) => format!(
            "{} itself took {} for an I/O then, {} otherwise: garbage collection, a flush or a retry",
            device.name,
            time(device.latency_ns.unwrap_or(0.0)),
            time(device.latency_otherwise_ns.unwrap_or(0.0))
        )
        .into(),
        (None, true) => CHECK.cause.into(),
        (None, false) => {
            "the devices were no slower on average then: the delay is above them, or in few of their I/Os"
                .into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{findings, the_finding};
    use super::*;
    use crate::tail::tests::{with_others_in_second_30, with_slow_reads};
    use record::{Bytes, Neighbour};

    #[test]
    fn the_moments_of_a_tail_are_named_with_the_device_and_its_other_users() {
        let slow = [(12, 30), (30, 30), (40, 5)];
        let mut run = with_others_in_second_30(with_slow_reads(&slow));
        let found = the_finding(&run, CHECK.id);
        assert_eq!(found.severity, Severity::Note);
        assert!(
            found.text.contains("completed in 2 of 60 steps of 1 s: after 12 s and 30 s"),
            "{}",
            found.text
        );
        assert!(found.text.starts_with("92 % of the slowest 0.1 % of reads ("), "{}", found.text);
        assert!(found.cause.contains("on sda then, "), "{}", found.cause);
        run.evidence.neighbours.push(Neighbour {
            pid: 4711,
            name: "dd".into(),
            read: Bytes(50_000_000),
            written: Bytes(0),
            same_storage: true,
        });
        assert!(
            the_finding(&run, CHECK.id).cause.contains("busiest process of the run is dd (4711)")
        );
        let calm = the_finding(&with_slow_reads(&slow), CHECK.id);
        assert!(calm.cause.contains("no slower on average then"), "{}", calm.cause);
    }

    #[test]
    fn a_tail_that_is_spread_over_the_run_is_none() {
        let all: Vec<(u64, u64)> = (0..60).map(|second| (second, 1)).collect();
        assert!(findings(&with_slow_reads(&all), CHECK.id).is_empty());
        let most: Vec<(u64, u64)> = (0..60).step_by(4).map(|second| (second, 4)).collect();
        assert!(findings(&with_slow_reads(&most), CHECK.id).is_empty());
        assert!(findings(&with_slow_reads(&[]), CHECK.id).is_empty());
    }
}
