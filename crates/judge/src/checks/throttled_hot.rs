//! Did heat throttle the device or the CPUs?

use super::prelude::*;
use record::{Health, Nanos, SlowSample};

/// Degrees below its warning temperature at which a disk counts as near it.
const NEAR_C: i32 = 5;
/// Fall of the CPU frequency over the run.
const SLOWER: f64 = 0.10;
/// Looks at the frequency that make a beginning and an end.
const LOOKS_MIN: usize = 6;

pub(super) const CHECK: Check = Check {
    id: "throttled-hot",
    question: "Did heat throttle the device or the CPUs?",
    evidence: "temperature of the disk, compared with its limits; its throttle counters before and after the run; throttle counters and frequencies of the CPUs during the run",
    threshold: "warning when a disk is at its warning temperature or counted throttling, or when the CPUs did; note within 5 °C of that temperature, or when the CPU frequency fell by 10 %",
    reason: "a hot device sustains its figures only until it throttles: the run measures its cooling",
    cause: "the device or the CPUs get too hot under this load",
    remedy: || {
        "improve the cooling (airflow, heat sink), let the device cool down, then run for 10 minutes or more; report the sustained figure".into()
    },
    proof: Proof::recorded("heat_is_told_with_its_counters", "a_cool_machine_is_silent"),
    function: CheckFunction::Run(check),
};

fn check(case: &Case) -> Vec<Finding> {
    let mut episodes: Vec<(Severity, String, Figure)> = Vec::new();
    for (name, after) in health_after(case) {
        let before = case.device(name).and_then(|device| device.health.as_ref());
        episodes.extend(disk(name, before, after));
    }
    episodes.extend(processors(case));
    episodes.extend(frequency(case));
    let Some(severity) = episodes.iter().map(|(severity, ..)| *severity).max() else {
        return Vec::new();
    };
    let texts: Vec<&str> = episodes.iter().map(|(_, text, _)| text.as_str()).collect();
    let finding = CHECK.finding(severity, Vec::new(), list(&texts));
    vec![finding.figures(episodes.into_iter().map(|(.., figure)| figure).collect::<Vec<_>>())]
}

/// The health of the disks after the run, or where that is not known, before it.
fn health_after<'a>(case: &Case<'a>) -> Vec<(&'a str, &'a Health)> {
    let after = &case.record.evidence.health_after;
    let devices = case.record.facts.devices.values();
    let known = |device: &'a record::DeviceFacts| {
        let health = after.get(&device.name).or(device.health.as_ref())?;
        Some((device.name.as_str(), health))
    };
    devices.filter_map(known).collect()
}

fn disk(name: &str, before: Option<&Health>, after: &Health) -> Vec<(Severity, String, Figure)> {
    let mut events = Vec::new();
    let grown = |count: fn(&Health) -> Option<u64>| {
        Some(count(after)?.saturating_sub(before.and_then(count)?)).filter(|more| *more > 0)
    };
    if let Some(times) = grown(|health| health.throttle_count) {
        let text = format!("{name} throttled itself {times} times because of heat");
        events.push((Severity::Warning, text, Figure::new("throttled", times as f64, "count")));
    }
    if let Some(minutes) = grown(|health| health.hot_minutes) {
        let text = format!("{name} was above its warning temperature for {minutes} min");
        events.push((Severity::Warning, text, Figure::new("hot", minutes as f64, "minutes")));
    }
    let limit = after.temperature_warning_c.or(after.temperature_critical_c);
    let reached = after.temperature_c.max(before.and_then(|health| health.temperature_c));
    if let (Some(reached), Some(limit)) = (reached, limit.filter(|limit| *limit > 0)) {
        let figure = Figure::new("temperature", f64::from(reached), "degrees C");
        if reached >= limit {
            let text = format!("{name} is at {reached} °C, its limit is {limit} °C");
            events.push((Severity::Warning, text, figure));
        } else if reached + NEAR_C >= limit {
            let text = format!("{name} is at {reached} °C, near its limit of {limit} °C");
            events.push((Severity::Note, text, figure));
        }
    }
    events
}

/// What was looked at seldom, within the windows of the jobs.
fn looks<'a>(case: &Case<'a>) -> Vec<&'a SlowSample> {
    let from = case.parts.iter().map(|part| part.from).min().unwrap_or_default();
    let to = case.parts.iter().map(|part| part.to).max().unwrap_or(Nanos(0));
    case.samples(from, to).filter_map(|sample| sample.slow.as_ref()).collect()
}

fn processors(case: &Case) -> Option<(Severity, String, Figure)> {
    let mut all = case.record.timeline.samples.iter().filter_map(|s| s.slow.as_ref());
    let first = all.next()?;
    let times = all.next_back()?.cpu_throttle_count.saturating_sub(first.cpu_throttle_count);
    let text = format!("the CPUs were throttled {} times because of heat", count(times as f64));
    let figure = Figure::new("CPUs throttled", times as f64, "count");
    (times > 0).then_some((Severity::Warning, text, figure))
}

/// Whether the fastest CPU ended slower than it began: idle ones are slow at any time.
fn frequency(case: &Case) -> Option<(Severity, String, Figure)> {
    let fastest = |slow: &SlowSample| slow.cpu_khz.iter().copied().max().filter(|khz| *khz > 0);
    let rates: Vec<u64> = looks(case).into_iter().filter_map(fastest).collect();
    if rates.len() < LOOKS_MIN {
        return None;
    }
    let third = rates.len() / 3;
    let mean = |rates: &[u64]| rates.iter().sum::<u64>() as f64 / rates.len() as f64;
    let (first, last) = (mean(&rates[..third]), mean(&rates[rates.len() - third..]));
    let fall = 1.0 - last / first;
    let text = format!(
        "the frequency of the fastest CPU fell from {:.2} GHz to {:.2} GHz during the run ({})",
        first / 1e6,
        last / 1e6,
        percent(fall),
    );
    let figure = Figure::new("CPU frequency lost", fall * 100.0, "percent");
    (fall >= SLOWER).then_some((Severity::Note, text, figure))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{at_each, findings, job, record, the_finding};
    use super::*;
    use record::{Direction, RunRecord};

    fn health(celsius: i32, throttled: u64) -> Health {
        Health {
            source: "nvme".into(),
            temperature_c: Some(celsius),
            temperature_warning_c: Some(80),
            throttle_count: Some(throttled),
            hot_minutes: Some(7),
            ..Health::default()
        }
    }

    /// A run of 10 s with the disk's health before and after.
    fn run(before: Health, after: Health) -> RunRecord {
        let mut record = record(vec![job("read", Direction::Read, 10)]);
        record.facts.devices.get_mut("sda").unwrap().health = Some(before);
        record.evidence.health_after.insert("sda".into(), after);
        record
    }

    #[test]
    fn heat_is_told_with_its_counters() {
        let found = the_finding(&run(health(60, 3), health(84, 5)), CHECK.id);
        assert_eq!(found.severity, Severity::Warning);
        assert_eq!(
            found.text,
            "sda throttled itself 2 times because of heat and sda is at 84 °C, its limit is \
             80 °C"
        );
        let found = the_finding(&run(health(60, 3), health(77, 3)), CHECK.id);
        assert_eq!(found.severity, Severity::Note);
    }

    #[test]
    fn a_cool_machine_is_silent() {
        assert!(findings(&run(health(40, 3), health(45, 3)), CHECK.id).is_empty());
    }

    #[test]
    fn processors_that_slow_down_are_told() {
        let mut record = run(health(40, 3), health(45, 3));
        let slow = |at: f64, throttled: u64| SlowSample {
            cpu_khz: vec![800_000, 4_000_000 - (at * 150_000.0) as u64],
            cpu_throttle_count: throttled,
            ..SlowSample::default()
        };
        at_each(&mut record, |at, sample| {
            sample.slow = (at.fract() == 0.0).then(|| slow(at, 0));
        });
        let found = the_finding(&record, CHECK.id);
        assert_eq!(found.severity, Severity::Note);
        assert!(found.text.contains("from 3.70 GHz to 2.50 GHz"), "{}", found.text);
        at_each(&mut record, |at, sample| {
            sample.slow = (at.fract() == 0.0).then(|| slow(0.0, at as u64));
        });
        assert!(the_finding(&record, CHECK.id).text.contains("throttled 11 times"));
    }
}
