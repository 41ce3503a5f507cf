use crate::support::*;
use job::{DelayRange, Engine, ReadWrite};
use plan::{Plan, Policy, ProblemKind::*};
use record::Nanos;

fn groups(plan: &Plan) -> Vec<(u32, u32, u32)> {
    plan.workers.iter().map(|w| (w.start.phase, w.group.group, w.group.report)).collect()
}

#[test]
fn stonewall_and_new_group() {
    // Oracle: groups 0, 1, 1, 2, 2; on the first job both do nothing.
    let mut jobs = [null("a", MIB), null("b", MIB), null("c", MIB)];
    (jobs[0].identity.stonewall, jobs[0].identity.new_group) = (true, true);
    jobs[1].identity.stonewall = true;
    jobs[1].identity.numjobs = Some(2);
    jobs[2].identity.new_group = true;
    jobs[2].identity.numjobs = Some(2);
    let plan = plan(&jobs, &machine());
    assert_eq!(groups(&plan), [(0, 0, 0), (1, 1, 1), (1, 1, 2), (1, 2, 3), (1, 2, 4)]);
    let numbers: Vec<_> = plan.workers.iter().map(|w| (w.job, w.number, w.clone)).collect();
    assert_eq!(numbers, [(0, 1, 0), (1, 2, 0), (1, 3, 1), (2, 4, 0), (2, 5, 1)]);
}

#[test]
fn group_reporting_joins_the_report_before() {
    // Oracle: a(2 clones, grouped) | b, b | c(2 clones, grouped, new group) make 4 reports; and a
    // grouped worker after one that is not joins that one's report.
    let mut jobs = [null("a", MIB), null("b", MIB), null("c", MIB)];
    jobs.iter_mut().for_each(|j| j.identity.numjobs = Some(2));
    (jobs[0].identity.group_reporting, jobs[2].identity.group_reporting) = (true, true);
    jobs[2].identity.new_group = true;
    let reports = |plan: &Plan| groups(plan).iter().map(|g| g.2).collect::<Vec<_>>();
    assert_eq!(reports(&plan(&jobs, &machine())), [0, 0, 1, 2, 3, 3]);
    jobs[2].identity.new_group = false;
    assert_eq!(reports(&plan(&jobs, &machine())), [0, 0, 1, 2, 2, 2]);
}

#[test]
fn the_first_clone_is_followed_by_the_last() {
    // Oracle: of six clones the reports are of 0, 5, 4, 3, 2, 1.
    let mut job = null("a", MIB);
    job.identity.numjobs = Some(6);
    let plan = plan(&[job], &machine());
    let clones: Vec<_> = plan.workers.iter().map(|w| (w.number, w.clone)).collect();
    assert_eq!(clones, [(1, 0), (2, 5), (3, 4), (4, 3), (5, 2), (6, 1)]);
}

#[test]
fn wait_for_names_one_earlier_job() {
    let mut jobs = [null("a", MIB), null("b", MIB)];
    jobs[1].identity.wait_for = Some("a".into());
    assert_eq!(plan(&jobs, &machine()).workers[1].start.after_jobs, [0]);
    let cases = [
        (0, "zzz", "there is no job 'zzz'"),
        (0, "a", "would wait for itself"),
        (0, "b", "is defined later"),
    ];
    for (at, name, says) in cases {
        let mut jobs = [null("a", MIB), null("b", MIB)];
        jobs[at].identity.wait_for = Some(name.into());
        one_problem(&jobs, &machine(), Usage, "wait_for", says);
    }
    let mut jobs = [null("a", MIB), null("a", MIB), null("b", MIB)];
    jobs[2].identity.wait_for = Some("a".into());
    one_problem(&jobs, &machine(), Usage, "wait_for", "2 jobs are named 'a'");
}

#[test]
fn numbers_of_jobs() {
    one_problem(&[], &machine(), Usage, "name", "no job is defined");
    let mut job = null("a", MIB);
    job.identity.numjobs = Some(0);
    one_problem(&[job.clone(), null("b", MIB)], &machine(), Usage, "numjobs", "nothing to run");
    job.identity.numjobs = Some(10_000);
    let jobs = [job];
    one_problem(&jobs, &machine(), Usage, "numjobs", "10000 jobs, at most 4096");
    let policy = Policy { max_jobs: 10_000, ..Policy::default() };
    let plan = resolve_with(&jobs, &machine(), &policy).expect("as many are allowed");
    assert_eq!(plan.workers.len(), 10_000);
    assert_eq!(plan.workers[9_999].files[0].path, "a.1.0");
}

#[test]
fn problems_of_all_jobs_come_at_once_and_each_once() {
    let mut first = sized("a", 1024);
    first.identity.numjobs = Some(50);
    first.identity.wait_for = Some("nobody".into());
    let mut second = job("b");
    second.pattern.rw = ReadWrite::Trim;
    second.target.size = bytes(MIB);
    let error = resolve_with(&[first, second], &machine(), &Policy::default()).unwrap_err();
    let options: Vec<_> = error.problems.iter().map(|p| p.option.as_str()).collect();
    assert_eq!(options.iter().filter(|o| **o == "wait_for").count(), 1);
    assert_eq!(options.iter().filter(|o| **o == "rw").count(), 1);
    assert!(options.contains(&"size"));
    assert_eq!(error.exit_code(), 2);
    assert_eq!(error.to_string().lines().count(), error.problems.len());
}

#[test]
fn problems_that_are_alike_are_counted() {
    let mut job = job("a");
    job.identity.numjobs = Some(1000);
    let problems = problems(&[job], &machine(), &Policy::default());
    assert_eq!(problems.len(), 8);
    assert!(problems[6].found.ends_with("a.994.0 has none of its own"));
    assert!(problems[7].found.ends_with("a.993.0 has none of its own (and 992 more like this)"));
}

#[test]
fn seeds_differ_by_worker_and_repeat_by_run() {
    let mut job = null("a", MIB);
    job.identity.numjobs = Some(3);
    let seeds = |job: &job::Job, entropy| {
        let policy = Policy { entropy, ..Policy::default() };
        let plan = resolve_with(std::slice::from_ref(job), &machine(), &policy).expect("a plan");
        plan.workers.iter().map(|w| w.pattern.seed).collect::<Vec<_>>()
    };
    let first = seeds(&job, 1);
    assert!(first[0] != first[1] && first[1] != first[2] && first[0] != first[2]);
    assert_eq!(first, seeds(&job, 2), "randrepeat is the default");
    job.pattern.randrepeat = false;
    assert_ne!(seeds(&job, 1), seeds(&job, 2));
    job.pattern.randseed = Some(42);
    assert_eq!(seeds(&job, 1), seeds(&job, 2));
    assert_ne!(seeds(&job, 1), first);
}

#[test]
fn a_fresh_seed_is_in_the_record_and_repeats_the_run() {
    let mut job = null("a", MIB);
    job.identity.numjobs = Some(3);
    job.pattern.rw = job::ReadWrite::RandRead;
    let plan_of = |job: &job::Job, entropy| {
        let policy = Policy { entropy, ..Policy::default() };
        resolve_with(std::slice::from_ref(job), &machine(), &policy).expect("a plan")
    };
    let recorded = |plan: &plan::Plan| plan.workers[1].workload().settings.get("randseed").cloned();
    assert_eq!(recorded(&plan_of(&job, 7)), None, "every run has this one");
    job.pattern.randrepeat = false;
    let first = plan_of(&job, 7);
    job.pattern.randseed = Some(recorded(&first).expect("a seed").parse().expect("a number"));
    assert_eq!(plan_of(&job, 8), first);
}

#[test]
fn start_delays_are_drawn_within_their_range() {
    let mut job = null("a", MIB);
    job.identity.numjobs = Some(20);
    job.timing.startdelay = Some(DelayRange { low: Nanos(1000), high: Nanos(2000) });
    let delays: Vec<u64> =
        plan(&[job.clone()], &machine()).workers.iter().map(|w| w.start.delay.0).collect();
    assert!(delays.iter().all(|d| (1000..=2000).contains(d)));
    assert!(delays.iter().any(|d| *d != delays[0]));
    job.timing.startdelay = Some(DelayRange { low: Nanos(7), high: Nanos(7) });
    assert!(plan(&[job], &machine()).workers.iter().all(|w| w.start.delay.0 == 7));
}

#[test]
fn what_ends_a_worker() {
    // Oracle: loops=2, number_ios=5 issues 10; time_based ignores number_ios, and is itself
    // ignored without a runtime.
    let mut job = null("a", MIB);
    job.timing.loops = Some(2);
    job.pattern.number_ios = Some(5);
    job.timing.time_based = true;
    let without = plan(&[job.clone()], &machine());
    assert!(says(&without, "time_based does nothing without runtime"));
    let stop = &without.workers[0].stop;
    assert_eq!((stop.ios, stop.loops, stop.time_based, stop.bytes), (Some(10), 2, false, None));
    job.timing.runtime = Some(Nanos::SECOND);
    let with = plan(&[job], &machine());
    assert_eq!((with.workers[0].stop.ios, with.workers[0].stop.time_based), (None, true));
    assert!(says(&with, "number_ios does not end"));
}

#[test]
fn what_a_report_shows() {
    let mut job = null("a", MIB);
    job.measure.lat_percentiles = Some(true);
    let show = plan(&[job.clone()], &machine()).workers[0].show;
    assert!(show.clat_percentiles && show.lat_percentiles && !show.slat_percentiles);
    job.measure.disable_clat = true;
    let plan = plan(&[job], &machine());
    assert!(!plan.workers[0].show.clat_percentiles && !plan.workers[0].measuring.clat);
    assert!(plan.workers[0].measuring.lat && plan.workers[0].measuring.series);
}

#[test]
fn vsync_has_no_submission_latency() {
    let mut job = null("a", MIB);
    assert!(plan(&[job.clone()], &machine()).workers[0].measuring.slat);
    job.queue.engine = Engine::Vsync;
    assert!(!plan(&[job], &machine()).workers[0].measuring.slat);
}

#[test]
fn a_log_of_averages_shortens_the_interval_of_what_it_logs() {
    let interval = |change: &dyn Fn(&mut job::Job)| {
        let mut job = null("a", MIB);
        job.measure.logs.window = Nanos::from_millis(200);
        change(&mut job);
        plan(&[job], &machine()).interval
    };
    assert_eq!(interval(&|_| ()), Nanos::from_millis(500));
    assert_eq!(
        interval(&|job| job.measure.logs.latency = Some("l".into())),
        Nanos::from_millis(500)
    );
    let bandwidth = |job: &mut job::Job| job.measure.logs.bandwidth = Some("l".into());
    assert_eq!(interval(&bandwidth), Nanos::from_millis(200));
    assert_eq!(interval(&|job| job.measure.logs.iops = Some("l".into())), Nanos::from_millis(200));
    let single = |job: &mut job::Job| {
        bandwidth(job);
        job.measure.logs.window = Nanos(0);
    };
    assert_eq!(interval(&single), Nanos::from_millis(500), "a line an I/O is no rate");
}

#[test]
fn one_interval_and_one_clock_for_the_run() {
    let mut jobs = [null("a", MIB), null("b", MIB)];
    jobs[1].measure.iopsavgtime = Nanos::from_millis(100);
    jobs[0].measure.clocksource = Some("cpu".into());
    jobs[1].measure.clocksource = Some("gettimeofday".into());
    let plan = plan(&jobs, &machine());
    assert_eq!(plan.interval, Nanos::from_millis(100));
    assert_eq!(plan.clocksource.as_deref(), Some("cpu"));
    assert!(says(&plan, "one clock serves the run"));
}
