//! Did the run read blocks that the previous run left in the cache?

use super::prelude::*;

/// Share of a file in the cache before the run from where on it is warm.
const WARM: f64 = 0.1;

pub(super) const CHECK: Check = Check {
    id: "repeated-offsets",
    question: "Did the run read blocks that the previous run left in the cache?",
    evidence: "pages of the files in the page cache before the first I/O, offsets that repeat in every run (randrepeat), and whether the cache was dropped (invalidate)",
    threshold: "warning when at least 10 % of the files of a random buffered job was in the cache, the job does not drop the cache, and the offsets repeat",
    reason: "with the same seed every run reads the same blocks in the same order, so the cache holds exactly the blocks of the next run",
    cause: "the default seed repeats the offsets, and the cache kept their blocks",
    remedy: || set("randrepeat", 0).and(set("invalidate", 1)).or(set("direct", 1)),
    proof: Proof::real(
        "checks/cache.rs::a_second_run_meets_the_blocks_of_the_first",
        "checks/cache.rs::a_cold_direct_read_is_clean",
    ),
    function: CheckFunction::Data(check),
};

fn check(case: &Case, part: &Part) -> Option<Finding> {
    let kept = part.setting("invalidate").is_some();
    let repeats = part.setting("randseed").is_none();
    let reads = part.ios(Direction::Read) > 0;
    if !(part.is_buffered() && part.is_random() && kept && repeats && reads) {
        return None;
    }
    let files = part.different_files();
    let looks =
        files.iter().filter_map(|file| case.record.evidence.files.get(*file)?.before.as_ref());
    let (cached, whole) = looks
        .filter_map(|look| Some((look.cached?.0, look.size.0)))
        .fold((0, 0), |sum, look| (sum.0 + look.0, sum.1 + look.1));
    let share = cached as f64 / whole.max(1) as f64;
    (share >= WARM).then(|| {
        let text = format!(
            "{} of the files was in the page cache before the run, and the run repeats the offsets of the previous run",
            percent(share)
        );
        let figures = [Figure::new("in the page cache before", share * 100.0, "percent")];
        CHECK.finding_for(part, Severity::Warning, text).figures(figures)
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{FILE, findings, job, record, the_finding};
    use super::*;
    use record::Bytes;

    #[test]
    fn it_takes_a_warm_cache_that_is_kept_and_the_same_offsets() {
        let mut record = record(vec![job("again", Direction::Read, 10)]);
        record.jobs[0].workload.direct = false;
        let file = record.evidence.files.get_mut(FILE).unwrap();
        file.before.as_mut().unwrap().cached = Some(Bytes(1 << 29));
        assert!(findings(&record, CHECK.id).is_empty(), "dropped at the start");
        record.jobs[0].workload.settings.insert("invalidate".into(), "0".into());
        assert!(the_finding(&record, CHECK.id).text.starts_with("50 %"));
        record.jobs[0].workload.settings.insert("randseed".into(), "7".into());
        assert!(findings(&record, CHECK.id).is_empty());
    }
}
