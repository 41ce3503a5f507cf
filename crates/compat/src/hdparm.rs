//! The two timings of hdparm 9.6x: `-t`, three seconds of sequential reads, and `-T`, two seconds
//! of reads of the same 2 MiB. Each does one read at a time and prints hdparm's lines.
//!
//! Two things differ from hdparm. The page cache is dropped before the reads of `-t`; hdparm drops
//! it after them. And `-T` reads with pread, so there is no time for seeks to subtract.

mod terminology;

pub use terminology::TERMINOLOGY;

use crate::Usage;
use crate::footer::{moved, seconds};
use record::{Direction, RunRecord, TargetFacts, TargetKind, named};

/// Name in messages.
const TOOL: &str = "hdparm";
/// Size of a read in bytes.
const BLOCK: u64 = 2 << 20;
/// Unit of `--offset`.
const GIB: u64 = 1 << 30;

/// What `fathom hdparm --help` prints.
pub const HELP: &str = "\
usage: fathom hdparm [-t] [-T] [--direct] [--offset N] [--no-wait] DEVICE|FILE…

Times reads as hdparm does and prints its lines; under them, what the figures are worth. Nothing is
written, and no setting of a drive is read or changed.

  -t             3 s of reads in sequence, 2 MiB each, one at a time
  -T             2 s of the same 2 MiB: how fast memory is, to judge -t by; with -t it comes first
  --direct       O_DIRECT: without the page cache; -T then times the drive's own cache
  --offset N     -t begins N GiB from the beginning
  --no-wait      leave out hdparm's 3 s of rest before each timing (and 1 s more before -T)
  --record=FILE  keep the records of the runs
";

/// A parsed call of hdparm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HdparmCommand {
    /// `-T`.
    pub cached: bool,
    /// `-t`.
    pub device: bool,
    /// `--direct`.
    pub direct: bool,
    /// `--offset`, in GiB. hdparm prints it if it is given, even if it is 0.
    pub offset: Option<u64>,
    /// Whether to pause before a timing, as hdparm does.
    pub waits: bool,
    /// Devices and files, in order.
    pub targets: Vec<String>,
    /// The file for the records.
    pub record: Option<String>,
    /// Notes on options without effect, a sentence each.
    pub notes: Vec<String>,
}

/// A timing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// `-T`.
    Cached,
    /// `-t`.
    Device,
}

named!(Timing: Cached "cached-reads", Device "disk-reads");

fn wrong(flag: &str, what: &str, cure: &str) -> Usage {
    Usage::line(TOOL, flag, what, cure)
}

impl HdparmCommand {
    /// Parses hdparm's options and fathom's, without the program's name.
    ///
    /// # Errors
    /// The first wrong option, what was expected, and what to do.
    pub fn parse(arguments: &[String]) -> Result<HdparmCommand, Usage> {
        let mut call = HdparmCommand { waits: true, ..HdparmCommand::default() };
        let mut left = arguments.iter();
        let mut only_names = false;
        while let Some(argument) = left.next() {
            if only_names || argument == "-" || !argument.starts_with('-') {
                call.targets.push(argument.clone());
            } else if argument == "--" {
                only_names = true;
            } else if let Some(option) = argument.strip_prefix("--") {
                call.long(option, &mut left)?;
            } else {
                argument.chars().skip(1).try_for_each(|letter| call.letter(letter))?;
            }
        }
        call.check()?;
        Ok(call)
    }

    fn letter(&mut self, letter: char) -> Result<(), Usage> {
        match letter {
            't' => self.device = true,
            'T' => self.cached = true,
            other => return Err(setting(&format!("-{other}"))),
        }
        Ok(())
    }

    fn long<'a>(
        &mut self,
        option: &str,
        left: &mut impl Iterator<Item = &'a String>,
    ) -> Result<(), Usage> {
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option, None),
        };
        let flag = format!("--{name}");
        match name {
            "direct" | "no-wait" if value.is_some() => {
                return Err(wrong(&flag, "takes no value", "leave it out"));
            }
            "direct" => self.direct = true,
            "no-wait" => self.waits = false,
            "offset" => {
                let number = value.or_else(|| left.next().map(String::as_str)).unwrap_or_default();
                let gib = number.parse().ok().filter(|gib: &u64| gib.checked_mul(GIB).is_some());
                self.offset = Some(gib.ok_or_else(|| {
                    wrong(&flag, "needs a whole number of GiB", "say --offset 100")
                })?);
            }
            "record" => {
                let file = value.or_else(|| left.next().map(String::as_str));
                self.record = file.filter(|file| !file.is_empty()).map(str::to_owned);
                if self.record.is_none() {
                    return Err(wrong(&flag, "needs a name", "say --record=FILE"));
                }
            }
            _ => return Err(setting(&flag)),
        }
        Ok(())
    }

    fn check(&mut self) -> Result<(), Usage> {
        if !self.device && !self.cached {
            return Err(wrong("-t -T", "neither is given", "say -t, -T or both"));
        }
        if self.targets.is_empty() {
            return Err(wrong("DEVICE", "none is named", "name a block device or a file"));
        }
        if self.targets.iter().any(String::is_empty) {
            return Err(wrong("DEVICE", "a name is empty", "name a block device or a file"));
        }
        if self.offset.is_some() && !self.device {
            self.notes.push("--offset: has no effect without -t".into());
        }
        Ok(())
    }

    /// The timings of each target, in hdparm's order.
    pub fn timings(&self) -> impl Iterator<Item = Timing> {
        let cached = self.cached.then_some(Timing::Cached);
        cached.into_iter().chain(self.device.then_some(Timing::Device))
    }

    /// The job of a timing, as options of fathom's command line.
    ///
    /// # Errors
    /// Why the target cannot be timed, and what to do.
    pub fn arguments(
        &self,
        timing: Timing,
        path: &str,
        target: &TargetFacts,
    ) -> Result<Vec<String>, Usage> {
        let size = readable(path, target)?;
        let mut options = vec![
            format!("name={}", timing.name()),
            format!("filename={}", path.replace(':', "\\:")),
            format!("bs={BLOCK}"),
            format!("direct={}", u8::from(self.direct)),
        ];
        let fixed = ["rw=read", "ioengine=psync", "iodepth=1", "percentile_list=50:90:99:99.9"];
        options.extend(fixed.map(str::to_owned));
        // As hdparm: the file is not laid out, read-ahead is not changed, the buffer consists of
        // normal pages, and one byte of every sector read is changed.
        let alike = ["create_on_open=1", "fadvise_hint=0", "mem=mmap", "touch_read=512"];
        options.extend(alike.map(str::to_owned));
        let (rest, more) = match timing {
            Timing::Cached => {
                let warm = u8::from(!self.direct);
                (4, [format!("size={BLOCK}"), format!("pre_read={warm}"), "invalidate=0".into()])
            }
            Timing::Device => {
                let offset = self.offset.unwrap_or(0);
                let begins = offset * GIB;
                let length = size.saturating_sub(begins) / BLOCK * BLOCK;
                if length == 0 {
                    let what = format!("{path} has {size} bytes: nothing of 2 MiB lies behind it");
                    let flag = format!("--offset {offset}");
                    return Err(Usage::target(TOOL, flag, what, "lower it"));
                }
                let length = format!("size={length}");
                (3, [length, format!("offset={begins}"), "invalidate=1".into()])
            }
        };
        options.extend(more);
        match timing {
            Timing::Cached => options.extend(["runtime=2", "time_based=1"].map(str::to_owned)),
            Timing::Device => options.push("runtime=3".to_owned()),
        }
        if self.waits {
            options.push(format!("startdelay={rest}"));
        }
        let options = options.into_iter().map(|option| format!("--{option}"));
        // The job only reads.
        Ok(options.chain(["--readonly".to_owned()]).collect())
    }

    /// hdparm's line about a timing, with its line end.
    pub fn line(&self, timing: Timing, record: &RunRecord) -> String {
        let title = match (timing, self.direct) {
            (Timing::Cached, false) => "cached reads:  ".to_owned(),
            (Timing::Cached, true) => "O_DIRECT cached reads:  ".to_owned(),
            (Timing::Device, direct) => {
                let way = if direct { "O_DIRECT" } else { "buffered" };
                let offset = match self.offset {
                    None => String::new(),
                    Some(gib) => format!(" (offset {gib} GB)"),
                };
                format!("{way} disk reads{offset}:")
            }
        };
        let bytes = moved(record, Direction::Read);
        if bytes == 0 {
            return format!(" Timing {title} nothing was read\n");
        }
        let (megabytes, seconds) = (bytes >> 20, seconds(record));
        let rate = if seconds > 0.0 { megabytes as f64 / seconds } else { 0.0 };
        let rate = match rate > 1.0 {
            true => format!("{rate:6.2} MB/sec"),
            false => format!("{:6.2} kB/sec", rate * 1024.0),
        };
        format!(" Timing {title} {megabytes:3} MB in {seconds:5.2} seconds = {rate}\n")
    }
}

/// The heading of a target.
pub fn heading(path: &str) -> String {
    format!("\n{path}:\n")
}

/// A note on the meaning of one read at a time, for a disk that is not rotational.
pub const ONE_AT_A_TIME: &str = "one read at a time: what the kernel reads ahead is all that keeps \
                                 the disk busy meanwhile. A disk that serves several at once can do \
                                 more: fathom test says how much.";

fn setting(flag: &str) -> Usage {
    let what = "only the timings -t and -T are measured here";
    wrong(flag, what, "for a drive's settings use hdparm itself, to look at them fathom inspect")
}

/// The size of a target in bytes, if it can be timed.
fn readable(path: &str, target: &TargetFacts) -> Result<u64, Usage> {
    let wrong = |what: &str, cure: &str| Err(Usage::target(TOOL, path, what, cure));
    match target.kind {
        TargetKind::Missing => wrong("it is not there", "check its name"),
        TargetKind::Directory => wrong("it is a directory", "name a block device or a file"),
        TargetKind::Char | TargetKind::Fifo | TargetKind::Other => {
            wrong("it is neither a block device nor a file", "name one")
        }
        _ if !target.readable => {
            wrong("it cannot be opened to be read", "become root, or name a file on it")
        }
        _ if target.size.0 < BLOCK => {
            wrong("it is smaller than the 2 MiB of one read", "name a larger one")
        }
        _ => Ok(target.size.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Bytes, JobRecord, Nanos};

    fn call(line: &str) -> Result<HdparmCommand, Usage> {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        HdparmCommand::parse(&arguments)
    }

    fn disk(bytes: u64) -> TargetFacts {
        let kind = TargetKind::Block;
        TargetFacts { kind, size: Bytes(bytes), readable: true, ..TargetFacts::default() }
    }

    fn record(bytes: u64, nanos: u64) -> RunRecord {
        let mut job = JobRecord { ended: Nanos(nanos), ..JobRecord::default() };
        job.results.read.bytes = Bytes(bytes);
        RunRecord { jobs: vec![job], ..RunRecord::default() }
    }

    #[test]
    fn flags_stand_alone_and_together() {
        let both = call("-tT /dev/x --direct --offset 5 /dev/y").unwrap();
        assert_eq!(both.timings().collect::<Vec<_>>(), [Timing::Cached, Timing::Device]);
        assert_eq!((both.direct, both.offset, both.waits), (true, Some(5), true));
        assert_eq!(both.targets, ["/dev/x", "/dev/y"]);
        assert_eq!(call("-T -t --direct --offset=5 /dev/x /dev/y").unwrap(), both);
        let one = call("--no-wait -t -- -odd").unwrap();
        assert_eq!((one.waits, one.targets), (false, vec!["-odd".to_owned()]));
        assert_eq!(call("-T --offset 1 x").unwrap().notes.len(), 1);
    }

    #[test]
    fn what_is_no_timing_is_refused() {
        for (line, flag) in [
            ("/dev/x", "-t -T"),
            ("-t", "DEVICE"),
            ("-I /dev/x", "-I"),
            ("-tW /dev/x", "-W"),
            ("--security-erase x /dev/x", "--security-erase"),
            ("-t --offset", "--offset"),
            ("-t --offset -1 /dev/x", "--offset"),
            ("-t --offset 99999999999999 /dev/x", "--offset"),
            ("-t --direct=1 /dev/x", "--direct"),
            ("-t --record= /dev/x", "--record"),
        ] {
            let error = call(line).unwrap_err();
            assert_eq!((error.fault, error.flag.as_str()), (crate::Fault::Line, flag), "{line}");
        }
    }

    #[test]
    fn an_empty_name_is_a_mistake_of_the_line() {
        let error = HdparmCommand::parse(&["-t".to_owned(), String::new()]).unwrap_err();
        assert_eq!((error.fault, error.flag.as_str()), (crate::Fault::Line, "DEVICE"));
    }

    #[test]
    fn timings_are_reads_of_two_mebibytes() {
        let call = call("-tT --offset 1 --direct x").unwrap();
        let target = disk((3 << 30) + 5);
        let device = call.arguments(Timing::Device, "/dev/a:b", &target).unwrap().join(" ");
        assert_eq!(
            device,
            "--name=disk-reads --filename=/dev/a\\:b --bs=2097152 --direct=1 --rw=read \
             --ioengine=psync --iodepth=1 --percentile_list=50:90:99:99.9 --create_on_open=1 \
             --fadvise_hint=0 --mem=mmap --touch_read=512 --size=2147483648 --offset=1073741824 --invalidate=1 \
             --runtime=3 --startdelay=3 --readonly"
        );
        let cached = call.arguments(Timing::Cached, "x", &target).unwrap().join(" ");
        for option in ["--size=2097152 --pre_read=0 --invalidate=0", "--time_based=1", "delay=4"] {
            assert!(cached.contains(option), "{cached}");
        }
        let quick = HdparmCommand { waits: false, direct: false, ..call };
        let cached = quick.arguments(Timing::Cached, "x", &target).unwrap().join(" ");
        assert!(cached.contains("--pre_read=1") && !cached.contains("startdelay"), "{cached}");
    }

    #[test]
    fn targets_that_cannot_be_timed_are_refused() {
        let call = call("-t --offset 1 x").unwrap();
        let refused = |target: &TargetFacts| call.arguments(Timing::Device, "x", target).is_err();
        assert!(refused(&TargetFacts::default()), "not there");
        assert!(refused(&disk(1 << 20)), "too small");
        assert!(refused(&disk(1 << 30)), "the offset is its end");
        assert!(refused(&TargetFacts { readable: false, ..disk(4 << 30) }));
        assert!(refused(&TargetFacts { kind: TargetKind::Char, ..disk(4 << 30) }));
        assert!(!refused(&disk((1 << 30) + (2 << 20))));
    }

    #[test]
    fn lines_read_as_hdparm_writes_them() {
        let plain = call("-tT x").unwrap();
        let line =
            |call: &HdparmCommand, timing, bytes, nanos| call.line(timing, &record(bytes, nanos));
        assert_eq!(heading("/dev/sda"), "\n/dev/sda:\n");
        assert_eq!(
            line(&plain, Timing::Device, 556 << 20, 3_001_000_000),
            " Timing buffered disk reads: 556 MB in  3.00 seconds = 185.27 MB/sec\n"
        );
        assert_eq!(
            line(&plain, Timing::Cached, 24_932 << 20, 1_990_000_000),
            " Timing cached reads:   24932 MB in  1.99 seconds = 12528.64 MB/sec\n"
        );
        assert_eq!(
            line(&call("-t --offset 0 x").unwrap(), Timing::Device, 556 << 20, 3_001_000_000),
            " Timing buffered disk reads (offset 0 GB): 556 MB in  3.00 seconds = 185.27 MB/sec\n",
            "what is given is named"
        );
        let direct = call("-tT --direct --offset 250 x").unwrap();
        assert_eq!(
            line(&direct, Timing::Device, 268 << 20, 3_010_000_000),
            " Timing O_DIRECT disk reads (offset 250 GB): 268 MB in  3.01 seconds =  89.04 MB/sec\n"
        );
        assert_eq!(
            line(&direct, Timing::Cached, 972 << 20, 2_000_000_000),
            " Timing O_DIRECT cached reads:   972 MB in  2.00 seconds = 486.00 MB/sec\n"
        );
        assert_eq!(
            line(&plain, Timing::Device, 2 << 20, 4_000_000_000),
            " Timing buffered disk reads:   2 MB in  4.00 seconds = 512.00 kB/sec\n"
        );
        assert_eq!(
            line(&plain, Timing::Device, 0, 0),
            " Timing buffered disk reads: nothing was read\n",
            "interrupted while it rested"
        );
    }
}
