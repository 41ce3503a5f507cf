//! The cuts of one case: write, cut, power on again, check.

use super::cases::{Case, DISK, Expected, Left};
use super::machine::{Guest, Machine};
use super::witness::Witness;
use super::write_log;
use anyhow::{Context, Result, bail, ensure};
use powercut::promises::{self, Promises};
use record::SplitMix64;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use test_servers::{Lie, LyingDisk, Nbd};

/// How long the first promises may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// The host, as the guest sees it.
const HOST: &str = "10.0.2.2";

/// What cuts showed.
#[derive(Default)]
pub struct Sum {
    /// Cuts.
    pub cuts: u64,
    /// Cuts in which promises were broken.
    pub bad_cuts: u64,
    /// Promises that were checked.
    pub checked: u64,
    /// Promises that were broken.
    pub broken: u64,
    /// What the witness says, filesystems that did not mount.
    pub notes: BTreeSet<String>,
    /// Rows that the witness had committed before the cuts.
    pub witness_rows: u64,
    /// Cuts after which such a row was gone.
    pub witness_lost: u64,
}

impl Sum {
    /// Whether the cuts showed it.
    pub fn is_as_expected(&self, expected: Expected) -> bool {
        let has_kept = self.checked > 0 && self.bad_cuts == 0 && self.witness_lost == 0;
        match expected {
            Expected::Kept => has_kept,
            Expected::Found => self.bad_cuts > 0,
        }
    }
}

/// The cuts of one case, with the server of its promises.
pub struct Trials<'a> {
    case: &'a Case,
    guest: &'a Guest,
    disks: &'a [Nbd],
    /// What disks hold at first; the others hold zeros.
    images: Vec<Vec<u8>>,
    /// Where the promises are kept.
    promises: PathBuf,
    server: Child,
    port: u16,
}

impl Drop for Trials<'_> {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl<'a> Trials<'a> {
    /// Formats the disk and starts the server.
    pub fn new(
        program: &Path,
        directory: &Path,
        case: &'a Case,
        guest: &'a Guest,
        disks: &'a [Nbd],
    ) -> Result<Trials<'a>> {
        let images = vec![image(directory, case)?];
        let promises = directory.join("promises").join(case.name);
        let _ = fs::remove_dir_all(&promises);
        fs::create_dir_all(&promises)?;
        let mut server = Command::new(program)
            .args(["powercut", "serve", "--listen=127.0.0.1:0", "--directory"])
            .arg(&promises)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("fathom powercut serve")?;
        let mut line = String::new();
        BufReader::new(server.stdout.take().context("no output")?).read_line(&mut line)?;
        let port = line.trim().rsplit(':').next().unwrap_or_default().parse();
        let port = port.with_context(|| format!("the server's address is '{}'", line.trim()))?;
        let mut trials = Trials { case, guest, disks, images, promises, server, port };
        if !case.prepare.is_empty() {
            trials.prepare()?;
        }
        Ok(trials)
    }

    /// Makes on disks that honour flushes what was there long before the cut.
    fn prepare(&mut self) -> Result<()> {
        for (at, nbd) in self.disks.iter().enumerate() {
            nbd.replace(self.fresh_disk(at, Lie::Honest, 0));
        }
        let mut machine = self.guest.power_on()?;
        machine.send(&format!(
            "{} && sync && echo PREPARED || echo NOT PREPARED",
            self.case.prepare
        ))?;
        let line = machine.wait_for_one_of(&["PREPARED", "NOT PREPARED"])?;
        ensure!(line == "PREPARED", "{}", machine.lines().join("\n"));
        drop(machine);
        self.images = self.disks.iter().map(|nbd| nbd.read(0, DISK as usize)).collect();
        Ok(())
    }

    /// Cuts the power so often; of a storage that loses data, until it is found.
    pub fn run(&self, cuts: u64, seed: u64) -> Result<Sum> {
        if self.case.is_campaign {
            return self.campaign(cuts, seed);
        }
        let mut sum = Sum::default();
        for cut in 0..cuts {
            let seed = SplitMix64::nth(seed, cut);
            // A good storage is used again as the cut left it.
            if cut == 0 || self.is_fresh_each_time() {
                self.put_in(seed);
            }
            self.cut_once(seed, &mut sum)
                .with_context(|| format!("{}, cut {}", self.case.name, cut + 1))?;
            if sum.bad_cuts > 0 {
                break;
            }
        }
        Ok(sum)
    }

    /// Whether disks that were cut are of no more use.
    fn is_fresh_each_time(&self) -> bool {
        self.case.expected == Expected::Found || self.case.left != Left::Disk
    }

    /// Puts fresh disks in.
    fn put_in(&self, seed: u64) {
        for (at, (nbd, lie)) in self.disks.iter().zip(self.case.lies).enumerate() {
            let disk = self.fresh_disk(at, lie, SplitMix64::nth(seed, at as u64));
            nbd.replace(disk.tearing_at(self.case.atom));
        }
    }

    fn fresh_disk(&self, at: usize, lie: Lie, seed: u64) -> LyingDisk {
        match self.images.get(at) {
            Some(image) => LyingDisk::holding(image, lie, seed),
            None => LyingDisk::new(DISK as usize, lie, seed),
        }
    }

    fn cut_once(&self, seed: u64, sum: &mut Sum) -> Result<()> {
        let Case { set_up, target, options, .. } = self.case;
        let before = self.runs()?;
        let mut random = SplitMix64::new(seed);
        let mut machine = self.guest.power_on()?;
        // What is mounted for a first cut is there after the next.
        let set_up = match sum.cuts == 0 || self.is_fresh_each_time() {
            true => set_up,
            false => self.case.set_up_again,
        };
        let witness = self.case.witness.map(Witness::commit_rows).transpose()?.unwrap_or_default();
        machine.send(&format!(
            "{set_up} && {{ {witness} fathom powercut write {target} --to={HOST}:{} --seed={seed} \
             {options} & }} || echo NOT SET UP",
            self.port
        ))?;
        let run = self.wait_for_promises(&mut machine, &before, 5 + random.below(60))?;
        if let Some(witness) = self.case.witness {
            let row = format!("ROW {}", 1 + random.below(5));
            while !machine.lines().contains(&row) {
                if machine.next_line(PATIENCE)?.is_none() {
                    bail!("{} commits nothing: {}", witness.name(), machine.lines().join("\n"));
                }
            }
        }
        std::thread::sleep(Duration::from_millis(random.below(100)));
        let rows = machine.lines().iter().filter_map(|line| line.strip_prefix("ROW ")).next_back();
        let rows: u64 = rows.map_or(Ok(0), str::parse).context("a row of the witness")?;
        self.cut(machine)?;
        self.check(run, rows, sum)
    }

    fn cut(&self, mut machine: Machine) -> Result<()> {
        if self.case.left == Left::Disk {
            drop(machine);
            self.disks.iter().for_each(Nbd::cut);
            return Ok(());
        }
        // The log is written after the acknowledgements that it is about: the tester alone is killed.
        machine.send("killall -9 fathom; sleep 1; dmsetup remove logged && echo LOGGED")?;
        machine.wait_for_one_of(&["LOGGED"])?;
        drop(machine);
        let log = self.disks[1].read(0, DISK as usize);
        let writes = write_log::parse(&log)?;
        let kept = match self.case.left {
            Left::ShortLog => writes.len() * 9 / 10,
            Left::Log | Left::Disk => writes.len(),
        };
        let image = write_log::replayed(&writes[..kept], DISK as usize);
        self.disks.iter().for_each(Nbd::cut);
        self.disks[0].replace(LyingDisk::holding(&image, Lie::Honest, 0));
        Ok(())
    }

    /// The runs whose promises are kept.
    fn runs(&self) -> Result<BTreeSet<u64>> {
        let mut runs = BTreeSet::new();
        for entry in fs::read_dir(&self.promises)? {
            let name = entry?.file_name();
            let stem = name.to_str().and_then(|name| name.strip_suffix(".promises"));
            runs.extend(stem.and_then(|stem| u64::from_str_radix(stem, 16).ok()));
        }
        Ok(runs)
    }

    fn read(&self, run: u64) -> Result<Promises> {
        Ok(promises::read(&fs::read(self.promises.join(format!("{run:016x}.promises")))?))
    }

    /// Waits until each thread has a promise, and all together have so many. Returns the run.
    fn wait_for_promises(
        &self,
        machine: &mut Machine,
        before: &BTreeSet<u64>,
        count: u64,
    ) -> Result<u64> {
        let begun = Instant::now();
        loop {
            if let Some(line) = machine.next_line(Duration::from_millis(20))? {
                let is_error = line.contains("NOT SET UP") || line.starts_with("fathom: error");
                ensure!(!is_error, "{}", machine.lines().join("\n"));
            }
            if let Some(run) = self.runs()?.difference(before).next() {
                let promises = self.read(*run)?;
                let streams = promises.session.as_ref().map_or(1, |session| session.streams.len());
                let made = promises.durable.values().sum::<u64>();
                if promises.durable.len() == streams && made >= count {
                    return Ok(*run);
                }
            }
            if begun.elapsed() > PATIENCE {
                bail!("no promises; the guest said: {}", machine.lines().join("\n"));
            }
        }
    }

    fn check(&self, run: u64, rows: u64, sum: &mut Sum) -> Result<()> {
        let Case { set_up_again, checked, .. } = self.case;
        let check =
            format!("fathom powercut check {checked} --from={HOST}:{} --run={run:016x}", self.port);
        let witness = self.case.witness.map(Witness::check_rows).transpose()?.unwrap_or_default();
        let mut machine = self.guest.power_on()?;
        machine.send(&format!(
            "if {set_up_again}; then {witness} {check} >/tmp/report 2>&1; echo CHECKED $?; \
             else {check} --unmountable >/tmp/report 2>&1; echo UNMOUNTABLE $?; fi; \
             head -c 20000 /tmp/report; umount /mnt 2>/dev/null; mdadm --stop /dev/md0 2>/dev/null; sync; \
             echo OFF"
        ))?;
        machine.wait_for_one_of(&["OFF"])?;
        let said = machine.lines().to_vec();
        let report = || said.join("\n");
        let broken = sum.broken;
        self.add(run, sum).with_context(report)?;
        if sum.broken > broken {
            fs::write(self.promises.join("report.txt"), report())?;
        }
        if said.iter().any(|line| line.starts_with("UNMOUNTABLE")) {
            sum.notes.insert("does not mount after the cut".to_owned());
        }
        if let Some((witness, answer)) = self.case.witness.zip(answer(&said)) {
            sum.witness_rows += rows;
            let kept = answer.strip_prefix("ok ").and_then(|n| n.parse::<u64>().ok());
            if kept.unwrap_or(0) < rows {
                let name = witness.name();
                sum.witness_lost += 1;
                sum.notes.insert(format!("{name} had committed {rows} rows: {answer}."));
            }
        }
        Ok(())
    }

    /// Adds the check of a run.
    fn add(&self, run: u64, sum: &mut Sum) -> Result<()> {
        let promises = self.read(run)?;
        let found = promises.checks.last().context("no check")?;
        ensure!(found.is_cut, "the check does not count as a cut");
        let judged = found.classes.iter().filter(|class| class.class.promises());
        sum.cuts += 1;
        sum.checked += judged.map(|class| class.checked()).sum::<u64>();
        sum.broken += found.broken();
        sum.bad_cuts += u64::from(found.broken() > 0);
        Ok(())
    }

    /// Runs a campaign, which begins again after each start of the guest. Its command for the cut is
    /// heard here, as by a power switch.
    fn campaign(&self, cuts: u64, seed: u64) -> Result<Sum> {
        const MARK: &str = "CUT-THE-POWER";
        let Case { set_up, target, options, .. } = self.case;
        self.put_in(seed);
        let command = format!(
            "fathom powercut campaign {target} --to={HOST}:{} --cuts={cuts} --cut-after=1 --seed={seed} \
             --cut='echo {MARK} >/dev/ttyS0; sleep 60' {options}",
            self.port
        );
        // One start for the first writes, one after each cut.
        for start in 0..=cuts {
            let mut machine = self.guest.start()?;
            machine.send(&format!("{set_up} && {command}; echo; echo ENDED $?"))?;
            let line = machine.wait_for_one_of(&[MARK, "ENDED"])?;
            let is_end = line.starts_with("ENDED");
            ensure!(is_end == (start == cuts), "start {start}: {}", machine.lines().join("\n"));
            drop(machine);
            self.disks.iter().for_each(Nbd::cut);
        }
        let mut sum = Sum::default();
        for run in self.runs()? {
            self.add(run, &mut sum)?;
        }
        Ok(sum)
    }
}

/// What the witness says of itself after the cut.
fn answer(said: &[String]) -> Option<&str> {
    said.iter().find_map(|line| line.strip_prefix("WITNESS")).map(str::trim)
}

/// The image of vda: formatted by a program of this machine, or zeros.
fn image(directory: &Path, case: &Case) -> Result<Vec<u8>> {
    let [program, arguments @ ..] = case.format else { return Ok(vec![0; DISK as usize]) };
    let path = directory.join("image");
    fs::File::create(&path)?.set_len(DISK)?;
    let mut format = testbed::command(program);
    format.args(arguments);
    if let Some(witness) = case.witness
        && let Some(files) = witness.initial_files(directory)?
    {
        format.arg("-d").arg(files);
    }
    let output = format.arg(&path).output().with_context(|| (*program).to_owned())?;
    ensure!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    let image = fs::read(&path)?;
    fs::remove_file(&path)?;
    Ok(image)
}
