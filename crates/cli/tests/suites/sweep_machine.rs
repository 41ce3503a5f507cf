//! `fathom sweep` over settings of the machine: set, put back, and put back after SIGKILL.

use crate::common::*;
use host::Host;
use rustix::process::Signal;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

/// A job of a few milliseconds.
const SHORT: [&str; 5] = ["--name=a", "--rw=randread", "--size=1m", "--bs=64k", "--ioengine=psync"];

/// The user's directories for a sweep.
struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Place {
        Place { directory: scratch() }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Where it is noted what is to be put back.
    fn state(&self) -> PathBuf {
        self.path().join("state")
    }

    /// `program`, with the user's directories here.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("XDG_DATA_HOME", self.path().join("data"));
        command.env("FATHOM_STATE_DIR", self.state());
        command.current_dir(self.path()).stdin(Stdio::null());
        command
    }

    fn sweep(&self, arguments: &[&str]) -> Ran {
        run(self.command(FATHOM).arg("sweep").args(arguments))
    }

    fn start(&self, arguments: &[&str]) -> Running {
        // Who runs the tests may ignore hang-ups (nohup), and would pass that on.
        let mut command = self.command("env");
        command.args(["--default-signal=HUP", FATHOM, "sweep"]).args(arguments);
        Running::start(&mut command)
    }

    /// Panics if anything is still noted or mounted here, or any loop device shows a file of here.
    #[track_caller]
    fn is_tidy(&self) {
        let state = self.state();
        let noted: Vec<_> = fs::read_dir(&state).map_or(Vec::new(), |files| files.collect());
        assert!(noted.is_empty(), "{noted:?}");
        let mounts = Host::at("/").mounts();
        let here = mounts.iter().find(|mount| mount.point.starts_with(&state));
        assert_eq!(here, None);
        let loops = system("losetup", &["--noheadings", "--output=BACK-FILE"]);
        assert!(!loops.contains("fathom-scratch") || !loops.contains(&self.name()), "{loops}");
        for entry in fs::read_dir(self.path()).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(!name.starts_with("fathom-scratch"), "{name}");
        }
    }

    fn name(&self) -> String {
        self.path().file_name().unwrap().to_string_lossy().into_owned()
    }

    /// Cell and round of every run that a sweep has kept, sorted.
    fn kept(&self, into: &str) -> Vec<(String, u32)> {
        let set = formats::load_set(&self.path().join(into)).unwrap();
        let place = |run: &record::RunRecord| run.cell.as_ref().map(|c| (c.name.clone(), c.round));
        let mut kept: Vec<_> = set.runs.iter().map(|run| place(run).unwrap()).collect();
        kept.sort();
        kept
    }

    /// Begins a sweep, kills it at random moments of its first so many milliseconds, and goes on
    /// with it to its end. `is_as_before` panics unless the machine is as it was.
    #[track_caller]
    fn kill_often(&self, seed: u64, within: u64, begin: &[&str], is_as_before: &dyn Fn()) {
        let mut seeded = Seeded::new(seed);
        let begin = [begin, &["--into=kept"]].concat();
        let mut before = Vec::new();
        for _ in 0..20 {
            let is_begun = self.path().join("kept/sweep.json").exists();
            let line = if is_begun { &["--resume", "kept"][..] } else { &begin };
            let running = self.start(line);
            sleep(Duration::from_millis(seeded.between(0, within)));
            running.signal(Signal::KILL);
            let ran = running.end();
            assert!([0, -9].contains(&ran.code), "{line:?}: {ran:?}");
            let restored = self.sweep(&["--restore"]).expect(0);
            assert!(!restored.out.contains("not restored"), "{}", restored.out);
            self.is_tidy();
            is_as_before();
            if is_begun || self.path().join("kept/sweep.json").exists() {
                let now = self.kept("kept");
                assert!(before.iter().all(|run| now.contains(run)), "lost: {before:?} {now:?}");
                before = now;
            }
        }
        let is_begun = self.path().join("kept/sweep.json").exists();
        self.sweep(if is_begun { &["--resume", "kept"] } else { &begin }).expect(0);
        self.is_tidy();
        is_as_before();
        let kept = self.kept("kept");
        let mut once = kept.clone();
        once.dedup();
        assert_eq!(kept.len(), once.len(), "{kept:?}");
        assert!(before.iter().all(|run| kept.contains(run)), "lost: {before:?} {kept:?}");
    }
}

#[test]
fn a_job_runs_on_each_layer_below_its_file() {
    let own = MemoryFilesystem::new(64 << 20);
    let file = own.path().join("file");
    fs::write(&file, vec![7; 8 << 20]).unwrap();
    fs::File::open(&file).unwrap().sync_all().unwrap();
    let place = Place::new();
    let name = format!("--filename={}", file.display());
    let job = ["--name=a", &name, "--bs=4k", "--size=4m", "--direct=1", "--ioengine=psync"];
    let vary = ["--vary=layer=all", "--repeat=2", "--into=kept", "--no-archive"];
    let line = [&job[..], &["--rw=randread", "--json"], &vary].concat();
    let value = place.sweep(&line).expect(0).json();
    let device = own.disk.device.device.clone();
    let layers = [file.to_str().unwrap(), &device];
    assert_eq!(value["dimensions"][0]["values"], serde_json::json!(layers));
    let cost = &value["layers"][0];
    assert_eq!((&cost["layer"], &cost["below"]), (&layers[0].into(), &layers[1].into()));
    assert!(cost["added_ns"]["low"].is_f64() && cost["ratio"]["value"].is_f64(), "{cost}");
    let shown = place.sweep(&["--show", "kept"]).expect(0);
    assert!(shown.out.contains("Cost of each layer"), "{}", shown.out);
    let writing = [&job[..], &["--rw=randwrite"], &vary[..2], &["--into=other"]].concat();
    let refused = place.sweep(&writing).expect(2);
    assert!(refused.err.contains("--vary layer: the job writes"), "{}", refused.err);
}

fn queue(device: &Loop, file: &str) -> String {
    let path = format!("/sys/block/{}/queue/{file}", device.name());
    fs::read_to_string(path).unwrap().trim().to_owned()
}

/// A disk whose scheduler has settings of its own, as an administrator may have made them.
fn tuned() -> MemoryDisk {
    let disk = MemoryDisk::new(64 << 20);
    let write = |file: &str, value: &str| {
        let path = format!("/sys/block/{}/queue/{file}", disk.device.name());
        fs::write(path, value).unwrap();
    };
    write("scheduler", "mq-deadline");
    write("iosched/writes_starved", "7");
    write("nr_requests", "33");
    write("read_ahead_kb", "64");
    disk
}

#[track_caller]
fn is_tuned(device: &Loop) {
    assert!(queue(device, "scheduler").contains("[mq-deadline]"), "{}", queue(device, "scheduler"));
    let files = ["iosched/writes_starved", "nr_requests", "read_ahead_kb"];
    assert_eq!(files.map(|file| queue(device, file)), ["7", "33", "64"]);
}

/// What the records say of a disk at each cell.
fn scheduler_of(run: &record::RunRecord, disk: &str) -> String {
    run.facts.devices[disk].scheduler.clone().unwrap()
}

#[test]
fn each_cell_has_its_settings_and_at_the_end_the_disk_has_its_own() {
    let _alone = alone();
    let (place, disk) = (Place::new(), tuned());
    let file = format!("--filename={}", disk.device.device);
    let vary =
        ["--vary=scheduler=none,bfq,mq-deadline", "--vary=read_ahead_kb=0,256", "--repeat=2"];
    place.sweep(&[&SHORT[..], &vary, &[&file, "--into=kept"]].concat()).expect(0);
    let set = formats::load_set(&place.path().join("kept")).unwrap();
    assert_eq!(set.runs.len(), 12);
    for run in &set.runs {
        let at = &run.cell.as_ref().unwrap().at;
        assert_eq!(scheduler_of(run, disk.device.name()), at[0].value);
        let ahead = run.facts.devices[disk.device.name()].read_ahead.0 / 1024;
        assert_eq!(ahead.to_string(), at[1].value);
    }
    is_tuned(&disk.device);
    place.is_tidy();
}

#[test]
fn a_sweep_of_schedulers_killed_twenty_times_leaves_the_disk_as_it_was() {
    let _alone = alone();
    let (place, disk) = (Place::new(), tuned());
    let file = format!("--filename={}", disk.device.device);
    let vary = ["--vary=scheduler=none,bfq,kyber,mq-deadline", "--vary=nr_requests=16,32"];
    let begin = [&SHORT[..], &vary, &[&file, "--repeat=5", "--seed=1"]].concat();
    place.kill_often(7, 900, &begin, &|| is_tuned(&disk.device));
    assert_eq!(place.kept("kept").len(), 40);
}

#[test]
fn a_sweep_of_filesystems_killed_twenty_times_leaves_nothing_behind() {
    let _alone = alone();
    let place = Place::new();
    let memory = Mounted::new(&["-t", "tmpfs"], "tmpfs", place.path().join("memory"));
    let on = format!("--fs-on={}", memory.path().display());
    let vary = ["--vary=fs=ext4,ext2", "--vary=scheduler=bfq,none", "--paired", "--repeat=4"];
    let begin = [&SHORT[..], &vary, &[&on, "--fs-size=16m", "--seed=1"]].concat();
    place.kill_often(11, 1200, &begin, &|| {
        let left: Vec<_> = fs::read_dir(memory.path()).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
        let loops = system("losetup", &["--noheadings", "--output=BACK-FILE"]);
        assert!(!loops.contains(&memory.path().display().to_string()), "{loops}");
    });
    assert_eq!(place.kept("kept").len(), 8);
}

#[test]
fn a_sweep_of_mount_options_killed_twenty_times_leaves_the_mount_as_it_was() {
    let _alone = alone();
    let (place, filesystem) = (Place::new(), MemoryFilesystem::new(32 << 20));
    let options = || {
        let mounts = Host::at("/").mounts();
        mounts.into_iter().rfind(|m| m.point == filesystem.path()).map(|m| m.options)
    };
    let before = options();
    let directory = format!("--directory={}", filesystem.path().display());
    let vary = ["--vary=mount=noatime;data=writeback", "--repeat=4", "--seed=1"];
    let begin = [&SHORT[..], &vary, &[&directory]].concat();
    place.kill_often(13, 700, &begin, &|| assert_eq!(options(), before));
    assert_eq!(place.kept("kept").len(), 8);
}

#[test]
fn ctrl_c_puts_back_and_what_is_missing_is_made_later() {
    let _alone = alone();
    let (place, disk) = (Place::new(), tuned());
    let file = format!("--filename={}", disk.device.device);
    let long =
        ["--time_based", "--runtime=30s", "--direct=1", "--vary=scheduler=bfq,none", "--into=kept"];
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let _ = fs::remove_dir_all(place.path().join("kept"));
        let before = disk.reads();
        let running = place.start(&[&SHORT[..], &long, &[&file, "--order=given"]].concat());
        wait_until("the scheduler of the first cell", || {
            queue(&disk.device, "scheduler").contains("[bfq]")
        });
        wait_until("the first cell's I/O", || disk.reads() > before + 10_000);
        running.signal(signal);
        let ran = running.end();
        assert_eq!(ran.code, 128 + signal.as_raw(), "{}", ran.err);
        is_tuned(&disk.device);
        place.is_tidy();
    }
}

#[test]
fn what_cannot_be_set_is_refused_before_anything_is_measured() {
    let _alone = alone();
    let (place, disk) = (Place::new(), tuned());
    let device = &disk.device.device;
    let file = format!("--filename={device}");
    let memory = Mounted::new(&["-t", "tmpfs"], "tmpfs", place.path().join("memory"));
    let in_memory = format!("--directory={}", memory.path().display());
    let destroys = format!("--allow-destroy={device}");
    for (code, expected, arguments) in [
        (3, "has no such scheduler for it, only none", vec![&*file, "--vary=scheduler=none,cfq"]),
        (2, "read_ahead_kb=64k: expected KiB", vec![&file, "--vary=read_ahead_kb=64k"]),
        (3, "nr_requests cannot be set to 4000000", vec![&file, "--vary=nr_requests=4000000"]),
        (3, "no block device but on tmpfs", vec![&in_memory, "--vary=scheduler=none"]),
        (3, "not on a disk (tmpfs)", vec![&in_memory, "--vary=mount=noatime"]),
        (3, "there is no mkfs.nosuchfs", vec!["--vary=fs=nosuchfs", "--fs-on=."]),
        (3, &*destroys, vec!["--vary=fs=ext4", "--fs-on", device]),
        (3, "are free", vec!["--vary=fs=ext4", "--fs-on=.", "--fs-size=1000t"]),
    ] {
        let ran = place.sweep(&[&SHORT[..], &arguments].concat());
        assert!(ran.err.contains(expected), "{expected}: {ran:?}");
        assert_eq!(ran.code, code, "{ran:?}");
        let kept = fs::read_dir(place.path().join("data/fathom/records"));
        assert_eq!(kept.map_or(0, |kept| kept.count()), 0, "{arguments:?}");
        is_tuned(&disk.device);
        place.is_tidy();
    }
    let nothing = place.sweep(&["--restore"]).expect(0);
    assert!(nothing.out.starts_with("nothing to restore"), "{}", nothing.out);
    let json = place.sweep(&["--restore", "--json"]).expect(0).json();
    assert_eq!(json["failed"], serde_json::json!([]));
    place.sweep(&["--restore", "--vary=bs=4k"]).expect(2);
}

#[test]
fn without_root_it_is_said_which_file_may_not_be_written() {
    let _alone = alone();
    let (place, disk) = (Place::new(), tuned());
    // Somebody who may read the disk and write here, and has no other right.
    let nobody = "65534:65534";
    system("chown", &[nobody, &disk.device.device]);
    let mut command = place.command("setpriv");
    let open = tempfile::tempdir().unwrap();
    system("chown", &[nobody, open.path().to_str().unwrap()]);
    command.current_dir(open.path()).env("FATHOM_STATE_DIR", open.path().join("state"));
    command.env("XDG_DATA_HOME", open.path().join("data"));
    let program = open.path().join("fathom");
    fs::copy(FATHOM, &program).unwrap();
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
    let file = format!("--filename={}", disk.device.device);
    let ran = run(command.arg("sweep").args(SHORT).args([&file, "--vary=scheduler=bfq"]));
    system("chown", &["0:0", &disk.device.device]);
    let expected = format!("/sys/class/block/{}/queue/scheduler", disk.device.name());
    assert!(ran.err.contains(&expected) && ran.err.contains("only root may write"), "{ran:?}");
    assert_eq!(ran.code, 3);
    is_tuned(&disk.device);
}
