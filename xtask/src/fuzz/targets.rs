//! The parsers that take what users and peers give them.

use super::other_tools::{
    dd_or_hdparm, diskspd, diskspd_profile, io500_config, ior, iozone, lines, mdtest,
};
use job::options;
use job::value::Units;
use job::{Dialect, Inputs, Job, Keywords};
use live::log::Reader;
use live::plain::Plain;
use live::{Intervals, json};
use model::job::JobOptions;
use objects::credentials::{Credentials, ProcessContext};
use objects::{Protocol, Security, Verb, answer};
use std::io;
use std::path::Path;
use std::time::SystemTime;
use trace::ftr::AnyTrace;
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
    Target { name: "ftr", words: &["ftrB", "ftrE", "\0\0\0\0", "\u{1}\0\0\0"], run: trace },
    Target {
        name: "strace",
        words: &[
            "[pid 7] ",
            "7 1700000000.5 ",
            "10:00:00.1 ",
            " <unfinished ...>\n",
            "<... read resumed>",
            "openat(AT_FDCWD</x>, \"",
            "\", O_RDWR|O_CREAT) = 3</x/",
            "pwrite64(3</x>, \"",
            "\"..., 4096, 0) = 4096 <0.000001>\n",
            "[{iov_base=\"\", iov_len=",
            "clone(flags=CLONE_FILES|CLONE_THREAD) = ",
            "dup2(3, ",
            "+++ exited with 0 +++\n",
            "<char 1:3>",
            ") = -1 ENOSPC\n",
            "\n",
        ],
        run: trace,
    },
    Target {
        name: "model",
        words: &[
            "# fathom model 1\n",
            "milliseconds = 1\n",
            "[[file]]\n",
            "name = \"a\"\n",
            "count = 1\n",
            "[[threads]]\n",
            "[[threads.step]]\n",
            "operation = \"read\"\n",
            "sizes = [[4096, 1]]\n",
            "again = [[0, 0, 1]]\n",
            "skew = \"zipf:0.9\"\n",
            "next = [[0, 1]]\n",
        ],
        run: model_file,
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
    Target {
        name: "diskspd",
        words: &[
            "-b4K\n",
            "-c64M\n",
            "-r\n",
            "-rs30\n",
            "-rdpct90/10:5/20\n",
            "-rdabs90/1G",
            "-Suw\n",
            "-Z1M,file\n",
            "-a0,g0,1\n",
            "-g10i\n",
            "-Xprofile\n",
            "-Rpxml\n",
            "t.dat\n",
            "--allow-destroy=",
        ],
        run: diskspd,
    },
    Target {
        name: "diskspd-profile",
        words: &[
            "<Profile>",
            "<TimeSpans>",
            "<TimeSpan>",
            "<Targets>",
            "<Target>",
            "<Path>",
            "</",
            "/>",
            "<Random>4096</Random>",
            "<Range IO=\"90\">",
            "<!--",
            "-->",
            "<![CDATA[",
            "&amp;",
            "&#65;",
        ],
        run: diskspd_profile,
    },
    Target {
        name: "iozone",
        words: &[
            "-a\n",
            "-i\n0\n",
            "-s64m\n",
            "-r\n4k\n",
            "-n1g\n",
            "-g64m\n",
            "-y4k\n",
            "-q16m\n",
            "-t2\n",
            "-l2\n",
            "-u8\n",
            "-F\na\nb\n",
            "-f\nfile\n",
            "-+m\n",
            "-j17\n",
            "-J10\n",
            "-ReI\n",
        ],
        run: iozone,
    },
    Target {
        name: "ior",
        words: &[
            "-a\nAIO\n",
            "-b4k\n",
            "-t\n4k\n",
            "-s3\n",
            "-N2\n",
            "-wrk\n",
            "-F\n",
            "-zz\n",
            "-C\n",
            "-ZZ\n",
            "-o\na@b\n",
            "-O\nsummaryFormat=JSON,",
            "refNum=-1\n",
            "--posix.odirect\n",
            "-WR\n",
            "-D=1\n",
            "-u\n",
        ],
        run: ior,
    },
    Target {
        name: "io500",
        words: &[
            "[global]\n",
            "[debug]\n",
            "[ior-easy]\n",
            "[ior-hard]\n",
            "[mdtest-easy]\n",
            "[mdtest-hard-stat]\n",
            "[find]\n",
            "[ior-rnd4K]\n",
            "datadir = /d\n",
            "stonewall-time = 300\n",
            "API = POSIX --posix.odirect\n",
            "blockSize = 4m\n",
            "transferSize=2m\n",
            "segmentCount = 9\n",
            "n = 7\n",
            "nproc = 2\n",
            "run = FALSE\n",
            "; comment\n",
            "#",
        ],
        run: io500_config,
    },
    Target {
        name: "mdtest",
        words: &[
            "--tasks=2\n",
            "-n\n6\n",
            "-n=1k\n",
            "-I2\n",
            "-z\n2\n",
            "-b3\n",
            "-FCT\n",
            "-Lu\n",
            "-d\na@b\n",
            "-w\n4k\n",
            "-e=8\n",
            "-N1\n",
            "-rE\n",
            "-Yy\n",
        ],
        run: mdtest,
    },
    Target {
        name: "dd",
        words: &[
            "if=a\n",
            "of=b\n",
            "if=/dev/zero\n",
            "bs=1M\n",
            "ibs=512\n",
            "obs=3000\n",
            "count=5B\n",
            "skip=2\n",
            "seek=3x7\n",
            "conv=fsync,notrunc\n",
            "iflag=direct,skip_bytes\n",
            "oflag=append,dsync\n",
            "status=none\n",
            "--record=r\n",
            "-tT\n",
            "--offset\n",
            "--direct\n",
        ],
        run: dd_or_hdparm,
    },
    Target {
        name: "watch-log",
        words: &[
            "{\"watch\":",
            "{\"stack\":",
            "{\"sample\":",
            "\"tops\":null",
            "\"slaves\":[\"sda\"]",
            "\"backing\":",
            "\"members\":",
            "\"sda\"",
            "\"at\":",
            "1e400",
            "{}",
            "[]",
            "},",
            "\n",
        ],
        run: watch_log,
    },
    Target {
        name: "answers",
        words: &[
            "<?xml version=\"1.0\"?>",
            "<Error>",
            "</Error>",
            "<Code>RequestTimeTooSkewed</Code>",
            "<Message>",
            "<ServerTime>2013-05-24T01:20:05Z</ServerTime>",
            "<Region>eu-west-1</Region>",
            "<ListBucketResult>",
            "<EncodingType>url</EncodingType>",
            "<IsTruncated>true</IsTruncated>",
            "<Contents>",
            "<Key>a%20b</Key>",
            "<Size>-1</Size>",
            "<D:multistatus xmlns:D=\"DAV:\">",
            "<D:href>http://h/",
            "{\"error\":",
            "[{\"name\":\"a\",\"bytes\":1}",
            "&amp;",
            "<![CDATA[",
            "</",
        ],
        run: answers,
    },
    Target {
        name: "http",
        words: &[
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.0 404 Not Found\r\n",
            "HTTP/1.1 100 Continue\r\n\r\n",
            "Content-Length: 6\r\n",
            "Content-Length: ",
            "Content-Range: bytes 0-5/6\r\n",
            "Transfer-Encoding: chunked\r\n",
            "Connection: close\r\n",
            "ETag: \"a\"\r\n",
            "\r\n",
            "\r\n\r\n",
            "6\r\nabcdef\r\n",
            "0\r\n\r\n",
            ";a=\"b\"",
            "ffffffffffffffff",
            "18446744073709551615",
        ],
        run: http_answer,
    },
    Target {
        name: "profiles",
        words: &[
            "[default]\n",
            "[profile a]\n",
            "[services a]\n",
            "[",
            "]",
            "aws_access_key_id = A\n",
            "aws_secret_access_key=S\n",
            "services = a\n",
            "s3 =\n",
            "  endpoint_url = http://h\n",
            "role_arn=r\n",
            " # ",
            "=",
            "\n",
        ],
        run: shared_profiles,
    },
    Target {
        name: "endpoints",
        words: &["http://", "https://", "{1...8}", "{08...10}", "[::1]", ":9000", ",", "...", "/"],
        run: store_endpoints,
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
        Keywords { page_size: 4096, memory_mib: 1024, cpus: 2, place: None }
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
    parsed(&lines(input), b"[a]\nrw=read\n")
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

/// One argument a line.
fn frames(input: &[u8]) -> String {
    let client = remote::read::<remote::FromClient>(input, remote::LIMIT_SUBMISSION);
    let server = remote::read::<remote::FromServer>(input, remote::LIMIT_RECORD);
    let told = |told: Result<(), remote::FrameError>| match told {
        Ok(()) => "taken".to_owned(),
        Err(error) => error.to_string(),
    };
    told(client.map(drop)) + &told(server.map(drop))
}

/// As an error, as each store's list and as the name of an upload.
fn answers(input: &[u8]) -> String {
    let now = SystemTime::UNIX_EPOCH;
    let mut told = answer::failure(403, &answer::Hints::default(), input, now).to_string();
    for protocol in [Protocol::S3, Protocol::WebDav, Protocol::Swift] {
        match answer::Listing::read(protocol, input, 1) {
            Ok(listing) => told += &format!("{} keys", listing.entries.len()),
            Err(failure) => told += &failure.to_string(),
        }
    }
    let hidden = answer::hidden_failure(200, input, now).is_some();
    format!("{hidden} {} {told}", answer::upload(input).is_ok())
}

/// As what comes over the wire in answer to different requests.
fn http_answer(input: &[u8]) -> String {
    [Verb::Get, Verb::Put, Verb::Head, Verb::List]
        .map(|verb| match objects::read_answer(verb, 6, input) {
            Ok(status) => status.to_string(),
            Err(failure) => failure.to_string(),
        })
        .join(" ")
}

/// The input is both the credentials file and the config file.
struct Profiles<'a>(&'a [u8]);

impl ProcessContext for Profiles<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        (name == "HOME").then(|| "/root".into())
    }

    fn read(&self, _: &Path) -> io::Result<Vec<u8>> {
        Ok(self.0.to_vec())
    }
}

fn shared_profiles(input: &[u8]) -> String {
    let found = |profile| match Credentials::find(&Profiles(input), profile) {
        Ok(found) => format!("{found:?}"),
        Err(error) => error,
    };
    found(None) + &found(Some("a"))
}

fn store_endpoints(input: &[u8]) -> String {
    match objects::endpoints::endpoints(&String::from_utf8_lossy(input), Security::Plain) {
        Ok((found, security)) => format!("{} endpoints, {security:?}", found.len()),
        Err(error) => error,
    }
}

/// What is read is shown as lines and as JSON, as a replay does.
fn watch_log(input: &[u8]) -> String {
    let mut reader = Reader::new(input);
    let (mut intervals, mut plain) = (Intervals::default(), Plain::new(true));
    let mut shown = String::new();
    loop {
        match reader.next_entry() {
            Ok(Some(entry)) => {
                let Some(interval) = intervals.push(entry) else { continue };
                shown += &plain.lines("now", intervals.stack(), &interval.rates);
                let line = json::line(interval.unix_ms, intervals.stack(), &interval.rates);
                shown += &line.unwrap_or_else(|error| error.to_string());
            }
            Ok(None) => return format!("{} lines damaged, then {shown}", reader.damaged()),
            Err(error) => return error.to_string(),
        }
    }
}

/// A model file, its job, and the recording of the first of its threads.
fn model_file(input: &[u8]) -> String {
    let read = |drawing: trace::Drawing| {
        let adjust = Adjust { scale: 3, ..Adjust::default() };
        let recording = drawing.recording(None, adjust, &|name| Ok(format!("{name:?}")))?;
        Ok((drawing.job("m"), recording.files.len()))
    };
    match trace::Drawing::parse(&String::from_utf8_lossy(input)).and_then(read) {
        Ok((job, files)) => format!("{files} files\n{job}"),
        Err(error) => error.to_string(),
    }
}

/// A trace of an application, in any of its forms, its model, and the jobs that the model makes.
fn trace(input: &[u8]) -> String {
    let mut trace = match AnyTrace::open(input) {
        Ok(trace) => trace,
        Err(error) => return error.to_string(),
    };
    let mut builder = model::Builder::new();
    for entry in trace.by_ref() {
        match entry {
            Ok(entry) => builder.entry(&entry),
            Err(error) => return error.to_string(),
        }
    }
    let modelled = builder.finish();
    let options = JobOptions {
        trace: "t".into(),
        directory: String::new(),
        size_max: Some(1 << 20),
        seconds: None,
    };
    let job = model::job::text(&modelled, &[], &options);
    let drawing = model::draw::drawing(&modelled, &[], "").text();
    format!("{} {} {job} {drawing}", trace.header().source, trace.is_truncated())
}
