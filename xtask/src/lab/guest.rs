//! Running the guest, and wearing out one of its disks through QEMU's monitor.

use super::image::{Device, Image};
use super::monitor::Monitor;
use anyhow::{Context, Result, ensure};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A guest that has not ended by then hangs.
const PATIENCE: Duration = Duration::from_secs(600);
const DISK_BYTES: u64 = 64 << 20;

/// NVMe's critical warning: spare below its threshold, and degraded reliability.
const WEAR: &str = "qom-set /machine/peripheral/worn smart_critical_warning 5";

/// A process that is killed with the value.
struct Guest(Child);

impl Drop for Guest {
    fn drop(&mut self) {
        // One that has ended needs neither.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Which part of the script a guest runs.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// Its number, from 0 on.
    pub number: usize,
    /// The number of guests.
    pub guests: usize,
}

impl Share {
    /// All of it.
    pub const WHOLE: Share = Share { number: 0, guests: 1 };
}

/// Boots the image and gives what its script printed. The images of the devices are in `directory`.
pub fn run(directory: &Path, image: &Image, devices: &[Device], share: Share) -> Result<String> {
    fs::create_dir_all(directory)?;
    let monitor = directory.join("monitor");
    let mut guest = start(directory, image, &monitor, devices, share)?;
    let started = Instant::now();
    let console = guest.0.stdout.take().context("no console")?;
    let mut said = String::new();
    let mut listening = false;
    for line in BufReader::new(console).lines() {
        let line = line?;
        let line = line.trim_end_matches('\r');
        match line {
            "GUEST-BEGINS" => listening = true,
            "GUEST-ENDS" => return Ok(said),
            "READY-TO-WEAR" => wear(&monitor)?,
            line if listening => said = said + line + "\n",
            _ => {}
        }
        ensure!(started.elapsed() < PATIENCE, "the guest hangs; it said: {said}");
    }
    anyhow::bail!("the guest ended before its script; it said: {said}")
}

fn start(
    directory: &Path,
    image: &Image,
    monitor: &Path,
    devices: &[Device],
    share: Share,
) -> Result<Guest> {
    let mut command = Command::new("timeout");
    command.arg(PATIENCE.as_secs().to_string()).arg("qemu-system-x86_64");
    // Software emulation: there is no other kind inside most build machines.
    command.args(["-machine", "q35,nvdimm=on", "-accel", "tcg,thread=multi", "-smp", "2"]);
    command.args(["-m", "1024,slots=4,maxmem=4G", "-no-reboot"]);
    command.args(["-display", "none", "-serial", "stdio"]);
    command.arg("-kernel").arg(&image.kernel).arg("-initrd").arg(&image.initrd);
    // The kernel passes parameters that it does not know to init, as environment variables.
    let Share { number, guests } = share;
    let append = format!("console=ttyS0 quiet panic=-1 share={number} shares={guests}");
    command.args(["-append", &append]);
    for (id, device) in [("disk0", ""), ("disk1", ""), ("disk2", ",id=worn")] {
        let file = directory.join(format!("{id}.img"));
        File::create(&file)?.set_len(DISK_BYTES)?;
        let drive = format!("file={},if=none,format=raw,id={id}", file.display());
        let device = format!("nvme,serial={id},drive={id}{device}");
        command.args(["-drive", &drive, "-device", &device]);
    }
    for device in devices {
        let file = directory.join(device.image);
        // What the last guest left there would be found.
        File::create(&file)?.set_len(device.bytes)?;
        let file = file.display().to_string();
        command.args(device.arguments.iter().map(|argument| argument.replace("FILE", &file)));
    }
    command.arg("-monitor").arg(format!("unix:{},server,nowait", monitor.display()));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let child = command.spawn().context("timeout qemu-system-x86_64 (qemu-system-x86)")?;
    Ok(Guest(child))
}

fn wear(monitor: &Path) -> Result<()> {
    Monitor::connect(monitor)?.command(WEAR).map(drop)
}
