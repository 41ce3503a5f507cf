use super::*;
use crate::fio_numbers::percent;
use crate::testing::{self, SECOND, add, spread, worker};
use record::{Direction, ErrorCount, GroupKey, JobRecord, Nanos};

fn text(record: &RunRecord, as_fio: bool) -> String {
    let options = RenderOptions { as_fio, ..RenderOptions::default() };
    run(record, &judge::judge(record), &options)
}

/// Compares with a golden file; FATHOM_BLESS=1 writes it anew.
fn assert_golden(name: &str, actual: &str) {
    let path = format!("{}/tests/golden/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("FATHOM_BLESS").is_some() {
        std::fs::write(&path, actual).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    assert_eq!(actual, expected, "{path} differs");
}

fn job(number: u32, group: u32, report: u32) -> JobRecord {
    let mut job = worker("grouped", number, GroupKey { group, report });
    job.job = 0;
    add(&mut job, Direction::Read, 400 * u64::from(number), (700, 90_000));
    job
}

#[test]
fn a_mixed_job() {
    assert_golden("mixed", &text(&testing::mixed(), true));
}

#[test]
fn a_rated_job_in_our_own_report() {
    let mut record = testing::rated();
    record.jobs[0].description = "keeps its schedule".into();
    let own = text(&record, false);
    assert_golden("rated", &own);
    assert!(!text(&record, true).contains("response"), "fio has no such block");
}

#[test]
fn shared_stamps_are_shown_in_our_own_report() {
    let mut record = testing::run_of(vec![job(1, 0, 0), job(2, 0, 0)]);
    assert!(!text(&record, false).contains("stamps"));
    for (job, length) in record.jobs.iter_mut().zip([20, 30]) {
        job.shared_stamps.shared = 300;
        (0..3).for_each(|_| job.shared_stamps.add_sample(length));
    }
    let line = "stamps    : shared by 50.0% of I/Os, which were ready 20 nsec later (max 30)";
    assert!(text(&record, false).contains(line), "{}", text(&record, false));
    assert!(!text(&record, true).contains("stamps"), "fio has no such line");
}

#[test]
fn groups_trims_and_stacked_disks() {
    let mut trims = worker("trims", 3, GroupKey { group: 1, report: 1 });
    add(&mut trims, Direction::Trim, 50, (10_000, 2_000_000));
    trims.results.trim.latency.slat = None;
    (trims.show.lat_percentiles, trims.show.clat_percentiles) = (true, false);
    let mut record = testing::run_of(vec![job(1, 0, 0), job(2, 0, 0), trims]);
    record.disks = vec![testing::disk("dm-0", &["sda", "sdb"]), testing::disk("sda", &[])];
    record.disks.push(testing::disk("sdb", &[]));
    assert_golden("groups", &text(&record, true));
}

#[test]
fn errors_syncs_bits_and_unified() {
    let mut failing = job(1, 0, 0);
    failing.error = 28;
    for (errno, text) in [(28, "No space left on device"), (5, "Input/output error")] {
        failing.errors.push(ErrorCount {
            errno,
            text: text.into(),
            operation: "write".into(),
            count: 3,
            first_file: "/mnt/full.0.0".into(),
            first_offset: Some(33_423_360),
            first_length: Some(65_536),
        });
    }
    let line = "fio: pid=1001, err=28/file:/mnt/full.0.0:33423360, func=write, \
                error=No space left on device\n";
    assert_eq!(failures(&testing::run_of(vec![failing.clone(), job(2, 0, 1)])), line);
    (failing.sync.count, failing.sync.latency) = (40, spread(2_500_000, 250_000_000, 40));
    let mut bits = job(2, 0, 1);
    (bits.show.unit_base, bits.show.significant_figures) = (1, 6);
    let mut unified = job(3, 0, 2);
    (unified.show.unified, unified.show.kb_base) = (2, 1000);
    assert_golden("errors", &text(&testing::run_of(vec![failing, bits, unified]), false));
}

#[test]
fn the_report_as_fio_shows_errors_of_tolerant_jobs_only() {
    let mut record = testing::mixed();
    record.jobs[0].errors.push(ErrorCount {
        errno: 5,
        text: "Input/output error".into(),
        operation: "read".into(),
        count: 1,
        first_file: "f".into(),
        first_offset: None,
        first_length: None,
    });
    assert!(!text(&record, true).contains("first_error"));
    record.jobs[0].options.push(("continue_on_error".into(), "io".into()));
    record.jobs[0].show.errors = true;
    let line = "     errors    : total=1, first_error=5/<Input/output error>\n";
    assert!(text(&record, true).contains(line));
}

#[test]
fn a_job_that_did_nothing_has_no_figures() {
    let record = testing::run_of(vec![worker("idle", 1, GroupKey::default())]);
    let own = text(&record, false);
    let heading = "idle: (groupid=0, jobs=1): err= 0: pid=1001: Fri Nov 20 22:53:48 2026\n  cpu ";
    assert!(own.contains(heading), "{own}");
    let text = text(&record, true);
    assert!(!text.contains("idle:"), "fio is silent about it: {text}");
    assert!(text.contains("\nRun status group 0 (all jobs):\n\nDisk stats"));
}

#[test]
fn percentiles_with_many_decimals_are_written_in_full() {
    let mut record = testing::mixed();
    record.jobs[0].percentiles = vec![99.99999, 50.0];
    assert!(text(&record, true).contains("     | 50.00000th=[  499], 99.99999th=[  900]\n"));
    record.jobs[0].percentiles = vec![7.0, 50.0, 100.0];
    assert!(text(&record, true).contains("     |   7th=[  156],  50th=[  499], 100th=[  900]\n"));
}

#[test]
fn a_share_above_zero_is_never_shown_as_zero() {
    assert_eq!(
        (percent(0.0, 1), percent(0.0001, 1), percent(0.0001, 2)),
        ("0.0%".into(), "0.1%".into(), "0.01%".into())
    );
}

#[test]
fn a_time_below_a_millisecond_is_not_shown_as_zero() {
    let mut record = testing::mixed();
    record.jobs[0].results.read.runtime = Nanos(SECOND / 1_000_000);
    assert!(text(&record, true).contains("(4000KiB/1msec)"));
}

#[test]
fn rates_follow_from_the_printed_run_time() {
    let mut record = testing::mixed();
    record.jobs[0].results.read.runtime = Nanos(SECOND + 400_000);
    let text = text(&record, true);
    let read = "  read: IOPS=999, BW=3996KiB/s (4092kB/s)(4000KiB/1001msec)\n";
    assert!(text.contains(read), "{text}");
    let group = "   READ: bw=3996KiB/s (4092kB/s), 3996KiB/s-3996KiB/s (4092kB/s-4092kB/s), \
                 io=4000KiB (4096kB), run=1001-1001msec\n";
    assert!(text.contains(group), "{text}");
}
