//! `fathom plot`.

use crate::common::*;
use record::{Cell, Coordinate, RecordSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs over block size and depth made one by one, put together as a sweep has them: each with its
/// repeats and where it stands.
fn made(directory: &Path, file: &str) {
    let mut all = RecordSet { kind: "sweep".into(), ..RecordSet::default() };
    for (bs, iodepth) in [("4k", "1"), ("4k", "8"), ("64k", "1"), ("64k", "8")] {
        let line = [
            "--name=a",
            "--ioengine=null",
            "--rw=randread",
            "--size=64m",
            "--runtime=100ms",
            "--repeat=2",
            "--record=cell.json",
            &format!("--bs={bs}"),
            &format!("--iodepth={iodepth}"),
        ];
        fathom(directory, &line).expect(0);
        let set = formats::load_set(&directory.join("cell.json")).unwrap();
        (all.schema, all.fathom_version) = (set.schema, set.fathom_version);
        let at = [("bs", bs), ("iodepth", iodepth)].map(|(dimension, value)| Coordinate {
            dimension: dimension.into(),
            value: value.into(),
        });
        for (round, mut run) in set.runs.into_iter().enumerate() {
            let name = format!("{bs} {iodepth}");
            run.cell = Some(Cell { name, round: round as u32, at: at.clone().into() });
            all.runs.push(run);
        }
    }
    formats::save_set(&all, &directory.join(file)).unwrap();
}

fn plot(directory: &Path, arguments: &[&str]) -> Ran {
    run(Command::new(FATHOM).arg("plot").args(arguments).current_dir(directory))
}

#[test]
fn a_sweep_becomes_pictures_of_every_kind() {
    let directory = scratch();
    made(directory.path(), "sweep.json");
    let path = |name: &str| directory.path().join(name);
    let ran = plot(directory.path(), &["sweep.json", "-o", "a.svg", "-o", "a.png"]).expect(0);
    assert!(ran.err.contains("a.svg: heatmap of iops, 4 figures\n"), "{}", ran.err);
    let svg = fs::read_to_string(path("a.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains(">queue depth (I/Os)<"), "{svg}");
    assert_eq!(svg.matches("95 % interval ").count(), 5, "four cells and the key: {svg}");
    let png = fs::read(path("a.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.len() > 5000, "{}", png.len());
    for (kind, class) in [("surface", "tile"), ("lines", "line"), ("bars", "bar")] {
        let file = format!("{kind}.svg");
        let metric = "--metric=read.bandwidth";
        plot(directory.path(), &["disk=sweep.json", "--kind", kind, metric, "-o", &file]).expect(0);
        let svg = fs::read_to_string(path(&file)).unwrap();
        assert!(svg.contains(&format!("<g class=\"{class}\">")), "{kind}: {svg}");
        assert!(svg.contains("read bandwidth ("), "{kind}: {svg}");
    }
    fs::copy(path("sweep.json"), path("other.json")).unwrap();
    let both = ["SSD=sweep.json", "other.json", "--at=bs=4096", "-o", "both.svg"];
    let ran = plot(directory.path(), &both).expect(0);
    assert!(ran.err.contains("lines of iops, 4 figures"), "{}", ran.err);
    let svg = fs::read_to_string(path("both.svg")).unwrap();
    assert!([">SSD<", ">other<", ">bs=4k; 2 runs each<"].iter().all(|t| svg.contains(t)), "{svg}");
    assert!(
        fs::read_dir(directory.path())
            .unwrap()
            .all(|entry| { !entry.unwrap().file_name().to_string_lossy().ends_with(".tmp") })
    );
}

#[test]
fn figures_are_written_for_gnuplot_with_a_script() {
    let directory = scratch();
    made(directory.path(), "sweep.json");
    let ran = plot(directory.path(), &["sweep.json", "-o", "figures.dat"]).expect(0);
    assert!(ran.err.contains("figures.dat: heatmap of iops"), "{}", ran.err);
    let read = |name: &str| fs::read_to_string(directory.path().join(name)).unwrap();
    let (data, script) = (read("figures.dat"), read("figures.gp"));
    assert_eq!(data.lines().filter(|line| line.ends_with('"')).count(), 4, "{data}");
    assert!(script.contains("plot \"figures.dat\" index 0"), "{script}");
}

#[test]
fn what_cannot_be_drawn_or_written_is_said() {
    let directory = scratch();
    made(directory.path(), "sweep.json");
    fs::write(directory.path().join("none.json"), "no record").unwrap();
    let refusals: [(&[&str], i32, &str); 9] = [
        (&["sweep.json", "-o", "a.gif"], 2, "ending in .svg or .png"),
        (&["sweep.json"], 2, "--output"),
        (&["none.json", "-o", "a.svg"], 2, "none.json: not a fathom record"),
        (&["gone.json", "-o", "a.svg"], 2, "gone.json: cannot read the record: No such file"),
        (&["sweep.json", "--x=depth", "-o", "a.svg"], 2, "there are bs (4k, 64k); iodepth (1, 8)"),
        (&["sweep.json", "--metric=iopps", "-o", "a.svg"], 2, "did you mean iops?"),
        (&["sweep.json", "--metric=write.p99", "-o", "a.svg"], 2, "no run has the figure"),
        (&["sweep.json", "--at=bs", "-o", "a.svg"], 2, "like bs=4k"),
        (&["sweep.json", "-o", "gone/a.svg"], 1, "gone/a.svg: cannot write: No such file"),
    ];
    for (arguments, code, said) in refusals {
        let ran = plot(directory.path(), arguments).expect(code);
        assert!(ran.err.contains(said), "{arguments:?}: {}", ran.err);
    }
    assert!(!directory.path().join("a.svg").exists());
    std::os::unix::fs::symlink("/dev/full", directory.path().join("full.svg")).unwrap();
    let ran = plot(directory.path(), &["sweep.json", "-o", "full.svg"]).expect(1);
    assert!(ran.err.contains("full.svg: cannot write: No space left on device"), "{}", ran.err);
}

#[test]
fn a_sweep_is_drawn_from_its_directory() {
    let directory = scratch();
    let sweep = [
        "sweep",
        "--name=a",
        "--ioengine=null",
        "--rw=randread",
        "--size=1m",
        "--vary=iodepth=16,1,4",
        "--vary=bs=4k,64k",
        "--repeat=2",
        "--into=cells",
    ];
    run(Command::new(FATHOM).args(sweep).current_dir(directory.path())).expect(0);
    let cells = directory.path().join("cells/cells");
    let gone = fs::read_dir(&cells).unwrap().map(|entry| entry.unwrap().path());
    let gone: Vec<_> = gone
        .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("0001-"))
        .collect();
    assert_eq!(gone.len(), 2);
    gone.iter().for_each(|path| fs::remove_file(path).unwrap());
    let ran = plot(directory.path(), &["cells", "-o", "a.svg", "--metric=iops"]).expect(0);
    assert!(ran.err.contains("heatmap of iops, 5 figures, 1 missing"), "{}", ran.err);
    let svg = fs::read_to_string(directory.path().join("a.svg")).unwrap();
    assert!(svg.contains(">not measured<") && svg.contains(": cells<"), "{svg}");
    let order = ["1", "4", "16"].map(|depth| svg.find(&format!(">{depth}</text>")).unwrap());
    assert!(order.is_sorted(), "numbers rise whatever order they were given in: {svg}");
    fs::create_dir(directory.path().join("empty")).unwrap();
    let ran = plot(directory.path(), &["empty", "-o", "b.svg"]).expect(2);
    assert!(ran.err.contains("sweep.json: cannot read the record"), "{}", ran.err);
}

#[test]
fn a_knee_is_drawn_and_reported_without_what_filled_its_file() {
    let directory = scratch();
    let at = directory.path();
    let knee =
        ["knee", ".", "--size=16m", "--time=40ms", "--repeat=2", "--depths=1,2,4..16", "--seed=3"];
    let mut command = Command::new(FATHOM);
    command.args(knee).args(["--record=kn.json"]).current_dir(at);
    let ran = run(command.env(ARCHIVE, at.join("archive.db"))).expect(0);
    let id = ran.out.lines().find_map(|line| line.strip_prefix("Runs:   "));
    let plot = |source: &str, more: &[&str]| {
        let mut command = Command::new(FATHOM);
        command.args(["plot", source]).args(more).current_dir(at);
        run(command.env(ARCHIVE, at.join("archive.db"))).expect(0)
    };
    let id = id.and_then(|line| line.split(' ').next()).unwrap_or("kn.json");
    for source in ["kn.json", id] {
        let ran = plot(source, &["-o", "a.svg"]);
        assert!(ran.err.contains("a.svg: lines of iops, 5 figures\n"), "{}", ran.err);
        let svg = fs::read_to_string(at.join("a.svg")).unwrap();
        // The labels of the figures come first, and may be the same numbers.
        let depths = &svg[svg.find(">IOPS (").unwrap()..];
        let order = ["1", "2", "4", "8", "16"];
        let order = order.map(|depth| depths.find(&format!(">{depth}</text>")).unwrap());
        assert!(order.is_sorted() && svg.contains(">2 runs each<"), "{svg}");
    }
    run(Command::new(FATHOM).args(["report", "kn.json", "-o", "kn.html"]).current_dir(at))
        .expect(0);
    let html = fs::read_to_string(at.join("kn.html")).unwrap();
    assert!(html.contains("<strong>iodepth</strong> (1, 2, 4, 8, 16)"), "{html}");
    let title = html.split("<h1>").nth(1).unwrap().split("</h1>").next().unwrap();
    assert!(title.starts_with("Runs over iodepth: 4 KiB random reads"), "{title}");
    assert!(!title.contains(" more"), "{title}");
    assert!(!html.contains("at <strong>fill"), "{html}");
}
