//! Findings in the words of another tool: its user can type its flags, and fathom's options not.

use judge::{Finding, Judged, Verdict};

/// Ours, and what it is there.
pub type Words = (&'static str, &'static str);

/// What a tool has for fathom's options. Of nothing at all, every text stays as it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tongue {
    /// Phrases that say otherwise there, looked for before single options; earlier ones first.
    pub phrases: &'static [&'static [Words]],
    /// Options with what they are there: `iodepth=8` and `--iodepth=8` become the flag with the value
    /// behind it. With dashes in front an option is known by those alone, which is for the names that
    /// are words of English; with its value it stands for that value.
    pub flags: &'static [&'static [Words]],
    /// What has the options that the tool has not ("fathom run"): it is put before them. `None`: they
    /// stay as they are.
    pub elsewhere: Option<&'static str>,
}

/// What all tools say alike.
pub(crate) const EVERYWHERE: &[Words] = &[
    (" (--repeat)", ""),
    (" (--runtime=10m)", ""),
    ("the job pauses (thinktime)", "it pauses"),
    ("look at the offset with --verify_dump=1; if", "if"),
    ("set --runtime=30 --time_based and --ramp_time=5", "let it run for 30 s and more"),
    ("add --ramp_time=", "leave the beginning out with --ramp_time="),
    ("leave the burst out with ramp_time, and run long enough", "run long enough"),
    (
        "buffer_compress_percentage and dedupe_percentage out where the device does not compress",
        "content that compresses or repeats out where the device does neither",
    ),
];

/// Of tools that do one I/O at a time, and have no second worker.
pub(crate) const ONE_AT_A_TIME: &[Words] = &[
    (
        "spread the load over more workers (numjobs), or make each I/O cheaper: ioengine=io_uring \
         with fixedbufs=1 and registerfiles=1, a larger bs",
        "take larger blocks; what several workers reach says fathom run --numjobs",
    ),
    (
        "more workers (numjobs) show whether it scales",
        "fathom run --numjobs shows whether it scales",
    ),
    (
        "; or share the work among more workers (numjobs)",
        "; or share the work among more workers (fathom run --numjobs)",
    ),
    (" and the workers (numjobs, cpus_allowed_policy=split)", ""),
    (
        "; or spread the workers with cpus_allowed and cpus_allowed_policy=split",
        "; or take another CPU (taskset)",
    ),
    (
        "give each worker a CPU of its own: cpus_allowed with cpus_allowed_policy=split",
        "give it a CPU of its own (taskset)",
    ),
    (
        "(iodepth with ioengine=io_uring), or allow more CPUs (cpus_allowed)",
        "(fathom run --iodepth)",
    ),
    (
        "keep CPUs free for the workers: cpus_allowed on CPUs the others do not use",
        "keep a CPU free for it: taskset on one that the others do not use",
    ),
    (
        "use --ioengine=io_uring or libaio, or as many jobs as I/Os are wanted (--numjobs)",
        "fathom run --iodepth has several I/Os in flight",
    ),
];

impl Tongue {
    /// What was judged, its verdicts and findings in these words.
    pub fn judged(&self, mut judged: Judged) -> Judged {
        for Verdict { because, use_for, .. } in &mut judged.verdicts {
            for words in [because, use_for] {
                *words = self.said(words);
            }
        }
        for Finding { text, cause, cure, .. } in &mut judged.findings {
            for words in [text, cause, cure] {
                *words = self.said(words);
            }
        }
        judged
    }

    /// A text in these words.
    pub fn said(&self, text: &str) -> String {
        let start = text.to_owned();
        let phrases = self.phrases.iter().copied().flatten();
        let text = phrases.fold(start, |text, (ours, theirs)| text.replace(ours, theirs));
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let word = word(rest);
            let ours = &rest[..word];
            // What stands behind a command of fathom's is said to fathom.
            if is_said_to_fathom(&out) {
                out += ours;
            } else {
                let theirs = self.flag(ours).or_else(|| self.elsewhere(ours));
                out += theirs.as_deref().unwrap_or(ours);
            }
            let gap = rest[word..].find(begins_word).unwrap_or(rest.len() - word);
            out += &rest[word..word + gap];
            rest = &rest[word + gap..];
        }
        out
    }

    fn flag(&self, word: &str) -> Option<String> {
        let known = |name: &str| {
            let bare = name.strip_prefix("--").unwrap_or(name);
            let mut flags = self.flags.iter().copied().flatten();
            flags.find(|(ours, _)| *ours == name || *ours == bare).map(|(_, flag)| *flag)
        };
        let valued = || {
            let (name, value) = word.split_once('=')?;
            Some(format!("{}{value}", known(name)?))
        };
        known(word).map(String::from).or_else(valued)
    }

    /// An option that the tool has not, with who has it.
    fn elsewhere(&self, word: &str) -> Option<String> {
        let who = self.elsewhere?;
        let option = word.trim_start_matches('-');
        let name = option.split('=').next().unwrap_or_default();
        let is_meant = word.starts_with("--") || name.contains('_') || UNMISTAKABLE.contains(&name);
        let is_ours = is_meant && job::options::find(name).is_some();
        is_ours.then(|| format!("{who} --{option}"))
    }
}

/// Whether a text ends in a command of fathom's ("fathom run") and options of it: those in a row are
/// all of one command.
fn is_said_to_fathom(before: &str) -> bool {
    let mut before = before.trim_end();
    while let Some((row, last)) = before.rsplit_once(' ')
        && last.starts_with("--")
        && !last.ends_with([',', ';', ')'])
    {
        before = row;
    }
    let called =
        before.rsplit_once(' ').and_then(|(program, _)| program.rsplit([' ', '(', '\'']).next());
    called == Some("fathom")
}

/// Options whose bare names are no words of English.
const UNMISTAKABLE: [&str; 7] =
    ["numjobs", "iodepth", "ioengine", "nrfiles", "openfiles", "thinktime", "rw"];

fn begins_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '-' | '_' | '/')
}

/// Length of the word at the start: letters, digits, dashes, what paths have, and a value behind `=`.
fn word(text: &str) -> usize {
    let ends = |letter: char| !(begins_word(letter) || matches!(letter, '=' | '.' | ':'));
    let word = &text[..text.find(ends).unwrap_or(text.len())];
    // The end of a sentence or of a heading is none of the word's.
    word.trim_end_matches(['.', ':', '=']).len()
}

/// Texts in the source of the checks: what stands in quotes and has a blank, but for what only
/// docs/CHECKS.md shows.
#[cfg(test)]
fn texts_of_the_checks() -> Vec<String> {
    let checks = concat!(env!("CARGO_MANIFEST_DIR"), "/../judge/src/checks");
    let mut texts = Vec::new();
    for file in std::fs::read_dir(checks).unwrap() {
        let source = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let source = source.split("#[cfg(test)]").next().unwrap();
        let not_said = ["//", "question:", "evidence:", "threshold:", "reason:"];
        let lines = source.lines().filter(|line| {
            !not_said.iter().any(|beginning| line.trim_start().starts_with(beginning))
        });
        // A backslash at the end of a line joins it with the next one's text.
        let joined: String = lines
            .map(|line| {
                line.trim_start().strip_suffix('\\').map_or(format!("{line}\n"), String::from)
            })
            .collect();
        let quoted = joined.split('"').skip(1).step_by(2);
        texts.extend(quoted.filter(|text| text.contains(' ')).map(String::from));
    }
    texts
}

/// Options that what is found would name to the user of a tool, each with the text; texts with one of
/// these words in them are left out, as are those that only a job of fathom's own comes to.
#[cfg(test)]
pub(crate) fn options_left(tongue: Tongue, elsewhere: &[&str]) -> Vec<String> {
    let never = [
        "verify_",
        "sqthread_poll",
        "sync_file_range",
        "wait_for",
        "new_group",
        "direct-io",
        // No tool speaks to a store of them.
        "objects",
    ];
    let texts = texts_of_the_checks();
    assert!(texts.len() > 100, "{}", texts.len());
    let left_out = |text: &str| never.iter().chain(elsewhere).any(|word| text.contains(word));
    let mut left = Vec::new();
    for text in texts.iter().filter(|text| !left_out(text)) {
        let said = tongue.said(text);
        // What is said to be fathom's is no flag of the tool.
        let theirs = said.replace("fathom run --", "fathom run -");
        let named = theirs.split([' ', ',', ';', '(', ')']).any(|word| {
            let name = word.split('=').next().unwrap_or_default();
            let is_option = name.starts_with("--") || name.contains('_');
            let bare = UNMISTAKABLE.contains(&name) || name == "bs" && !word.ends_with('=');
            (is_option || bare)
                && job::options::find(name.trim_start_matches("--")).is_some()
                && !tongue.flags.iter().copied().flatten().any(|(_, flag)| *flag == name)
        });
        left.extend(named.then_some(said));
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    const TONGUE: Tongue = Tongue {
        phrases: &[&[("leave --invalidate at 1", "leave the cache")]],
        flags: &[
            &[("direct=1", "-Su"), ("--size", "-c"), ("iodepth", "-o")],
            &[("numjobs", "-t"), ("--runtime", "-d")],
        ],
        elsewhere: None,
    };

    #[test]
    fn options_become_flags_and_words_stay() {
        for (ours, theirs) in [
            ("add --direct=1, or work on more", "add -Su, or work on more"),
            ("direct=1.", "-Su."),
            ("use --iodepth=4", "use -o4"),
            ("of iodepth=8 (psync)", "of -o8 (psync)"),
            ("more workers (numjobs)", "more workers (-t)"),
            ("lower size, or --size", "lower size, or -c"),
            ("a runtime of --runtime=10m; x", "a runtime of -d10m; x"),
            ("leave --invalidate at 1", "leave the cache"),
            (
                "--direct=0, iodepths, my-iodepth, /a/iodepth",
                "--direct=0, iodepths, my-iodepth, /a/iodepth",
            ),
            ("", ""),
            ("é --iodepth=4 …", "é -o4 …"),
        ] {
            assert_eq!(TONGUE.said(ours), theirs);
        }
    }

    #[test]
    fn what_a_tool_has_not_is_said_to_be_elsewhere() {
        let tongue = Tongue { elsewhere: Some("fathom run"), ..TONGUE };
        for (ours, theirs) in [
            ("add --randrepeat=0, and --direct=1", "add fathom run --randrepeat=0, and -Su"),
            ("more (nrfiles)", "more (fathom run --nrfiles)"),
            ("set ramp_time=5.", "set fathom run --ramp_time=5."),
            ("say fathom run --loops=2", "say fathom run --loops=2"),
            (
                "fathom run --thinktime=MSms --size=1m, --size",
                "fathom run --thinktime=MSms --size=1m, -c",
            ),
            ("(fathom precondition --size=1g)", "(fathom precondition --size=1g)"),
            ("say --loops=2 --gtod_reduce", "say fathom run --loops=2 --gtod_reduce"),
            ("say --loops=2, --gtod_reduce", "say fathom run --loops=2, fathom run --gtod_reduce"),
            (
                "losetup --direct-io=on, a size, fsync, /a/rw",
                "losetup --direct-io=on, a size, fsync, /a/rw",
            ),
        ] {
            assert_eq!(tongue.said(ours), theirs);
        }
        assert_eq!(
            Tongue::default().said("add --direct=1, é numjobs"),
            "add --direct=1, é numjobs"
        );
    }

    #[test]
    fn findings_name_no_option_that_a_tool_has_not() {
        let line = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let dd = |operands: &str| crate::dd::Call::parse(&line(operands)).unwrap().tongue();
        for tongue in [
            dd("if=a of=b"),
            dd("if=a of=/dev/null"),
            dd("if=/dev/zero of=b count=1"),
            crate::hdparm::tongue(),
            crate::iozone::tongue(),
        ] {
            assert_eq!(options_left(tongue, &[]), Vec::<String>::new());
        }
    }

    #[test]
    fn who_copies_is_told_which_side_to_open_directly() {
        let said = |operands: &str| {
            let line: Vec<String> = operands.split(' ').map(str::to_owned).collect();
            let tongue = crate::dd::Call::parse(&line).unwrap().tongue();
            tongue.said(
                "add --direct=1, or --end_fsync=1 so that the time to reach the device counts",
            )
        };
        let rest = ", or conv=fsync so that the time to reach the device counts";
        assert_eq!(said("if=a of=b"), format!("add iflag=direct oflag=direct{rest}"));
        assert_eq!(said("if=a of=/dev/null"), format!("add iflag=direct{rest}"));
        assert_eq!(said("if=/dev/zero of=b count=1"), format!("add oflag=direct{rest}"));
    }
}
