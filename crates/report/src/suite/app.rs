//! The report of `fathom app`: the timed phases, and the gain over a reference.

use super::parts::{duration, failures, findings, head, interruption, verdicts};
use crate::style::Style;
use judge::DeviceStep;
use record::{Amount, CacheState, WorkUnit, human};
use suite::Estimated;
use suite::app::{Conclusion, Gain, Incomparable, Row};

/// Steps from which on I/O is shown over time, and the most characters of a course.
const IO_STEPS_MIN: usize = 4;
const COURSE_MAX: usize = 16;
/// The least width of the names of phases.
const NAME_MIN: usize = 14;

/// `fathom app`.
pub fn app(conclusion: &Conclusion, style: &Style) -> String {
    let rounds = human::counted(conclusion.rounds as usize, "round");
    let what = format!("{}, {rounds} in {}", conclusion.directory, duration(conclusion.elapsed));
    let mut out = head(&conclusion.stack, &what, style);
    out += &phases(conclusion, style);
    if conclusion.is_compared && !conclusion.rows.is_empty() {
        out += &gains(conclusion, style);
    }
    out += &failures(&conclusion.failures, style);
    if !conclusion.limited.is_empty() {
        out += &verdicts(&conclusion.limited, style);
    }
    out += &findings(&conclusion.findings, style);
    out + &interruption(conclusion.interrupted_by, "the table holds the phases that ended before")
}

fn phases(conclusion: &Conclusion, style: &Style) -> String {
    if conclusion.rows.is_empty() {
        return "Nothing was measured.\n".into();
    }
    let names = conclusion.rows.iter().map(|row| row.phase.chars().count());
    let width = names.max().unwrap_or_default().max(NAME_MIN) + 1;
    let change = if conclusion.share_of.is_some() { "ratio" } else { "share" };
    let head = ["phase", "seconds", change, "95 % interval", "a second", "caches", "limit"];
    let mut out = style.bold(&line(head, width)) + "\n";
    for row in &conclusion.rows {
        out += &(line(cells(row).each_ref().map(String::as_str), width) + "\n");
        out += &(style.dim(&style.wrap(&detail(row), 2)) + "\n");
        out.extend(over_time(row).map(|line| style.dim(&line) + "\n"));
    }
    if let Some(total) = &conclusion.total {
        let total = line(["TOTAL", &seconds(total.value), "", &ends(total), "", "", ""], width);
        out += &(style.bold(&total) + "\n");
    }
    out += "\n";
    out + &style.paragraph(&legend(conclusion), 0)
}

/// The first column left, the figures right.
fn line([phase, seconds, share, ends, rate, caches, limit]: [&str; 7], width: usize) -> String {
    let figures = format!("{seconds:>8}{share:>8}{ends:>14}{rate:>14}");
    format!("{phase:<width$}{figures} {caches:<7} {limit}").trim_end().to_owned()
}

fn cells(row: &Row) -> [String; 7] {
    let rate = row.rate.zip(row.amount).map_or(String::new(), |(rate, of)| self::rate(rate, of));
    let limit = row.limit.map_or("", judge::Limit::name).to_owned();
    let (value, ends) = (seconds(row.seconds.value), ends(&row.seconds));
    let share = row.share.map_or(String::new(), |share| format!("{:.1} %", share.value * 100.0));
    [row.phase.clone(), value, share, ends, rate, row.cache.name().to_owned(), limit]
}

/// What the disks did over the time of a phase: "  read ▁▇█▂ at most 120 MiB/s". None for short phases.
fn over_time(row: &Row) -> Option<String> {
    if row.io.len() < IO_STEPS_MIN {
        return None;
    }
    let course = |name: &str, of: fn(&DeviceStep) -> f64| {
        let values: Vec<f64> = row.io.iter().map(of).collect();
        let most = values.iter().copied().fold(0.0, f64::max);
        let together = values.len().div_ceil(COURSE_MAX);
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let bars: String = values.chunks(together).map(|chunk| bar(mean(chunk), most)).collect();
        match most > 0.0 {
            true => format!("{name} {bars} at most {}", human::rate(most)),
            false => format!("{name} nothing"),
        }
    };
    Some(format!(
        "  {}, {}",
        course("read", |step| step.read),
        course("written", |step| step.written)
    ))
}

/// A bar of this height, of eight.
fn bar(value: f64, most: f64) -> char {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let share = if most > 0.0 { value / most } else { 0.0 };
    BARS[((share * 8.0) as usize).min(7)]
}

/// The parts of a phase.
fn detail(row: &Row) -> String {
    let parts: Vec<String> =
        row.parts.iter().map(|(name, time)| format!("{name} {} s", seconds(*time))).collect();
    match parts.is_empty() {
        true => row.label.clone(),
        false => format!("{}: {}", row.label, parts.join(" + ")),
    }
}

/// "3.21", with more digits for short times.
fn seconds(value: f64) -> String {
    let decimals = match value {
        v if v < 0.0995 => 4,
        v if v < 9.995 => 3,
        v if v < 999.5 => 2,
        _ => 1,
    };
    format!("{value:.decimals$}")
}

fn ends(estimated: &Estimated) -> String {
    estimated
        .interval
        .map_or(String::new(), |(low, high)| format!("{}-{}", seconds(low), seconds(high)))
}

/// "19.9 MiB/s", "12.3 k rows/s".
fn rate(rate: Estimated, amount: Amount) -> String {
    match amount.unit {
        WorkUnit::Bytes => human::size(rate.value),
        unit => format!("{} {}", human::count(rate.value), unit.name()),
    }
}

fn legend(conclusion: &Conclusion) -> String {
    let rows = &conclusion.rows;
    let mut text = match rows.iter().all(|row| row.rounds < 2) {
        true => "One round bounds nothing: there are no intervals.".to_owned(),
        false => "95 % intervals of the mean, by the rounds.".to_owned(),
    };
    if let Some(phase) = &conclusion.share_of {
        text += &format!(" ratio: the time as a share of that of {phase}.");
    }
    let has = |state: CacheState| rows.iter().any(|row| row.cache == state);
    if has(CacheState::Dropped) {
        text += " dropped: the kernel's caches were emptied before each round of the phase.";
    }
    if has(CacheState::Advised) {
        text += " advised: only what was cached of the files themselves was given up, because \
                 emptying all caches is for root.";
    }
    if has(CacheState::Warm) {
        text += " warm: whatever was in memory stayed there.";
    }
    text
}

/// Seconds now and in the reference, and the gain in percent.
fn gains(conclusion: &Conclusion, style: &Style) -> String {
    let columns = |[phase, reference, now, gain]: [&str; 4]| {
        format!("{phase:<20}{reference:>14}{now:>10}{gain:>10}")
    };
    let head = columns(["against the", "reference, s", "now, s", "gain, %"]);
    let mut out = format!("\n{}\n", style.bold(&head));
    let gain_line = |phase: &str, now: f64, gain: &Gain| {
        let (reference, now) = (seconds(gain.reference.value), seconds(now));
        let percent = format!("{:.1}", gain.percent.value);
        let line = columns([phase, &reference, &now, &percent]);
        format!("{line}  {}\n", confidence(gain))
    };
    for row in &conclusion.rows {
        out += &match &row.gain {
            Some(Ok(gain)) => gain_line(&row.phase, row.seconds.value, gain),
            Some(Err(why)) => {
                let why = match why {
                    Incomparable::Missing => "the reference has no such phase".to_owned(),
                    Incomparable::Other(why) => format!("not the same: {why}"),
                };
                style.paragraph(&format!("{:<20}  {why}", row.phase), 0)
            }
            None => String::new(),
        };
    }
    if let (Some(total), Some(gain)) = (&conclusion.total, &conclusion.total_gain) {
        out += &style.bold(&gain_line("TOTAL", total.value, gain));
    }
    out
}

/// The interval of a gain, and whether a gain is shown.
fn confidence(gain: &Gain) -> String {
    match gain.percent.interval {
        Some((low, high)) if gain.is_shown() => format!("{low:.1} to {high:.1}"),
        Some((low, high)) => format!("{low:.1} to {high:.1}: none shown"),
        None => "one round, not known how sure".into(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use judge::{Confidence, Limit, Verdict};
    use record::Nanos;
    use suite::Failure;
    use suite::LimitGroup;

    fn estimated(value: f64) -> Estimated {
        Estimated { value, interval: Some((value * 0.97, value * 1.04)) }
    }

    fn amount(count: u64, unit: WorkUnit) -> Option<Amount> {
        Some(Amount { count, unit })
    }

    /// A conclusion that was made up.
    pub(crate) fn done() -> Conclusion {
        let gzip = Row {
            phase: "gzip".into(),
            label: "gzip an archive of 64 MiB".into(),
            rounds: 3,
            seconds: estimated(3.214),
            parts: vec![("gzip".into(), 2.8), ("sync".into(), 0.414)],
            share: Some(Estimated { value: 0.984, interval: None }),
            amount: amount(64 << 20, WorkUnit::Bytes),
            rate: Some(estimated(19.9 * f64::from(1 << 20))),
            io: Vec::new(),
            cache: CacheState::Dropped,
            limit: Some(Limit::Cpu),
            gain: Some(Ok(Gain {
                reference: estimated(5.01),
                percent: Estimated { value: 35.8, interval: Some((30.1, 41.0)) },
            })),
        };
        let index = Row {
            phase: "postgres-index".into(),
            label: "postgres: index over three columns".into(),
            rounds: 3,
            seconds: estimated(0.0512),
            share: Some(Estimated { value: 0.016, interval: None }),
            amount: amount(5000, WorkUnit::Rows),
            rate: Some(estimated(97_656.0)),
            cache: CacheState::Warm,
            gain: Some(Err(Incomparable::Other("caches warm here, dropped there".into()))),
            ..Row::default()
        };
        let verdict = Verdict {
            job: "gzip".into(),
            limit: Limit::Cpu,
            confidence: Confidence::High,
            because: "1.02 of 2 CPUs were busy on average".into(),
            figures: Vec::new(),
            valid_for: "this work".into(),
        };
        Conclusion {
            directory: "/srv/fathom-app-1.tmp".into(),
            stack: vec!["ext4".into(), "vda".into()],
            rows: vec![gzip, index],
            total: Some(estimated(3.265)),
            is_compared: true,
            limited: vec![LimitGroup { verdict, cells: vec!["gzip".into()] }],
            failures: vec![Failure { cell: "copy".into(), text: "no space".into() }],
            rounds: 3,
            elapsed: Nanos(34_000_000_000),
            ..Conclusion::default()
        }
    }

    #[test]
    fn the_table_holds_all_and_fits_a_terminal() {
        let text = app(&done(), &Style::default());
        let expected = "\
ext4 > vda
/srv/fathom-app-1.tmp, 3 rounds in 34 s

phase           seconds   share 95 % interval      a second caches  limit
gzip              3.214  98.4 %   3.118-3.343      19.9 MiB dropped CPU
  gzip an archive of 64 MiB: gzip 2.800 s + sync 0.414 s
postgres-index   0.0512   1.6 % 0.0497-0.0532   97.7 k rows warm
  postgres: index over three columns
TOTAL             3.265           3.167-3.396

95 % intervals of the mean, by the rounds. dropped: the kernel's caches were
emptied before each round of the phase. warm: whatever was in memory stayed
there.

against the           reference, s    now, s   gain, %
gzip                         5.010     3.214      35.8  30.1 to 41.0
postgres-index not the same: caches warm here, dropped there
copy failed: no space

Verdict
  limited by: CPU, confidence: high: gzip
    gzip: 1.02 of 2 CPUs were busy on average
";
        assert_eq!(text, expected);
        assert!(text.lines().all(|line| line.chars().count() <= 80));
    }

    #[test]
    fn the_io_of_a_phase_is_shown_over_its_time() {
        let step = |read: f64| DeviceStep { read, ..DeviceStep::default() };
        let mut row = Row { io: [0.0, 50e6, 100e6].map(step).into(), ..Row::default() };
        assert_eq!(over_time(&row), None, "too short");
        row.io.push(step(25e6));
        let line = over_time(&row).unwrap();
        assert_eq!(line, "  read ▁▅█▃ at most 95.4 MiB/s, written nothing");
        row.io = (0..600).map(|at| step(f64::from(at) * 1e6)).collect();
        assert!(over_time(&row).unwrap().chars().count() <= 80);
    }

    #[test]
    fn a_ratio_to_a_phase_is_named() {
        let related = Conclusion { share_of: Some("gzip".into()), ..done() };
        let text = app(&related, &Style::default());
        assert!(text.contains("phase           seconds   ratio 95 %"), "{text}");
        assert!(text.contains("ratio: the time as a share of that of\ngzip."), "{text}");
    }

    #[test]
    fn a_gain_has_its_interval() {
        let gain = |interval| Gain {
            reference: estimated(1.0),
            percent: Estimated { value: 2.0, interval },
        };
        assert_eq!(confidence(&gain(Some((1.0, 3.0)))), "1.0 to 3.0");
        assert_eq!(confidence(&gain(Some((-1.0, 5.0)))), "-1.0 to 5.0: none shown");
        assert_eq!(confidence(&gain(None)), "one round, not known how sure");
    }

    #[test]
    fn a_measurement_without_runs_is_reported() {
        let text = app(&Conclusion::default(), &Style::default());
        assert!(text.contains("Nothing was measured."), "{text}");
    }
}
