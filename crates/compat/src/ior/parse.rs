//! Parses a command line into an [`IorCommand`].
//!
//! `-b 4k`, `-b=4k`, `-b4k`, `--name value`, `--name=value`. Letters without a value may be combined
//! (-wrk), count if they are repeated, and take `=0`.

use super::flags::{Act, Counter, Flag, by_letter, by_name};
use super::{IorCommand, Packet, TOOL, layout};
use crate::Usage;

/// The request of a command line.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Measure.
    Run(Box<IorCommand>),
    /// Print help.
    Help,
}

/// Parses a command line, without the program's name.
///
/// # Errors
/// The first mistake.
pub fn parse(arguments: &[String]) -> Result<Request, Usage> {
    let mut reader = Reader { call: IorCommand::default(), rest: arguments, help: false };
    while let Some((word, rest)) = reader.rest.split_first() {
        reader.rest = rest;
        match (word.strip_prefix("--"), word.strip_prefix('-')) {
            (Some(long), _) => reader.long(long)?,
            (None, Some(letters)) if !letters.is_empty() => reader.letters(letters)?,
            _ => return Err(wrong(word, "is no option", "name the file with -o")),
        }
    }
    match reader.help {
        true => Ok(Request::Help),
        false => Ok(Request::Run(Box::new(finish(reader.call)?))),
    }
}

struct Reader<'a> {
    call: IorCommand,
    /// The remaining words.
    rest: &'a [String],
    /// Whether help was asked for.
    help: bool,
}

const LISTED: &str = "fathom ior -h lists the options";
const UNKNOWN: &str = "is not an option of fathom ior";

fn wrong(flag: &str, what: impl Into<String>, cure: impl Into<String>) -> Usage {
    Usage::line(TOOL, flag, what, cure)
}

impl Reader<'_> {
    fn letters(&mut self, letters: &str) -> Result<(), Usage> {
        let mut rest = letters;
        while let Some(letter) = rest.chars().next() {
            rest = &rest[letter.len_utf8()..];
            let shown = format!("-{letter}");
            let Some(flag) = by_letter(letter) else {
                return Err(wrong(&shown, UNKNOWN, LISTED));
            };
            if !flag.value.is_empty() {
                let value = match rest {
                    "" => self.next(&shown, flag.value)?,
                    attached => attached.strip_prefix('=').unwrap_or(attached).to_owned(),
                };
                return self.act(&shown, flag, Some(&value));
            }
            match rest.strip_prefix('=') {
                Some(number) => return self.act(&shown, flag, Some(number)),
                None => self.act(&shown, flag, None)?,
            }
        }
        Ok(())
    }

    fn long(&mut self, word: &str) -> Result<(), Usage> {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word, None),
        };
        let shown = format!("--{name}");
        if self.own(name, &shown, value.as_ref())? {
            return Ok(());
        }
        let flag = match name {
            "help" => by_letter('h'),
            "tasks" => by_letter('N'),
            _ => by_name(name),
        };
        let Some(flag) = flag else {
            return Err(wrong(&shown, UNKNOWN, LISTED));
        };
        let value = match (value, flag.value) {
            (None, needed) if !needed.is_empty() => Some(self.next(&shown, needed)?),
            (value, _) => value,
        };
        self.act(&shown, flag, value.as_deref())
    }

    /// Takes an option of fathom. Returns whether it is one.
    fn own(&mut self, name: &str, shown: &str, value: Option<&String>) -> Result<bool, Usage> {
        if matches!(name, "allow-destroy" | "record") {
            let path = value.map_or_else(|| self.next(shown, "FILE"), |path| Ok(path.clone()))?;
            match name {
                "record" => self.call.own.record = Some(path),
                _ => self.call.own.allow_destroy.push(path),
            }
            return Ok(true);
        }
        let own = &mut self.call.own;
        let switch = match name {
            "no-archive" | "no-record" => &mut own.no_archive,
            "with-serials" => &mut own.with_serials,
            _ => return Ok(false),
        };
        match value {
            None => *switch = true,
            Some(_) => return Err(wrong(shown, "takes no value", "leave it away")),
        }
        Ok(true)
    }

    fn next(&mut self, shown: &str, value: &str) -> Result<String, Usage> {
        let missing = || wrong(shown, format!("has no {value} behind it"), LISTED);
        let (next, rest) = self.rest.split_first().ok_or_else(missing)?;
        self.rest = rest;
        Ok(next.clone())
    }

    /// The directives of `-O`.
    fn directives(&mut self, all: &str) -> Result<(), Usage> {
        for directive in all.split(',').filter(|directive| !directive.is_empty()) {
            let shown = format!("-O {directive}");
            let Some((name, value)) = directive.split_once('=') else {
                return Err(wrong(&shown, "has no value", "give -O name=value"));
            };
            let Some(flag) = by_name(name) else {
                return Err(wrong(&shown, UNKNOWN, LISTED));
            };
            self.act(&shown, flag, Some(value))?;
        }
        Ok(())
    }

    fn act(&mut self, shown: &str, flag: &Flag, value: Option<&str>) -> Result<(), Usage> {
        match flag.act {
            Act::Set(set) => set(&mut self.call, value.unwrap_or_default())
                .map_err(|what| wrong(shown, what, format!("{shown}: {}", flag.doc))),
            Act::Count(place) => {
                let number = value.map(str::parse).transpose().map_err(|_| {
                    let what = format!("'{}' is not a number", value.unwrap_or_default());
                    wrong(shown, what, "leave it away, or give 0 or 1")
                })?;
                let place: Counter<'_> = place(&mut self.call);
                place.set(number);
                Ok(())
            }
            Act::Noted => {
                self.call.notes.push(format!("{shown}: {}", flag.note));
                Ok(())
            }
            Act::Directives => self.directives(value.unwrap_or_default()),
            Act::Help => {
                self.help = true;
                Ok(())
            }
            Act::Refused(why) => {
                Err(wrong(shown, format!("cannot be had here: {}", flag.doc), why))
            }
        }
    }
}

/// More transfers than these in random order would need too much memory to list.
const LISTED_MAX: u64 = 1 << 22;

/// Checks the options in combination.
fn finish(mut call: IorCommand) -> Result<IorCommand, Usage> {
    if !(call.write || call.read || call.check_write || call.check_read) {
        (call.write, call.read) = (true, true);
    }
    check_sizes(&call)?;
    check_order(&call)?;
    check_data(&call)?;
    check_files(&call)?;
    if call.reorder {
        call.notes.push(
            "-C: all tasks are on one host, so each reads what it wrote itself; -ZZ moves them"
                .into(),
        );
    }
    if call.is_stamped() && call.packet != Packet::Timestamp {
        call.notes.push("-l: data that -W, -R or -G stamps is not filled another way".into());
    }
    Ok(call)
}

fn check_sizes(call: &IorCommand) -> Result<(), Usage> {
    if !call.block.is_multiple_of(call.transfer) {
        let what = format!("{} bytes are not a multiple of -t {}", call.block, call.transfer);
        return Err(wrong("-b", what, "make the block a multiple of the transfer"));
    }
    if !call.transfer.is_multiple_of(8) {
        let what = format!("{} bytes are not a multiple of 8", call.transfer);
        return Err(wrong("-t", what, "make it a multiple of 8"));
    }
    if call.transfer > u64::from(u32::MAX) {
        return Err(wrong("-t", "transfers are 4 GiB at most", "lower -t"));
    }
    let total = call.block.checked_mul(call.segments);
    let total = total.and_then(|bytes| bytes.checked_mul(u64::from(call.tasks)));
    match total {
        Some(bytes) if bytes < 1 << 62 => Ok(()),
        _ => Err(wrong("-b", "the files would be larger than any file can be", "lower -b or -s")),
    }
}

fn check_order(call: &IorCommand) -> Result<(), Usage> {
    let reorders = call.reorder || call.reorder_random > 0;
    if call.random_offset == 1 && call.block == call.transfer {
        let what = "a block is one transfer, so there is no order in it to draw";
        return Err(wrong("-z", what, "raise -b, or give -zz"));
    }
    if call.random_offset > 0 && reorders && !call.per_process {
        let what = "deals the transfers of a shared file out anew, so -C and -Z mean nothing";
        return Err(wrong("-z", what, "add -F, or leave -C and -Z away"));
    }
    if call.reorder && call.reorder_random > 0 {
        return Err(wrong("-C", "-Z is given as well", "leave one of them away"));
    }
    if layout::listed(call) > LISTED_MAX {
        let what = format!("{} transfers in random order", layout::listed(call));
        return Err(wrong("-z", what, format!("lower -b, -s or -N: {LISTED_MAX} are the most")));
    }
    Ok(())
}

fn check_data(call: &IorCommand) -> Result<(), Usage> {
    if call.check_read && !call.write && call.signature.is_none() {
        let what = "nothing is written, so what should be read is not known";
        return Err(wrong(
            "-R",
            what,
            "add -w, or -G with the number that the data was written with",
        ));
    }
    if call.check_write && !call.write {
        let what = "nothing is written that could be checked";
        return Err(wrong("-W", what, "add -w, or give -R -G N"));
    }
    if call.deadline_s > 0 && call.check_write {
        let what = "compares all that -w writes, and -D ends writes early";
        return Err(wrong("-W", what, "leave one of them away"));
    }
    if call.deadline_s > 0 && call.random_offset > 1 && call.write && call.phases().len() > 1 {
        let what = "reads anywhere in the file, and -D ends writes before the file is whole";
        return Err(wrong("-zz", what, "give -z, or leave -D away"));
    }
    if call.api == super::Api::Mmap && call.direct {
        let what = "-a MMAP is given, and a mapping is the page cache";
        return Err(wrong("--posix.odirect", what, "leave one of them away"));
    }
    Ok(())
}

fn check_files(call: &IorCommand) -> Result<(), Usage> {
    if !call.per_process && call.file.contains('@') {
        return Err(wrong("-o", "names several files, and all tasks share one", "add -F"));
    }
    if call.unique_dir && !call.per_process {
        return Err(wrong("-u", "is about the files of -F", "add -F"));
    }
    if call.multi_file && call.read && !call.write && call.repetitions > 1 {
        let what = "names a new file for each repetition, and nothing writes them";
        return Err(wrong("-m", what, "add -w, or leave it away"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Api, Format, Phase, help};
    use super::*;

    fn read(line: &str) -> Result<Request, Usage> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&words)
    }

    #[track_caller]
    fn call(line: &str) -> IorCommand {
        match read(line) {
            Ok(Request::Run(call)) => *call,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn every_way_to_write_an_option_is_read() {
        for line in
            ["-b 4m", "-b=4m", "-b4m", "--blockSize=4m", "--blockSize 4m", "-O blockSize=4m"]
        {
            assert_eq!(call(line).block, 4 << 20, "{line}");
        }
        let all =
            call("-wrk -zz -Z=0 -e=0 -N 4 -a aio --aio.max-pending=16 -O useO_DIRECT=1,refNum=-3");
        assert!(all.write && all.read && all.keep && all.direct && !all.fsync);
        assert_eq!((all.random_offset, all.reorder_random, all.tasks), (2, 0, 4));
        assert_eq!((all.api, all.pending, all.reference), (Api::Aio, 16, -3));
        assert_eq!(call("--tasks=3").tasks, 3);
        assert_eq!(call("-O summaryFormat=json,summaryFile=x").format, Format::Json);
    }

    #[test]
    fn help_is_printed_wherever_it_is_asked_for() {
        for line in ["-h", "--help", "-wrh", "-b 4k -h -F"] {
            assert_eq!(read(line), Ok(Request::Help), "{line}");
        }
    }

    #[test]
    fn without_phases_it_writes_and_reads() {
        assert_eq!(call("").phases(), [Phase::Write, Phase::Read]);
        assert_eq!(call("-w -W").phases(), [Phase::Write, Phase::Check]);
        assert_eq!(call("-w -R").phases(), [Phase::Write, Phase::Read]);
        assert_eq!(call("-r").phases(), [Phase::Read]);
    }

    #[test]
    fn what_ior_refuses_is_refused_with_a_cure() {
        for (line, flag) in [
            ("-b 5 -t 4", "-b"),
            ("-b 12 -t 12", "-t"),
            ("-b 4k -t 4k -z", "-z"),
            ("-z -C", "-z"),
            ("-F -C -Z", "-C"),
            ("-r -R", "-R"),
            ("-r -W", "-W"),
            ("-D 1 -O stoneWallingWearOut=1", "-O stoneWallingWearOut=1"),
            ("-a MPIIO", "-a"),
            ("-f script", "-f"),
            ("-N 0", "-N"),
            ("-N", "-N"),
            ("-y", "-y"),
            ("-O nothing=1", "-O nothing=1"),
            ("-o a@b", "-o"),
            ("--nothing", "--nothing"),
            ("file", "file"),
            ("-b 8p -s 8t", "-b"),
            ("-F -t 8 -b 1g -z", "-z"),
            ("-zz -F -D 1", "-zz"),
            ("--=5", "--"),
        ] {
            let error = read(line).expect_err(line);
            assert_eq!(error.flag, flag, "{line}: {error}");
            assert!(!error.cure.is_empty() && !error.what.is_empty(), "{line}");
        }
    }

    #[test]
    fn the_examples_of_the_help_are_right_and_its_lines_fit() {
        let help = help();
        let examples = help.lines().filter_map(|line| line.strip_prefix("  fathom ior "));
        let mut count = 0;
        for example in examples {
            let line = example.split("   ").next().unwrap();
            assert!(read(line).is_ok(), "{line}: {:?}", read(line));
            count += 1;
        }
        assert_eq!(count, 5);
        let long: Vec<&str> = help.lines().filter(|line| line.chars().count() > 100).collect();
        assert_eq!(long, Vec::<&str>::new());
    }
}
