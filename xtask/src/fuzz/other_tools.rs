//! Parsers of other tools' command lines.

use compat::diskspd::{DiskspdCommand, ParseContext, Spans};
use compat::iozone::{Iozone, Request, RunContext};
use compat::{dd, hdparm, io500, ior, iozone, mdtest};
use record::{Bytes, Facts, TargetFacts, TargetKind};
use suite::Suite;

pub fn diskspd(input: &[u8]) -> String {
    diskspd_call(&lines(input), b"<Profile/>")
}

pub fn diskspd_profile(input: &[u8]) -> String {
    diskspd_call(&["-Xprofile".into(), "-d1".into(), "t.dat".into()], input)
}

/// A call understood is shown, and its jobs are made for files of 1 MiB.
fn diskspd_call(arguments: &[String], profile: &[u8]) -> String {
    let outside = ParseContext { read: &|_| Ok(profile.to_vec()), seed: 1 };
    let call = match DiskspdCommand::parse(arguments, &outside) {
        Ok(call) => call,
        Err(usage) => return usage.to_string(),
    };
    let mut facts = Facts::default();
    for (path, _) in call.files() {
        let file =
            TargetFacts { kind: TargetKind::File, size: Bytes(1 << 20), ..Default::default() };
        facts.targets.insert(path, file);
    }
    let jobs = match Spans::new(&call.profile, &facts) {
        Ok(spans) => format!("{:?}", spans.steps()),
        Err(unsuitable) => unsuitable.to_string(),
    };
    jobs + &call.show(arguments)
}

/// One argument a line. A call understood is made into its runs, its grid into nothing endless.
pub fn iozone(input: &[u8]) -> String {
    match iozone::parse(&lines(input)) {
        Ok(Request::Run(call)) => {
            let mut runs = Iozone::new(&call, RunContext { cpus: 2, seed: 1 });
            format!("{:?}, {:?} at most", runs.next(), call.largest())
        }
        Ok(Request::Help) => "help".into(),
        Ok(Request::Version) => "version".into(),
        Err(usage) => usage.to_string(),
    }
}

/// One argument a line. A call understood has its phases and its files.
pub fn ior(input: &[u8]) -> String {
    match ior::parse(&lines(input)) {
        Ok(ior::Request::Run(call)) => {
            format!("{:?}, {}, {}", call.phases(), call.path(0, 0), call.file_size())
        }
        Ok(ior::Request::Help) => "help".into(),
        Err(usage) => usage.to_string(),
    }
}

/// One argument a line. A call understood has its phases and its items.
pub fn mdtest(input: &[u8]) -> String {
    match mdtest::parse(&lines(input)) {
        Ok(mdtest::Request::Run(call)) => {
            let directories = call.test_directories(0).len();
            format!("{:?}, {} in {directories}", call.phases(), call.items_per_task())
        }
        Ok(mdtest::Request::Help) => "help".into(),
        Err(usage) => usage.to_string(),
    }
}

/// A configuration. One that is understood has its phases and the command lines of their tests.
pub fn io500_config(input: &[u8]) -> String {
    match io500::parse("config.ini", &String::from_utf8_lossy(input)) {
        Ok(call) => format!("{:?}, {:?}", call.phases(), call.ior_lines("d")),
        Err(error) => error.to_string(),
    }
}

/// One argument a line; what both name holds 1 MiB.
pub fn dd_or_hdparm(input: &[u8]) -> String {
    let arguments = lines(input);
    let target = TargetFacts {
        kind: TargetKind::File,
        size: Bytes(1 << 20),
        readable: true,
        ..TargetFacts::default()
    };
    let copied = dd::DdCommand::parse(&arguments).and_then(|call| {
        let mut facts = Facts::default();
        let paths = call.read().into_iter().chain(call.written());
        // Each file is another one.
        facts.targets = paths
            .map(|path| (path.to_owned(), TargetFacts { canonical: path.into(), ..target.clone() }))
            .collect();
        let work = call.work(&facts)?;
        Ok(format!("{:?} and {} I/Os", work.arguments, work.recording().ios))
    });
    let timed = hdparm::HdparmCommand::parse(&arguments).and_then(|call| {
        let large = TargetFacts { size: Bytes(8 << 30), ..target };
        let path = call.targets.first().cloned().unwrap_or_default();
        let runs = call.timings().map(|timing| call.arguments(timing, &path, &large));
        Ok(format!("{:?}", runs.collect::<Result<Vec<_>, _>>()?))
    });
    let told = |told: Result<String, compat::Usage>| told.unwrap_or_else(|usage| usage.to_string());
    told(copied) + &told(timed)
}

pub fn lines(input: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(input).lines().map(Into::into).collect()
}
