//! Where situations are made: files on disk, loop devices, a RAM disk, control groups, other
//! processes. Each is taken down with its value.

use super::shape::Shape;
use crate::bench::{Zram, fill_with_noise};
use anyhow::{Context, Result, anyhow, ensure};
use std::any::Any;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use testbed::{Loop, Mounted, Seeded};

/// Size of the first data file, for runs of one job …
const FIRST_FILE: u64 = 1 << 30;
/// … and of each of the others.
const OTHER_FILES: u64 = 128 << 20;
const FILES: u64 = 4;
/// A run in which the starts of jobs are some of the time.
const SHORT_MS: u64 = 500;
/// A run in which fewer than five intervals of half a second end.
const BRIEF_MS: u64 = 2_000;
const BRIEF_JOBS_MAX: u64 = 4;
/// What a disk puts in its place in a millisecond after it took it: 256 MiB/s.
const SETTLED_BYTES_EACH_MS: u64 = (256 << 20) / 1000;
const LOOP_BYTES: u64 = 256 << 20;
const ZRAM_BYTES: u64 = 256 << 20;

/// A drawn situation, ready to be run.
#[derive(Default)]
pub struct Made {
    /// The options of the run.
    pub arguments: Vec<String>,
    /// The programs that start it (`nice`, `taskset`).
    pub starter: Vec<String>,
    /// The limits that are right, where they depend on the draw.
    pub limits: Option<&'static [&'static str]>,
    /// Warnings that hold of this draw, besides those of its situation.
    pub may: Vec<&'static str>,
    /// Findings that have to be there, besides those of its situation.
    pub must: Vec<&'static str>,
    /// Called as soon as the run was started.
    pub meanwhile: Option<Box<dyn FnOnce()>>,
    /// What is done around it in the guest, for a situation of a guest.
    pub guest: Option<GuestSteps>,
    /// Other programs belong to it.
    pub has_company: bool,
    /// What must exist while it runs; the last is dropped first.
    pub held: Held,
}

/// Lines of shell that run in the guest before and after a run.
#[derive(Default)]
pub struct GuestSteps {
    pub set_up: String,
    pub take_down: String,
}

/// Values that exist while a situation runs, dropped in reverse order.
#[derive(Default)]
pub struct Held(Vec<Box<dyn Any>>);

impl Held {
    /// Holds a value as well.
    pub fn push(&mut self, value: impl Any) {
        self.0.push(Box::new(value));
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        while self.0.pop().is_some() {}
    }
}

impl Made {
    /// A run with a shape's options and these.
    pub fn new(shape: &Shape, more: &[&str]) -> Made {
        let mut arguments = shape.options();
        arguments.extend(more.iter().map(|option| (*option).to_owned()));
        // The first of several short jobs ends before the last starts.
        let is_short = shape.runtime_ms.is_none_or(|ms| ms < SHORT_MS);
        let may = if shape.jobs > 1 && is_short { vec!["not-together"] } else { Vec::new() };
        // Many jobs start one after another, so that all of them together take longer.
        let is_brief =
            shape.runtime_ms.is_some_and(|ms| ms <= BRIEF_MS) && shape.jobs <= BRIEF_JOBS_MAX;
        let must = if is_brief { vec!["too-short"] } else { Vec::new() };
        Made { arguments, may, must, ..Made::default() }
    }

    /// Must have a finding if the draw has its cause.
    pub fn requiring(mut self, check: &'static str, is_certain: bool) -> Made {
        self.must.extend(is_certain.then_some(check));
        self
    }

    /// Adds an option.
    pub fn with(mut self, option: impl Into<String>) -> Made {
        self.arguments.push(option.into());
        self
    }

    /// Runs on a device that it may overwrite.
    pub fn on_device(mut self, device: &str) -> Made {
        self.arguments.extend(on_device(device));
        self
    }

    /// Holds a value while it runs.
    pub fn holding(mut self, value: impl Any) -> Made {
        self.held.push(value);
        self
    }

    /// Has other programs beside it.
    pub fn in_company(self) -> Made {
        Made { has_company: true, ..self }
    }

    /// Starts it by another program.
    pub fn started_by(mut self, starter: &[&str]) -> Made {
        self.starter.extend(starter.iter().map(|word| (*word).to_owned()));
        self
    }
}

/// The options that put a run on a device and allow it to overwrite it.
pub fn on_device(device: &str) -> [String; 2] {
    ["--filename", "--allow-destroy"].map(|name| format!("{name}={device}"))
}

/// What all situations share.
pub struct Stage {
    /// The program that is judged.
    pub fathom: PathBuf,
    /// Holds the data files.
    pub directory: PathBuf,
    /// The source of all that is drawn.
    pub seeded: Seeded,
    /// Whether runs time the layers of their I/Os.
    pub layers: bool,
    seed: u64,
    interrupted: Arc<AtomicBool>,
}

impl Stage {
    /// Makes the data files, full of noise and on disk.
    pub fn set_up(
        fathom: PathBuf,
        directory: &Path,
        seed: u64,
        interrupted: Arc<AtomicBool>,
    ) -> Result<Stage> {
        fs::create_dir_all(directory).with_context(|| directory.display().to_string())?;
        let (directory, seeded) = (directory.to_owned(), Seeded::new(seed));
        let stage = Stage { fathom, directory, seeded, layers: false, seed, interrupted };
        for number in 0..FILES {
            let bytes = if number == 0 { FIRST_FILE } else { OTHER_FILES };
            stage.noise(&stage.directory.join(format!("data.{number}")), bytes)?;
        }
        stage.noise(&stage.directory.join("loop.img"), LOOP_BYTES)?;
        Ok(stage)
    }

    /// Draws of a situation depend on the seed, its name and the number of the draw only.
    pub fn begin(&mut self, name: &str, draw: u32) {
        let hash = |state: u64, byte: u8| (state ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        let named = name.bytes().fold(self.seed ^ 0xcbf2_9ce4_8422_2325, hash);
        self.seeded = Seeded::new(named.wrapping_add(u64::from(draw) << 32));
        // What the situation before left in memory is none of this one.
        rustix::fs::sync();
    }

    /// The option that puts each job on a data file of its own.
    pub fn data(&self) -> String {
        format!("--filename_format={}/data.$jobnum", self.directory.display())
    }

    /// A shape, of one of these kinds.
    pub fn shape(&mut self, rw: &[&'static str]) -> Shape {
        Shape::draw(&mut self.seeded, rw)
    }

    /// A shape that a loop device or RAM disk holds.
    pub fn small_shape(&mut self, rw: &[&'static str]) -> Shape {
        let mut shape = self.shape(rw);
        shape.size = shape.size.min(LOOP_BYTES / 4);
        shape
    }

    /// A loop device over noise.
    pub fn loop_device(&self, direct: bool) -> Loop {
        let way = format!("--direct-io={}", if direct { "on" } else { "off" });
        Loop::showing(&self.directory.join("loop.img"), &[&way])
    }

    /// The RAM disk, full of noise.
    pub fn zram(&self) -> Result<Zram> {
        let (device, control) = (Path::new("/dev/zram0"), Path::new("/sys/block/zram0"));
        let zram = Zram::claim(device, control, ZRAM_BYTES).map_err(|reason| anyhow!(reason))?;
        let mut to = fs::OpenOptions::new().write(true).open(device)?;
        fill_with_noise(&mut to, ZRAM_BYTES, &self.interrupted)?;
        to.sync_all()?;
        Ok(zram)
    }

    /// A new ext4 on a loop device.
    pub fn ext4(&self, mount: &[&str]) -> (Mounted, Loop) {
        let file = self.directory.join("ext4.img");
        // A file that is there would keep its blocks in an order of its own.
        let _ = fs::remove_file(&file);
        let device = Loop::over(&file, 1 << 30, &["--direct-io=on"]);
        testbed::system("mkfs.ext4", &["-q", "-E", "lazy_itable_init=0", &device.device]);
        let point = self.directory.join("ext4");
        (Mounted::new(mount, &device.device, point), device)
    }

    /// Another process of our program that runs until it is dropped.
    pub fn neighbour(&self, arguments: &[String]) -> Result<Process> {
        let mut command = Command::new(&self.fathom);
        command.args(["run", "--name=neighbour", "--time_based", "--runtime=1h"]).args(arguments);
        command.env("FATHOM_ARCHIVE", "off").current_dir(&self.directory);
        let process = Process::start(&mut command)?;
        // Its layout and its first I/Os are over by then.
        std::thread::sleep(Duration::from_millis(700));
        Ok(process)
    }

    /// Writes a file of noise to disk. Keeps a file that has this size already.
    pub fn noise(&self, path: &Path, bytes: u64) -> Result<()> {
        if fs::metadata(path).is_ok_and(|found| found.len() == bytes) {
            return Ok(());
        }
        let mut file = File::create(path).with_context(|| path.display().to_string())?;
        fill_with_noise(&mut file, bytes, &self.interrupted)?;
        file.sync_all().with_context(|| path.display().to_string())?;
        // A disk that took much works on after that, so that the first run on it would not be steady.
        std::thread::sleep(Duration::from_millis(bytes / SETTLED_BYTES_EACH_MS));
        Ok(())
    }

    /// A file that a neighbour may use alone.
    pub fn neighbour_file(&self) -> Result<PathBuf> {
        let path = self.directory.join("neighbour");
        self.noise(&path, OTHER_FILES)?;
        Ok(path)
    }
}

/// A process that is killed with the value.
pub struct Process(Child);

impl Process {
    /// Starts it, without input and output.
    pub fn start(command: &mut Command) -> Result<Process> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Process(command.spawn().with_context(|| format!("{command:?}"))?))
    }

    /// One that keeps a CPU busy, on each of so many.
    pub fn hogs(count: u64) -> Result<Vec<Process>> {
        (0..count)
            .map(|_| Process::start(Command::new("sh").args(["-c", "while :; do :; done"])))
            .collect()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that has ended needs neither.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A control group (version 1), removed with the value.
pub struct Group(PathBuf);

impl Group {
    /// In a controller, with these settings.
    pub fn new(controller: &str, settings: &[(impl AsRef<str>, String)]) -> Result<Group> {
        let name = format!("fathom-truth-{}", std::process::id());
        let group = Group(Path::new("/sys/fs/cgroup").join(controller).join(name));
        fs::create_dir(&group.0).with_context(|| group.0.display().to_string())?;
        for (name, value) in settings {
            let name = name.as_ref();
            fs::write(group.0.join(name), value).with_context(|| format!("{name} = {value}"))?;
        }
        Ok(group)
    }

    /// Limits a device to so many `unit`s ("iops" or "bps") a second in each of these directions.
    pub fn throttling(device: &Loop, unit: &str, ways: &[&str], limit: u64) -> Result<Group> {
        let number = fs::read_to_string(format!("/sys/block/{}/dev", device.name()))?;
        let value = format!("{} {limit}", number.trim());
        let name = |way: &&str| format!("blkio.throttle.{way}_{unit}_device");
        let settings: Vec<_> = ways.iter().map(|way| (name(way), value.clone())).collect();
        Group::new("blkio", &settings)
    }

    /// The words that start a program in it.
    pub fn starter(&self) -> Vec<String> {
        let script = "echo $$ > \"$0\"/cgroup.procs && exec \"$@\"";
        ["sh", "-c", script, &self.0.to_string_lossy()].map(String::from).to_vec()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // What cannot be removed is left to the machine's next start.
        let _ = fs::remove_dir(&self.0);
    }
}

/// Bytes whose writing is timed.
const TIMED_MIB: u32 = 256;

impl Stage {
    /// How long the disk takes to write some data past the page cache.
    pub fn disk_write_time(&self) -> Result<Duration> {
        write_time(&self.directory.join("timed"), &["oflag=direct"])
    }

    /// How long it takes to write the same amount to a filesystem in memory.
    pub fn memory_write_time(&self) -> Result<Duration> {
        write_time(Path::new("/dev/shm/fathom-timed"), &[])
    }
}

fn write_time(path: &Path, options: &[&str]) -> Result<Duration> {
    let mut dd = Command::new("dd");
    dd.args(["if=/dev/zero", "bs=1M", "status=none"]).args(options);
    dd.arg(format!("count={TIMED_MIB}")).arg(format!("of={}", path.display()));
    let start = Instant::now();
    let status = dd.status().context("starting dd")?;
    let time = start.elapsed();
    fs::remove_file(path).with_context(|| path.display().to_string())?;
    ensure!(status.success(), "{dd:?} failed: {status}");
    Ok(time)
}

/// The limits of dirty pages, put back with the value. The kernel keeps each as a share of memory or
/// in bytes, and sets the other to 0.
pub struct DirtyLimit(Vec<(String, String)>);

impl DirtyLimit {
    /// So many bytes, and half of them before writing back begins.
    pub fn change(bytes: u64) -> Result<DirtyLimit> {
        let read = |name: &str| fs::read_to_string(format!("{VM}/{name}")).context(name.to_owned());
        let mut before = Vec::new();
        for name in ["dirty", "dirty_background"] {
            for way in ["ratio", "bytes"] {
                let name = format!("{name}_{way}");
                let value = read(&name)?.trim().to_owned();
                before.extend((value != "0").then_some((name, value)));
            }
        }
        let limit = DirtyLimit(before);
        fs::write(format!("{VM}/dirty_background_bytes"), (bytes / 2).to_string())?;
        fs::write(format!("{VM}/dirty_bytes"), bytes.to_string())?;
        Ok(limit)
    }
}

/// Where the kernel keeps the limits.
const VM: &str = "/proc/sys/vm";

impl Drop for DirtyLimit {
    fn drop(&mut self) {
        for (name, value) in &self.0 {
            if let Err(error) = fs::write(format!("{VM}/{name}"), value) {
                eprintln!("{name} could not be put back: {error}");
            }
        }
    }
}
