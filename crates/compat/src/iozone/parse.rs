//! Parses a command line into an [`IozoneCommand`].
//!
//! Flags are read as getopt(3) reads them: letters without a value may be combined (-Rac), and a
//! value may follow its letter at once (-s1g) or as the next word. Flags that begin with -+ have
//! one more letter and cannot be combined. fathom's own options begin with two dashes.

use super::flags::{self, Act, Flag};
use super::operation::Operation;
use super::value::Wrong;
use super::{IoCalls, IozoneCommand, Mode, TOOL, Together};
use crate::Usage;

/// The request of a command line.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Measure.
    Run(Box<IozoneCommand>),
    /// Print help.
    Help,
    /// Print the version.
    Version,
}

/// Parses a command line, without the program's name.
///
/// # Errors
/// The first mistake.
pub fn parse(arguments: &[String]) -> Result<Request, Usage> {
    if arguments.is_empty() {
        let cure = "-a runs all of them over all sizes, -s 64m -r 64k at one; -h lists the flags";
        return Err(wrong("no flags", "no test is asked for", cure));
    }
    let mut reader = Reader { call: IozoneCommand::default(), rest: arguments, asked: None };
    while let Some((first, rest)) = reader.rest.split_first() {
        reader.rest = rest;
        reader.word(first)?;
    }
    match reader.asked {
        Some(request) => Ok(request),
        None => Ok(Request::Run(Box::new(finish(reader.call)?))),
    }
}

struct Reader<'a> {
    call: IozoneCommand,
    /// The remaining words.
    rest: &'a [String],
    /// The request for help or the version, if any.
    asked: Option<Request>,
}

impl Reader<'_> {
    fn word(&mut self, word: &str) -> Result<(), Usage> {
        if let Some(own) = word.strip_prefix("--") {
            return self.own(own);
        }
        if let Some(after) = word.strip_prefix("-+") {
            return self.letters("+", after);
        }
        match word.strip_prefix('-') {
            Some(letters) if !letters.is_empty() => self.letters("", letters),
            _ => {
                let cure = "name the file with -f; fathom iozone -h lists the flags";
                Err(wrong(word, "is no flag", cure))
            }
        }
    }

    /// Parses letters up to the end of the word, or to the first one that takes the rest as its
    /// value.
    fn letters(&mut self, prefix: &str, letters: &str) -> Result<(), Usage> {
        let mut rest = letters;
        loop {
            let Some(letter) = rest.chars().next() else {
                return match prefix.is_empty() || !letters.is_empty() {
                    true => Ok(()),
                    false => Err(wrong("-+", "has no letter behind it", LISTED)),
                };
            };
            rest = &rest[letter.len_utf8()..];
            let name = format!("{prefix}{letter}");
            let Some(flag) = flags::find(&name) else {
                return Err(wrong(&format!("-{name}"), "is no flag of IOzone's", LISTED));
            };
            if flag.takes_names() {
                return self.names(rest);
            }
            if !flag.value.is_empty() {
                let value = self.value(flag, rest)?;
                return self.act(flag, &value);
            }
            self.act(flag, "")?;
            if !prefix.is_empty() {
                return match rest.is_empty() {
                    true => Ok(()),
                    false => {
                        let what = format!("-{name} takes no value");
                        Err(wrong(&format!("-{name}{rest}"), what, "leave it away"))
                    }
                };
            }
        }
    }

    /// The value of a flag: the rest of its word, or the next word.
    fn value(&mut self, flag: &Flag, rest: &str) -> Result<String, Usage> {
        if !rest.is_empty() {
            return Ok(rest.to_owned());
        }
        let missing = || {
            let what = format!("has no {} behind it", flag.value);
            wrong(&format!("-{}", flag.name), what, flag.doc)
        };
        let (next, rest) = self.rest.split_first().ok_or_else(missing)?;
        self.rest = rest;
        Ok(next.clone())
    }

    /// The files after -F, up to the next flag.
    fn names(&mut self, rest: &str) -> Result<(), Usage> {
        if !rest.is_empty() {
            self.call.files.push(rest.to_owned());
        }
        while let Some((name, rest)) = self.rest.split_first().filter(|(n, _)| !n.starts_with('-'))
        {
            self.call.files.push(name.clone());
            self.rest = rest;
        }
        match self.call.files.is_empty() || self.call.files.iter().any(String::is_empty) {
            true => Err(wrong("-F", "has no names behind it", "name a file for each process")),
            false => Ok(()),
        }
    }

    fn act(&mut self, flag: &Flag, value: &str) -> Result<(), Usage> {
        let name = format!("-{}", flag.name);
        let wrong = |(what, cure): Wrong| wrong(&name, what, cure);
        match flag.act {
            Act::Set(set) => {
                set(&mut self.call, value).map_err(wrong)?;
                if !flag.note.is_empty() {
                    self.call.notes.push(format!("{name}: {}", flag.note));
                }
                Ok(())
            }
            Act::Refused(why) => Err(wrong((format!("cannot be had here: {}", flag.doc), why))),
            Act::Help => {
                self.asked = Some(Request::Help);
                Ok(())
            }
            Act::Version => {
                self.asked = Some(Request::Version);
                Ok(())
            }
            Act::Names => Ok(()),
        }
    }

    /// Parses an option of fathom.
    fn own(&mut self, word: &str) -> Result<(), Usage> {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word, None),
        };
        let flag = format!("--{name}");
        let own = &mut self.call.own;
        match (name, &value) {
            ("no-archive" | "no-record", None) => own.no_archive = true,
            ("with-serials", None) => own.with_serials = true,
            ("json", None) => own.json = true,
            ("help", None) => self.asked = Some(Request::Help),
            ("version", None) => self.asked = Some(Request::Version),
            ("allow-destroy", _) => {
                let value = self.own_value(&flag, value)?;
                self.call.own.allow_destroy.push(value);
            }
            ("record", _) => self.call.own.record = Some(self.own_value(&flag, value)?),
            (
                "no-archive" | "no-record" | "with-serials" | "json" | "help" | "version",
                Some(_),
            ) => {
                return Err(wrong(&flag, "takes no value", "leave it away"));
            }
            _ => return Err(wrong(&flag, "is no flag of fathom's here", LISTED)),
        }
        Ok(())
    }

    fn own_value(&mut self, flag: &str, value: Option<String>) -> Result<String, Usage> {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            return Ok(value);
        }
        let missing = || wrong(flag, "has no path behind it", format!("give {flag}=PATH"));
        let (next, rest) = self.rest.split_first().ok_or_else(missing)?;
        self.rest = rest;
        Ok(next.clone())
    }
}

const LISTED: &str = "fathom iozone -h lists the flags";

fn wrong(flag: &str, what: impl Into<String>, cure: impl Into<String>) -> Usage {
    Usage::line(TOOL, flag, what, cure)
}

/// The default tests.
const USUAL_TESTS: std::ops::RangeInclusive<u8> = 0..=7;

/// Checks the flags in combination.
fn finish(mut call: IozoneCommand) -> Result<IozoneCommand, Usage> {
    let throughput = matches!(call.mode, Mode::Throughput { .. });
    if call.tests.is_empty() {
        call.tests = USUAL_TESTS.chain(throughput.then_some(8)).collect();
        if throughput {
            call.tests.retain(|test| has_phase(*test));
        }
    }
    if call.positioned {
        call.tests.extend([9, 10]);
    }
    call.tests.sort_unstable();
    call.tests.dedup();
    check_tests(&call)?;
    check_access(&call)?;
    check_sizes(&call)?;
    check_together(&call)?;
    note_limits(&mut call);
    Ok(call)
}

/// Whether throughput mode has a phase for a test.
fn has_phase(test: u8) -> bool {
    Operation::in_throughput().any(|operation| operation.kind().test == test)
}

fn check_tests(call: &IozoneCommand) -> Result<(), Usage> {
    let throughput = matches!(call.mode, Mode::Throughput { .. });
    let phaseless = call.tests.iter().find(|test| throughput && !has_phase(**test));
    if let Some(test) = phaseless {
        let what = "has no form for several processes";
        return Err(wrong(&format!("-i {test}"), what, "leave -t away, or the test"));
    }
    if !throughput && call.tests.contains(&8) {
        return Err(wrong("-i 8", "the mixed workload is of several processes", "add -t NUMBER"));
    }
    Ok(())
}

fn check_access(call: &IozoneCommand) -> Result<(), Usage> {
    let access = &call.access;
    if access.direct && access.calls == IoCalls::Mapping {
        let what = "-B is given as well, and a mapping is the page cache, which O_DIRECT goes past";
        return Err(wrong("-I", what, "leave one of them away"));
    }
    if access.advice.is_some() && access.calls != IoCalls::Mapping {
        return Err(wrong("-+A", "advises of mappings", "add -B"));
    }
    if access.pattern.is_some() && (access.dedupe.is_some() || access.compress.is_some()) {
        let what =
            "-+w or -+a is given as well, and a pattern that is checked is the same everywhere";
        return Err(wrong("-V", what, "leave one of them away"));
    }
    Ok(())
}

fn check_sizes(call: &IozoneCommand) -> Result<(), Usage> {
    for (flag, range) in [("-n", call.size_range), ("-y", call.record_range)] {
        if range.least > range.most {
            let what = format!("{} kB to {} kB is no range", range.least, range.most);
            let most = if flag == "-n" { "-g" } else { "-q" };
            return Err(wrong(flag, what, format!("raise {most}, or lower {flag}")));
        }
    }
    match call.grid().is_empty() {
        false => Ok(()),
        true => {
            let cure = "lower -r or -y, or raise -s or -g";
            Err(wrong("-r", "every record is larger than its file", cure))
        }
    }
}

/// Limits of automatic mode have no effect without it, as in IOzone.
fn note_limits(call: &mut IozoneCommand) {
    let usual = IozoneCommand::default();
    let limited = call.size_range != usual.size_range
        || call.records_limited
        || call.all_records
        || call.factor != usual.factor;
    if limited && call.mode != Mode::Automatic {
        call.notes.push("-n, -g, -y, -q, -z, -+x: limit -a, which is not given".into());
    }
}

/// Refuses flags for several processes if there is only one.
fn check_alone(call: &IozoneCommand) -> Result<(), Usage> {
    let usual =
        Together { first_cpu: call.together.first_cpu, ..IozoneCommand::default().together };
    let (flag, what) = if !call.files.is_empty() {
        ("-F", "names a file for each process")
    } else if call.together != usual {
        ("-x, -d, -+k, -+V", "are about several processes")
    } else if call.show.children {
        ("-C", "is about several processes")
    } else {
        return Ok(());
    };
    Err(wrong(flag, what, "add -t NUMBER, or leave it away"))
}

fn check_together(call: &IozoneCommand) -> Result<(), Usage> {
    let Mode::Throughput { from, to } = call.mode else { return check_alone(call) };
    let together = &call.together;
    if from > to {
        return Err(wrong("-l", format!("{from} processes to {to} is no range"), "raise -u"));
    }
    if !call.files.is_empty() && (call.files.len() as u64) < u64::from(to) && !together.shared {
        let what = format!("{} files for {to} processes", call.files.len());
        return Err(wrong("-F", what, "name one for each"));
    }
    let mut names = call.files.clone();
    names.sort_unstable();
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(wrong("-F", "a file is named twice", "for one file of all give -+V"));
    }
    if call.access.pattern.is_some() && together.stonewall {
        let what = "checks whole files, and -t leaves them in part when the first process ends";
        return Err(wrong("-V", what, "add -x"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
