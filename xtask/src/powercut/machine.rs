//! The guest whose power is cut. It is booted once; each power-on continues from the memory that was
//! saved at the end of that boot, before any disk was opened. QEMU gives each of them another
//! generation, upon which the kernel draws new random numbers: its name of the start differs as after a
//! boot.

use crate::lab::{Image, Monitor};
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A guest that says nothing for so long hangs.
const PATIENCE: Duration = Duration::from_secs(180);

/// What the guest runs: one line of shell after the other, from its console.
pub const SCRIPT: &str = "stty -echo </dev/ttyS0
ifconfig lo 127.0.0.1 up
ifconfig eth0 10.0.2.15 netmask 255.255.255.0 up
mount -t tmpfs none /tmp
export FATHOM_ARCHIVE=off DM_DISABLE_UDEV=1
echo POWERED
while read -r line; do eval \"$line\"; done </dev/ttyS0
";

/// How each disk is attached: QEMU's cache mode. With `writethrough` every write has force unit access,
/// and the guest sees a disk without a volatile cache.
const CACHES: [&str; 3] = ["none", "none", "writethrough"];

/// A guest that was booted and saved.
pub struct Guest {
    image: Image,
    disks: [SocketAddr; CACHES.len()],
    memory: PathBuf,
}

/// A guest with power. It is killed with the value.
pub struct Machine {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    /// What it has said, for messages.
    said: Vec<String>,
}

impl Guest {
    /// Boots an image and saves its memory.
    pub fn boot(
        directory: &Path,
        image: Image,
        disks: [SocketAddr; CACHES.len()],
    ) -> Result<Guest> {
        let guest = Guest { image, disks, memory: directory.join("memory") };
        let socket = directory.join("monitor");
        let _ = fs::remove_file(&socket);
        let monitor = format!("unix:{},server,nowait", socket.display());
        let mut machine = guest.launch(&["-monitor", &monitor])?;
        machine.wait_for_one_of(&["POWERED"])?;
        let mut monitor = Monitor::connect(&socket)?;
        monitor.command(&format!("migrate \"exec:cat >'{}'\"", guest.memory.display()))?;
        let begun = Instant::now();
        loop {
            let state = monitor.command("info migrate")?;
            if state.contains("Migration status: completed") {
                return Ok(guest);
            }
            let goes_on = !state.contains("failed") && begun.elapsed() < PATIENCE;
            ensure!(goes_on, "the guest's memory is not saved: {state}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Switches the power on, and continues from the saved memory.
    pub fn power_on(&self) -> Result<Machine> {
        let memory = format!("exec:cat '{}'", self.memory.display());
        let mut machine = self.launch(&["-incoming", &memory, "-monitor", "none"])?;
        // What the console gets before the guest continues is lost.
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            machine.send("")?;
            machine.send("echo ON")?;
            while let Some(line) = machine.next_line(Duration::from_secs(1))? {
                if line == "ON" {
                    return Ok(machine);
                }
            }
        }
        bail!("the guest does not continue; it said: {}", machine.said.join("\n"))
    }

    /// Switches the power on and boots.
    pub fn start(&self) -> Result<Machine> {
        let mut machine = self.launch(&["-monitor", "none"])?;
        machine.wait_for_one_of(&["POWERED"])?;
        Ok(machine)
    }

    fn launch(&self, arguments: &[&str]) -> Result<Machine> {
        let mut command = Command::new("qemu-system-x86_64");
        command.args(["-machine", "q35", "-accel", "tcg,thread=multi", "-smp", "1", "-m", "640"]);
        command.args(["-no-reboot", "-display", "none", "-serial", "stdio"]);
        command.arg("-kernel").arg(&self.image.kernel).arg("-initrd").arg(&self.image.initrd);
        command.args(["-append", "console=ttyS0 quiet panic=-1 mitigations=off"]);
        command.args(["-device", "vmgenid,guid=auto"]);
        command.args(["-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net"]);
        for (id, (disk, cache)) in self.disks.iter().zip(CACHES).enumerate() {
            let drive = format!("file=nbd:{disk},format=raw,if=none,id=disk{id},cache={cache}");
            let device = format!("virtio-blk-pci,drive=disk{id}");
            command.args(["-drive", &drive, "-device", &device]);
        }
        command.args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().context("qemu-system-x86_64 (qemu-system-x86)")?;
        let input = child.stdin.take().context("no input")?;
        let output = child.stdout.take().context("no console")?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let mut console = BufReader::new(output);
            let mut line = Vec::new();
            while console.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
                let text = String::from_utf8_lossy(&line).trim().to_owned();
                if sender.send(text).is_err() {
                    return;
                }
                line.clear();
            }
        });
        Ok(Machine { child, input, lines, said: Vec::new() })
    }
}

impl Machine {
    /// Gives a line of shell to the guest.
    pub fn send(&mut self, line: &str) -> Result<()> {
        ensure!(line.len() < 4000 && !line.contains('\n'), "no line of a terminal: {line}");
        writeln!(self.input, "{line}").context("the guest's console")
    }

    /// Waits until the guest says a line that begins with one of the words, and returns the line.
    pub fn wait_for_one_of(&mut self, words: &[&str]) -> Result<String> {
        loop {
            let Some(line) = self.next_line(PATIENCE)? else {
                let (words, said) = (words.join(" or "), self.said.join("\n"));
                bail!("the guest hangs before it says {words}; it said: {said}");
            };
            if words.iter().any(|word| line.starts_with(word)) {
                return Ok(line);
            }
        }
    }

    /// The next line, if one comes in time.
    pub fn next_line(&mut self, patience: Duration) -> Result<Option<String>> {
        match self.lines.recv_timeout(patience) {
            Ok(line) => {
                self.said.push(line.clone());
                Ok(Some(line))
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                bail!("the guest has ended; it said: {}", self.said.join("\n"))
            }
        }
    }

    /// Everything it has said so far.
    pub fn lines(&mut self) -> &[String] {
        self.said.extend(self.lines.try_iter());
        &self.said
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // One that has ended needs neither.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
