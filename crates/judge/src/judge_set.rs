//! The joint judgement of repeated runs: one verdict for each job, and each finding once.

use crate::checks;
use crate::finding::Finding;
use crate::judged::Judged;
use crate::verdict::{Confidence, Limit, Verdict};
use record::{RecordSet, distinct};
use std::collections::BTreeMap;

/// Merges the verdicts and findings of the runs of a set; `judged` holds the judgements of its runs in
/// order. Where a set has several cells, jobs are named with their cell.
pub fn judge_set(set: &RecordSet, judged: &[Judged]) -> Judged {
    let cells = distinct(set.runs.iter().map(|run| run.cell_name()));
    let several = cells.len() > 1;
    let mut verdicts = Vec::new();
    let mut findings = Vec::new();
    for name in cells {
        let runs: Vec<&Judged> = set
            .runs
            .iter()
            .zip(judged)
            .filter(|(run, _)| run.cell_name() == name)
            .map(|(_, judged)| judged)
            .collect();
        let label = |job: &str| match several && job != name {
            true => format!("{name}: {job}"),
            false => job.to_owned(),
        };
        verdicts.extend(agreed(&runs).into_iter().map(|v| Verdict { job: label(&v.job), ..v }));
        findings.extend(merged(&runs).into_iter().map(|f| {
            let whole = several && f.jobs.is_empty();
            let jobs =
                if whole { vec![name.into()] } else { f.jobs.iter().map(|j| label(j)).collect() };
            Finding { jobs, ..f }
        }));
    }
    findings.extend(checks::over_set(set));
    let findings = checks::arranged(findings.into_iter());
    Judged { verdicts, findings, ..Judged::default() }
}

/// Each finding about the same jobs once, with the text of the run in which it was gravest.
fn merged(runs: &[&Judged]) -> Vec<Finding> {
    let mut found: Vec<(Finding, usize)> = Vec::new();
    for finding in runs.iter().flat_map(|run| &run.findings) {
        let same = |known: &&mut (Finding, usize)| {
            (known.0.check, &known.0.jobs) == (finding.check, &finding.jobs)
        };
        match found.iter_mut().find(same) {
            Some((known, count)) => {
                *count += 1;
                if finding.severity > known.severity {
                    *known = finding.clone();
                }
            }
            None => found.push((finding.clone(), 1)),
        }
    }
    let with_count = |(finding, count): (Finding, usize)| match runs.len() {
        // A finding of every run needs no count.
        all if all == count => finding,
        all => {
            Finding { text: finding.text.text(format!(" (in {count} of {all} runs)")), ..finding }
        }
    };
    found.into_iter().map(with_count).collect()
}

/// One verdict for each job: that of the majority of runs.
fn agreed(runs: &[&Judged]) -> Vec<Verdict> {
    let jobs =
        distinct(runs.iter().flat_map(|run| &run.verdicts).map(|verdict| verdict.job.as_str()));
    let verdicts_on = |job: &str| {
        let all = runs.iter().flat_map(|run| &run.verdicts);
        all.filter(|verdict| verdict.job == job).collect::<Vec<_>>()
    };
    jobs.into_iter().filter_map(|job| common(&verdicts_on(job))).collect()
}

/// The verdict of the majority of runs; without a majority the limit is unknown.
fn common(verdicts: &[&Verdict]) -> Option<Verdict> {
    let first = *verdicts.first()?;
    let mut counts: BTreeMap<Limit, usize> = BTreeMap::new();
    verdicts.iter().for_each(|verdict| *counts.entry(verdict.limit).or_default() += 1);
    let (limit, count) = counts.iter().max_by_key(|(_, count)| **count)?;
    if counts.len() == 1 {
        let confidence = verdicts.iter().map(|v| v.confidence).min()?;
        return Some(Verdict { confidence, ..first.clone() });
    }
    let told: Vec<String> =
        counts.iter().map(|(limit, count)| format!("{} in {count}", limit.name())).collect();
    let disagree = format!("the runs disagree: {}", told.join(", "));
    match count * 2 > verdicts.len() {
        true => {
            let usual = verdicts.iter().find(|verdict| verdict.limit == *limit)?;
            let because = usual.because.clone().text(format!("; {disagree}"));
            Some(Verdict { confidence: Confidence::Low, because, ..(*usual).clone() })
        }
        false => Some(Verdict {
            limit: Limit::Unknown,
            confidence: Confidence::Low,
            because: disagree.into(),
            figures: Vec::new(),
            ..first.clone()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Cell, RunRecord, Severity};

    fn verdict(job: &str, limit: Limit, confidence: Confidence) -> Verdict {
        let because = format!("signs of {}", limit.name());
        let valid_for = "use it".to_owned();
        Verdict {
            job: job.into(),
            limit,
            confidence,
            because: because.into(),
            figures: Vec::new(),
            valid_for,
        }
    }

    fn finding(check: &'static str, severity: Severity, jobs: &[&str], text: &str) -> Finding {
        Finding {
            check,
            severity,
            jobs: jobs.iter().map(|job| (*job).into()).collect(),
            text: text.to_owned().into(),
            figures: Vec::new(),
            cause: "".into(),
            remedy: "".into(),
        }
    }

    fn set(cells: &[&str]) -> RecordSet {
        let run = |name: &&str| RunRecord {
            cell: Some(Cell { name: (*name).into(), round: 0, ..Cell::default() }),
            ..RunRecord::default()
        };
        RecordSet { runs: cells.iter().map(run).collect(), ..RecordSet::default() }
    }

    fn verdicts(list: &[Limit]) -> Vec<Judged> {
        let one = |limit: &Limit| Judged {
            verdicts: vec![verdict("a", *limit, Confidence::High)],
            ..Judged::default()
        };
        list.iter().map(one).collect()
    }

    #[test]
    fn runs_that_agree_have_the_confidence_of_the_least_sure() {
        let mut judged = verdicts(&[Limit::Device, Limit::Device]);
        judged[1].verdicts[0].confidence = Confidence::Medium;
        let both = judge_set(&set(&["x", "x"]), &judged).verdicts;
        assert_eq!(both, [verdict("a", Limit::Device, Confidence::Medium)]);
    }

    #[test]
    fn most_runs_decide_and_the_others_are_told() {
        let judged = verdicts(&[Limit::Cpu, Limit::Device, Limit::Device]);
        let [verdict] = &judge_set(&set(&["x"; 3]), &judged).verdicts[..] else { panic!() };
        assert_eq!((verdict.limit, verdict.confidence), (Limit::Device, Confidence::Low));
        assert_eq!(verdict.because, "signs of device; the runs disagree: device in 2, CPU in 1");
        let judged = verdicts(&[Limit::Cpu, Limit::Device]);
        let [verdict] = &judge_set(&set(&["x"; 2]), &judged).verdicts[..] else { panic!() };
        assert_eq!((verdict.limit, verdict.confidence), (Limit::Unknown, Confidence::Low));
    }

    #[test]
    fn a_finding_is_told_once_at_its_gravest() {
        let with = |findings| Judged { findings, ..Judged::default() };
        let judged = [
            with(vec![finding("c", Severity::Note, &["a"], "mild")]),
            with(vec![
                finding("c", Severity::Warning, &["a"], "grave"),
                finding("d", Severity::Note, &[], "other"),
            ]),
            with(vec![]),
        ];
        let findings = judge_set(&set(&["x"; 3]), &judged).findings;
        let told: Vec<_> = findings.iter().map(|f| (f.severity, f.text.as_str())).collect();
        let expected = [
            (Severity::Warning, "grave (in 2 of 3 runs)"),
            (Severity::Note, "other (in 1 of 3 runs)"),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn what_ran_in_turn_is_told_apart() {
        let with = |findings| Judged { findings, ..verdicts(&[Limit::Device]).remove(0) };
        let judged = [
            with(vec![finding("c", Severity::Note, &["a"], "mild")]),
            with(vec![finding("c", Severity::Note, &[], "whole")]),
        ];
        let all = judge_set(&set(&["x.fio", "y.fio"]), &judged);
        let names: Vec<&str> = all.verdicts.iter().map(|v| v.job.as_str()).collect();
        assert_eq!(names, ["x.fio: a", "y.fio: a"]);
        let about: Vec<&str> = all.findings.iter().map(|f| f.jobs[0].as_str()).collect();
        assert_eq!(about, ["x.fio: a", "y.fio"]);
        assert_eq!(all.findings[0].text, "mild", "one run needs no count");
        let same = with(vec![finding("c", Severity::Note, &["a"], "mild")]);
        let all = judge_set(&set(&["x.fio", "y.fio"]), &[same.clone(), same]);
        assert_eq!(all.findings.len(), 1, "what is the same of both is told once");
        assert_eq!(all.findings[0].jobs, ["x.fio: a", "y.fio: a"]);
    }
}
