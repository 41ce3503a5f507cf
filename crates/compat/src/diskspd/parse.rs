//! Parses the command line. Option and value are one word, options precede targets, and every
//! option applies to all targets. The block size is parsed first, because other sizes may be in
//! blocks.

use super::draft::Draft;
use super::flags::{FLAGS, Flag};
use super::profile::{Target, TimeSpan};
use super::{DiskspdCommand, Own, ParseContext, Task, Usage, from_xml, size, validate};

/// The words of a command line by kind.
#[derive(Default)]
struct Words<'a> {
    /// Letter and value of each option.
    options: Vec<(char, &'a str)>,
    targets: Vec<&'a str>,
    own: Own,
    help: bool,
}

impl DiskspdCommand {
    /// Parses a command line, without the program's name.
    ///
    /// # Errors
    /// What is wrong with it or with its profile.
    pub fn parse(arguments: &[String], context: &ParseContext) -> Result<DiskspdCommand, Usage> {
        if arguments.is_empty() {
            return Err(Usage(String::new()));
        }
        let words = sort(arguments).map_err(Usage)?;
        if words.help {
            let (profile, remarks) = Default::default();
            return Ok(DiskspdCommand { task: Task::Help, profile, remarks, own: words.own });
        }
        let mut draft = Draft::new(context.seed);
        block_first(&words, &mut draft)?;
        let profile =
            words.options.iter().rev().find(|(letter, _)| *letter == 'X').map(|word| word.1);
        for (letter, value) in &words.options {
            let flag = known(*letter, value)?;
            if profile.is_some() && !flag.beside_profile {
                return Err(Usage(format!(
                    "-{letter}{value}: a profile (-X) says this itself; beside it only -C, -d, -R, -v, -W \
                     and -z may be given"
                )));
            }
            (flag.set)(&mut draft, value)
                .map_err(|reason| Usage(format!("-{letter}{value}: {reason}")))?;
        }
        match profile {
            Some(path) => with_profile(path, words, draft, context),
            None => without_profile(words, draft),
        }
    }
}

/// Sorts words by kind. Does not parse values.
fn sort(arguments: &[String]) -> Result<Words<'_>, String> {
    let mut words = Words::default();
    let mut late = Vec::new();
    for word in arguments {
        if let Some(own) = word.strip_prefix("--") {
            own_option(own, &mut words)?;
            continue;
        }
        let mut letters = word.strip_prefix('-').unwrap_or_default().chars();
        match letters.next() {
            Some('?') => words.help = true,
            Some(_) if !words.targets.is_empty() => late.push(word.as_str()),
            Some(letter) => words.options.push((letter, letters.as_str())),
            None if word.is_empty() || word == "-" => {
                return Err(format!("'{word}' names no target; give the path of a file or device"));
            }
            None => words.targets.push(word),
        }
    }
    match late.is_empty() {
        true => Ok(words),
        false => Err(format!("parameters ({}) must come before targets", late.join(" "))),
    }
}

/// Parses an option of fathom, which begins with two dashes.
fn own_option(option: &str, words: &mut Words) -> Result<(), String> {
    let (name, value) = option.split_once('=').map_or((option, None), |(n, v)| (n, Some(v)));
    match (name, value.filter(|value| !value.is_empty())) {
        ("allow-destroy", Some(device)) => words.own.allow_destroy.push(device.into()),
        ("record", Some(file)) => words.own.record = Some(file.into()),
        ("no-archive" | "no-record", None) => words.own.no_archive = true,
        ("with-serials", None) => words.own.with_serials = true,
        ("help", None) => words.help = true,
        ("allow-destroy" | "record", None) => {
            return Err(format!("--{name} needs a value behind it: --{name}=PATH"));
        }
        _ => {
            return Err(format!(
                "--{option} is not known; beside DISKSPD's options there are --allow-destroy=PATH, \
                 --record=FILE, --no-archive, --with-serials and --help"
            ));
        }
    }
    Ok(())
}

/// Parses `-b`, because sizes may be in blocks.
fn block_first(words: &Words, draft: &mut Draft) -> Result<(), Usage> {
    for (_, value) in words.options.iter().filter(|(letter, _)| *letter == 'b') {
        let size = size::parse(value, 0).and_then(|size| match size {
            0 => Err("expected a block size above 0".into()),
            size => Ok(size),
        });
        draft.target.block = size.map_err(|reason| Usage(format!("-b{value}: {reason}")))?;
    }
    Ok(())
}

fn known(letter: char, value: &str) -> Result<&'static Flag, Usage> {
    FLAGS
        .iter()
        .find(|flag| flag.letter == letter)
        .ok_or_else(|| Usage(format!("-{letter}{value}: no such option; -? lists those there are")))
}

fn without_profile(words: Words, mut draft: Draft) -> Result<DiskspdCommand, Usage> {
    access(&mut draft).map_err(Usage)?;
    if words.targets.is_empty() && draft.task == Task::Run {
        return Err(Usage("no target: name a file or device behind the options".into()));
    }
    let named = |path: &&str| -> Result<Target, String> {
        Ok(Target { path: path_of(path)?, ..draft.target.clone() })
    };
    draft.span.targets =
        words.targets.iter().map(named).collect::<Result<_, String>>().map_err(Usage)?;
    divide_bursts(&mut draft.span);
    draft.profile.spans = vec![draft.span];
    let Draft { task, profile, mut remarks, .. } = draft;
    remarks.extend(validate::check(&profile).map_err(Usage)?);
    Ok(DiskspdCommand { task, profile, remarks, own: words.own })
}

/// Parses the offsets of `-r` and `-s`, which cannot be combined.
fn access(draft: &mut Draft) -> Result<(), String> {
    let block = draft.target.block;
    draft.target.access = match (draft.random.take(), draft.sequential.take()) {
        (Some(_), Some((_, true))) => {
            return Err("-si and -r contradict each other: give one of them".into());
        }
        (Some(random), sequential) => {
            if sequential.is_some() {
                draft.remarks.warn("-s is overridden by -r");
            }
            super::Access::Random {
                align: random.align.unwrap_or(block),
                percent: random.percent.unwrap_or(100),
                spread: random.spread,
            }
        }
        (None, sequential) => {
            let (stride, interlocked) = sequential.unwrap_or_default();
            super::Access::Sequential { stride: stride.unwrap_or(block), interlocked }
        }
    };
    Ok(())
}

/// Divides the burst size of `-i`, which is that of all threads together.
fn divide_bursts(span: &mut TimeSpan) {
    let shared = span.threads;
    for target in &mut span.targets {
        let threads = if shared > 0 { shared } else { target.threads };
        target.burst = target.burst.map(|burst| (burst / threads.max(1)).max(1));
    }
}

fn with_profile(
    path: &str,
    words: Words,
    draft: Draft,
    context: &ParseContext,
) -> Result<DiskspdCommand, Usage> {
    let wrong = |reason: String| Usage(format!("-X{path}: {reason}"));
    let text = (context.read)(path).and_then(decoded).map_err(wrong)?;
    let (mut profile, mut remarks) = from_xml::profile(&text).map_err(wrong)?;
    if draft.format_given {
        profile.format = draft.profile.format;
    }
    profile.verbose |= draft.profile.verbose;
    if draft.profile.experiment > 0 {
        profile.experiment = draft.profile.experiment;
    }
    let given = &draft.overrides;
    for span in &mut profile.spans {
        span.duration_s = given.duration_s.unwrap_or(span.duration_s);
        span.warmup_s = given.warmup_s.unwrap_or(span.warmup_s);
        span.cooldown_s = given.cooldown_s.unwrap_or(span.cooldown_s);
        span.seed = given.seed.unwrap_or(span.seed);
        for target in &mut span.targets {
            target.path = substituted(&target.path, &words.targets).map_err(wrong)?;
        }
    }
    remarks.extend(draft.remarks);
    remarks.extend(validate::check(&profile).map_err(wrong)?);
    Ok(DiskspdCommand { task: draft.task, profile, remarks, own: words.own })
}

/// Decodes UTF-8, or UTF-16 with a byte order mark, which shells of Windows write.
fn decoded(bytes: Vec<u8>) -> Result<String, String> {
    let units = |of: fn([u8; 2]) -> u16| {
        bytes[2..].chunks_exact(2).map(|pair| of([pair[0], pair[1]])).collect::<Vec<u16>>()
    };
    let text = match bytes.get(..2) {
        Some([0xff, 0xfe]) => String::from_utf16(&units(u16::from_le_bytes)).ok(),
        Some([0xfe, 0xff]) => String::from_utf16(&units(u16::from_be_bytes)).ok(),
        _ => String::from_utf8(bytes).ok(),
    };
    text.ok_or_else(|| "it is neither UTF-8 nor UTF-16 text".into())
}

/// `*1` in a profile is the first target of the command line.
fn substituted(path: &str, targets: &[&str]) -> Result<String, String> {
    let Some(number) = path.strip_prefix('*').and_then(|number| number.parse::<usize>().ok())
    else {
        return path_of(path);
    };
    match number.checked_sub(1).and_then(|index| targets.get(index)) {
        Some(target) => path_of(target),
        None => Err(format!(
            "target '{path}' of the profile stands for target number {number} of the command line, \
             and there are {} of them: name it behind the options",
            targets.len()
        )),
    }
}

/// Checks that a path is one of Linux. Names of disks and volumes of Windows are refused, with
/// their counterparts.
fn path_of(path: &str) -> Result<String, String> {
    let drive = path.strip_suffix(':').filter(|letter| letter.len() == 1);
    if drive.is_some_and(|letter| letter.starts_with(|c: char| c.is_ascii_alphabetic())) {
        return Err(format!(
            "'{path}' is a volume of Windows; name the block device, such as /dev/sda1"
        ));
    }
    let disk = path.strip_prefix('#').or_else(|| path.strip_prefix(r"\\.\PhysicalDrive"));
    if disk.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())) {
        return Err(format!(
            "'{path}' is a disk of Windows; name the block device, such as /dev/sda or /dev/nvme0n1"
        ));
    }
    // fathom replaces these keywords in values of options.
    let keyword =
        ["$pagesize", "$mb_memory", "$ncpus"].into_iter().find(|word| path.contains(word));
    match keyword {
        Some(word) => Err(format!("'{path}': a name with {word} in it cannot be used; rename it")),
        None if path.is_empty() => Err("a target has no path".into()),
        None => Ok(path.into()),
    }
}
