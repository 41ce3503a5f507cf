//! How a figure went over many runs: as text, JSON and picture.

use crate::figures::in_unit;
use crate::plot::quantity;
use crate::style::Style;
use charts::{Axis, Picture, Point, Series, Tick, Words};
use judge::trend::{CHANCE_MAX, Change, Coincidence, LEVEL_MIN, Run, Trend};
use record::{date, human};
use serde_json::{Value, json};

/// The most coincidences shown for one change.
const COINCIDENCES_MAX: usize = 5;
/// Blocks of growing height.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A figure of a trend with its unit ("81.3 µs").
pub fn value_text(trend: &Trend, value: f64) -> String {
    in_unit(value, trend.measure.unit())
}

/// Start of the run at a position, to the minute.
pub fn start_time(trend: &Trend, at: usize) -> String {
    let start = |run: &Run| date::day_and_minute(run.started_unix_ms, run.utc_offset_seconds);
    trend.runs.get(at).map_or(String::new(), start)
}

/// A trend as text: a small picture of all runs, a line for each level, and coincident changes.
pub fn text(trend: &Trend, style: &Style) -> String {
    let count = trend.runs.len();
    let heading =
        format!("{} of {}: {}", trend.measure.name(), trend.workload, human::counted(count, "run"));
    let mut out = style.bold(&style.wrap(&heading, 0)) + "\n";
    out += &small_picture(trend, style);
    let mut table = String::new();
    for (index, level) in trend.course.levels.iter().enumerate() {
        if let Some(change) = index.checked_sub(1).and_then(|at| trend.course.changes.get(at)) {
            table += &change_text(trend, change, &trend.coincidences[index - 1], style);
        }
        let runs = match level.to - level.from {
            1 => format!("run {}", level.to),
            _ => format!("runs {}-{}", level.from + 1, level.to),
        };
        table += &format!(
            "  {runs:<14} {:<16}  to {:<16}  median {}\n",
            start_time(trend, level.from),
            start_time(trend, level.to - 1),
            value_text(trend, level.median)
        );
    }
    out += &table;
    out + &style.dim(&style.wrap(&conclusion(trend), 2)) + "\n"
}

/// The result of the course, in a sentence.
pub fn conclusion(trend: &Trend) -> String {
    if let Some(drift) = trend.course.drift {
        let way = if drift > 0.0 { "rises" } else { "falls" };
        return format!(
            "It {way} steadily, by {:.1} % from the first run to the last; no single change \
             describes that better.",
            drift.abs() * 100.0
        );
    }
    let count = trend.runs.len();
    // With fewer runs no order of them is rare enough.
    const RUNS_MIN: usize = 10;
    match trend.course.changes.len() {
        0 if count < RUNS_MIN => format!(
            "No change shown; fewer than {RUNS_MIN} runs cannot show one that is more than chance. \
             fathom compare tells two of them apart."
        ),
        0 => format!(
            "No change of level shown (a change lasts {LEVEL_MIN} runs or more, and chance alone \
             shows one in 1 of {:.0} series at most).",
            1.0 / CHANCE_MAX
        ),
        _ => "Chances are by permutation of the runs.".into(),
    }
}

fn change_text(trend: &Trend, change: &Change, with: &[Coincidence], style: &Style) -> String {
    let (call, severity) = trend.assess(change);
    let chance = match change.chance {
        tiny if tiny <= 0.001 => "0.1 % or less".to_owned(),
        chance => format!("{:.1} %", chance * 100.0),
    };
    let line = format!(
        "{:+.1} % ({call}) with run {} of {}; chance {chance}",
        (change.ratio() - 1.0) * 100.0,
        trend.runs[change.at].id,
        start_time(trend, change.at)
    );
    let mut out = style.severity(severity, &style.wrap(&line, 4)) + "\n";
    for one in with.iter().take(COINCIDENCES_MAX) {
        out += &style.paragraph(&coincidence(change, one), 6);
    }
    if with.len() > COINCIDENCES_MAX {
        out += &format!("      and {} more\n", with.len() - COINCIDENCES_MAX);
    }
    if with.is_empty() {
        out += "      no recorded fact of machine, storage or settings changed then\n";
    }
    out
}

/// "then changed: kernel (6.1 → 6.18)".
pub fn coincidence(change: &Change, one: &Coincidence) -> String {
    let when = match one.at as i64 - change.at as i64 {
        0 => "then".to_owned(),
        early if early < 0 => {
            format!("{} earlier", human::counted(early.unsigned_abs() as usize, "run"))
        }
        late => format!("{} later", human::counted(late.unsigned_abs() as usize, "run")),
    };
    let difference = &one.difference;
    format!("{when} changed: {} ({} → {})", difference.what, difference.before, difference.after)
}

/// A block for each run, or for several when the line is too short; bars between blocks are changes.
fn small_picture(trend: &Trend, style: &Style) -> String {
    let values: Vec<f64> = trend.runs.iter().map(|run| run.value).collect();
    if values.len() < 2 {
        return String::new();
    }
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let ends = format!("{} to {}", value_text(trend, low), value_text(trend, high));
    let room = style.width.saturating_sub(ends.chars().count() + 6).max(10);
    let room = room.saturating_sub(trend.course.changes.len()).max(5);
    let each = values.len().div_ceil(room).max(1);
    let mut line = String::new();
    for (index, some) in values.chunks(each).enumerate() {
        let (from, to) = (index * each, index * each + some.len());
        if trend.course.changes.iter().any(|change| (from..to).contains(&change.at)) {
            line.push('|');
        }
        let value = judge::stats::median(some);
        let share = if high > low { (value - low) / (high - low) } else { 0.5 };
        line.push(HEIGHTS[(share * (HEIGHTS.len() - 1) as f64).round() as usize]);
    }
    format!("  {line}  {ends}\n")
}

/// A trend as a JSON value.
pub fn json(trend: &Trend) -> Value {
    let run = |run: &Run| json!({ "id": run.id, "started_unix_ms": run.started_unix_ms, "value": run.value });
    let levels = trend.course.levels.iter().map(|level| {
        json!({ "first_run": level.from, "runs": level.to - level.from, "median": level.median })
    });
    let changes = trend.course.changes.iter().zip(&trend.coincidences).map(|(change, with)| {
        let with = with.iter().map(|one| {
            json!({
                "runs_later": one.at as i64 - change.at as i64,
                "what": one.difference.what,
                "before": one.difference.before,
                "after": one.difference.after,
            })
        });
        json!({
            "first_run": change.at,
            "id": trend.runs[change.at].id,
            "before": change.before,
            "after": change.after,
            "call": trend.assess(change).0,
            "chance": change.chance,
            "coincides_with": with.collect::<Vec<_>>(),
        })
    });
    json!({
        "of": trend.workload,
        "metric": trend.measure.name(),
        "unit": trend.measure.unit(),
        "runs": trend.runs.iter().map(run).collect::<Vec<_>>(),
        "levels": levels.collect::<Vec<_>>(),
        "changes": changes.collect::<Vec<_>>(),
        "drift": trend.course.drift,
    })
}

/// Labels below a picture at most.
const LABELS: usize = 8;

/// A trend as a picture: a mark a run, and the levels.
pub fn picture(trend: &Trend) -> Picture {
    let count = trend.runs.len();
    let values = trend.runs.iter().map(|run| Point::value(run.value)).collect();
    let level = |at: usize| {
        let level = trend.course.levels.iter().find(|level| (level.from..level.to).contains(&at));
        level.map_or(Point::Missing, |level| Point::value(level.median))
    };
    let changes = trend.course.changes.iter().map(|change| {
        let percent = (change.ratio() - 1.0) * 100.0;
        format!("{percent:+.1} % on {}", start_time(trend, change.at))
    });
    let changes = changes.collect::<Vec<_>>().join(", ");
    let words = Words {
        title: format!("{} of {}", trend.measure.name(), trend.workload),
        subtitle: if changes.is_empty() { conclusion(trend) } else { changes },
        source: format!("{count} runs, fathom trend"),
    };
    let axis = time_axis(&trend.runs);
    let series = [
        Series { name: "run".into(), points: values },
        Series { name: "level".into(), points: (0..count).map(level).collect() },
    ];
    charts::lines(&words, &axis, &quantity(&trend.measure), &series)
}

/// The times of runs: time of day for runs of one day, otherwise the day where it changes.
fn time_axis(runs: &[Run]) -> Axis {
    let every = runs.len().div_ceil(LABELS).max(1);
    let day = |run: &Run| date::day(run.started_unix_ms, run.utc_offset_seconds);
    let only = runs.first().map(day).filter(|first| runs.iter().all(|run| day(run) == *first));
    let clock =
        |run: &Run, second| date::time_of_day(run.started_unix_ms, run.utc_offset_seconds, second);
    let labelled: Vec<&Run> = runs.iter().step_by(every).collect();
    let same_minute = |pair: &[&Run]| {
        day(pair[0]) == day(pair[1]) && clock(pair[0], false) == clock(pair[1], false)
    };
    let to_the_second = labelled.windows(2).any(same_minute);
    let text = |index: usize, run: &Run| {
        if !index.is_multiple_of(every) {
            return String::new();
        }
        let is_new = index == 0 || day(run) != day(&runs[index - every]);
        if is_new && only.is_none() { day(run) } else { clock(run, to_the_second) }
    };
    let ticks = runs.iter().enumerate();
    Axis {
        label: match &only {
            Some(day) => format!("runs of {day} in the order of time"),
            None => "runs in the order of time".into(),
        },
        ticks: ticks.map(|(index, run)| Tick { text: text(index, run), number: None }).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use judge::Measure;
    use judge::checks::Difference;

    fn trend(values: &[f64]) -> Trend {
        let run = |(n, value): (usize, &f64)| Run {
            id: format!("run{n}"),
            started_unix_ms: 1_795_215_226_864 + n as u64 * 86_400_000,
            utc_offset_seconds: 0,
            value: *value,
        };
        let course = judge::trend::find_levels(values);
        let difference = Difference {
            what: "kernel".into(),
            before: "6.1".into(),
            after: "6.12".into(),
            is_grave: true,
        };
        let one =
            |change: &Change| vec![Coincidence { at: change.at, difference: difference.clone() }];
        Trend {
            workload: "scan: randread 4k".into(),
            measure: Measure::parse("iops").unwrap(),
            runs: values.iter().enumerate().map(run).collect(),
            coincidences: course.changes.iter().map(one).collect(),
            course,
        }
    }

    fn stepped() -> Trend {
        let values: Vec<f64> =
            (0..16).map(|n| if n < 9 { 1000.0 } else { 800.0 } + f64::from(n % 3)).collect();
        trend(&values)
    }

    #[test]
    fn a_change_is_shown_with_coincident_changes() {
        let text = text(&stepped(), &Style::default());
        for part in [
            "iops of scan: randread 4k: 16 runs",
            "█████████|▁▁▁▁▁▁▁  800 to 1 k",
            "runs 1-9       2026-11-20 22:53  to 2026-11-28 22:53  median 1 k",
            "-20.0 % (worse) with run run9 of 2026-11-29 22:53; chance 0.2 %",
            "then changed: kernel (6.1 → 6.12)",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn few_runs_many_runs_and_none() {
        let few = text(&trend(&[5.0, 6.0, 7.0]), &Style::default());
        assert!(few.contains("No change shown; fewer than 10 runs"), "{few}");
        let many: Vec<f64> = (0..500).map(|n| 100.0 + f64::from(n % 7)).collect();
        let many = text(&trend(&many), &Style::default());
        assert!(many.lines().all(|line| line.chars().count() <= 80), "{many}");
        assert!(many.contains("No change of level shown"), "{many}");
        assert!(text(&trend(&[]), &Style::default()).contains("0 runs"));
    }

    #[test]
    fn axis_labels_distinguish_runs() {
        let made = |step: u64| {
            let mut runs = trend(&[1.0; 4]).runs;
            let first = runs[0].started_unix_ms;
            for (run, n) in runs.iter_mut().zip(0..) {
                run.started_unix_ms = first + n * step;
            }
            let axis = time_axis(&runs);
            (axis.label, axis.ticks.into_iter().map(|tick| tick.text).collect::<Vec<_>>())
        };
        let (label, texts) = made(86_400_000);
        assert_eq!(label, "runs in the order of time");
        assert_eq!(texts, ["2026-11-20", "2026-11-21", "2026-11-22", "2026-11-23"]);
        let (label, texts) = made(900_000);
        assert_eq!(label, "runs of 2026-11-20 in the order of time");
        assert_eq!(texts, ["22:53", "23:08", "23:23", "23:38"]);
        assert_eq!(made(5_000).1, ["22:53:46", "22:53:51", "22:53:56", "22:54:01"]);
        assert_eq!(made(1_800_000).1, ["2026-11-20", "23:23", "23:53", "2026-11-21"]);
    }

    #[test]
    fn machines_read_the_same() {
        let value = json(&stepped());
        assert_eq!(value["changes"][0]["id"], "run9");
        assert_eq!(value["changes"][0]["coincides_with"][0]["what"], "kernel");
        assert_eq!(value["runs"].as_array().unwrap().len(), 16);
        let svg = picture(&stepped()).svg();
        assert!(svg.contains("-20.0 % on 2026-11-29") && svg.contains("level"), "{svg}");
    }
}
