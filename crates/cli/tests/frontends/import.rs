//! Results of real fio read as records: what fio printed is what is reported and compared.

use crate::common::{FATHOM, fio, recorded, run, scratch};
use judge::Judged;
use record::RunRecord;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// A short run of fio in a directory, its output in a file of this name, and that file's JSON.
fn measured(directory: &Path, file: &str, arguments: &[&str]) -> (RunRecord, Value) {
    measured_for(1, directory, file, arguments)
}

/// The same of a run of so many seconds.
fn measured_for(
    seconds: u32,
    directory: &Path,
    file: &str,
    arguments: &[&str],
) -> (RunRecord, Value) {
    let (output, runtime) = (format!("--output={file}"), format!("--runtime={seconds}"));
    let usual = ["--size=4m", "--bs=4k", &runtime, "--time_based"];
    fio(directory, &[arguments, &usual, &[&output]].concat()).expect(0);
    let path = directory.join(file);
    let record = formats::load(&path).unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let start = if text.starts_with('{') { 0 } else { text.find("\n{").unwrap() + 1 };
    let mut documents = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    (record, documents.next().unwrap().unwrap())
}

/// Every figure that fio printed of the directions of its jobs, against those of the record.
#[track_caller]
fn agree(judged: &Judged, printed: &Value) {
    let jobs = printed["jobs"].as_array().unwrap();
    assert_eq!(judged.units.len(), jobs.len());
    for (unit, job) in judged.units.iter().zip(jobs) {
        assert_eq!(unit.name, job["jobname"].as_str().unwrap());
        for (direction, metrics) in unit.directions.iter() {
            let there = &job[direction.name()];
            let near = |ours: f64, key: &Value, parts: f64| {
                let theirs = key.as_f64().unwrap();
                assert!((ours - theirs).abs() <= theirs * parts, "{direction:?}: {ours} {theirs}");
            };
            assert_eq!(metrics.ios, there["total_ios"].as_u64().unwrap());
            assert_eq!(metrics.bytes, there["io_bytes"].as_u64().unwrap());
            // Both are counts over whole milliseconds.
            near(metrics.iops, &there["iops"], 1e-6);
            near(metrics.bytes_per_second, &there["bw_bytes"], 1e-4);
            let kinds =
                [("clat_ns", &metrics.clat), ("lat_ns", &metrics.lat), ("slat_ns", &metrics.slat)];
            for (kind, ours) in kinds {
                let theirs = &there[kind];
                let Some(ours) = ours else {
                    assert_eq!(theirs["N"], 0, "{kind}");
                    continue;
                };
                assert_eq!(ours.count, theirs["N"].as_u64().unwrap());
                assert_eq!(ours.max, theirs["max"].as_u64().unwrap());
                near(ours.mean, &theirs["mean"], 1e-6);
                near(ours.stddev, &theirs["stddev"], 1e-3);
                for (percentile, value) in theirs["percentile"].as_object().into_iter().flatten() {
                    let wanted: f64 = percentile.parse().unwrap();
                    let known = ours.percentiles.iter().find(|(p, _)| *p == wanted).unwrap();
                    // fio names the middle of a bin also where that is above the largest value.
                    let value = value.as_u64().unwrap().clamp(ours.min, ours.max);
                    assert_eq!(known.1, value, "{kind} p{percentile}");
                }
            }
        }
        assert_eq!(unit.sync.count, job["sync"]["total_ios"].as_u64().unwrap());
    }
}

#[test]
fn json_plus_of_fio_gives_the_figures_that_fio_printed() {
    let directory = scratch();
    let line = ["--name=a", "--rw=randrw", "--fsync=64", "--name=b", "--rw=randwrite"];
    let line = [&["--output-format=normal,json+", "--group_reporting=0"], &line[..]].concat();
    let line = [&line[..2], &["--size=4m"], &line[2..]].concat();
    let (record, printed) = measured(directory.path(), "plus.txt", &line);
    assert_eq!(record.origin.as_ref().unwrap().format, "JSON+");
    agree(&judge::judge(&record), &printed);
    let clat = record.jobs[0].results.read.latency.clat.as_ref().unwrap();
    assert!(clat.is_binned(), "every value of json+ is in a bin");
}

#[test]
fn json_of_fio_gives_what_it_tells_and_makes_nothing_up() {
    let directory = scratch();
    let line = ["--output-format=json", "--name=g", "--rw=randread", "--numjobs=2"];
    let line = [&line[..], &["--group_reporting", "--thread"]].concat();
    let (record, printed) = measured(directory.path(), "plain.json", &line);
    let judged = judge::judge(&record);
    agree(&judged, &printed);
    let clat = record.jobs[0].results.read.latency.clat.as_ref().unwrap();
    assert!(!clat.is_binned() && clat.known_percentile(97.5).is_none());
    let notes: Vec<&str> = record.messages.iter().map(|message| message.text.as_str()).collect();
    assert!(notes[0].starts_with("imported from fio-3."), "{notes:?}");
    assert!(notes.iter().any(|note| note.starts_with("2 workers reported as one")), "{notes:?}");
}

#[test]
fn results_of_fio_are_compared_as_they_are() {
    let directory = scratch();
    // Without a disk, each run has enough I/Os for every percentile.
    let line = ["--output-format=json", "--name=x", "--rw=randread", "--ioengine=null"];
    for file in ["before.json", "after.json"] {
        measured(directory.path(), file, &line);
    }
    let compared = run(Command::new(FATHOM)
        .args(["compare", "before.json", "after.json", "--tolerance=99%", "--json"])
        .current_dir(directory.path()));
    let found = compared.expect(0).json();
    let text = found.to_string();
    assert!(text.contains("\"p99\"") && !text.contains("not comparable"), "{text}");
    let metrics = found["jobs"][0]["directions"][0]["metrics"].as_array().unwrap();
    let names: Vec<&str> = metrics.iter().map(|metric| metric["name"].as_str().unwrap()).collect();
    assert!(names.starts_with(&["iops", "bandwidth", "mean", "p50", "p99"]), "{text}");
    assert_eq!(found["environment"].as_array().map(Vec::len), Some(0), "{text}");
    assert_eq!(found["environment_recorded"], false);
    let shown = run(Command::new(FATHOM)
        .args(["compare", "before.json", "after.json", "--tolerance=99%"])
        .current_dir(directory.path()));
    assert!(shown.expect(0).out.starts_with("The environment was not recorded"));
}

/// The JSON+ that fathom prints of a run.
fn printed_again(record: &RunRecord) -> Value {
    let options = report::RenderOptions::default();
    let text = report::render(
        report::Subject::Run(record, &judge::judge(record)),
        &[record::Format::JsonPlus],
        &options,
    );
    serde_json::from_str(&text).unwrap()
}

#[test]
fn our_own_document_of_bins_comes_back_as_it_was() {
    let before = recorded(
        scratch().path(),
        0,
        &["--name=own", "--ioengine=null", "--rw=randrw", "--size=4m", "--bs=4k"],
    );
    let text = printed_again(&before).to_string();
    let after = formats::import::from_fio(&text).unwrap();
    assert_eq!(after.origin.as_ref().unwrap().format, "JSON+");
    let [old, new] = [&before, &after].map(judge::judge);
    let (old, new) = (&old.units[0].directions.write, &new.units[0].directions.write);
    assert_eq!((new.ios, new.bytes), (old.ios, old.bytes));
    let (old, new) = (old.clat.as_ref().unwrap(), new.clat.as_ref().unwrap());
    assert_eq!((&new.percentiles, &new.bins), (&old.percentiles, &old.bins));
    let picked = |document: &Value| document["jobs"][0]["write"]["clat_ns"]["percentile"].clone();
    assert_eq!(picked(&printed_again(&after)), picked(&printed_again(&before)));
}

#[test]
fn a_steady_state_of_fio_is_told_as_fio_told_it() {
    let directory = scratch();
    // A window of two seconds is full after three; one of nine is not.
    for (criterion, seconds) in [("iops:1000%", 2), ("bw_slope:1000%", 2), ("iops:0.1%", 9)] {
        let watch = [format!("--ss={criterion}"), format!("--ss_dur={seconds}")];
        let line = ["--name=ss", "--rw=randread", "--output-format=json", &watch[0], &watch[1]];
        let (record, printed) = measured_for(3, directory.path(), "ss.json", &line);
        let (ours, theirs) = (printed_again(&record), &printed["jobs"][0]["steadystate"]);
        assert!(theirs["data"]["iops"].is_array(), "{theirs}");
        assert_eq!(&ours["jobs"][0]["steadystate"], theirs, "{criterion}");
    }
}

#[test]
fn latencies_of_priorities_are_those_of_fio() {
    let directory = scratch();
    let some = ["--cmdprio_percentage=40", "--cmdprio_class=2", "--cmdprio=3", "--iodepth=4"];
    for format in ["json", "json+"] {
        let format = format!("--output-format={format}");
        let line = ["--name=p", "--rw=randrw", "--ioengine=libaio", "--direct=1", &format];
        let (record, printed) =
            measured(directory.path(), "prio.json", &[&line, &some[..]].concat());
        let ours = printed_again(&record);
        for direction in ["read", "write"] {
            let [ours, theirs] = [&ours, &printed].map(|all| &all["jobs"][0][direction]["prios"]);
            let (ours, theirs) = (ours.as_array().unwrap(), theirs.as_array().unwrap());
            assert_eq!((ours.len(), theirs.len()), (2, 2));
            for (ours, theirs) in ours.iter().zip(theirs) {
                for key in ["prioclass", "prio"] {
                    assert_eq!(ours[key], theirs[key], "{key}");
                }
                for key in ["N", "min", "max"] {
                    assert_eq!(ours["clat_ns"][key], theirs["clat_ns"][key], "{key}");
                }
                let [p99, most] = ["/percentile/99.000000", "/max"]
                    .map(|at| theirs["clat_ns"].pointer(at).unwrap().as_u64().unwrap());
                let known = ours["clat_ns"].pointer("/percentile/99.000000").unwrap();
                assert_eq!(known.as_u64(), Some(p99.min(most)), "{format}");
            }
        }
    }
}
