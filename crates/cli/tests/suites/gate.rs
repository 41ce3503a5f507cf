//! `--accept`: conditions on a run, exit code 4.

use crate::common::*;
use serde_json::Value;
use std::fs;
use std::process::Command;

/// A rate that nothing disturbs: 2000 I/Os a second of an engine without a disk, in series of
/// 100 ms, so that there are enough for narrow intervals.
const JOB: [&str; 9] = [
    "--name=a",
    "--rw=randread",
    "--ioengine=null",
    "--size=1g",
    "--time_based",
    "--runtime=2",
    "--rate_iops=2000",
    "--bwavgtime=100",
    "--iopsavgtime=100",
];

/// The condition's outcome by name.
fn outcome(gate: &Value, condition: &str) -> String {
    let all = gate["conditions"].as_array().unwrap();
    let found = all.iter().find(|one| one["condition"] == condition);
    found.unwrap_or_else(|| panic!("{condition} in {gate}"))["outcome"].as_str().unwrap().into()
}

#[test]
fn what_is_met_passes_and_what_is_not_exits_4() {
    let directory = scratch();
    let met = ["--accept=iops>100", "--accept=a:bw>10KiB/s", "--accept", "p50<1s"];
    let ran = fathom(directory.path(), &[&JOB[..], &met].concat()).expect(0);
    let gate = &ran.out[ran.out.find("\nGate\n").unwrap()..];
    assert!(gate.contains("\n  pass      a iops>100 (read): "), "{gate}");
    assert!(gate.contains("\n  pass      a:bw>10KiB/s (read): "), "{gate}");
    assert!(gate.ends_with("\n  passed: 3 of 3 met\n"), "{gate}");
    let missed = ["--accept=iops>100", "--accept=read.iops>1M"];
    let ran = fathom(directory.path(), &[&JOB[..], &missed].concat()).expect(4);
    assert!(ran.out.contains("\n  fail      a read.iops>1M: "), "{}", ran.out);
    assert!(ran.out.ends_with("\n  failed: 1 of 2 met\n"), "{}", ran.out);
}

#[test]
fn what_the_data_do_not_decide_fails_unless_it_is_to_pass() {
    let directory = scratch();
    // 2000 values do not tell one in a hundred thousand.
    let rare = ["--accept=p99.999<9s"];
    let ran = fathom(directory.path(), &[&JOB[..], &rare].concat()).expect(4);
    assert!(ran.out.contains("\n  undecided a p99.999<9s (read): "), "{}", ran.out);
    let passes = [&JOB[..], &rare, &["--undecided=pass"]].concat();
    let ran = fathom(directory.path(), &passes).expect(0);
    assert!(ran.out.contains("\n  undecided a p99.999<9s (read): "), "{}", ran.out);
    assert!(ran.out.ends_with("\n  passed: 1 of 1 met\n"), "{}", ran.out);
    fathom(directory.path(), &[&JOB[..], &rare, &["--undecided=fail"]].concat()).expect(4);
}

#[test]
fn programs_read_it_as_json_and_junit() {
    let directory = scratch();
    let line = [
        "--accept=iops>100",
        "--accept=iops>1M",
        "--accept=no-errors",
        "--output-format=json",
        "--junit=gate.xml",
        "--record=run.json",
    ];
    let ran = fathom(directory.path(), &[&JOB[..], &line].concat()).expect(4);
    let document = ran.json();
    let gate = &document["fathom"]["gate"];
    assert_eq!((&gate["passed"], &gate["undecided_passes"]), (&false.into(), &false.into()));
    assert_eq!(outcome(gate, "iops>100"), "pass");
    assert_eq!(outcome(gate, "iops>1M"), "fail");
    assert_eq!(outcome(gate, "no-errors"), "pass");
    let first = &gate["conditions"][0];
    assert_eq!((&first["job"], &first["direction"]), (&"a".into(), &"read".into()));
    assert_eq!(first["unit"], "IOPS");
    let figure = |name: &str| first[name].as_f64().unwrap();
    assert!(figure("low") <= figure("measured") && figure("measured") <= figure("high"));
    // What is measured of it is what is told of it.
    let told = document["jobs"][0]["read"]["iops"].as_f64().unwrap();
    assert!((figure("measured") / told - 1.0).abs() < 0.01, "{first}, {told}");
    let xml = fs::read_to_string(directory.path().join("gate.xml")).unwrap();
    assert!(xml.contains("<testsuite name=\"fathom\" tests=\"3\" failures=\"1\""), "{xml}");
    assert!(xml.contains("name=\"iops&gt;1M (read)\""), "{xml}");
    assert!(directory.path().join("run.json").exists(), "the record is kept all the same");
    let plain = fathom(directory.path(), &[&JOB[..], &["--output-format=json"]].concat());
    assert!(plain.expect(0).json()["fathom"]["gate"].is_null());
}

#[test]
fn repeats_are_held_against_it_together() {
    let directory = scratch();
    fs::write(directory.path().join("b.fio"), "[b]\nrate_iops=1000\n").unwrap();
    let line = ["--accept=iops>100", "--accept=b.fio: b:iops>1M", "--output-format=json"];
    // Enough of them for an interval that ends above a tenth of the rate on a busy machine too.
    let rounds = ["--repeat=5", "--interleave=b.fio", "--runtime=500ms"];
    // Beside the job, what both have in common; a rate would override that of the file.
    let common = &["--ioengine=null", "--size=1g", "--time_based", "--rw=randread"][..];
    let job = ["--name=a", "--rate_iops=2000"];
    let all = [common, &rounds, &line, &job].concat();
    let document = fathom(directory.path(), &all).expect(4).json();
    let gate = &document["fathom"]["gate"];
    let found: Vec<_> = gate["conditions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| [&one["job"], &one["condition"], &one["outcome"]].map(|v| v.as_str().unwrap()))
        .collect();
    let expected = [
        ["a", "iops>100", "pass"],
        ["b.fio: b", "iops>100", "pass"],
        ["b.fio: b", "b.fio: b:iops>1M", "fail"],
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_is_wrong_is_told_before_anything_runs() {
    let directory = scratch();
    let at = directory.path();
    let job = ["--name=abc", "--rw=read", "--size=1m"];
    let iops = "--accept=iops>1";
    let cases: [(&[&str], &str); 10] = [
        (&["--accept="], "--accept: expected a condition"),
        (&["--accept=fast"], "--accept: 'fast': "),
        (&["--accept=iops>"], "--accept: 'iops>': "),
        (&["--accept=p99.9<2parsecs"], "--accept: 'p99.9<2parsecs': "),
        (&["--accept=p101<2ms"], "--accept: 'p101<2ms': "),
        (&["--accept=abd:iops>1"], "there is no job 'abd'; did you mean 'abc'?"),
        (&["--accept=write.iops>1"], "'write.iops>1': no job moves data in this direction"),
        (&[iops, "--undecided=maybe"], "--undecided: 'maybe' is neither pass nor fail"),
        (
            &["--junit=gate.xml"],
            "--junit=gate.xml: there are no conditions; give some with --accept",
        ),
        (&[iops, "--junit=no/gate.xml"], "--junit=no/gate.xml: its directory is not there"),
    ];
    for (options, said) in cases {
        let ran = fathom(at, &[options, &job].concat());
        assert!(ran.err.contains(said), "{options:?}: {}", ran.err);
        assert_eq!(ran.expect(2).out, "", "{options:?}");
        assert!(!at.join("abc.0.0").exists(), "{options:?}");
    }
    // What no job had is known only afterwards, and hides no other outcome.
    let ran = fathom(at, &[&["--accept=sync.p99<1s", iops][..], &job].concat()).expect(4);
    assert!(ran.out.contains("no job called fsync"), "{}", ran.out);
    assert!(ran.out.contains(" abc iops>1 "), "{}", ran.out);
}

#[test]
fn errors_and_interruptions_keep_their_own_codes() {
    let directory = scratch();
    let job = ["--name=a", "--rw=write", "--size=1m", "--accept=iops>1G"];
    let mut command = Command::new("sh");
    let limited = "ulimit -f 200; exec \"$0\" \"$@\"";
    command.args(["-c", limited, FATHOM, "run"]).args(job).current_dir(directory.path());
    run(&mut command).expect(1);
    let long = ["--runtime=60", "--accept=iops>1G", "--eta=always"];
    let mut running = Running::fathom("run", directory.path(), &[&JOB[..], &long].concat());
    running.says("err", "[r(1)]");
    running.signal(rustix::process::Signal::INT);
    let ran = running.end().expect(130);
    assert!(ran.out.contains("\n  fail      a iops>1G"), "{}", ran.out);
}

#[test]
fn under_the_name_fio_it_is_told_on_stderr() {
    let directory = scratch();
    let ran = as_fio(directory.path(), &[&JOB[..], &["--accept=iops>1M"]].concat()).expect(4);
    assert!(ran.err.contains("\n  fail      a iops>1M (read): "), "{}", ran.err);
    assert!(!ran.out.contains("Gate"), "{}", ran.out);
}
