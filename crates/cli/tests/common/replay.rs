//! What the tests of replays share: what a program did to files.

use super::{FATHOM, FIO, run};
use std::path::Path;
use std::process::Command;

/// What a program's worker did to what lies in `directory` or is the device `also`: "open FILE",
/// "close FILE", "read FILE OFFSET LENGTH" and so on, in its order, as the kernel was asked for it.
#[track_caller]
pub fn done_by(program: &[&str], directory: &Path, also: &str, arguments: &[&str]) -> Vec<String> {
    let kept = super::scratch();
    let out = kept.path().join("calls");
    let calls = "trace=openat,close,pread64,pwrite64,fsync,fdatasync,ioctl";
    let ran = run(Command::new("timeout")
        .args(["300", "strace", "-ff", "-y", "-e", calls, "-o", out.to_str().unwrap()])
        .args(program)
        .args(arguments)
        .current_dir(directory));
    assert_eq!(ran.code, 0, "{program:?} {arguments:?}: {} {}", ran.out, ran.err);
    let ours = |path: &str| {
        path == also || Path::new(path).parent() == Some(directory) && !path.ends_with(".log")
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(kept.path()).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let calls: Vec<String> = text.lines().filter_map(|line| call(line, &ours)).collect();
        // The worker is the thread that writes.
        if calls.iter().any(|call| call.starts_with("write ")) {
            found.push(calls);
        }
    }
    assert_eq!(found.len(), 1, "{program:?}: threads that write");
    found.remove(0)
}

/// What a line of strace says was done to one of `ours`.
fn call(line: &str, ours: &impl Fn(&str) -> bool) -> Option<String> {
    let (name, rest) = line.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    if result.starts_with('-') {
        return None;
    }
    let arguments = arguments.trim_end().trim_end_matches(')');
    if name == "openat" {
        let path = result.split_once('<')?.1.trim_end_matches('>');
        return ours(path).then(|| format!("open {path}"));
    }
    let path = arguments.split_once('<')?.1.split_once('>')?.0;
    // strace shows what a device is behind its path.
    let path = path.split_once('<').map_or(path, |(path, _)| path);
    if !ours(path) {
        return None;
    }
    let mut last = arguments.rsplit(", ");
    match name {
        "pread64" | "pwrite64" => {
            let (offset, length) = (last.next()?, last.next()?);
            Some(format!("{} {path} {offset} {length}", &name[1..name.len() - 2]))
        }
        "ioctl" if arguments.contains("BLKDISCARD") => {
            Some(format!("trim {path} {}", arguments.split_once('[')?.1))
        }
        "ioctl" => None,
        _ => Some(format!("{name} {path}")),
    }
}

/// The same without opening and closing: what moves data or makes it durable.
pub fn io_of(calls: Vec<String>) -> Vec<String> {
    calls.into_iter().filter(|c| !c.starts_with("open ") && !c.starts_with("close ")).collect()
}

/// Ours under the name fio, and the oracle.
pub const OURS: [&str; 2] = [FATHOM, "fio"];
/// The oracle.
pub const THEIRS: [&str; 1] = [FIO];
