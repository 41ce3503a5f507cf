//! The summary at the top, as questions with their answers.

use crate::html::comparison::{self, Compared};
use crate::html::table::value;
use crate::judged_set::JudgedSet;
use crate::verdict::{grouped, sentence};
use judge::{Finding, Operation, TableRow, Verdict, table_rows, workloads};
use maud::{Markup, html};
use record::{Direction, RunRecord, Severity, date, human};

/// The most jobs listed one by one.
const JOBS_MAX: usize = 6;

/// The workload, as a title.
pub(super) fn title(judged_sets: &[JudgedSet]) -> String {
    match judged_sets {
        [] => "No runs".into(),
        [one] => subject(one),
        [first, ..] => format!("{} runs of {}", judged_sets.len(), subject(first)),
    }
}

/// "4 KiB random reads on this filesystem (ext4) …", "sweep of …", "fio job a and 3 more".
fn subject(judged_set: &JudgedSet) -> String {
    let mut shown: Vec<String> = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let varied = varied(judged_set);
    let (measured, _) = judged_set.measured_and_prepared();
    // All runs of a sweep do what the first one does.
    let told_of = if varied.is_empty() { measured.len() } else { 1 };
    for (job, what) in measured.iter().take(told_of).flat_map(workloads) {
        if !shown.contains(&job) {
            shown.push(job);
            words.push(what);
        }
    }
    let what = match words.as_slice() {
        [] => return "A run without I/O".into(),
        [one] => one.clone(),
        [first, rest @ ..] => format!("{first}, and {} more", human::counted(rest.len(), "job")),
    };
    let what = sentence(&what).trim_end_matches('.').to_owned();
    match varied.is_empty() {
        true => what,
        false => {
            let names: Vec<&str> = varied.iter().map(|(name, _)| *name).collect();
            format!("Runs over {}: {what}", human::list(&names))
        }
    }
}

/// The varied parameters of a set, with their values.
fn varied(judged_set: &JudgedSet) -> Vec<(&str, Vec<&str>)> {
    let dimensions = judged_set.varied.iter().flat_map(|source| &source.dimensions);
    let varied = dimensions.filter(|dimension| dimension.values.len() > 1);
    let mut all = Vec::new();
    for dimension in varied {
        let values = dimension.values.iter().map(|value| value.text.as_str()).collect();
        all.push((dimension.name.as_str(), values));
    }
    all
}

/// The heading.
pub(super) fn head(judged_sets: &[JudgedSet]) -> Markup {
    html! {
        header {
            p class="kicker" { "Storage benchmark report" }
            h1 { (title(judged_sets)) }
            @for judged_set in judged_sets {
                p class="when" {
                    @if judged_sets.len() > 1 { strong { (judged_set.name) } ": " }
                    (circumstances(judged_set))
                    @let intent = judged_set.set.intent();
                    @if !intent.is_empty() { br; "For: " (intent) }
                }
            }
        }
    }
}

/// "1 run of 10 s on host, Sat Nov 21 21:20:33 2026".
fn circumstances(judged_set: &JudgedSet) -> String {
    let Some(first) = judged_set.first() else { return "no runs".into() };
    let runs = judged_set.set.runs.len();
    let seconds: Vec<f64> =
        judged_set.judged.iter().map(|judged| judged.elapsed_ns as f64 / 1e9).collect();
    let total: f64 = seconds.iter().sum();
    let length = match runs {
        1 => format!("1 run of {}", duration(total)),
        _ => format!("{runs} runs, {} in all", duration(total)),
    };
    let host = match first.facts.hostname.as_str() {
        "" => String::new(),
        host => format!(" on {host}"),
    };
    let start = &first.invocation;
    let when = date::asctime(start.started_unix_ms, start.utc_offset_seconds);
    format!("{length}{host}, {}", when.trim_end())
}

/// "0.25 s", "10 s", "12 min", "3.5 h".
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 9.95 => format!("{s:.2} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// Questions and answers.
pub(super) fn answers(judged_sets: &[JudgedSet], compared: &[Compared]) -> Markup {
    html! {
        section id="answers" aria-label="The answer" {
            @if !compared.is_empty() {
                h2 { @if judged_sets.len() > 1 { "What changed?" } @else { "What changed since last time?" } }
                (comparison::in_short(compared))
            }
            @for judged_set in judged_sets {
                @if judged_sets.len() > 1 { h2 { (judged_set.name) } }
                dl class="answers" {
                    dt { "What was measured?" }
                    dd { (measured(judged_set)) }
                    dt { "What are the results?" }
                    dd { (amounts(judged_set)) }
                    dt { "Can I trust it?" }
                    dd { (trust(judged_set)) }
                    @let verdicts = verdicts(judged_set);
                    @if !verdicts.is_empty() {
                        dt { "What limited it?" }
                        dd { (limits(&verdicts)) }
                    }
                }
            }
        }
    }
}

fn measured(judged_set: &JudgedSet) -> Markup {
    let varied = varied(judged_set);
    if !varied.is_empty() {
        return measured_over(judged_set, &varied);
    }
    let mut described: Vec<(String, String)> = Vec::new();
    for (job, what) in judged_set.set.runs.iter().flat_map(workloads) {
        if described.iter().all(|(known, _)| *known != job) {
            described.push((job, what));
        }
    }
    let several = described.len() > 1;
    html! {
        @for (job, what) in described.iter().take(JOBS_MAX) {
            p { @if several { strong { (job) } ": " } (sentence(what)) }
        }
        @if described.len() > JOBS_MAX { p { "And " (human::counted(described.len() - JOBS_MAX, "job")) " more." } }
        @if let Some(place) = judged_set.first().and_then(place) { p class="aside" { (place) } }
    }
}

/// The workload of a sweep at its first and last values, and all values.
fn measured_over(judged_set: &JudgedSet, varied: &[(&str, Vec<&str>)]) -> Markup {
    let workload = |run: Option<&RunRecord>| run.and_then(|run| workloads(run).into_iter().next());
    let (measured, _) = judged_set.measured_and_prepared();
    let (first, last) = (workload(measured.first()), workload(measured.last()));
    html! {
        @if let (Some((_, first)), Some((_, last))) = (first, last) {
            p { (sentence(&format!("from {first} – to {last}"))) }
        }
        p {
            "Varied: "
            @for (index, (name, values)) in varied.iter().enumerate() {
                @if index > 0 { "; " }
                strong { (name) } " (" (values.join(", ")) ")"
            }
            "."
        }
        @if let Some(place) = judged_set.first().and_then(place) { p class="aside" { (place) } }
    }
}

/// The files or devices, and the storage under them.
fn place(run: &RunRecord) -> Option<String> {
    const NAMED: usize = 3;
    let mut files: Vec<&str> = Vec::new();
    for file in run.jobs.iter().flat_map(|job| &job.workload.files) {
        if !files.contains(&file.as_str()) {
            files.push(file);
        }
        if files.len() > NAMED {
            break;
        }
    }
    let first = *files.first()?;
    let stack = run.facts.stack_under(first).join(" on ");
    let more = if files.len() > NAMED { " and others" } else { "" };
    files.truncate(NAMED);
    let on = if stack.is_empty() { String::new() } else { format!(", on {stack}") };
    let mount = run.facts.targets.get(first).and_then(|target| target.filesystem.as_ref());
    let mounted = mount.map_or(String::new(), |f| format!(", mounted at {}", f.mount_point));
    Some(format!("In {}{more}{on}{mounted}.", files.join(", ")))
}

/// The figures that people ask for.
fn amounts(judged_set: &JudgedSet) -> Markup {
    let mut rows = table_rows(&judged_set.set);
    let all = rows.len();
    rows.retain(|row| !is_prepared(judged_set, &row.job));
    let deleting: Vec<String> = jobs_that(&rows, |row| row.operation.request() == Some("DELETE"));
    drop_first_bytes(&mut rows);
    let jobs: Vec<&str> = rows.iter().map(|row| row.job.as_str()).collect();
    let several = jobs.iter().any(|job| *job != jobs[0]);
    if judged_set.varied.is_some() && rows.len() > 2 {
        return extremes(judged_set, &rows, all);
    }
    html! {
        @if rows.is_empty() { p { "No I/O completed." } }
        @for row in rows.iter().take(JOBS_MAX) {
            p {
                @if several { strong { (row.job) } " " }
                (amount(row, &done(row, &deleting)))
            }
        }
        @if rows.len() > JOBS_MAX {
            p { a href="#figures" { "All " (rows.len()) " rows are in the table." } }
        }
    }
}

/// The names of the jobs of these rows, one for each row.
fn jobs_that(rows: &[TableRow], is_such: fn(&TableRow) -> bool) -> Vec<String> {
    rows.iter().filter(|row| is_such(row)).map(|row| row.job.clone()).collect()
}

/// Whether a job of this name only prepared the others: its figures are not shown.
fn is_prepared(judged_set: &JudgedSet, name: &str) -> bool {
    let (_, prepared) = judged_set.measured_and_prepared();
    // The name is that of the cell, or cell and job.
    let is_own = |cell: &str| {
        name.strip_prefix(cell).is_some_and(|own| own.is_empty() || own.starts_with(": "))
    };
    prepared.iter().filter_map(|run| run.cell.as_ref()).any(|cell| is_own(&cell.name))
}

/// Drops times to the first byte of jobs with several kinds of requests: the table has them.
fn drop_first_bytes(rows: &mut Vec<TableRow>) {
    let firsts = jobs_that(rows, |row| row.latency == "first byte");
    let kinds = |job: &String| firsts.iter().filter(|other| *other == job).count();
    rows.retain(|row| row.latency != "first byte" || kinds(&row.job) == 1);
}

/// The best and the worst result of a sweep. `all`: rows of the table.
fn extremes(judged_set: &JudgedSet, rows: &[TableRow], all: usize) -> Markup {
    let usual = suite::grid::usual_measure(&judged_set.set);
    let rate = |row: &&TableRow| {
        let named = |figure: &&judge::TableFigure| figure.name.eq_ignore_ascii_case(usual);
        row.figures.iter().find(named).map_or(0.0, |figure| figure.value)
    };
    let by_rate = |one: &&TableRow, other: &&TableRow| rate(one).total_cmp(&rate(other));
    // The rate of synchronisations and requests is not a result of the sweep.
    let rated = || rows.iter().filter(|row| row.operation.direction().is_some());
    let ends = [("Most", rated().max_by(by_rate)), ("Least", rated().min_by(by_rate))];
    html! {
        @for (name, row) in ends {
            @if let Some(row) = row { p { (name) ", at " strong { (row.job) } ": " (amount(row, &done(row, &[]))) } }
        }
        p { a href="#figures" { "All " (all) " rows are in the table" } "." }
    }
}

fn amount(row: &TableRow, done: &str) -> Markup {
    let figure = |name: &str| row.figures.iter().find(|figure| figure.name == name);
    html! {
        @if let (Some(iops), Some(bandwidth)) = (figure("IOPS"), figure("bandwidth")) {
            span class="big" { (value(iops)) } " " (done) " a second, "
            span class="big" { (value(bandwidth)) } "; "
        } @else { "of " (row.count) " " (done) ", " }
        @if let (Some(half), Some(most)) = (figure("p50"), figure("p99")) {
            @let (took, at_most) = match row.latency {
                "first byte" => ("got the first byte of their answer within", "within"),
                _ => ("took at most", "at most"),
            };
            "half " (took) " " span class="big" { (value(half)) }
            ", 99 of 100 " (at_most) " " span class="big" { (value(most)) } "."
        }
    }
}

/// "reads", "GET requests". Trims of jobs that send DELETEs are deletes of objects.
fn done(row: &TableRow, deleting: &[String]) -> String {
    match &row.operation {
        Operation::Io(Direction::Trim) if deleting.contains(&row.job) => "deletes".into(),
        Operation::Io(direction) => format!("{}s", direction.name()),
        Operation::Sync => "synchronisations".into(),
        Operation::Request(request) => format!("{request} requests"),
    }
}

fn trust(judged_set: &JudgedSet) -> Markup {
    let grave = |least: Severity| -> Vec<&Finding> {
        judged_set.together.findings.iter().filter(|finding| finding.severity >= least).collect()
    };
    let (errors, warnings) = (grave(Severity::Error), grave(Severity::Warning));
    let runs = judged_set.set.runs.len();
    let is_short = judged_set.together.findings.iter().any(|finding| finding.check == "too-short");
    html! {
        @if !errors.is_empty() {
            p class="bad" { strong { "No." } " Something failed:" }
        } @else if !warnings.is_empty() {
            p class="care" {
                strong { "With care." } " "
                @if warnings.len() == 1 { "One thing was" } @else { (warnings.len()) " things were" }
                " found that can make the figures misleading:"
            }
        } @else if is_short {
            p class="care" {
                strong { "For these seconds." }
                " The run was too short to show what the storage does later; no check found anything \
                 else that makes the figures misleading."
            }
        } @else {
            p class="good" {
                strong { "Yes." }
                " No check found anything that makes the figures misleading"
                @if judged_set.together.findings.is_empty() { "." }
                @else { "; smaller notes are " a href="#findings" { "below" } "." }
            }
        }
        @if !warnings.is_empty() {
            ul {
                @for alike in grouped(&warnings, |a, b| a.check == b.check) {
                    li {
                        (sentence(&alike[0].text))
                        @if alike.len() > 1 {
                            span class="aside" { " (and " (alike.len() - 1) " more like it)" }
                        }
                    }
                }
            }
            p { a href="#findings" { "Why, and what to do" } }
        }
        @if runs == 1 {
            p class="aside" {
                "This is one run: its intervals show how precise the figures of this run are, not how \
                 much another run would differ."
            }
        }
    }
}

fn verdicts(judged_set: &JudgedSet) -> Vec<&Verdict> {
    let all = judged_set.together.verdicts.iter();
    all.filter(|verdict| !is_prepared(judged_set, &verdict.job)).collect()
}

fn limits(verdicts: &[&Verdict]) -> Markup {
    if verdicts.len() > JOBS_MAX / 2 {
        return limits_of_many(verdicts);
    }
    html! { @for verdict in verdicts { (limit(verdict, verdicts.len() > 1)) } }
}

/// Each limit with its number of jobs, and then the jobs one by one.
fn limits_of_many(verdicts: &[&Verdict]) -> Markup {
    let mut groups = grouped(verdicts, |a, b| a.limit == b.limit);
    groups.sort_by_key(|alike| std::cmp::Reverse(alike.len()));
    html! {
        @for alike in groups {
            p {
                span class="limit" { (limit_words(alike[0])) }
                " " (alike.len()) " of " (verdicts.len()) "."
            }
        }
        details {
            summary { "One by one, with what each is valid for" }
            @for verdict in verdicts { (limit(verdict, true)) }
        }
    }
}

fn limit(verdict: &Verdict, is_named: bool) -> Markup {
    html! {
        p {
            @if is_named { strong { (verdict.job) } ": " }
            span class="limit" { (limit_words(verdict)) }
            " " span class="aside" { "(confidence: " (verdict.confidence.name()) ")" } " "
            (sentence(&verdict.because))
        }
        p class="aside" { (sentence(&verdict.valid_for)) }
    }
}

/// The limit of a job in everyday words.
fn limit_words(verdict: &Verdict) -> &'static str {
    use judge::Limit;
    match verdict.limit {
        Limit::Device => "The storage device.",
        Limit::Neighbour => "Other programs on the same storage.",
        Limit::Cpu => "The processors, not the storage.",
        Limit::Cache => "Memory: little I/O reached the storage.",
        Limit::Client => "The load generator itself, not the storage.",
        Limit::Throttle => "A configured limit.",
        Limit::Server => "The server, or the network to it.",
        Limit::Network => "The link of this host's network.",
        Limit::Rate => "The rate that the job sets.",
        Limit::Unknown => "Unknown: the evidence does not show it.",
    }
}
