//! steadystate: what ends jobs, and what is reported of it.

use crate::common::{FATHOM, FIO, alone, as_fio, at_once, run, scratch};
use serde_json::Value;
use std::process::Command;

/// A job of a steady rate.
const RATED: [&str; 6] = [
    "--name=a",
    "--ioengine=null",
    "--size=1t",
    "--rate_iops=2000",
    "--time_based",
    "--output-format=json",
];

fn steady(arguments: &[&str]) -> Value {
    let ran = as_fio(scratch().path(), &[&RATED[..], arguments].concat()).expect(0);
    ran.json()["jobs"][0].clone()
}

/// Limits that the first full window meets, whatever stops the job meanwhile: no sample of four is
/// further from their mean than three times that.
#[test]
fn a_steady_job_ends_after_its_window() {
    let _alone = alone();
    for criterion in ["iops:301%", "iops_slope:200%", "bw:301%", "bw_slope:200%", "lat:10s"] {
        let ss = format!("--ss={criterion}");
        let job = steady(&[&ss, "--ss_dur=800ms", "--ss_interval=200ms", "--runtime=60"]);
        let found = &job["steadystate"];
        assert_eq!(found["attained"], 1, "{criterion}: {found:#}");
        let runtime = job["job_runtime"].as_u64().unwrap();
        assert!((800..30_000).contains(&runtime), "{criterion}: {runtime}");
        let data = &found["data"];
        for (series, all) in [("iops", "iops"), ("bw", "bw_bytes")] {
            let samples: Vec<u64> = data[series]
                .as_array()
                .unwrap()
                .iter()
                .map(|sample| sample.as_u64().unwrap())
                .collect();
            assert_eq!(samples.len(), 4, "{criterion}");
            let mean = data[format!("{series}_mean")].as_u64().unwrap();
            let of_samples = samples.iter().sum::<u64>() / 4;
            assert!(mean.abs_diff(of_samples) <= 1, "{criterion}: {data:#}");
            // By the second, about as the job did all the time.
            let all = job["read"][all].as_f64().unwrap();
            assert!((0.5..2.0).contains(&(mean as f64 / all)), "{criterion}: {mean} of {all}");
        }
        assert_eq!(data["lat"].is_array(), criterion.starts_with("lat"), "{criterion}");
    }
}

#[test]
fn a_job_that_is_never_steady_runs_to_its_end() {
    let job = steady(&[
        "--ss=iops:0",
        "--ss_dur=600ms",
        "--ss_interval=200ms",
        "--runtime=1500ms",
        "--rate_process=poisson",
    ]);
    assert_eq!(job["steadystate"]["attained"], 0);
    assert!(job["job_runtime"].as_u64().unwrap() >= 1400);
    // Less than a window: nothing is known.
    let job = steady(&["--ss=iops:5%", "--ss_dur=30", "--runtime=300ms"]);
    let data = &job["steadystate"]["data"];
    assert_eq!((&data["iops_mean"], data["iops"].as_array().unwrap().len()), (&0.into(), 30));
}

#[test]
fn the_ramps_come_before_the_window() {
    let _alone = alone();
    let job = steady(&[
        "--ss=iops:200%",
        "--ss_dur=400ms",
        "--ss_interval=200ms",
        "--ss_ramp=700ms",
        "--ramp_time=500ms",
        "--runtime=60",
    ]);
    assert_eq!(job["steadystate"]["attained"], 1);
    let runtime = job["job_runtime"].as_u64().unwrap();
    assert!(runtime >= 1100, "{runtime}");
}

/// With group_reporting the workers of a report are watched together and end together.
#[test]
fn a_report_is_steady_as_a_whole() {
    let _alone = alone();
    let job = steady(&[
        "--numjobs=2",
        "--group_reporting",
        "--ss=iops:300%",
        "--ss_dur=1500ms",
        "--ss_interval=500ms",
        "--runtime=60",
    ]);
    let mean = job["steadystate"]["data"]["iops_mean"].as_f64().unwrap();
    let all = job["read"]["iops"].as_f64().unwrap();
    // One of them alone does half.
    assert!((0.67..1.5).contains(&(mean / all)), "{mean} of {all}");
}

/// Every key of `value` with its type.
fn shape(value: &Value) -> Vec<String> {
    let kind = |value: &Value| match value {
        Value::String(_) => "text",
        Value::Number(n) if n.is_f64() => "real",
        Value::Number(_) => "integer",
        Value::Array(_) => "array",
        _ => "object",
    };
    let fields = |of: &Value, path: &str| -> Vec<String> {
        let pairs = of.as_object().unwrap();
        pairs.iter().map(|(key, field)| format!("{path}{key}: {}", kind(field))).collect()
    };
    [fields(value, ""), fields(&value["data"], "data.")].concat()
}

#[test]
fn the_object_and_the_line_are_the_oracles() {
    let _alone = alone();
    let criteria = ["iops:60%", "iops_slope:100000", "bw:60%", "bw_slope:100000000"];
    at_once(&criteria, |criterion| {
        let ss = format!("--ss={criterion}");
        let arguments = ["--ss_dur=2", "--runtime=6", "--output-format=json,normal", &ss];
        let [ours, theirs] = [&[FATHOM, "fio"][..], &[FIO]].map(|program| {
            let mut command = Command::new("timeout");
            let command = command.arg("60").args(program).args(&RATED[..5]).args(arguments);
            run(command.current_dir(scratch().path())).expect(0).out
        });
        let [our_object, their_object] = [&ours, &theirs].map(|text| {
            let (start, end) = (text.find("{\n").unwrap(), text.find("\n}\n").unwrap() + 3);
            let document: Value = serde_json::from_str(&text[start..end]).unwrap();
            document["jobs"][0]["steadystate"].clone()
        });
        assert_eq!(shape(&our_object), shape(&their_object), "{criterion}");
        assert_eq!(our_object["ss"], their_object["ss"]);
        assert_eq!(our_object["duration"], their_object["duration"]);
        let [our_line, their_line] = [&ours, &theirs].map(|text| {
            let line = text.lines().find(|line| line.starts_with("  steadystate  : ")).unwrap();
            let words = |c: char| !c.is_ascii_digit() && !".-".contains(c);
            line.replace("yes", "no").chars().filter(|c| words(*c)).collect::<String>()
        });
        let unit = |line: &str| line.replace(['K', 'M', 'k', 'i'], "");
        assert_eq!(unit(&our_line), unit(&their_line), "{criterion}");
    });
}
