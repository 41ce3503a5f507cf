//! What limited each job, what its figure may be used for, and what was found: as text after the
//! report, and as lines for stderr under the name fio.

use crate::messages::severity;
use crate::style::{Style, printable};
use judge::{Finding, Judged, Verdict};
use record::{Severity, distinct, human};

/// The most verdicts shown one by one; of more, those with the same limit are shown together.
const VERDICTS_MAX: usize = 8;
/// The most findings of one check shown one by one; more are shown together.
const OF_ONE_CHECK_MAX: usize = 3;
/// Checks whose notes are the same for every run on a machine; one line shows them.
const OF_THE_MACHINE: [&str; 2] = ["virtual-device", "mount-options"];
/// The most findings below a warning that [`for_screen`] shows in full.
const NOTES_MAX: usize = 2;
/// The most jobs named.
const NAMES_MAX: usize = 4;

/// The verdict and the findings of a run, after an empty line; empty without any.
pub fn text(judged: &Judged, style: &Style) -> String {
    verdict_and_findings(judged, style, |_| true, &OF_THE_MACHINE)
}

/// As [`text`], with the notes of the machine in full as well.
pub fn in_full(judged: &Judged, style: &Style) -> String {
    verdict_and_findings(judged, style, |_| true, &[])
}

/// As [`text`], with only the first notes in full, so that the report of a job fits a screen.
pub fn for_screen(judged: &Judged, style: &Style) -> String {
    let is_of_run = |finding: &&Finding| {
        finding.severity < Severity::Warning && !OF_THE_MACHINE.contains(&finding.check)
    };
    let notes = judged.findings.iter().filter(is_of_run);
    let checks = distinct(notes.map(|finding| finding.check));
    let left_out = checks.get(NOTES_MAX..).unwrap_or_default();
    let is_shown = |finding: &Finding| {
        finding.severity >= Severity::Warning || !left_out.contains(&finding.check)
    };
    let mut out = verdict_and_findings(judged, style, is_shown, &OF_THE_MACHINE);
    if !left_out.is_empty() {
        let text = format!("other notes, shown by --verbose: {}", left_out.join(", "));
        out += &style.paragraph(&text, 2);
    }
    out
}

/// As [`text`], with findings below a warning by their names alone: for who typed another tool's
/// command line and knows few of our options.
pub fn brief(judged: &Judged, style: &Style) -> String {
    let is_grave = |finding: &Finding| finding.severity >= Severity::Warning;
    let mut out = verdict_and_findings(judged, style, is_grave, &OF_THE_MACHINE);
    let notes = judged.findings.iter().filter(|finding| finding.severity < Severity::Warning);
    let named = distinct(notes.map(|finding| finding.check));
    if !named.is_empty() {
        let text = format!("of less weight: {}", named.join(", "));
        out += &style.paragraph(&text, 2);
    }
    out
}

/// The findings that are shown, the notes of some checks in one line.
fn verdict_and_findings(
    judged: &Judged,
    style: &Style,
    is_shown: impl Fn(&Finding) -> bool,
    in_one_line: &[&str],
) -> String {
    let mut out = String::new();
    let verdicts = grouped(&judged.verdicts, verdicts_alike(judged.verdicts.len()));
    if !verdicts.is_empty() {
        out += &style.heading("Verdict");
        out.extend(verdicts.iter().map(|alike| verdict(alike, style)));
    }
    let shown = judged.findings.iter().filter(|finding| is_shown(finding)).cloned();
    let (of_machine, of_run): (Vec<Finding>, Vec<Finding>) = shown.partition(|finding| {
        finding.severity == Severity::Note && in_one_line.contains(&finding.check)
    });
    if !judged.findings.is_empty() {
        out += &style.heading("Findings");
        out.extend(findings(&of_run).iter().map(|alike| finding(alike, style)));
    }
    if !of_machine.is_empty() {
        let notes = of_machine.iter().map(|note| format!("{} [{}]", note.text, note.check));
        let notes: Vec<String> = distinct(notes);
        out += &style.paragraph(&format!("on this machine: {}", notes.join("; ")), 2);
    }
    out
}

/// Warnings and errors as lines for stderr: as fio, standard output holds only what fio prints.
pub fn lines_for_fio(judged: &Judged) -> String {
    let grave = judged.findings.iter().filter(|finding| finding.severity >= Severity::Warning);
    let grave: Vec<Finding> = grave.cloned().collect();
    let line = |alike: &Vec<&Finding>| {
        let (first, severity) = (alike[0], severity(alike[0].severity));
        let jobs = names(alike.iter().flat_map(|f| f.jobs.iter().map(String::as_str)));
        let about = if jobs.is_empty() { jobs } else { jobs + ": " };
        let text = printable(&format!("{about}{}{}", first.text, count_alike(alike)));
        format!("fio: {severity}: {text} [{}]\n", first.check)
    };
    findings(&grave).iter().map(line).collect()
}

/// Groups of equal items, in the order of their first members.
pub(crate) fn grouped<T>(items: &[T], alike: impl Fn(&T, &T) -> bool) -> Vec<Vec<&T>> {
    let mut groups: Vec<Vec<&T>> = Vec::new();
    for item in items {
        match groups.iter_mut().find(|group| alike(group[0], item)) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups
}

fn verdicts_alike(count: usize) -> fn(&Verdict, &Verdict) -> bool {
    let same_limit = |a: &Verdict, b: &Verdict| a.limit == b.limit && a.confidence == b.confidence;
    let same_words = |a: &Verdict, b: &Verdict| {
        a.limit == b.limit
            && a.confidence == b.confidence
            && (&a.because, &a.valid_for) == (&b.because, &b.valid_for)
    };
    if count > VERDICTS_MAX { same_limit } else { same_words }
}

/// Findings of one check and severity together where they are many.
fn findings(all: &[Finding]) -> Vec<Vec<&Finding>> {
    let alike = |a: &Finding, b: &Finding| a.check == b.check && a.severity == b.severity;
    let groups = grouped(all, alike).into_iter();
    groups
        .flat_map(|group| match group.len() > OF_ONE_CHECK_MAX {
            true => vec![group],
            false => group.into_iter().map(|finding| vec![finding]).collect(),
        })
        .collect()
}

fn verdict(alike: &[&Verdict], style: &Style) -> String {
    let first = alike[0];
    let jobs = names(alike.iter().map(|verdict| verdict.job.as_str()));
    let heading = format!(
        "{jobs}: limited by: {}, confidence: {}",
        first.limit.name(),
        first.confidence.name()
    );
    let differ = alike.iter().any(|verdict| verdict.because != first.because);
    let because = match differ {
        true => format!("Of {}: {}.", first.job, first.because),
        false => sentence(&first.because),
    };
    let mut out = style.bold(&style.wrap(&heading, 2)) + "\n";
    for text in [because, sentence(&first.valid_for)] {
        out += &style.wrap(&text, 4);
        out.push('\n');
    }
    out
}

fn finding(alike: &[&Finding], style: &Style) -> String {
    let first = alike[0];
    let jobs = names(alike.iter().flat_map(|finding| finding.jobs.iter().map(String::as_str)));
    let about = if jobs.is_empty() { jobs } else { format!(" {jobs}:") };
    let level = severity(first.severity);
    let text = style
        .wrap(&format!("{level} [{}]{about} {}{}", first.check, first.text, count_alike(alike)), 2);
    // The level is the first word, and no line is narrower than it.
    let mut out =
        format!("  {}{}\n", style.severity(first.severity, level), &text[2 + level.len()..]);
    for (label, text) in
        [("Cause: ", first.cause.to_string()), ("Cure:  ", first.remedy.to_string())]
    {
        if text.is_empty() {
            continue;
        }
        let indent = 4 + label.len();
        let text = style.wrap(&sentence(&text), indent);
        out += &format!("    {}{}\n", style.dim(label), &text[indent..]);
    }
    out
}

/// " (3 more like it)".
fn count_alike(alike: &[&Finding]) -> String {
    let more = alike.len() - 1;
    if more == 0 { String::new() } else { format!(" ({more} more like it)") }
}

/// "a, b, c and d", "a, b, c and 997 more": each name once.
fn names<'a>(all: impl Iterator<Item = &'a str>) -> String {
    let mut seen = std::collections::HashSet::new();
    let names: Vec<&str> = all.filter(|name| seen.insert(*name)).collect();
    human::list_up_to(&names, NAMES_MAX)
}

/// With a capital and a full stop.
pub(crate) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    let stop = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    first + letters.as_str() + stop
}

#[cfg(test)]
mod tests {
    use super::*;
    use judge::{Confidence, Limit};

    fn verdict_on(job: &str, because: &str) -> Verdict {
        Verdict {
            job: job.into(),
            limit: Limit::Device,
            confidence: Confidence::High,
            because: because.to_owned().into(),
            figures: Vec::new(),
            valid_for:
                "valid for: 4 KiB random reads on this filesystem at depth 32, direct; not valid \
                      for: a machine without neighbours"
                    .into(),
        }
    }

    fn finding_on(job: &str, severity: Severity, text: &str) -> Finding {
        Finding {
            check: "served-from-cache",
            severity,
            jobs: vec![job.into()],
            text: text.to_owned().into(),
            figures: Vec::new(),
            cause: "the blocks were in the page cache, or in a cache below the filesystem".into(),
            remedy:
                "add --direct=1, or read more than the machine's memory; drop the caches first \
                   when the cold cache is the question"
                    .into(),
        }
    }

    fn judged() -> Judged {
        Judged {
            verdicts: vec![verdict_on("a", "the worker waited 93 % of the time")],
            findings: vec![
                finding_on("a", Severity::Warning, "the device read 2 % of what the job read"),
                Finding { jobs: Vec::new(), ..finding_on("", Severity::Note, "a short run") },
            ],
            ..Judged::default()
        }
    }

    #[test]
    fn in_brief_notes_are_named_only() {
        let judged = judged();
        let brief = brief(&judged, &Style::default());
        let (graver, rest) = brief.split_once("  of less weight: ").unwrap();
        assert_eq!(rest, "served-from-cache\n");
        assert!(graver.contains("2 % of what the job read") && !graver.contains("a short run"));
        let text = text(&judged, &Style::default());
        assert!(text.starts_with(graver) && text.contains("a short run"), "{text}");
    }

    #[test]
    fn a_screen_shows_the_first_notes_and_names_the_others() {
        let note = |check| Finding { check, ..finding_on("a", Severity::Note, "seen") };
        let checks = ["too-short", "too-few-samples", "not-durable", "cpu-starved"];
        let mut findings: Vec<Finding> = checks.into_iter().map(note).collect();
        findings.push(finding_on("a", Severity::Warning, "the device read 2 %"));
        findings.push(note("virtual-device"));
        let judged = Judged { findings, ..judged() };
        let screen = for_screen(&judged, &Style::default());
        assert!(
            screen.ends_with("\n  other notes, shown by --verbose: not-durable, cpu-starved\n"),
            "{screen}"
        );
        assert_eq!(screen.matches("    Cure: ").count(), 3, "{screen}");
        assert!(screen.contains("the device read 2 %"), "{screen}");
        let full = in_full(&judged, &Style::default());
        assert_eq!(full.matches("    Cure: ").count(), 6, "{full}");
        assert!(full.contains("note [virtual-device] a: seen"), "{full}");
    }

    #[test]
    fn what_every_run_on_a_machine_has_is_one_line() {
        let note = |check, text: &str| Finding { check, ..finding_on("a", Severity::Note, text) };
        let findings = vec![
            note("virtual-device", "vda is a virtual disk of KVM"),
            note("mount-options", "/ is mounted with discard"),
        ];
        let judged = Judged { findings, ..Judged::default() };
        let expected = "
Findings
  on this machine: vda is a virtual disk of KVM [virtual-device]; / is mounted
  with discard [mount-options]
";
        assert_eq!(text(&judged, &Style::default()), expected);
    }

    #[test]
    fn verdict_and_findings_are_blocks_of_80_columns() {
        let expected = "
Verdict
  a: limited by: device, confidence: high
    The worker waited 93 % of the time.
    Valid for: 4 KiB random reads on this filesystem at depth 32, direct; not
    valid for: a machine without neighbours.

Findings
  warning [served-from-cache] a: the device read 2 % of what the job read
    Cause: The blocks were in the page cache, or in a cache below the
           filesystem.
    Cure:  Add --direct=1, or read more than the machine's memory; drop the
           caches first when the cold cache is the question.
  note [served-from-cache] a short run
    Cause: The blocks were in the page cache, or in a cache below the
           filesystem.
    Cure:  Add --direct=1, or read more than the machine's memory; drop the
           caches first when the cold cache is the question.
";
        assert_eq!(text(&judged(), &Style::default()), expected);
        assert_eq!(text(&Judged::default(), &Style::default()), "");
    }

    #[test]
    fn colours_change_no_letter() {
        let dressed = text(&judged(), &Style { colour: true, width: 80 });
        assert!(dressed.contains("\x1b[33mwarning\x1b[0m [served"), "{dressed:?}");
        let mut bare = dressed;
        for code in ["\x1b[1m", "\x1b[2m", "\x1b[33m", "\x1b[36m", "\x1b[0m"] {
            bare = bare.replace(code, "");
        }
        assert_eq!(bare, text(&judged(), &Style::default()));
    }

    #[test]
    fn a_thousand_jobs_are_not_a_thousand_blocks() {
        let mut many = Judged::default();
        for number in 0..1000 {
            let job = format!("job{number}");
            many.verdicts.push(verdict_on(&job, &format!("it waited {number} ns")));
            many.findings.push(finding_on(&job, Severity::Warning, &format!("{number} %")));
        }
        let text = text(&many, &Style::default());
        assert!(text.lines().count() < 16, "{text}");
        assert!(text.contains("  job0, job1, job2 and 997 more: limited by: device"), "{text}");
        assert!(text.contains("Of job0: it waited 0 ns."), "{text}");
        assert!(text.contains("0 % (999 more"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert_eq!(lines_for_fio(&many).lines().count(), 1);
    }

    #[test]
    fn under_the_name_fio_notes_are_left_out() {
        assert_eq!(
            lines_for_fio(&judged()),
            "fio: warning: a: the device read 2 % of what the job read [served-from-cache]\n"
        );
    }
}
