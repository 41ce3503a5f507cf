//! What IOR and mdtest share: the syntax of their options, and how figures are made and shown.
//!
//! `-b 4k`, `-b=4k`, `-b4k`, `--name value`, `--name=value`. Letters without a value may be combined
//! (-wrk), count if they are repeated, and take `=0`.

mod steps;

use crate::Usage;
use judge::{Finding, Judged, Verdict};
use record::{Direction, Terminology};
use report::style::Style;
use report::verdict;
use std::collections::BTreeSet;

/// An option of a tool whose call is a `C`. Directives are set with `-O name=value`.
pub(crate) struct Flag<C> {
    /// Its letter, or its name after two dashes; empty: only the directive.
    pub name: &'static str,
    /// Its directive; empty: none.
    pub directive: &'static str,
    /// The name of its value; empty: it is set, or counted if it is repeated.
    pub value: &'static str,
    /// A short description.
    pub doc: &'static str,
    /// Its effect.
    pub act: Act<C>,
    /// What differs from the tool; empty: nothing.
    pub note: &'static str,
}

/// The effect of an option.
pub(crate) enum Act<C> {
    /// It sets a value.
    Set(fn(&mut C, &str) -> Result<(), String>),
    /// It is set, cleared or counted.
    Count(fn(&mut C) -> Counter<'_>),
    /// It is accepted and ignored; [`Flag::note`] is printed.
    Noted,
    /// It is not supported, for this reason.
    Refused(&'static str),
    /// Directives follow.
    Directives,
    /// It prints help.
    Help,
}

/// The place of an option without a value.
pub(crate) enum Counter<'a> {
    /// On or off.
    Switch(&'a mut bool),
    /// How often it was given.
    Number(&'a mut u32),
}

/// The request of a command line.
#[derive(Clone, Debug, PartialEq)]
pub enum Request<C> {
    /// Measure.
    Run(Box<C>),
    /// Print help.
    Help,
}

/// The call of a tool.
pub(crate) trait Call: Default + 'static {
    /// The name of the tool.
    const TOOL: &'static str;
    /// Its options.
    const FLAGS: &'static [Flag<Self>];
    /// What to do with a word that is no option.
    const NO_OPERANDS: &'static str;

    /// Where fathom's own options go.
    fn own(&mut self) -> &mut Own;

    /// Options that are ignored, with the reason.
    fn notes(&mut self) -> &mut Vec<String>;

    /// Checks the options in combination, and sets what follows from them.
    ///
    /// # Errors
    /// The first mistake.
    fn finish(&mut self) -> Result<(), Usage>;
}

/// fathom's own options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// Files that may be overwritten, whatever they hold.
    pub allow_destroy: Vec<String>,
    /// A file for the records.
    pub record: Option<String>,
    /// No archive.
    pub no_archive: bool,
    /// Serial numbers stay in the records.
    pub with_serials: bool,
}

// The closures below name the call of a tool as `Command`, which the module of its table defines.

/// The table: for each option its description as a doc comment, its name, its directive, its value if
/// it has one, and its effect.
macro_rules! flags {
    ($(#[doc = $doc:literal] $name:literal $directive:literal $($value:literal)? => $flag:expr,)+) => {
        &[$($crate::hpc::Flag {
            name: $name,
            directive: $directive,
            value: concat!($($value)?),
            doc: $doc.trim_ascii(),
            ..$flag
        }),+]
    };
}

/// An option whose value is stored by an assignment.
macro_rules! sets {
    (|$call:ident, $text:ident| $change:expr) => {
        $crate::hpc::acts($crate::hpc::Act::Set(|$call: &mut Command, $text| {
            $change;
            Ok(())
        }))
    };
}

/// An option that is on or off.
macro_rules! switch {
    ($field:ident) => {
        $crate::hpc::acts($crate::hpc::Act::Count(|call: &mut Command| {
            $crate::hpc::Counter::Switch(&mut call.$field)
        }))
    };
}

/// An option that is counted.
macro_rules! counts {
    ($field:ident) => {
        $crate::hpc::acts($crate::hpc::Act::Count(|call: &mut Command| {
            $crate::hpc::Counter::Number(&mut call.$field)
        }))
    };
}

pub(crate) use steps::{cell, of_task, option, phase_of};
pub(crate) use {counts, flags, sets, switch};

/// An option with this effect.
pub(crate) const fn acts<C>(act: Act<C>) -> Flag<C> {
    Flag { name: "", directive: "", value: "", doc: "", act, note: "" }
}

/// An option that is refused for this reason.
pub(crate) const fn refused<C>(why: &'static str) -> Flag<C> {
    acts(Act::Refused(why))
}

/// An option that is accepted and ignored, for this reason.
pub(crate) const fn noted<C>(note: &'static str) -> Flag<C> {
    acts(Act::Noted).note(note)
}

impl<C> Flag<C> {
    /// With what differs from the tool.
    pub const fn note(mut self, note: &'static str) -> Flag<C> {
        self.note = note;
        self
    }

    /// As it is typed, with the name of its value.
    fn usage(&self) -> String {
        let text = match (self.name.len(), self.value) {
            (0, value) => format!("-O {}={value}", self.directive),
            (1, value) => format!("-{} {value}", self.name),
            (_, "") => format!("--{}", self.name),
            (_, value) => format!("--{}={value}", self.name),
        };
        text.trim_end().to_owned()
    }
}

impl Counter<'_> {
    /// Given once more, or with this number.
    fn set(self, number: Option<u32>) {
        match self {
            Counter::Switch(switch) => *switch = number != Some(0),
            Counter::Number(count) => *count = number.unwrap_or(*count + 1),
        }
    }
}

const OWN: &str = "
fathom's own:
  --allow-destroy=FILE  overwrite this file, whatever it holds; repeatable
  --record=FILE         keep the records of all runs in this file as well as in the archive
  --no-archive          do not archive the runs
  --with-serials        keep serial numbers of disks in them
";

/// The lines of the help that list the options.
pub(crate) fn help<C: Call>() -> String {
    let mut out = String::new();
    for flag in C::FLAGS {
        let directive = match flag.name {
            "" => String::new(),
            _ if flag.directive.is_empty() => String::new(),
            _ => format!(" [{}]", flag.directive),
        };
        let refused = match flag.act {
            Act::Refused(_) => " (refused, with the reason)",
            _ => "",
        };
        let left = flag.usage();
        let gap = if left.len() > 24 { format!("\n{:26}", "") } else { String::new() };
        out += &format!("  {left:<24}{gap} {}{directive}{refused}\n", flag.doc);
    }
    out + OWN
}

/// Parses a command line, without the program's name.
///
/// # Errors
/// The first mistake.
pub(crate) fn parse<C: Call>(arguments: &[String]) -> Result<Request<C>, Usage> {
    let mut reader = Reader { call: C::default(), rest: arguments, help: false };
    while let Some((word, rest)) = reader.rest.split_first() {
        reader.rest = rest;
        match (word.strip_prefix("--"), word.strip_prefix('-')) {
            (Some(long), _) => reader.long(long)?,
            (None, Some(letters)) if !letters.is_empty() => reader.letters(letters)?,
            _ => return Err(wrong::<C>(word, "is no option", C::NO_OPERANDS)),
        }
    }
    if reader.help {
        return Ok(Request::Help);
    }
    reader.call.finish()?;
    Ok(Request::Run(Box::new(reader.call)))
}

/// A mistake in a command line.
pub(crate) fn wrong<C: Call>(
    flag: &str,
    what: impl Into<String>,
    cure: impl Into<String>,
) -> Usage {
    Usage::line(C::TOOL, flag, what, cure)
}

fn unknown<C: Call>(shown: &str) -> Usage {
    wrong::<C>(shown, format!("is not an option of fathom {}", C::TOOL), listed::<C>())
}

fn listed<C: Call>() -> String {
    format!("fathom {} -h lists the options", C::TOOL)
}

/// The option with a letter.
fn by_letter<C: Call>(letter: char) -> Option<&'static Flag<C>> {
    C::FLAGS.iter().find(|flag| flag.name.strip_prefix(letter) == Some(""))
}

/// The option with a long name: its own, or its directive's.
fn by_name<C: Call>(name: &str) -> Option<&'static Flag<C>> {
    let is = |own: &str| own.len() > 1 && own.eq_ignore_ascii_case(name);
    C::FLAGS.iter().find(|flag| is(flag.name) || is(flag.directive))
}

struct Reader<'a, C> {
    call: C,
    /// The remaining words.
    rest: &'a [String],
    /// Whether help was asked for.
    help: bool,
}

impl<C: Call> Reader<'_, C> {
    fn letters(&mut self, letters: &str) -> Result<(), Usage> {
        let mut rest = letters;
        while let Some(letter) = rest.chars().next() {
            rest = &rest[letter.len_utf8()..];
            let shown = format!("-{letter}");
            let flag = by_letter(letter).ok_or_else(|| unknown::<C>(&shown))?;
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
        let flag = if name == "help" { by_letter('h') } else { by_name(name) };
        let flag = flag.ok_or_else(|| unknown::<C>(&shown))?;
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
                "record" => self.call.own().record = Some(path),
                _ => self.call.own().allow_destroy.push(path),
            }
            return Ok(true);
        }
        let own = self.call.own();
        let switch = match name {
            "no-archive" | "no-record" => &mut own.no_archive,
            "with-serials" => &mut own.with_serials,
            _ => return Ok(false),
        };
        match value {
            None => *switch = true,
            Some(_) => return Err(wrong::<C>(shown, "takes no value", "leave it away")),
        }
        Ok(true)
    }

    fn next(&mut self, shown: &str, value: &str) -> Result<String, Usage> {
        let missing = || wrong::<C>(shown, format!("has no {value} behind it"), listed::<C>());
        let (next, rest) = self.rest.split_first().ok_or_else(missing)?;
        self.rest = rest;
        Ok(next.clone())
    }

    /// The directives of `-O`.
    fn directives(&mut self, all: &str) -> Result<(), Usage> {
        for directive in all.split(',').filter(|directive| !directive.is_empty()) {
            let shown = format!("-O {directive}");
            let Some((name, value)) = directive.split_once('=') else {
                return Err(wrong::<C>(&shown, "has no value", "give -O name=value"));
            };
            let flag = by_name(name).ok_or_else(|| unknown::<C>(&shown))?;
            self.act(&shown, flag, Some(value))?;
        }
        Ok(())
    }

    fn act(&mut self, shown: &str, flag: &Flag<C>, value: Option<&str>) -> Result<(), Usage> {
        let text = value.unwrap_or_default();
        match flag.act {
            Act::Set(set) => set(&mut self.call, text)
                .map_err(|what| wrong::<C>(shown, what, format!("{shown}: {}", flag.doc))),
            Act::Count(place) => {
                let number = value.map(str::parse).transpose().map_err(|_| {
                    let what = format!("'{text}' is not a number");
                    wrong::<C>(shown, what, "leave it away, or give 0 or 1")
                })?;
                place(&mut self.call).set(number);
                Ok(())
            }
            Act::Noted => {
                self.call.notes().push(format!("{shown}: {}", flag.note));
                Ok(())
            }
            Act::Directives => self.directives(text),
            Act::Help => {
                self.help = true;
                Ok(())
            }
            Act::Refused(why) => {
                Err(wrong::<C>(shown, format!("cannot be had here: {}", flag.doc), why))
            }
        }
    }
}

/// A whole number with k, m, g, t or p behind it, in powers of 1024.
pub(crate) fn number(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        "p" => 50,
        _ => return Err(no_number(text)),
    };
    let value: u64 = digits.parse().map_err(|_| no_number(text))?;
    value.checked_mul(1 << shift).ok_or_else(|| format!("'{text}' is too large"))
}

fn no_number(text: &str) -> String {
    format!("'{text}' is not a whole number, with k, m, g, t or p behind it if need be")
}

/// A number above 0.
pub(crate) fn positive(text: &str) -> Result<u64, String> {
    match number(text)? {
        0 => Err(format!("'{text}' is not above 0")),
        value => Ok(value),
    }
}

/// A number above 0 that fits into 32 bits.
pub(crate) fn small(text: &str) -> Result<u32, String> {
    u32::try_from(positive(text)?).map_err(|_| format!("'{text}' is too large"))
}

/// The hosts of tasks: how many there are, and how many tasks further the first task of another host is (0
/// with one host).
pub(crate) fn nodes(hosts: &[String]) -> (u32, u32) {
    let next = hosts.iter().position(|host| host != &hosts[0]);
    let different: BTreeSet<&String> = hosts.iter().collect();
    (different.len().max(1) as u32, next.unwrap_or(0) as u32)
}

/// A number of tasks: workers of this machine, or ranks.
pub(crate) fn tasks(text: &str) -> Result<u32, String> {
    match small(text)? {
        tasks @ 1..=4096 => Ok(tasks),
        tasks => Err(format!("{tasks} tasks are more than the 4096 that fit here")),
    }
}

/// "262144 bytes", "1 MiB", "1.50 GiB".
pub(crate) fn shown(bytes: u64) -> String {
    let units = [(1_u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB")];
    let unit = units.into_iter().find(|(size, _)| bytes >= *size);
    match unit {
        Some((size, name)) if bytes.is_multiple_of(size) => format!("{} {name}", bytes / size),
        Some((size, name)) => format!("{:.2} {name}", bytes as f64 / size as f64),
        None => format!("{bytes} bytes"),
    }
}

/// The line about a filesystem: its bytes, and those in use. Empty if they are not known.
pub(crate) fn filesystem_line(capacity: Option<(u64, u64)>) -> String {
    let Some((size, used)) = capacity else { return String::new() };
    let share = used as f64 * 100.0 / size.max(1) as f64;
    format!("{:<20}: {}   Used FS: {share:.1}%\n", "FS", shown(size))
}

/// Maximum, minimum, mean and deviation over the repetitions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// The largest.
    pub max: f64,
    /// The smallest.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// The deviation, of all as the whole population.
    pub deviation: f64,
}

impl Statistics {
    /// Those of some values.
    pub fn from_values(values: &[f64]) -> Statistics {
        let count = values.len().max(1) as f64;
        // The sum of no values is -0.0.
        let mean = values.iter().sum::<f64>() / count + 0.0;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Statistics {
            max: values.iter().copied().fold(0.0, f64::max),
            min: values.iter().copied().reduce(f64::min).unwrap_or(0.0),
            mean,
            deviation: (squares / count).sqrt(),
        }
    }
}

/// Percentiles and the maximum of the latencies of all tasks together, in nanoseconds.
pub(crate) fn latency<const N: usize>(
    judged: &Judged,
    direction: Direction,
    percentiles: [f64; N],
) -> Option<([u64; N], u64)> {
    let stats = judged.units.first()?.directions[direction].clat.as_ref()?;
    let at = |wanted: f64| {
        let found = stats.percentiles.iter().find(|(percentile, _)| *percentile == wanted);
        found.map(|(_, latency)| *latency)
    };
    let found: Option<Vec<u64>> = percentiles.into_iter().map(at).collect();
    Some((found?.try_into().ok()?, stats.max))
}

/// Checks whose findings the text below the tables covers.
const SHOWN_WITH_FIGURES: [&str; 3] = ["served-from-cache", "smaller-than-memory", "not-durable"];

/// Verdicts and findings of a phase in the terms of the tool. All tasks are judged together, so the
/// name of the phase stands in place of theirs.
pub(crate) fn judged_as_whole(judged: Judged, terms: &Terminology, phase: &str) -> Judged {
    let mut judged = judged.in_terms(terms);
    judged.findings.retain(|finding| !SHOWN_WITH_FIGURES.contains(&finding.check));
    let of_verdicts = judged.verdicts.iter_mut().map(|verdict| &mut verdict.job);
    let of_findings = judged.findings.iter_mut().flat_map(|finding| &mut finding.jobs);
    of_verdicts.chain(of_findings).for_each(|job| phase.clone_into(job));
    judged
}

/// Where the text of a line begins.
const INDENT: usize = 14;

/// The text below the tables: lines, each with its label, verdicts and findings.
pub(crate) fn footer(
    lines: Vec<(&'static str, String)>,
    verdicts: &[Verdict],
    findings: &[Finding],
    style: &Style,
) -> String {
    let mut out = String::new();
    if !lines.is_empty() {
        out += &style.heading("What these figures leave out");
    }
    for (label, text) in lines {
        let wrapped = style.wrap(&text, INDENT);
        let text = wrapped.get(INDENT..).unwrap_or_default();
        let label = format!("{label:<width$}", width = INDENT - 2);
        out += &format!("  {}{text}\n", style.bold(&label));
    }
    let (verdicts, findings) = (verdicts.to_vec(), findings.to_vec());
    out + &verdict::brief(&Judged { verdicts, findings, ..Judged::default() }, style)
}

/// Checks a table against the help and the document of its tool.
#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    #[track_caller]
    pub fn check_table<C: Call>(help: &str, document: &str) {
        for (index, flag) in C::FLAGS.iter().enumerate() {
            let usage = flag.usage();
            let is_first = C::FLAGS[..index].iter().all(|other| {
                (other.name.is_empty() || other.name != flag.name)
                    && (other.directive.is_empty() || other.directive != flag.directive)
            });
            assert!(is_first && help.contains(&format!("\n  {usage}")), "{usage}");
        }
        let rows: Vec<String> = C::FLAGS.iter().map(row).collect();
        let found: Vec<&str> = document.lines().filter(|line| line.starts_with("| `-")).collect();
        assert_eq!(found, rows, "the table should be:\n{}", rows.join("\n"));
        let long: Vec<&str> = help.lines().filter(|line| line.chars().count() > 100).collect();
        assert_eq!(long, Vec::<&str>::new());
    }

    fn row<C: Call>(flag: &Flag<C>) -> String {
        let directive = match (flag.name, flag.directive) {
            ("", _) | (_, "") => String::new(),
            (_, directive) => format!("`{directive}`"),
        };
        let becomes = match flag.act {
            Act::Refused(why) => format!("refused: {why}"),
            _ if !flag.note.is_empty() => flag.note.to_owned(),
            _ => "works".into(),
        };
        format!("| `{}` | {directive} | {} | {becomes} |", flag.usage(), flag.doc)
    }

    #[test]
    fn numbers_have_units_in_powers_of_1024() {
        assert_eq!(number("4k"), Ok(4096));
        assert_eq!(number("1G"), Ok(1 << 30));
        assert_eq!(number("47008"), Ok(47008));
        for bad in ["", "k", "1.5m", "4kb", "-1", "9999999p"] {
            assert!(number(bad).is_err(), "{bad}");
        }
        assert_eq!(shown(262_144), "262144 bytes");
        assert_eq!(shown(1 << 20), "1 MiB");
        assert_eq!(shown(3 << 29), "1.50 GiB");
    }

    #[test]
    fn the_deviation_is_that_of_the_population() {
        let found = Statistics::from_values(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        let expected = Statistics { max: 9.0, min: 2.0, mean: 5.0, deviation: 2.0 };
        assert_eq!(found, expected);
        assert_eq!(Statistics::from_values(&[]), Statistics::default());
    }
}
