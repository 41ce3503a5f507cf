use super::*;
use record::Severity;
use serde_json::json;

/// What fio prints of a job, with these percentiles.
fn entry(name: &str, group: u32) -> Value {
    let latency = json!({
        "min": 701, "max": 5_304_734, "mean": 145_282.884207, "stddev": 62_512.194997, "N": 50_884,
        "percentile": { "50.000000": 140_288, "99.000000": 244_736, "99.900000": 856_064 }
    });
    json!({
        "jobname": name, "groupid": group, "error": 0, "elapsed": 3,
        "job options": { "rw": "randrw", "bs": "4k", "ioengine": "libaio", "iodepth": "4",
                         "direct": "1", "runtime": "2", "size": "16m" },
        "read": { "io_bytes": 208_420_864, "runtime": 2001, "total_ios": 50_884, "short_ios": 0,
                  "drop_ios": 0, "clat_ns": latency },
        "job_runtime": 2000, "usr_cpu": 3.2, "sys_cpu": 21.15, "ctx": 27_148, "majf": 0, "minf": 29,
        "iodepth_level": { "4": 100.0 }
    })
}

fn document(jobs: Vec<Value>) -> Value {
    json!({
        "fio version": "fio-3.33", "timestamp": 1_795_295_846_u64,
        "timestamp_ms": 1_795_295_846_414_u64, "time": "Sat Nov 21 23:17:26 2026",
        "global options": { "filename": "/dev/sdx:/dev/sdy" },
        "jobs": jobs,
        "disk_util": [{ "name": "vda", "read_ios": 47_552, "in_queue": 10_188, "util": 68.951407 }]
    })
}

fn imported(document: &Value) -> RunRecord {
    from_fio(&document.to_string()).unwrap()
}

#[test]
fn steady_states_and_priorities_are_imported_or_refused() {
    let watched = json!({
        "ss": "iops_slope:0.300000%", "duration": 4, "attained": 0, "criterion": "nan%",
        "max_deviation": 0.0, "slope": -12.5,
        "data": { "bw_mean": 8192, "iops_mean": 2, "iops": [3, 5, 0, 0], "bw": [12_288, 20_480, 0, 0] }
    });
    let mut job = entry("a", 0);
    job["steadystate"] = watched.clone();
    let clat = |count: u64| json!({ "min": 5, "max": 9, "mean": 7.0, "stddev": 1.0, "N": count });
    job["read"]["prios"] = json!([
        { "prioclass": 0, "prio": 0, "clat_ns": clat(884) },
        { "prioclass": 2, "prio": 3, "clat_ns": clat(50_000) },
    ]);
    let record = imported(&document(vec![job.clone()]));
    let steady = record.jobs[0].steady.as_ref().unwrap();
    assert_eq!(
        (steady.criterion.as_str(), steady.limit, steady.percent),
        ("iops_slope", 0.3, true)
    );
    assert_eq!((steady.value, steady.slope, steady.attained), (0.0, -12.5, false));
    assert_eq!((steady.interval, steady.samples.len()), (Nanos::SECOND, 2));
    assert_eq!(steady.samples[1].bytes_per_second, 20_480.0);
    let read = &judge::judge(&record).units[0].directions.read;
    let prios: Vec<_> = read.prios.iter().map(|p| (p.class, p.level, p.latency.count)).collect();
    assert_eq!(prios, [(0, 0, 884), (2, 3, 50_000)]);
    let refused = |place: &str, value: Value| {
        let mut wrong = document(vec![job.clone()]);
        *wrong.pointer_mut(place).unwrap() = value;
        from_fio(&wrong.to_string()).unwrap_err().to_string()
    };
    let steady = "/jobs/0/steadystate";
    for (place, value, part) in [
        (format!("{steady}/ss"), json!("mood:1"), "a criterion that is known"),
        (format!("{steady}/ss"), json!(7), "a criterion and its limit"),
        (format!("{steady}/data/iops/0"), json!(-1), "0 to 2^53"),
        ("/jobs/0/read/prios/1/prio".into(), json!(8), "ioprio_set(2)"),
        ("/jobs/0/read/prios/1/prioclass".into(), json!("BE"), "a whole number"),
    ] {
        let told = refused(&place, value);
        assert!(told.contains(part), "{place}: {told}");
    }
}

#[test]
fn figures_are_those_that_were_printed() {
    let record = imported(&document(vec![entry("mix", 0)]));
    let judged = judge::judge(&record);
    let read = &judged.units[0].directions.read;
    assert!((read.iops - 25_429.285_357).abs() < 1e-6, "{}", read.iops);
    assert_eq!(read.bytes_per_second as u64, 104_158_352);
    let clat = read.clat.as_ref().unwrap();
    assert_eq!((clat.count, clat.min, clat.max), (50_884, 701, 5_304_734));
    assert!((clat.mean - 145_282.884_207).abs() < 1e-4, "{}", clat.mean);
    assert!((clat.stddev - 62_512.194_997).abs() < 1e-3, "{}", clat.stddev);
    assert_eq!(clat.percentiles, [(50.0, 140_288), (99.0, 244_736), (99.9, 856_064)]);
    assert!(clat.bins.is_empty(), "what was not printed is not made up");
    let cpu = &judged.units[0].cpu;
    assert!((cpu.user - 3.2).abs() < 0.01 && (cpu.system - 21.15).abs() < 0.02, "{cpu:?}");
    assert!((judged.disks[0].own.util - 68.95).abs() < 0.1, "{:?}", judged.disks[0].own);
    assert_eq!(record.invocation.ended_unix_ms, 1_795_295_846_414);
    assert_eq!(record.invocation.utc_offset_seconds, 7200);
    let workload = &record.jobs[0].workload;
    assert_eq!((workload.rw.as_str(), workload.iodepth, workload.direct), ("randrw", 4, true));
    assert_eq!(workload.files, ["/dev/sdx", "/dev/sdy"]);
}

#[test]
fn unknown_facts_are_listed_and_are_no_findings() {
    let record = imported(&document(vec![entry("mix", 0)]));
    let judged = judge::judge(&record);
    let grave = |f: &&judge::Finding| f.severity >= Severity::Warning;
    assert_eq!(judged.findings.iter().find(grave), None);
    assert_eq!(judged.verdicts[0].limit, judge::Limit::Unknown);
    assert!(judged.verdicts[0].because.contains("fio-3.33"), "{}", judged.verdicts[0].because);
    let note = &record.messages[0].text;
    assert!(note.starts_with("imported from fio-3.33 JSON: percentiles are those fio"), "{note}");
}

#[test]
fn lines_around_the_document_are_passed_over_and_the_last_document_counts() {
    let (first, last) = (document(vec![entry("a", 0)]), document(vec![entry("b", 0)]));
    let text =
        format!("fio: something\n{{x\n{first:#}\n{last:#}\n\nb: (groupid=0, jobs=1): err= 0\n");
    // A line that only looks like a document is no reason to give up.
    let text = text.replace("{x\n", "");
    let record = from_fio(&text).unwrap();
    assert_eq!(record.jobs[0].name, "b");
    assert!(record.messages.last().unwrap().text.starts_with("1 earlier document in"));
}

#[test]
fn servers_are_imported_separately_without_their_sum() {
    let mut jobs = [entry("job", 0), entry("job", 0), entry("All clients", 0)];
    for (job, host) in jobs.iter_mut().zip(["alpha", "beta", "beta"]) {
        job["hostname"] = json!(host);
    }
    let document = json!({ "fio version": "fio-3.33", "timestamp": 5, "client_stats": jobs });
    let record = imported(&document);
    let names: Vec<&str> = record.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["job on alpha", "job on beta"]);
    assert_eq!(record.facts.hostname, "alpha, beta");
}

#[test]
fn groups_run_one_after_the_other() {
    let record = imported(&document(vec![entry("a", 0), entry("b", 0), entry("c", 1)]));
    let started: Vec<u64> = record.jobs.iter().map(|job| job.started.millis()).collect();
    assert_eq!(started, [0, 0, 2001]);
}

#[test]
fn errors_are_kept() {
    let mut tolerant = entry("mix", 0);
    (tolerant["total_err"], tolerant["first_error"]) = (json!(7), json!(5));
    let judged = judge::judge(&imported(&document(vec![tolerant])));
    assert_eq!(judged.findings[0].check, "errors");
    assert!(judged.findings[0].text.contains("Input/output error"), "{}", judged.findings[0].text);
    let mut failed = entry("mix", 0);
    failed["error"] = json!(28);
    assert_eq!(imported(&document(vec![failed])).jobs[0].errors[0].count, 1);
}

#[test]
fn mixed_figures_are_imported_for_a_single_direction_only() {
    let mut mixed = entry("mix", 0);
    mixed["mixed"] = mixed["read"].take();
    mixed.as_object_mut().unwrap().remove("read");
    let error = from_fio(&document(vec![mixed.clone()]).to_string()).unwrap_err();
    assert_eq!(error, ImportError::Mixed("mix".into()));
    mixed["job options"]["rw"] = json!("randwrite");
    assert_eq!(imported(&document(vec![mixed])).jobs[0].results.write.ios, 50_884);
}

#[test]
fn values_that_fio_does_not_print_are_refused() {
    for (text, part) in [
        ("", "no JSON of fio"),
        ("[1, 2]", "no JSON of fio"),
        ("{\"fio version\": \"fio-3.33\", \"jobs\": [", "broken"),
        ("{\"fio version\": \"fio-2.21\", \"jobs\": []}", "fio-2.21 printed"),
        ("{\"fio version\": \"fio-3.33\", \"jobs\": []}", "no jobs"),
        ("{\"fio version\": \"fio-3.33\", \"jobs\": 7}", "no jobs"),
    ] {
        let error = from_fio(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
    let wrong = |change: fn(&mut Value)| {
        let mut entry = entry("mix", 0);
        change(&mut entry);
        from_fio(&document(vec![entry]).to_string()).unwrap_err().to_string()
    };
    let negative = wrong(|entry| entry["read"]["total_ios"] = json!(-5));
    assert!(negative.contains("job 'mix': total_ios is -5"), "{negative}");
    let text = wrong(|entry| entry["read"]["clat_ns"]["mean"] = json!("fast"));
    assert!(text.contains("mean is \"fast\""), "{text}");
    let order = wrong(|entry| entry["read"]["clat_ns"]["max"] = json!(1));
    assert!(order.contains("no less than min"), "{order}");
    let sum = wrong(|entry| {
        let latency = &mut entry["read"]["clat_ns"];
        (latency["N"], latency["mean"]) = (json!(1_u64 << 53), json!(1e9));
        latency["max"] = json!(1e10 as u64);
    });
    assert!(sum.contains("add up to more"), "{sum}");
}
