//! The engine that computes instead of doing I/O.

use crate::common::{recorded, scratch, undisturbed};

#[test]
fn a_load_holds_and_ends_with_the_io() {
    let directory = scratch();
    let load = |percent: f64, options: &[&str]| {
        let share = format!("--cpuload={percent}");
        let base = ["--name=t", "--ioengine=cpuio", "--cpuchunks=5000", &share];
        let arguments = [&base, options].concat();
        let record = undisturbed(|| recorded(directory.path(), 0, &arguments));
        let job = &record.jobs[0];
        let used = (job.cpu.user.0 + job.cpu.system.0) as f64 * 100.0;
        let used = used / (job.ended - job.started).0 as f64;
        assert!((percent * 0.92..=percent * 1.08).contains(&used), "{used}");
        job.clone()
    };
    let job = load(30.0, &["--runtime=2", "--time_based"]);
    let cycles = job.results.read.ios;
    assert!((40..=121).contains(&cycles), "2 s hold 120 cycles of 16.7 ms: {cycles}");
    assert_eq!(job.results.read.bytes.0, 0);
    load(60.0, &["--runtime=1", "--time_based", "--cpumode=qsort"]);
    let io = ["--name=io", "--ioengine=null", "--size=1g", "--time_based", "--runtime=1"];
    let ends = ["--exit_on_io_done=1", "--runtime=60"];
    for options in [&ends[..], &[]] {
        let job = load(10.0, &[options, &io].concat());
        assert!((900_000_000..30_000_000_000).contains(&job.elapsed.0), "{:?}", job.elapsed);
    }
}
