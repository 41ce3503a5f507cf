//! Reports: the same keys and types, lines and fields as the oracle's, whatever was measured.

use crate::common::{FATHOM, FIO, Ran, alone, at_once, loop_device, run, scratch};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Ours in the formats of the oracle's version.
const PROGRAMS: [&[&str]; 2] = [&[FATHOM, "fio", "--compat=3.33"], &[FIO]];

fn under(program: &[&str], directory: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new("timeout");
    run(command.arg("60").args(program).args(arguments).current_dir(directory))
}

/// What ours and the oracle say to the same arguments, each in a directory of its own.
fn both(arguments: &[&str]) -> [Ran; 2] {
    PROGRAMS.map(|program| under(program, scratch().path(), arguments).expect(0))
}

/// What is wrong with jobs, each of them tried: several at a time, but those of the device.
fn wrong(jobs: &[Vec<String>], of: impl Fn(&[String]) -> Option<String> + Sync) -> String {
    let (device, files): (Vec<_>, Vec<_>) =
        jobs.iter().partition(|job| job.iter().any(|word| word.contains("/dev/")));
    let mut found = at_once(&files, |job| of(job));
    found.extend(device.into_iter().map(|job| of(job)));
    found.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// Jobs whose reports differ in what they hold. "DEV" is a device.
const JOBS: [&str; 25] = [
    "--name=a --size=64k --rw=read",
    "--name=a --size=64k --rw=write --fsync=2 --end_fsync=1",
    "--name=a --size=256k --rw=randrw --ioengine=libaio --iodepth=4",
    "--name=a --size=64k --rw=randread --ioengine=io_uring --iodepth=8 --lat_percentiles=1",
    "--name=a --size=64k --rw=randread --ioengine=libaio --slat_percentiles=1 --iodepth=2",
    "--name=a --size=64k --rw=read --clat_percentiles=0",
    "--name=a --size=64k --rw=read --percentile_list=50:99.9:100",
    "--name=a --size=64k --rw=read --disable_clat=1",
    "--name=a --size=64k --rw=read --disable_lat=1 --ioengine=libaio --disable_slat=1",
    "--name=a --size=64k --rw=rw --numjobs=3 --group_reporting",
    "--name=a --size=64k --rw=rw --numjobs=2 --thread",
    "--name=a --description=words --size=64k --rw=write --name=b --stonewall --size=32k --rw=read",
    "--name=a --ioengine=null --size=4m --rw=randwrite --disk_util=0",
    "--name=a --filename=DEV --rw=trim --bs=64k --size=1m",
    "--name=a --filename=DEV --rw=randtrimwrite --bs=64k --size=1m --direct=1 --ioengine=libaio",
    "--name=a --rw=read --size=1m --bs=64k --kb_base=1000 --unit_base=8",
    "--name=a --size=256k --rw=randrw --unified_rw_reporting=mixed",
    "--name=a --size=256k --rw=randrw --unified_rw_reporting=none --significant_figures=7",
    "--name=a --size=256k --rw=randrw --unified_rw_reporting=1 --numjobs=2 --group_reporting",
    "--name=a --size=64k --rw=read --continue_on_error=all",
    "--name=a --description=words --size=64k --rw=read --continue_on_error=io",
    "--name=a --size=64k --rw=read --ignore_error=EIO --percentile_list=99.999999",
    "--name=a --size=64k --rw=read --gtod_reduce=1",
    "--name=a --size=64k --rw=read --disable_bw=1 --lat_percentiles=1 --clat_percentiles=0",
    "--name=a --ioengine=null --size=1m --rw=rw --latency_target=9s --latency_window=1ms --ss=iops:9% --ss_dur=9",
];

/// Each job's arguments, the device put in.
fn jobs(device: &str) -> Vec<Vec<String>> {
    JOBS.iter()
        .map(|job| job.split(' ').map(|word| word.replace("DEV", device)).collect())
        .collect()
}

fn words(job: &[String]) -> Vec<&str> {
    job.iter().map(String::as_str).collect()
}

/// Every path of a document with the type found there. Our own key is left out; bins are named by
/// what was measured.
fn shape(value: &Value, path: &str, found: &mut BTreeMap<String, &'static str>) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(n) if n.is_f64() => "real",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                shape(item, &format!("{path}[{index}]"), found);
            }
            "array"
        }
        Value::Object(_) if path.ends_with("/bins") => "object",
        Value::Object(fields) => {
            for (key, field) in fields.iter().filter(|(key, _)| *key != "fathom") {
                shape(field, &format!("{path}/{key}"), found);
            }
            "object"
        }
    };
    found.insert(path.to_owned(), kind);
}

/// The document of a report; the oracle says some remarks before it.
fn document(text: &str) -> Value {
    let start = text.find("{\n").unwrap_or_else(|| panic!("no JSON: {text}"));
    serde_json::from_str(&text[start..]).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn shape_of(text: &str) -> BTreeMap<String, &'static str> {
    let mut found = BTreeMap::new();
    shape(&document(text), "", &mut found);
    found
}

/// Where two trees differ, a line each.
fn tree_differences(
    ours: &BTreeMap<String, &'static str>,
    theirs: &BTreeMap<String, &'static str>,
) -> Vec<String> {
    let names = ours.keys().chain(theirs.keys().filter(|name| !ours.contains_key(*name)));
    names
        .filter(|name| ours.get(*name) != theirs.get(*name))
        .map(|name| format!("  {name}: ours {:?}, theirs {:?}", ours.get(name), theirs.get(name)))
        .collect()
}

fn trees_agree(format: &str) {
    let _alone = alone();
    let directory = scratch();
    let device = loop_device(directory.path(), 4 << 20, &[]);
    let option = format!("--output-format={format}");
    let wrong = wrong(&jobs(&device.device), |job| {
        let arguments = [&[option.as_str()], &words(job)[..]].concat();
        let [ours, theirs] = both(&arguments);
        assert!(ours.out.starts_with("{\n"), "{}", ours.out);
        let differences = tree_differences(&shape_of(&ours.out), &shape_of(&theirs.out));
        let is_wrong = !differences.is_empty();
        is_wrong.then(|| format!("{}\n{}", job.join(" "), differences.join("\n")))
    });
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn json_has_the_same_keys_and_types() {
    trees_agree("json");
}

#[test]
fn json_plus_has_the_same_keys_and_types() {
    trees_agree("json+");
}

/// What a line says apart from what was measured: numbers, their units and the blanks before them.
fn masked(line: &str) -> String {
    let line = line.split(": pid=").next().unwrap_or(line);
    let mut text = line.to_owned();
    for unit in
        ["KiB/s", "MiB/s", "GiB/s", "  B/s", "Kb/s", "Mb/s", "kB/s", "MB/s", "Kbit/s", "Mbit/s"]
    {
        text =
            text.replace(&format!("( {unit})"), "(rate)").replace(&format!("(  {unit})"), "(rate)");
    }
    for unit in ["(nsec)", "(usec)", "(msec)", "(sec)"] {
        text = text.replace(unit, "(time)");
    }
    let mut masked = String::new();
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        if !first.is_ascii_digit() {
            masked.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let units = [
            "KiB", "MiB", "GiB", "Ki", "Mi", "kB", "MB", "GB", "kbit", "Mbit", "Gbit", "B", "k",
            "M",
        ];
        rest = units.iter().find_map(|unit| rest.strip_prefix(unit)).unwrap_or(rest);
        let blanks = masked.len() - masked.trim_end_matches(' ').len();
        if blanks < masked.len() {
            masked.truncate(masked.len() - blanks);
        }
        masked.push('#');
    }
    masked
}

/// A report's lines, masked. Which buckets of the latency distribution are filled depends on what
/// was measured; the version is each program's own, and so are its notes and warnings.
fn lines(text: &str) -> Vec<String> {
    let varies = ["  lat (", "fio-", "fio: note: ", "fio: warning: "];
    let varies = |line: &&str| varies.iter().any(|start| line.starts_with(start));
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !varies(line)).map(masked) {
        match lines.last_mut() {
            // As many percentiles are in a line as there is room for.
            Some(last) if last.starts_with("     |") && line.starts_with("     |") => {
                *last += line.trim_start_matches("     |");
            }
            _ => lines.push(line),
        }
    }
    lines
}

#[test]
fn text_has_the_same_lines() {
    let _alone = alone();
    let directory = scratch();
    let device = loop_device(directory.path(), 4 << 20, &[]);
    let long =
        "--name=a --size=1m --rw=rw --time_based --runtime=1200ms --ioengine=libaio --iodepth=2";
    let long = long.split(' ').map(str::to_owned).collect();
    let all: Vec<Vec<String>> = jobs(&device.device).into_iter().chain([long]).collect();
    let wrong = wrong(&all, |job| {
        // Only runs of half a second and more have lines of samples: a run that the machine delays
        // may have them beside one that it does not delay.
        let mut tries = std::iter::repeat_with(|| both(&words(job)).map(|ran| lines(&ran.out)));
        let [ours, theirs] = tries.next().expect("endless");
        let [ours, theirs] = match ours == theirs {
            true => [ours, theirs],
            false => tries.take(2).find(|[o, t]| o == t).unwrap_or([ours, theirs]),
        };
        let first = ours.iter().zip(&theirs).position(|(o, t)| o != t);
        let at = first.unwrap_or(ours.len().min(theirs.len()));
        let show = |lines: &[String]| lines[at..lines.len().min(at + 3)].join("\n    ");
        let shown = || {
            let (job, ours, theirs) = (job.join(" "), show(&ours), show(&theirs));
            format!("{job}\n  line {at}\n  ours\n    {ours}\n  theirs\n    {theirs}")
        };
        (ours != theirs).then(shown)
    });
    assert!(wrong.is_empty(), "{wrong}");
}

/// What a terse field is, apart from its value.
fn field(text: &str) -> &'static str {
    let number = text.trim_end_matches('%');
    match (number.parse::<u64>().is_ok(), number.parse::<f64>().is_ok(), text.contains('=')) {
        (true, ..) => "integer",
        (_, true, _) => "real",
        (_, _, true) => "pair",
        _ => "text",
    }
}

#[test]
fn terse_has_the_same_fields() {
    let _alone = alone();
    let directory = scratch();
    let device = loop_device(directory.path(), 4 << 20, &[]);
    for version in 2..=5 {
        // Each version has its quarter of the jobs.
        let jobs = jobs(&device.device).into_iter().skip(version - 2).step_by(4);
        let version = format!("--terse-version={version}");
        let wrong = wrong(&jobs.collect::<Vec<_>>(), |job| {
            let arguments =
                [&["--output-format=terse", version.as_str()], &words(job)[..]].concat();
            let [ours, theirs] = both(&arguments).map(|ran| {
                let kinds = |line: &str| line.split(';').map(field).collect::<Vec<_>>();
                ran.out.lines().map(kinds).collect::<Vec<_>>()
            });
            let at = |of: &[Vec<&str>]| of.iter().map(Vec::len).collect::<Vec<_>>();
            let first = ours.concat().iter().zip(theirs.concat()).position(|(o, t)| *o != t);
            (ours != theirs).then(|| {
                let (job, ours, theirs) = (job.join(" "), at(&ours), at(&theirs));
                format!("{version} {job}: {ours:?} {theirs:?} fields, {first:?}")
            })
        });
        assert!(wrong.is_empty(), "{wrong}");
    }
}

#[test]
fn formats_are_those_of_fio_3_42_unless_another_version_is_asked_for() {
    let directory = scratch();
    let device = loop_device(directory.path(), 4 << 20, &[]);
    let target = format!("--filename={}", device.device);
    let ran = |more: &[&str]| {
        let job =
            ["--name=a", &target, "--rw=read", "--size=1m", "--runtime=9", "--group_reporting"];
        under(&[FATHOM, "fio"], directory.path(), &[&job[..], more].concat()).expect(0)
    };
    let new = ran(&["--output-format=json"]).json();
    assert!(new["fio version"].as_str().unwrap().starts_with("fio-3.42"));
    assert!(new["jobs"][0]["job_start"].as_u64().unwrap() > 1 << 40);
    assert_eq!(new["jobs"][0]["job options"]["group_reporting"], "");
    let disk = &new["disk_util"][0];
    // Others read the new device as well.
    assert!(disk["read_sectors"].as_u64() >= Some(2048), "{disk}");
    let old = ran(&["--output-format=json", "--compat=3.33"]).json();
    assert!(old["fio version"].as_str().unwrap().starts_with("fio-3.33"));
    assert!(old["jobs"][0].get("job_start").is_none());
    assert!(old["jobs"][0]["job options"].get("group_reporting").is_none());
    assert!(old["disk_util"][0].get("read_sectors").is_none());
    assert!(ran(&[]).out.contains(", sectors="), "text too");
    for (options, version) in [
        (&["--compat=3.33", "--version"][..], "fio-3.33-fathom-"),
        (&["--compat=3.42", "--version"], "fio-3.42-fathom-"),
        (&["--version"], "fio-3.42-fathom-"),
    ] {
        let shown = under(&[FATHOM, "fio"], directory.path(), options).expect(0).out;
        assert!(shown.starts_with(version), "{options:?}: {shown}");
    }
    let refused = under(&[FATHOM, "fio"], directory.path(), &["--compat=3.1"]).expect(1);
    assert!(refused.err.contains("3.42"), "{}", refused.err);
}

#[test]
fn without_arguments_there_is_the_help_and_what_is_missing() {
    let [ours, theirs] = PROGRAMS.map(|program| under(&program[..1], scratch().path(), &[]));
    assert_eq!((theirs.code, theirs.err.trim()), (1, "No job(s) defined"));
    assert!(ours.code == 0 && ours.out.contains("fathom --help"), "what can be done: {}", ours.out);
    let ours = under(&[FATHOM, "fio"], scratch().path(), &[]).expect(1);
    assert_eq!(ours.err.trim(), "No job(s) defined");
    assert!(ours.out.starts_with("fio-3.42") && ours.out.contains("fio [options]"), "{}", ours.out);
}

#[test]
fn output_goes_to_its_file_and_nowhere_else() {
    let formats = ["normal", "json", "json+", "terse", "normal,json", "json,terse", "terse,normal"];
    at_once(&formats, |format| {
        let texts = PROGRAMS.map(|program| {
            let directory = scratch();
            let option = format!("--output-format={format}");
            let arguments = ["--name=a", "--size=64k", "--output=report", option.as_str()];
            let ran = under(program, directory.path(), &arguments).expect(0);
            assert_eq!(ran.out, "", "{program:?} {format}");
            std::fs::read_to_string(directory.path().join("report")).unwrap()
        });
        let [ours, theirs] = texts;
        let text = |report: &str| {
            // The documents have their own tests; here it matters what stands where.
            let starts = |c| report.lines().position(|line| line.starts_with(c));
            let json = starts('{').and_then(|_| report.find("\n{\n").or(Some(0)));
            (starts('{').is_some(), json.is_some(), report.contains("Run status group"))
        };
        assert_eq!(text(&ours), text(&theirs), "{format}\n{ours}\n{theirs}");
        assert_eq!(order(&ours), order(&theirs), "{format}\n{ours}\n{theirs}");
    });
}

/// The formats in a report, in order.
fn order(report: &str) -> Vec<&'static str> {
    let mut found: Vec<&'static str> = Vec::new();
    let mut within = false;
    for line in report.lines() {
        let kind = match line {
            "{" => "json",
            _ if within => "json",
            _ if line.contains(';') && line.split(';').count() > 40 => "terse",
            _ if line.starts_with("Run status") => "normal",
            _ => continue,
        };
        within = kind == "json" && line != "}";
        if found.last() != Some(&kind) {
            found.push(kind);
        }
    }
    found
}

#[test]
fn rates_are_the_printed_amounts_over_the_printed_time() {
    let jobs = [
        "--name=a --ioengine=null --size=1m --rw=randrw",
        "--name=a --ioengine=null --size=1g --bs=64k --rw=write",
        "--name=a --size=1m --rw=rw --unified_rw_reporting=both",
        "--name=a --ioengine=null --size=1g --rw=randrw --time_based --runtime=1 --rate_iops=900,500",
    ];
    let jobs = jobs.map(|job| job.split(' ').map(str::to_owned).collect::<Vec<_>>());
    at_once(&jobs, |job| {
        for ran in both(&[&["--output-format=json"], &words(job)[..]].concat()) {
            let document = document(&ran.out);
            let job = document["jobs"][0].as_object().unwrap();
            let moved = |kind: &&Value| kind["runtime"].as_u64().is_some_and(|ms| ms > 0);
            let mut seen = 0;
            for kind in job.values().filter(moved) {
                seen += 1;
                let number = |key: &str| kind[key].as_u64().unwrap();
                let runtime = number("runtime");
                let bytes = number("io_bytes") * 1000 / runtime;
                assert_eq!((number("bw_bytes"), number("bw")), (bytes, bytes >> 10), "{kind}");
                let ios = number("total_ios") as f64 * 1000.0 / runtime as f64;
                assert!((kind["iops"].as_f64().unwrap() - ios).abs() < 1e-6, "{kind}");
            }
            assert!(seen > 0, "{ran:?}");
        }
    });
}

#[test]
fn only_jobs_with_options_of_their_own_have_a_list_of_them() {
    let job_file = "[global]\nioengine=null\nsize=1m\n[a]\n[b]\nbs=8k\n";
    for program in PROGRAMS {
        let directory = scratch();
        std::fs::write(directory.path().join("job.fio"), job_file).unwrap();
        let ran = under(program, directory.path(), &["--output-format=json", "job.fio"]).expect(0);
        let document = document(&ran.out);
        let listed = |index: usize| document["jobs"][index].get("job options").is_some();
        assert_eq!((listed(0), listed(1)), (false, true), "{program:?}");
    }
}
