//! The parsers that take what users and peers give them.

use job::options;
use job::value::Units;
use job::{Dialect, Inputs, Job, Keywords};
use std::io;
use trace::{Adjust, Recording};

/// A parser. It answers with what an input is or what is wrong with it, and never panics.
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Words of its language.
    pub words: &'static [&'static str],
    /// Runs it.
    pub run: fn(&[u8]) -> String,
}

/// All of them.
pub const TARGETS: &[Target] = &[
    Target {
        name: "jobfile",
        words: &[
            "[global]\n",
            "[a]\n",
            "include ",
            "rw=randrw:8\n",
            "bs=4k-8k,1k\n",
            "size=10%\n",
            "bssplit=4k/50\n",
            "${HOME}",
            "$pagesize*2",
            "(",
            ")",
            "\n",
            "stonewall\n",
            ";",
            "percentile_list=1:2\n",
            "rate=1m,,2m\n",
            "ioengine=libaio\n",
        ],
        run: job_file,
    },
    Target {
        name: "cmdline",
        words: &[
            "--name=a\n",
            "--rw=",
            "--parse-only\n",
            "--showcmd\n",
            "-x",
            "--output-format=json+",
            "--cmdhelp=",
            "--section=",
            "--bs",
            "=",
            "job\n",
            "--eta=",
            "--client=",
            "--debug=",
        ],
        run: command_line,
    },
    Target {
        name: "iolog",
        words: &[
            "fio version 2 iolog\n",
            "fio version 3 iolog\n",
            " add\n",
            " open\n",
            " close\n",
            " read 0 4096\n",
            " write ",
            " sync\n",
            " trim ",
            " wait 100 0\n",
            "\n",
            " ",
        ],
        run: log,
    },
    Target { name: "blktrace", words: &["\u{7}tae", "eat\u{7}", "\0\0\0\0"], run: log },
    Target {
        name: "pattern",
        words: &["0x", "\"", "%o", "'", "-", "0xdeadbeef", "\"abc\"", "\\"],
        run: pattern,
    },
    Target { name: "bssplit", words: &["4k/50", ":", "/", ",", "1m/", "%", " "], run: bssplit },
    Target {
        name: "frames",
        words: &["FTHM", "{\"Hello\":", "\"Alive\"", "\"Start\"", "[", "]", "{", "}", "null", "\0"],
        run: frames,
    },
];

/// A machine whose only file is the input.
struct Only<'a>(&'a [u8]);

impl Inputs for Only<'_> {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        match path {
            "job" => Ok(self.0.to_vec()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        (name == "HOME").then(|| "/root".into())
    }

    fn keywords(&self) -> Keywords {
        Keywords { page_size: 4096, memory_mib: 1024, cpus: 2 }
    }
}

fn parsed(arguments: &[String], input: &[u8]) -> String {
    let answer = |dialect| match job::parse(arguments, dialect, &Only(input)) {
        Ok(invocation) => format!("{} jobs", invocation.jobs.len()),
        Err(errors) => errors.to_string(),
    };
    answer(Dialect::Fathom) + &answer(Dialect::Fio)
}

fn job_file(input: &[u8]) -> String {
    parsed(&["job".into()], input) + &parsed(&["--showcmd".into(), "job".into()], input)
}

/// One argument a line.
fn command_line(input: &[u8]) -> String {
    let text = String::from_utf8_lossy(input);
    let arguments: Vec<String> = text.lines().map(Into::into).collect();
    parsed(&arguments, b"[a]\nrw=read\n")
}

fn log(input: &[u8]) -> String {
    let adjust = Adjust { scale: 3, align: 512, speed: 50, ..Adjust::default() };
    let read = |adjust| Recording::read(input, adjust, None, &|name| Ok(format!("{name:?}")));
    match (read(Adjust::default()), read(adjust)) {
        (Ok(log), _) => format!("{:?} of {} files, {:?}", log.format, log.files.len(), log.sizes),
        (Err(error), _) => error.to_string(),
    }
}

fn pattern(input: &[u8]) -> String {
    set("buffer_pattern", input) + &set("verify_pattern", input)
}

fn bssplit(input: &[u8]) -> String {
    set("bssplit", input)
}

/// What an option says of a value. Patterns name files between quotes ('…'): none is opened here.
fn set(name: &str, input: &[u8]) -> String {
    let text = String::from_utf8_lossy(input).replace('\'', "");
    let Some(def) = options::find(name) else { return format!("no option {name}") };
    match options::apply(&mut Job::default(), def, Some(&text), Units { kb_base: 1024 }) {
        Ok(_) => "taken".into(),
        Err(error) => error,
    }
}

fn frames(input: &[u8]) -> String {
    let client = remote::read::<remote::FromClient>(input, remote::LIMIT_SUBMISSION);
    let server = remote::read::<remote::FromServer>(input, remote::LIMIT_RECORD);
    let told = |told: Result<(), remote::FrameError>| match told {
        Ok(()) => "taken".to_owned(),
        Err(error) => error.to_string(),
    };
    told(client.map(drop)) + &told(server.map(drop))
}
