//! What a reader wants to know first, as questions with their answers.

use crate::exhibit::Exhibit;
use crate::html::compared::{self, Compared};
use crate::html::table::value;
use crate::verdict::sentence;
use crate::when;
use judge::{Finding, Operation, Tabled, Verdict, tabled, workloads};
use maud::{Markup, html};
use record::{Direction, RunRecord, Severity, human};

/// So many jobs are told of one by one.
const JOBS_MAX: usize = 6;

/// What was measured, as a title.
pub(super) fn title(exhibits: &[Exhibit]) -> String {
    match exhibits {
        [] => "No runs".into(),
        [one] => subject(one),
        [first, ..] => format!("{} runs of {}", exhibits.len(), subject(first)),
    }
}

/// "4 KiB random reads of this filesystem (ext4) …", "sweep of …", "fio job a and 3 more".
fn subject(exhibit: &Exhibit) -> String {
    let mut told: Vec<String> = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let varied = varied(exhibit);
    let (measured, _) = exhibit.measured_and_prepared();
    // Each combination of what was varied is the first one once more.
    let told_of = if varied.is_empty() { measured.len() } else { 1 };
    for (job, what) in measured.iter().take(told_of).flat_map(workloads) {
        if !told.contains(&job) {
            told.push(job);
            words.push(what);
        }
    }
    let what = match words.as_slice() {
        [] => return "A run that did no I/O".into(),
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

/// What was varied in an exhibit, with the values.
fn varied(exhibit: &Exhibit) -> Vec<(&str, Vec<&str>)> {
    let dimensions = exhibit.varied.iter().flat_map(|source| &source.dimensions);
    let varied = dimensions.filter(|dimension| dimension.values.len() > 1);
    let mut all = Vec::new();
    for dimension in varied {
        let values = dimension.values.iter().map(|value| value.text.as_str()).collect();
        all.push((dimension.name.as_str(), values));
    }
    all
}

/// The heading.
pub(super) fn head(exhibits: &[Exhibit]) -> Markup {
    html! {
        header {
            p class="kicker" { "Storage benchmark report" }
            h1 { (title(exhibits)) }
            @for exhibit in exhibits {
                p class="when" {
                    @if exhibits.len() > 1 { strong { (exhibit.name) } ": " }
                    (circumstances(exhibit))
                }
            }
        }
    }
}

/// "1 run of 10 s on host, Sat Nov 21 21:20:33 2026".
fn circumstances(exhibit: &Exhibit) -> String {
    let Some(first) = exhibit.first() else { return "no runs".into() };
    let runs = exhibit.set.runs.len();
    let seconds: Vec<f64> =
        exhibit.judged.iter().map(|judged| judged.elapsed_ns as f64 / 1e9).collect();
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
    let when = when::asctime(start.started_unix_ms, start.utc_offset_seconds);
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
pub(super) fn answers(exhibits: &[Exhibit], compared: &[Compared]) -> Markup {
    html! {
        section id="answers" aria-label="The answer" {
            @if !compared.is_empty() {
                h2 { @if exhibits.len() > 1 { "What changed?" } @else { "What changed since last time?" } }
                (compared::in_short(compared))
            }
            @for exhibit in exhibits {
                @if exhibits.len() > 1 { h2 { (exhibit.name) } }
                dl class="answers" {
                    dt { "What was measured?" }
                    dd { (measured(exhibit)) }
                    dt { "How much is it?" }
                    dd { (amounts(exhibit)) }
                    dt { "Can I trust it?" }
                    dd { (trust(exhibit)) }
                    @let verdicts = verdicts(exhibit);
                    @if !verdicts.is_empty() {
                        dt { "What limited it?" }
                        dd { (limits(&verdicts)) }
                    }
                }
            }
        }
    }
}

fn measured(exhibit: &Exhibit) -> Markup {
    let varied = varied(exhibit);
    if !varied.is_empty() {
        return measured_over(exhibit, &varied);
    }
    let mut told: Vec<(String, String)> = Vec::new();
    for (job, what) in exhibit.set.runs.iter().flat_map(workloads) {
        if told.iter().all(|(known, _)| *known != job) {
            told.push((job, what));
        }
    }
    let several = told.len() > 1;
    html! {
        @for (job, what) in told.iter().take(JOBS_MAX) {
            p { @if several { strong { (job) } ": " } (sentence(what)) }
        }
        @if told.len() > JOBS_MAX { p { "And " (human::counted(told.len() - JOBS_MAX, "job")) " more." } }
        @if let Some(place) = exhibit.first().and_then(place) { p class="aside" { (place) } }
    }
}

/// What a sweep did: from its first values to its last, and what they were.
fn measured_over(exhibit: &Exhibit, varied: &[(&str, Vec<&str>)]) -> Markup {
    let of = |run: Option<&RunRecord>| run.and_then(|run| workloads(run).into_iter().next());
    let (measured, _) = exhibit.measured_and_prepared();
    let (first, last) = (of(measured.first()), of(measured.last()));
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
        @if let Some(place) = exhibit.first().and_then(place) { p class="aside" { (place) } }
    }
}

/// Which files or devices, and on what they lie.
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
fn amounts(exhibit: &Exhibit) -> Markup {
    let mut rows = tabled(&exhibit.set);
    let all = rows.len();
    rows.retain(|row| !is_prepared(exhibit, &row.job));
    let deleting: Vec<String> = jobs_that(&rows, |row| row.operation.request() == Some("DELETE"));
    leave_to_the_table(&mut rows);
    let jobs: Vec<&str> = rows.iter().map(|row| row.job.as_str()).collect();
    let several = jobs.iter().any(|job| *job != jobs[0]);
    if exhibit.varied.is_some() && rows.len() > 2 {
        return extremes(exhibit, &rows, all);
    }
    html! {
        @if rows.is_empty() { p { "Nothing: no I/O completed." } }
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

/// Names of the jobs of such rows, one for each row.
fn jobs_that(rows: &[Tabled], is_such: fn(&Tabled) -> bool) -> Vec<String> {
    rows.iter().filter(|row| is_such(row)).map(|row| row.job.clone()).collect()
}

/// Whether something of this name is of what only prepared the others: nobody asks for its figures.
fn is_prepared(exhibit: &Exhibit, name: &str) -> bool {
    let (_, prepared) = exhibit.measured_and_prepared();
    // By the name of the cell, and of the job after it where that has one of its own.
    let of = |cell: &str| {
        name.strip_prefix(cell).is_some_and(|own| own.is_empty() || own.starts_with(": "))
    };
    prepared.iter().filter_map(|run| run.cell.as_ref()).any(|cell| of(&cell.name))
}

/// Without the times to the first byte of jobs that send several kinds of requests.
fn leave_to_the_table(rows: &mut Vec<Tabled>) {
    let firsts = jobs_that(rows, |row| row.latency == "first byte");
    let kinds = |job: &String| firsts.iter().filter(|other| *other == job).count();
    rows.retain(|row| row.latency != "first byte" || kinds(&row.job) == 1);
}

/// The ends of what a sweep measured. `all`: rows of the table.
fn extremes(exhibit: &Exhibit, rows: &[Tabled], all: usize) -> Markup {
    let usual = suite::grid::usual_measure(&exhibit.set);
    let rate = |row: &&Tabled| {
        let named = |figure: &&judge::TabledFigure| figure.name.eq_ignore_ascii_case(usual);
        row.figures.iter().find(named).map_or(0.0, |figure| figure.value)
    };
    let by_rate = |one: &&Tabled, other: &&Tabled| rate(one).total_cmp(&rate(other));
    // Synchronisations and requests have no rate that could be the least of all.
    let rated = || rows.iter().filter(|row| row.operation.direction().is_some());
    let ends = [("Most", rated().max_by(by_rate)), ("Least", rated().min_by(by_rate))];
    html! {
        @for (name, row) in ends {
            @if let Some(row) = row { p { (name) ", at " strong { (row.job) } ": " (amount(row, &done(row, &[]))) } }
        }
        p { a href="#figures" { "All " (all) " rows are in the table" } "." }
    }
}

fn amount(row: &Tabled, done: &str) -> Markup {
    let figure = |name: &str| row.figures.iter().find(|figure| figure.name == name);
    html! {
        @if let (Some(iops), Some(bandwidth)) = (figure("IOPS"), figure("bandwidth")) {
            span class="big" { (value(iops)) } " " (done) " a second, "
            span class="big" { (value(bandwidth)) } "; "
        } @else { "of " (row.count) " " (done) ", " }
        @if let (Some(half), Some(most)) = (figure("p50"), figure("p99")) {
            @let (took, at_most) = match row.latency {
                "first byte" => ("had the first byte of their answer within", "within"),
                _ => ("took at most", "at most"),
            };
            "half " (took) " " span class="big" { (value(half)) }
            ", 99 of 100 " (at_most) " " span class="big" { (value(most)) } "."
        }
    }
}

/// "reads", "GET requests"; what jobs trim that send DELETEs are objects.
fn done(row: &Tabled, deleting: &[String]) -> String {
    match &row.operation {
        Operation::Io(Direction::Trim) if deleting.contains(&row.job) => "deletes".into(),
        Operation::Io(direction) => format!("{}s", direction.name()),
        Operation::Sync => "synchronisations".into(),
        Operation::Request(request) => format!("{request} requests"),
    }
}

fn trust(exhibit: &Exhibit) -> Markup {
    let grave = |least: Severity| -> Vec<&Finding> {
        exhibit.together.findings.iter().filter(|finding| finding.severity >= least).collect()
    };
    let (errors, warnings) = (grave(Severity::Error), grave(Severity::Warning));
    let runs = exhibit.set.runs.len();
    html! {
        @if !errors.is_empty() {
            p class="bad" { strong { "No." } " Something failed:" }
        } @else if !warnings.is_empty() {
            p class="care" {
                strong { "With care." } " "
                @if warnings.len() == 1 { "One thing was" } @else { (warnings.len()) " things were" }
                " found that can make the figures mean something else:"
            }
        } @else {
            p class="good" {
                strong { "Yes, for what it is." }
                " No check found that the figures mean something else than they say"
                @if exhibit.together.findings.is_empty() { "." }
                @else { "; smaller notes are " a href="#findings" { "below" } "." }
            }
        }
        @if !warnings.is_empty() {
            ul {
                @for (finding, count) in each_check_once(&warnings) {
                    li {
                        (sentence(&finding.text))
                        @if count > 1 { span class="aside" { " (and " (count - 1) " more like it)" } }
                    }
                }
            }
            p { a href="#findings" { "Why, and what to do" } }
        }
        @if runs == 1 {
            p class="aside" {
                "It is one run: its intervals tell how sure the figures of this run are, not how \
                 another run would differ."
            }
        }
    }
}

/// The first finding of each check, and how many there are of it.
fn each_check_once<'a>(all: &[&'a Finding]) -> Vec<(&'a Finding, usize)> {
    let mut once: Vec<(&Finding, usize)> = Vec::new();
    for finding in all {
        match once.iter_mut().find(|(known, _)| known.check == finding.check) {
            Some((_, count)) => *count += 1,
            None => once.push((finding, 1)),
        }
    }
    once
}

fn verdicts(exhibit: &Exhibit) -> Vec<&Verdict> {
    let all = exhibit.together.verdicts.iter();
    all.filter(|verdict| !is_prepared(exhibit, &verdict.job)).collect()
}

fn limits(verdicts: &[&Verdict]) -> Markup {
    if verdicts.len() > JOBS_MAX / 2 {
        return limits_of_many(verdicts);
    }
    html! { @for verdict in verdicts { (limit(verdict, verdicts.len() > 1)) } }
}

/// Each limit with how many jobs it is of, and then one by one.
fn limits_of_many(verdicts: &[&Verdict]) -> Markup {
    let mut counts: Vec<(&Verdict, usize)> = Vec::new();
    for verdict in verdicts {
        match counts.iter_mut().find(|(known, _)| known.limit == verdict.limit) {
            Some((_, count)) => *count += 1,
            None => counts.push((verdict, 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    html! {
        @for (verdict, count) in counts {
            p { span class="limit" { (limit_words(verdict)) } " Of " (count) " of " (verdicts.len()) "." }
        }
        details {
            summary { "One by one, with what each is good for" }
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
        p class="aside" { (sentence(&verdict.use_for)) }
    }
}

/// What limited a job, in words that need no knowledge of ours.
fn limit_words(verdict: &Verdict) -> &'static str {
    use judge::Limit;
    match verdict.limit {
        Limit::Device => "The storage device.",
        Limit::Cpu => "The processors, not the storage.",
        Limit::Cache => "Memory: the storage was hardly asked.",
        Limit::Client => "The load generator itself, not the storage.",
        Limit::Throttle => "A limit that somebody set.",
        Limit::Server => "The server, or the network to it.",
        Limit::Rate => "The rate that the job asks for.",
        Limit::Unknown => "Not clear from what was seen.",
    }
}
