//! What scripts around fio check, beyond single fields: figures recomputed from other outputs, the
//! streams that must stay empty, the pairs and zones that logs show.

use crate::common::{Ran, as_fio, fio, scratch};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The JSON of a run whose report goes to a file.
fn report(directory: &Path, arguments: &[&str]) -> Value {
    let more = ["--output=report", "--output-format=json+"];
    let ran = as_fio(directory, &[arguments, &more].concat()).expect(0);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""));
    serde_json::from_str(&fs::read_to_string(directory.join("report")).unwrap()).unwrap()
}

/// The columns of a log: time, value, direction, block size, offset.
fn log(directory: &Path, name: &str) -> Vec<Vec<u64>> {
    let text = fs::read_to_string(directory.join(name)).unwrap();
    let columns = |line: &str| line.split(", ").map(|field| field.parse().unwrap()).collect();
    text.lines().map(columns).collect()
}

#[test]
fn nothing_is_on_stderr_where_the_report_goes_to_a_file() {
    let directory = scratch();
    let remark = "the psync engine does one I/O at a time";
    let job = ["--name=a", "--size=64k", "--rw=write", "--ioengine=psync", "--iodepth=8"];
    let with = |format: &str| {
        let more = [format!("--output-format={format}"), "--output=report".into()];
        let ran = as_fio(directory.path(), &[&job[..], &[&more[0], &more[1]]].concat()).expect(0);
        assert_eq!(ran.out, "", "{format}");
        (ran.err, fs::read_to_string(directory.path().join("report")).unwrap())
    };
    let (err, text) = with("normal");
    assert_eq!(err, "");
    assert!(text.contains(&format!("fio: note: a: {remark}")), "{text}");
    assert!(text.contains("fio: warning: a: ") && text.contains("Run status group 0"), "{text}");
    for format in ["json", "json+", "normal,json", "terse,json"] {
        let (err, text) = with(format);
        assert_eq!(err, "", "{format}");
        assert!(text.contains(remark) && !text.contains("fio: note"), "{format}: {text}");
    }
    // Fields of terse lines are read by number: what is no line of fields stays out.
    let (err, text) = with("terse");
    assert!(err.is_empty() && text.lines().count() == 1, "{err}{text}");
}

#[test]
fn an_error_is_on_stderr_wherever_the_report_goes() {
    let directory = scratch();
    fs::write(directory.path().join("data"), vec![7; 65536]).unwrap();
    for format in ["normal", "json"] {
        let format = format!("--output-format={format}");
        let job = ["--name=a", "--filename=data", "--rw=read", "--verify=crc32c"];
        let ran = as_fio(directory.path(), &[&job[..], &["--output=report", &format]].concat());
        let ran = ran.expect(1);
        assert!(ran.err.contains("verify"), "{}", ran.err);
    }
}

/// Nearest rank of sorted values.
fn percentile(sorted: &[u64], percent: f64) -> u64 {
    let rank = (percent / 100.0 * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

/// Whether a figure is as far from the true one as half a bin of fio's histograms allows.
fn near(figure: u64, value: u64) -> bool {
    figure.abs_diff(value) as f64 <= value as f64 / 64.0 + 1.0
}

#[track_caller]
fn figures_are_those_of_the_log(latency: &Value, values: &mut [u64]) {
    values.sort_unstable();
    let (least, most) = (values[0], values[values.len() - 1]);
    assert_eq!(latency["N"], values.len());
    assert_eq!((&latency["min"], &latency["max"]), (&least.into(), &most.into()));
    let mean = values.iter().sum::<u64>() as f64 / values.len() as f64;
    assert!((latency["mean"].as_f64().unwrap() - mean).abs() < 1.0, "{latency}");
    for (percent, figure) in latency["percentile"].as_object().unwrap() {
        let (figure, value) =
            (figure.as_u64().unwrap(), percentile(values, percent.parse().unwrap()));
        assert!(near(figure, value), "{percent}: {figure}, in the log {value}");
    }
    let bins: Vec<(u64, u64)> = latency["bins"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(bin, count)| (bin.parse().unwrap(), count.as_u64().unwrap()))
        .collect();
    assert_eq!(bins.iter().map(|(_, count)| count).sum::<u64>(), values.len() as u64);
    assert!(near(bins.iter().map(|bin| bin.0).min().unwrap(), least));
    assert!(near(bins.iter().map(|bin| bin.0).max().unwrap(), most));
}

#[test]
fn percentiles_and_bins_are_those_of_the_log_of_each_io() {
    let directory = scratch();
    let at = directory.path();
    let job = report(
        at,
        &[
            "--name=a",
            "--filename=data",
            "--size=2m",
            "--rw=randrw",
            "--ioengine=libaio",
            "--direct=1",
            "--iodepth=4",
            "--slat_percentiles=1",
            "--lat_percentiles=1",
            "--write_lat_log=l",
        ],
    )["jobs"][0]
        .take();
    for (direction, number) in [("read", 0), ("write", 1)] {
        for kind in ["slat", "clat", "lat"] {
            let lines = log(at, &format!("l_{kind}.1.log"));
            let of_direction = lines.iter().filter(|line| line[2] == number);
            let mut values: Vec<u64> = of_direction.map(|line| line[1]).collect();
            figures_are_those_of_the_log(&job[direction][format!("{kind}_ns")], &mut values);
        }
    }
}

#[test]
fn a_trim_goes_before_each_write_of_the_same_block() {
    for more in [
        &["--bs=4k"][..],
        &["--bs=4k", "--norandommap"],
        &["--bsrange=512-4k", "--blockalign=512"],
        &["--bssplit=512/25:1k:2k:4k", "--blockalign=512"],
        &["--bs=512", "--loops=2"],
    ] {
        let directory = scratch();
        let job = [
            "--name=a",
            "--ioengine=null",
            "--filesize=256k",
            "--rw=randtrimwrite",
            "--log_offset=1",
            "--per_job_logs=0",
            "--write_bw_log=l",
        ];
        let job = report(directory.path(), &[&job[..], more].concat())["jobs"][0].take();
        let lines = log(directory.path(), "l_bw.log");
        assert_eq!(lines.len() % 2, 0, "{more:?}");
        for pair in lines.chunks(2) {
            assert_eq!((pair[0][2], pair[1][2]), (2, 1), "{more:?}: {pair:?}");
            assert_eq!(pair[0][3..5], pair[1][3..5], "{more:?}");
        }
        assert_eq!(job["trim"]["io_bytes"], job["write"]["io_bytes"], "{more:?}");
        if !more.contains(&"--norandommap") {
            let passes = job["trim"]["io_bytes"].as_u64().unwrap().div_ceil(256 << 10);
            assert_eq!(most_trims_of_a_sector(&lines), passes, "{more:?}");
        }
    }
}

/// How often the sector is trimmed that is trimmed most often.
fn most_trims_of_a_sector(lines: &[Vec<u64>]) -> u64 {
    let mut trims = vec![0; 512];
    for line in lines.iter().filter(|line| line[2] == 2) {
        let sectors = line[4] / 512..(line[4] + line[3]) / 512;
        sectors.for_each(|sector| trims[sector as usize] += 1);
    }
    trims.into_iter().max().unwrap()
}

/// Where a strided job went, in order.
fn offsets(program: fn(&Path, &[&str]) -> Ran, arguments: &[&str]) -> Vec<u64> {
    let directory = scratch();
    let job = [
        "--name=a",
        "--ioengine=null",
        "--filesize=1m",
        "--bs=4k",
        "--zonemode=strided",
        "--write_bw_log=l",
        "--log_offset=1",
        "--per_job_logs=0",
        "--output=report",
    ];
    program(directory.path(), &[&job[..], arguments].concat()).expect(0);
    log(directory.path(), "l_bw.log").iter().map(|line| line[4]).collect()
}

#[test]
fn zones_are_visited_as_fio_visits_them() {
    for zones in [
        &["--zonerange=64k", "--zonesize=64k", "--zoneskip=64k", "--io_size=256k"][..],
        &["--zonerange=128k", "--zonesize=64k", "--zoneskip=0", "--io_size=256k"],
        &["--zonerange=64k", "--zonesize=128k", "--zoneskip=64k", "--io_size=512k"],
        &["--zonerange=64k", "--zonesize=64k", "--zoneskip=0", "--io_size=128k", "--offset=8k"],
        &["--zonesize=64k", "--zoneskip=64k", "--io_size=256k"],
    ] {
        let in_turn = [&["--rw=read"], zones].concat();
        assert_eq!(offsets(as_fio, &in_turn), offsets(fio, &in_turn), "{zones:?}");
        // At random, which blocks of a zone come in what order is each program's own; the zones are
        // not, and a zone of which all is read has each block as often as fio's.
        let at_random = [&["--rw=randread"], zones].concat();
        let zone = |offset: &u64| offset / 65536;
        let (ours, theirs) = (offsets(as_fio, &at_random), offsets(fio, &at_random));
        assert_eq!(ours.len(), theirs.len(), "{zones:?}");
        if !zones.contains(&"--zonerange=128k") && !zones.contains(&"--offset=8k") {
            let zones_of = |all: &[u64]| all.iter().map(zone).collect::<Vec<u64>>();
            assert_eq!(zones_of(&ours), zones_of(&theirs), "{zones:?}");
        }
    }
}

#[test]
fn means_of_a_window_that_is_not_full_are_those_of_its_data() {
    let directory = scratch();
    let job = [
        "--name=a",
        "--ioengine=null",
        "--size=1g",
        "--rw=read",
        "--time_based",
        "--runtime=700ms",
        "--steadystate=iops:1%",
        "--ss_dur=4s",
        "--ss_interval=200ms",
        "--rate_iops=2000",
    ];
    let steady = report(directory.path(), &job)["jobs"][0]["steadystate"].take();
    for (series, mean) in [("iops", "iops_mean"), ("bw", "bw_mean")] {
        let data: Vec<f64> = steady["data"][series]
            .as_array()
            .unwrap()
            .iter()
            .map(|value| value.as_f64().unwrap())
            .collect();
        assert_eq!(data.len(), 20);
        assert!(data[0] > 0.0 && data[19] == 0.0, "{data:?}");
        let expected = data.iter().sum::<f64>() / 20.0;
        let mean = steady["data"][mean].as_f64().unwrap();
        assert!((mean - expected).abs() <= 1.0, "{series}: {mean} of {data:?}");
    }
    assert_eq!(steady["attained"], 0);
    // As text there is no data beside the mean, so it is that of what was seen.
    let text = as_fio(directory.path(), &job).expect(0).out;
    let line = text.lines().find(|line| line.contains("steadystate  :")).unwrap();
    let seen = line.split("iops=").nth(1).unwrap().split(',').next().unwrap();
    let seen = seen.trim_end_matches('k').parse::<f64>().unwrap();
    let seen = if seen < 100.0 { seen * 1000.0 } else { seen };
    assert!(seen > 1000.0, "{line}");
}
