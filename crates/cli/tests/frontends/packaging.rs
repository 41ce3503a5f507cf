//! Containers and pipelines: manifests that are valid, and the gate that pipelines call.

use crate::common::{FATHOM, Ran, run, scratch};
use std::fs;
use std::path::Path;
use std::process::Command;

const PACKAGING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging");

const JOB: &str = "[reader]\nioengine=null\nrw=read\nbs=4k\nsize=64m\ntime_based\nruntime=200ms\n";

/// The gate, as action.yml calls it.
fn gate(directory: &Path, before: &str, after: &str) -> Ran {
    let mut gate = Command::new(format!("{PACKAGING}/pipeline/gate.sh"));
    gate.current_dir(directory)
        .env("FATHOM_PROGRAM", FATHOM)
        .envs([("FATHOM_BEFORE", before), ("FATHOM_AFTER", after), ("FATHOM_REPEAT", "3")])
        .envs([("FATHOM_METRICS", "iops"), ("FATHOM_TOLERANCE", "60%")])
        .env("GITHUB_STEP_SUMMARY", "summary.md");
    run(&mut gate)
}

#[test]
fn the_gate_passes_what_is_equal_and_fails_what_is_slower() {
    let directory = scratch();
    let at = |name: &str| directory.path().join(name);
    fs::write(at("a.fio"), JOB).unwrap();
    let equal = gate(directory.path(), "a.fio", "a.fio").expect(0);
    assert!(equal.out.contains("| reader | read iops |"), "{}", equal.out);
    let summary = fs::read_to_string(at("summary.md")).unwrap();
    assert_eq!(summary, equal.out);
    let xml = fs::read_to_string(at("fathom-results/junit.xml")).unwrap();
    assert!(xml.contains("tests=\"1\" failures=\"0\""), "{xml}");
    fs::write(at("slow.fio"), JOB.replace("ioengine=null", "ioengine=null\nrate_iops=1000"))
        .unwrap();
    let unlike = gate(directory.path(), "a.fio", "slow.fio").expect(4);
    assert!(unlike.out.contains("❌ nothing could be compared"), "{}", unlike.out);
}

#[test]
fn the_gate_takes_a_record_as_its_base() {
    let directory = scratch();
    let at = |name: &str| directory.path().join(name);
    fs::write(at("a.fio"), JOB).unwrap();
    let record = ["run", "a.fio", "--repeat=3", "--record=base.json"];
    run(Command::new(FATHOM).args(record).current_dir(directory.path())).expect(0);
    let fast = fs::read_to_string(at("base.json")).unwrap();
    gate(directory.path(), "base.json", "a.fio").expect(0);
    // The base did a hundred times as many I/Os in the same time.
    let mut base: serde_json::Value = serde_json::from_str(&fast).unwrap();
    for run in base["runs"].as_array_mut().unwrap() {
        let read = &mut run["jobs"][0]["results"]["read"];
        let ios = read["ios"].as_u64().unwrap();
        read["ios"] = (ios * 100).into();
    }
    fs::write(at("base.json"), base.to_string()).unwrap();
    let slower = gate(directory.path(), "base.json", "a.fio").expect(4);
    assert!(slower.out.contains("| **slower** |"), "{}", slower.out);
    let xml = fs::read_to_string(at("fathom-results/junit.xml")).unwrap();
    assert!(xml.contains("<failure type=\"slower\""), "{xml}");
}

#[test]
fn manifests_for_kubernetes_are_valid() {
    let programs = testbed::python().unwrap_or_else(|why| panic!("{why}"));
    for manifest in ["job.yaml", "storageclass.yaml"] {
        let path = format!("{PACKAGING}/kubernetes/{manifest}");
        let validate = programs.join("kubernetes-validate");
        let ran = run(Command::new(&validate).args(["--strict", &path]));
        assert_eq!(ran.code, 0, "{manifest}: {}{}", ran.out, ran.err);
        // It can fail.
        let directory = scratch();
        let wrong = directory.path().join("wrong.yaml");
        fs::write(&wrong, fs::read_to_string(&path).unwrap().replace("restartPolicy", "restart"))
            .unwrap();
        assert_ne!(run(Command::new(&validate).arg("--strict").arg(&wrong)).code, 0, "{manifest}");
    }
}

#[test]
fn the_job_in_the_manifest_is_a_job() {
    let manifest = fs::read_to_string(format!("{PACKAGING}/kubernetes/job.yaml")).unwrap();
    let (_, job) = manifest.split_once("etcd.fio: |\n").unwrap();
    let directory = scratch();
    let lines = job.lines().take_while(|line| line.starts_with("    ")).map(str::trim);
    let text = lines
        .collect::<Vec<_>>()
        .join("\n")
        .replace("/data", &directory.path().display().to_string());
    fs::write(directory.path().join("etcd.fio"), text + "\n").unwrap();
    let arguments = ["run", "etcd.fio", "--size=2300k", "--accept=sync.p99<10s"];
    run(Command::new(FATHOM).args(arguments).current_dir(directory.path())).expect(0);
}

#[test]
fn the_action_hands_every_input_to_the_gate() {
    let action = fs::read_to_string(format!("{PACKAGING}/../action.yml")).unwrap();
    let gate = fs::read_to_string(format!("{PACKAGING}/pipeline/gate.sh")).unwrap();
    let (inputs, rest) = action.split_once("inputs:\n").unwrap().1.split_once("runs:\n").unwrap();
    let names = inputs.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<&str> = names.map(|line| line.trim().trim_end_matches(':')).collect();
    assert_eq!(names.len(), 8, "{names:?}");
    for name in names {
        let variable = format!("FATHOM_{}", name.to_uppercase());
        assert!(rest.contains(&format!("{variable}: ${{{{ inputs.{name} }}}}")), "{name}");
        assert!(gate.contains(&variable), "{variable}");
    }
}
