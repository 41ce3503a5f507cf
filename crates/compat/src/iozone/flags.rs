//! The table of flags: name, value, meaning, and effect on an [`IozoneCommand`].

use super::value::{Wrong, named, number, percent, positive, size};
use super::{IoCalls, IozoneCommand, Mode, Sync, Unit};

/// A flag.
pub struct Flag {
    /// Its letter, after a plus for flags that begin with -+.
    pub name: &'static str,
    /// The name of its value; empty: no value.
    pub value: &'static str,
    /// A short description.
    pub doc: &'static str,
    /// Its effect.
    pub act: Act,
    /// A note for the user; empty: none.
    pub note: &'static str,
}

/// The effect of a flag.
#[derive(Clone, Copy)]
pub enum Act {
    /// It sets a value.
    Set(Setter),
    /// It is not supported, for this reason.
    Refused(&'static str),
    /// File names follow.
    Names,
    /// It prints help.
    Help,
    /// It prints the version.
    Version,
}

/// Stores a value.
type Setter = fn(&mut IozoneCommand, &str) -> Result<(), Wrong>;

impl Flag {
    /// Whether words up to the next flag belong to it.
    pub fn takes_names(&self) -> bool {
        matches!(self.act, Act::Names)
    }
}

/// The flag of a name.
pub fn find(name: &str) -> Option<&'static Flag> {
    FLAGS.iter().find(|flag| flag.name == name)
}

/// The output of `fathom iozone -h`.
pub fn help() -> String {
    let mut out = String::from(
        "Usage: fathom iozone [FLAGS]\n\nIOzone's tests on fathom's engine. Sizes are in kB, or with k, m, g behind them.\n\n",
    );
    for flag in sorted() {
        let left = format!("-{} {}", flag.name, flag.value);
        let refused = matches!(flag.act, Act::Refused(_));
        let doc =
            format!("{}{}", flag.doc, if refused { " (refused, with the reason)" } else { "" });
        out += &format!("  {:<14} {doc}\n", left.trim_end());
    }
    out + "\nfathom's own:\n\
           \x20 --allow-destroy=FILE  overwrite this file or device, whatever it holds; repeatable\n\
           \x20 --record=FILE         keep the records of all runs in this file as well as in the archive\n\
           \x20 --no-archive          do not archive the runs\n\
           \x20 --json                print figures as JSON, and nothing else\n\
           \x20 --with-serials        keep serial numbers of disks in them\n"
}

/// All flags, sorted by letter.
fn sorted() -> Vec<&'static Flag> {
    let key = |flag: &&Flag| {
        let letter = flag.name.chars().last().unwrap_or_default();
        (flag.name.len(), letter.to_ascii_lowercase(), letter.is_ascii_uppercase())
    };
    let mut all: Vec<&Flag> = FLAGS.iter().collect();
    all.sort_by_key(key);
    all
}

/// The table: for each flag its description as a doc comment, its letter, its value if it has one,
/// and its effect.
macro_rules! flags {
    ($(#[doc = $doc:literal] $name:literal $($value:literal)? => $flag:expr,)+) => {
        &[$(Flag { name: $name, value: concat!($($value)?), doc: $doc.trim_ascii(), ..$flag }),+]
    };
}

const fn acts(act: Act) -> Flag {
    Flag { name: "", value: "", doc: "", act, note: "" }
}

const fn sets(set: Setter) -> Flag {
    acts(Act::Set(set))
}

const fn refused(why: &'static str) -> Flag {
    acts(Act::Refused(why))
}

const fn noted(note: &'static str) -> Flag {
    sets(|_, _| Ok(())).note(note)
}

impl Flag {
    const fn note(self, note: &'static str) -> Flag {
        Flag { note, ..self }
    }
}

/// A setter that is one assignment or call.
macro_rules! does {
    (|$call:ident, $text:pat_param| $change:expr) => {
        |$call, $text| {
            $change;
            Ok(())
        }
    };
}

/// Sets a field to true.
macro_rules! on {
    ($($field:ident).+) => {
        does!(|call, _| call.$($field).+ = true)
    };
}

const FLAGS: &[Flag] = flags! {
    /// automatic mode: all file sizes and record sizes
    "a" => sets(automatic),
    /// automatic mode with all records
    "A" => sets(old_automatic).note("is the old name of -a -z"),
    /// spreadsheet file (Excel's binary format) as well
    "b" "FILE" => sets(does!(|call, text| call.show.workbook = Some(text.to_owned()))),
    /// files are mapped (mmap)
    "B" => sets(|call, _| calls(call, IoCalls::Mapping))
        .note(
            "a new file gets its pages before it is written, not while: the mapping reaches from \
             its beginning to its end",
        ),
    /// closing is part of the time
    "c" => noted(
        "closing moves no data on a local filesystem, and is not timed; on a network filesystem it \
         writes back, and -e times that",
    ),
    /// show the bytes each process moved
    "C" => sets(on!(show.children)),
    /// each process starts so much after the one before
    "d" "MICROSECONDS" => sets(does!(|call, text| call.together.delay_us = number(text)?)),
    /// msync(MS_ASYNC) on mapped files
    "D" => noted("msync(MS_ASYNC) does nothing on Linux since 2.6.19, and is not called"),
    /// fsync is part of the time
    "e" => sets(on!(access.fsync)),
    /// tests 9 and 10 (pwrite, pread) as well
    "E" => sets(on!(positioned)),
    /// the file
    "f" "FILE" => sets(does!(|call, text| call.file = Some(named(text)?))),
    /// one file for each process
    "F" "FILES" => acts(Act::Names),
    /// largest file of automatic mode
    "g" "SIZE" => sets(does!(|call, text| call.size_range.most = size(text)?)),
    /// msync(MS_SYNC) on mapped files
    "G" => sets(on!(access.fsync))
        .note("is done as an fsync at the end of writing, which is part of the time"),
    /// this text
    "h" => acts(Act::Help),
    /// POSIX asynchronous I/O, so many at a time
    "H" "NUMBER" => sets(asynchronous)
        .note("data is not copied to another buffer besides: that would measure the copy (as -k)"),
    /// a test, 0 to 12; repeatable (otherwise 0 to 7)
    "i" "NUMBER" => sets(|call, text| {
        match number(text)? {
            test @ 0..=12 => {
                call.tests.push(test as u8);
                Ok(())
            }
            _ => Err((format!("'{text}' is no test"), "tests are 0 to 12")),
        }
    }),
    /// O_DIRECT: go past the page cache
    "I" => sets(on!(access.direct)),
    /// stride, in records (17)
    "j" "NUMBER" => sets(does!(|call, text| call.access.stride = positive(text)?)),
    /// pause before each operation
    "J" "MILLISECONDS" => sets(does!(|call, text| call.access.think_ms = number(text)?)),
    /// POSIX asynchronous I/O without a copy, so many at a time
    "k" "NUMBER" => sets(asynchronous),
    /// random accesses among the others
    "K" => refused(
        "how many there are to be is not said anywhere; fathom run --rw=randread \
         --percentage_random=NUMBER mixes them by a share",
    ),
    /// throughput mode: fewest processes
    "l" "NUMBER" => sets(|call, text| processes(call, Some(process_count(text)?), None)),
    /// line of the processor's cache
    "L" "BYTES" => sets(does!(|call, text| call.show.cache.1 = positive(text)?))
        .note("is shown, and used by nothing here"),
    /// several buffers
    "m" => noted("each I/O in flight has a buffer of its own here; at depth 1 that is one"),
    /// show what uname says
    "M" => sets(on!(show.uname)),
    /// smallest file of automatic mode
    "n" "SIZE" => sets(does!(|call, text| call.size_range.least = size(text)?)),
    /// figures are microseconds an operation takes
    "N" => sets(|call, _| unit(call, Unit::Microseconds)),
    /// O_SYNC: each write waits for the medium
    "o" => sets(|call, _| sync(call, Sync::Sync)),
    /// figures are operations a second
    "O" => sets(|call, _| unit(call, Unit::Operations)),
    /// purge the processor's cache
    "p" => refused(
        "the processor's cache cannot be purged without evicting what the measurement itself \
         needs; use files larger than it",
    ),
    /// processes keep to the CPUs from this one on
    "P" "CPU" => sets(|call, text| {
        let cpu = u32::try_from(number(text)?);
        call.together.first_cpu =
            Some(cpu.map_err(|_| (format!("'{text}' is no CPU"), "give its number"))?);
        Ok(())
    }),
    /// largest record of automatic mode
    "q" "SIZE" => sets(|call, text| {
        call.record_range.most = size(text)?;
        call.records_limited = true;
        Ok(())
    }),
    /// offset and latency of each operation to files
    "Q" => sets(on!(access.log))
        .note(
            "files are named after the operation and its sizes (write-512k-4k_lat.1.log), a line \
             an operation: time in ms, latency in ns, direction, size, offset",
        ),
    /// record size (4k); repeatable
    "r" "SIZE" => sets(does!(|call, text| call.records.push(size(text)?))),
    /// spreadsheet text after the table
    "R" => sets(on!(show.spreadsheet)),
    /// file size (512k); repeatable
    "s" "SIZE" => sets(does!(|call, text| call.sizes.push(size(text)?))),
    /// size of the processor's cache
    "S" "KB" => sets(does!(|call, text| call.show.cache.0 = positive(text)?))
        .note("is shown, and used by nothing here"),
    /// throughput mode: so many processes
    "t" "NUMBER" => sets(|call, text| {
        let count = process_count(text)?;
        processes(call, Some(count), Some(count))
    }),
    /// threads, not processes
    "T" => noted("workers are threads in any case"),
    /// throughput mode: most processes
    "u" "NUMBER" => sets(|call, text| processes(call, None, Some(process_count(text)?))),
    /// unmount and mount between tests
    "U" "MOUNTPOINT" => sets(on!(access.cold))
        .note(
            "the file's pages are dropped from the page cache before each test instead; nothing is \
             unmounted",
        ),
    /// the version
    "v" => acts(Act::Version),
    /// write this byte everywhere and check it when reading
    "V" "BYTE" => sets(|call, text| {
        let byte = u8::try_from(number(text)?);
        call.access.pattern =
            Some(byte.map_err(|_| (format!("'{text}' is no byte"), "give 0 to 255"))?);
        Ok(())
    }),
    /// leave the files
    "w" => sets(on!(keep)),
    /// lock the file around each operation
    "W" => sets(on!(access.lock)),
    /// processes go on when the first has ended
    "x" => sets(does!(|call, _| call.together.stonewall = false)),
    /// a file says what is written
    "X" "FILE" => refused(
        "fathom run --read_iolog=FILE replays what was recorded, in a format that names reads and \
         writes alike",
    ),
    /// smallest record of automatic mode
    "y" "SIZE" => sets(|call, text| {
        call.record_range.least = size(text)?;
        call.records_limited = true;
        Ok(())
    }),
    /// a file says what is read
    "Y" "FILE" => refused(
        "fathom run --read_iolog=FILE replays what was recorded, in a format that names reads and \
         writes alike",
    ),
    /// with -a: small records in large files as well
    "z" => sets(on!(all_records)),
    /// mapped and other I/O mixed
    "Z" => refused(
        "one job has one way to reach its files; measure with -B and without it, one after the \
         other",
    ),
    /// share of a block that compresses
    "+a" "PERCENT" => sets(does!(|call, text| call.access.compress = Some(percent(text)?))),
    /// advice on mapped files (madvise), 0 to 4
    "+A" "NUMBER" => sets(advice).note("is given for the whole mapping as it is made"),
    /// bursts with pauses
    "+b" "KB,MS" => refused(
        "fathom run --thinktime=MSms --thinktime_blocks=NUMBER pauses after so many I/Os",
    ),
    /// the mixed workload goes in sequence
    "+B" => sets(on!(access.sequential_mix)),
    /// share of a block that repeats within it
    "+C" "PERCENT" => refused(REPEATS),
    /// byte diagnostics
    "+d" => refused(
        "-V BYTE writes a byte and checks it, and says which block and which byte of it differs",
    ),
    /// O_DSYNC: each write waits for its data to be on the medium
    "+D" => sets(|call, _| sync(call, Sync::Dsync)),
    /// read a file that is there
    "+E" => noted("is usual: tests that only read take any file that is large enough"),
    /// files begin anew in throughput mode
    "+F" => noted("is usual: -+N keeps what they hold"),
    /// host that controls a cluster
    "+h" "HOST" => refused(CLUSTER),
    /// the file size is that of all processes together
    "+k" => sets(on!(together.constant_total)),
    /// host that tells the time
    "+H" "HOST" => refused(CLUSTER),
    /// pauses of -J count
    "+J" => sets(on!(access.think_counts)).note("rates then hold the pauses too"),
    /// test 8 by hand
    "+K" => refused("-+p PERCENT and -+B say what the mixed workload is"),
    /// lock records
    "+l" => refused(LOCKS),
    /// lock records, shared
    "+L" => refused(LOCKS),
    /// hosts of a cluster
    "+m" "FILE" => refused(CLUSTER),
    /// repeated blocks that compress
    "+M" => refused(REPEATS),
    /// no second results (rewrite, reread)
    "+n" => sets(does!(|call, _| call.retests = false)),
    /// files are not emptied before they are written in sequence
    "+N" => sets(does!(|call, _| call.truncate = false)),
    /// share of reads in the mixed workload (50)
    "+p" "PERCENT" => sets(does!(|call, text| call.access.reads = percent(text)?)),
    /// service that tells the time
    "+P" "SERVICE" => refused(CLUSTER),
    /// pause between tests
    "+q" "SECONDS" => sets(does!(|call, text| call.access.rest_s = number(text)?)),
    /// grain of repeated blocks
    "+Q" "BYTES" => refused(REPEATS),
    /// O_RSYNC and O_SYNC
    "+r" => sets(|call, _| sync(call, Sync::Sync))
        .note("Linux has no O_RSYNC of its own: it is O_SYNC"),
    /// a file names the files
    "+R" "FILE" => refused("name them behind -F"),
    /// files that share repeated blocks
    "+S" "NUMBER" => refused(REPEATS),
    /// network test
    "+t" => refused(CLUSTER),
    /// time stamps
    "+T" => noted("every run has its times in the record"),
    /// show CPU use
    "+u" => sets(on!(show.cpu)),
    /// all processes share one file
    "+V" => sets(on!(together.shared)),
    /// share of writes that repeat a block
    "+w" "PERCENT" => sets(does!(|call, text| call.access.dedupe = Some(percent(text)?))),
    /// with -a: by how much file and record sizes grow (2)
    "+x" "NUMBER" => sets(|call, text| {
        call.factor = match number(text)? {
            factor @ 2.. => factor,
            _ => return Err((format!("sizes never grow by {text}"), "give 2 or more")),
        };
        Ok(())
    }),
    /// number of the first file that shares repeated blocks
    "+W" "NUMBER" => refused(REPEATS),
    /// answer without any I/O
    "+X" => refused(
        "figures of nothing are none; fathom run --ioengine=null measures what fathom itself costs",
    ),
    /// share of repeated blocks within a file
    "+y" "PERCENT" => refused(REPEATS),
    /// old content of blocks
    "+Z" => noted("blocks have fathom's own content, which neither compresses nor repeats"),
    /// latency histogram
    "+z" => noted("latency is shown in any case, and the record holds its histogram"),
};

const CLUSTER: &str = "machines work together by fathom itself: fathom run --server on each of them, \
                       fathom run --client=HOST here";
const REPEATS: &str = "repeated blocks are whole ones, drawn from all that a job wrote: -+w PERCENT says \
                       how many, -+a PERCENT how well blocks compress";
const LOCKS: &str = "ranges of a file are not locked; -W locks the file around each operation";

fn automatic(call: &mut IozoneCommand, _: &str) -> Result<(), Wrong> {
    match call.mode {
        Mode::Throughput { .. } => Err(both_modes()),
        Mode::Single | Mode::Automatic => {
            call.mode = Mode::Automatic;
            Ok(())
        }
    }
}

fn old_automatic(call: &mut IozoneCommand, text: &str) -> Result<(), Wrong> {
    call.all_records = true;
    automatic(call, text)
}

fn both_modes() -> Wrong {
    ("automatic mode (-a) and throughput mode (-t, -l, -u) are two".into(), "choose one")
}

/// Most threads; more are probably a typing error.
const PROCESSES_MAX: u64 = 4096;

fn process_count(text: &str) -> Result<u32, Wrong> {
    match positive(text)? {
        count @ ..=PROCESSES_MAX => Ok(count as u32),
        count => Err((format!("{count} processes are too many"), "give at most 4096")),
    }
}

fn processes(
    call: &mut IozoneCommand,
    fewest: Option<u32>,
    most: Option<u32>,
) -> Result<(), Wrong> {
    let (from, to) = match call.mode {
        Mode::Throughput { from, to } => (from, to),
        Mode::Single => (fewest.or(most).unwrap_or(1), most.or(fewest).unwrap_or(1)),
        Mode::Automatic => return Err(both_modes()),
    };
    call.mode = Mode::Throughput { from: fewest.unwrap_or(from), to: most.unwrap_or(to) };
    Ok(())
}

fn calls(call: &mut IozoneCommand, wanted: IoCalls) -> Result<(), Wrong> {
    match call.access.calls {
        IoCalls::Usual => {
            call.access.calls = wanted;
            Ok(())
        }
        present if present == wanted => Ok(()),
        _ => {
            let what = "-B (mapping), -H and -k (asynchronous) are different ways";
            Err((what.into(), "choose one"))
        }
    }
}

fn asynchronous(call: &mut IozoneCommand, text: &str) -> Result<(), Wrong> {
    match positive(text)? {
        depth @ ..=65_536 => calls(call, IoCalls::Asynchronous(depth as u32)),
        depth => Err((format!("{depth} operations in flight are too many"), "give at most 65536")),
    }
}

fn sync(call: &mut IozoneCommand, wanted: Sync) -> Result<(), Wrong> {
    // O_SYNC includes O_DSYNC.
    if call.access.sync != Sync::Sync {
        call.access.sync = wanted;
    }
    Ok(())
}

fn unit(call: &mut IozoneCommand, wanted: Unit) -> Result<(), Wrong> {
    if call.show.unit != Unit::Kilobytes && call.show.unit != wanted {
        return Err(("-O and -N are two units, and figures have one".into(), "choose one"));
    }
    call.show.unit = wanted;
    Ok(())
}

fn advice(call: &mut IozoneCommand, text: &str) -> Result<(), Wrong> {
    call.access.advice = Some(match number(text)? {
        0 => "0",
        1 => "random",
        2 => "sequential",
        3 | 4 => {
            let what = "MADV_DONTNEED and MADV_WILLNEED would empty or fill the page cache within \
                        the measurement";
            return Err((what.into(), "give 0 (normal), 1 (random) or 2 (sequential)"));
        }
        _ => return Err((format!("'{text}' is no advice"), "give 0 to 2")),
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_is_once_in_the_table_and_in_the_help() {
        let help = help();
        for (index, flag) in FLAGS.iter().enumerate() {
            assert!(!FLAGS[..index].iter().any(|other| other.name == flag.name), "{}", flag.name);
            let line = format!("\n  -{} {}", flag.name, flag.value);
            assert!(help.contains(line.trim_end()), "{}", flag.name);
            let length = flag.name.trim_start_matches('+').chars().count();
            assert_eq!(length, 1, "{}", flag.name);
        }
    }

    #[test]
    fn every_flag_is_in_the_document_with_what_becomes_of_it() {
        let document = include_str!("../../../../docs/IOZONE.md");
        let rows: Vec<String> = sorted().into_iter().map(row).collect();
        let found: Vec<&str> = document.lines().filter(|line| line.starts_with("| `-")).collect();
        assert_eq!(found, rows, "the table should be:\n{}", rows.join("\n"));
    }

    fn row(flag: &Flag) -> String {
        let becomes = match flag.act {
            Act::Refused(why) => format!("refused: {why}"),
            _ if !flag.note.is_empty() => flag.note.to_owned(),
            _ => "works".into(),
        };
        let name = format!("-{} {}", flag.name, flag.value);
        format!("| `{}` | {} | {becomes} |", name.trim_end(), flag.doc)
    }
}
