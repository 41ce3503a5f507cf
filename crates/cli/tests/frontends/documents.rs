//! The commands of README.md and of the guide, run as they are printed. Their files, devices and servers are
//! made in a root directory of their own (documents.sh); what runs for longer than a second is interrupted.

use crate::common::{FATHOM, MemoryDisk, MemoryFilesystem, at_once, run};
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Bytes of the filesystem with the files of a reader, and of each of the reader's disks.
const FILESYSTEM: u64 = 8 << 30;
const DISK: u64 = 1 << 30;

/// Beginnings of lines that are not run here, and why.
const NOT_HERE: &[(&str, &str)] = &[
    ("tar -xzf fathom-", INSTALLED),
    ("apt install ./fathom-", INSTALLED),
    ("dnf install ./fathom-", INSTALLED),
    ("pip install ./fathom", INSTALLED),
    ("fathom-0.1.0-x86_64/fathom test .", INSTALLED),
    ("cargo ", "builds or tests the repository, as this test does"),
    ("docs/report/make.sh ", "writes pictures into the repository"),
    ("fathom app postgres . --dsn ", "the database of somebody else"),
    ("fathom capture -", "needs the PID namespace of the machine"),
    ("fathom capture /", "needs the PID namespace of the machine"),
    ("mpirun -n 64 --hostfile hosts ", "needs as many hosts; the tests of the fleet have the like"),
    ("fathom s3 get --endpoint=https://s3.example ", "needs a certificate for this name"),
];

/// A package that is made first.
const INSTALLED: &str = "`cargo xtask dist` installs each package in a fresh system";

/// README.md and the guide.
fn documents() -> Vec<PathBuf> {
    let guide = std::fs::read_dir(Path::new(ROOT).join("docs")).unwrap();
    let mut paths: Vec<PathBuf> = guide.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "md"));
    paths.push(Path::new(ROOT).join("README.md"));
    paths.sort();
    paths
}

/// The lines in the shell blocks of a document.
fn shell_lines(document: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(document).unwrap();
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.flat_map(str::lines).map(str::to_owned).collect()
}

/// Runs lines as a reader would type them. An error is all that was said.
fn typed(lines: &[String]) -> Result<(), String> {
    let home = MemoryFilesystem::new(FILESYSTEM);
    let (nvme, sda) = (MemoryDisk::new(DISK), MemoryDisk::new(DISK));
    let script = home.disk.directory.path().join("lines");
    std::fs::write(&script, lines.join("\n") + "\n").unwrap();
    let mut place = Command::new("unshare");
    place.args(["--mount", "--net", "--pid", "--fork", "--kill-child", "sh"]);
    place.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/frontends/documents.sh"));
    place.args([FATHOM, ROOT]).arg(home.path()).args([&nvme.device.device, &sda.device.device]);
    place.arg(&script);
    let moto = testbed::moto().unwrap_or_else(|why| panic!("{why}"));
    let ran = run(place.env("MOTO", moto.join("moto_server")));
    match ran.code {
        0 => Ok(()),
        code => Err(format!("exit code {code}\n{}\n{}", ran.out, ran.err)),
    }
}

#[test]
fn every_command_of_the_readme_and_the_guide_runs_as_printed() {
    let not_here = |line: &String| NOT_HERE.iter().any(|(start, _)| line.starts_with(start));
    let mut all: Vec<(PathBuf, Vec<String>)> =
        documents().into_iter().map(|path| (path.clone(), shell_lines(&path))).collect();
    for (start, why) in NOT_HERE {
        let is_there = all.iter().any(|(_, lines)| lines.iter().any(|l| l.starts_with(start)));
        assert!(is_there, "no line begins with '{start}' any more ({why})");
    }
    all.iter_mut().for_each(|(_, lines)| lines.retain(|line| !not_here(line)));
    all.retain(|(_, lines)| !lines.is_empty());
    // The one that takes longest goes first, beside all others.
    all.sort_by_key(|(path, _)| !path.ends_with("S3.md"));
    let count: usize = all.iter().map(|(_, lines)| lines.len()).sum();
    assert!(all.len() > 15 && count > 90, "{} documents, {count} lines", all.len());
    let failed: Vec<String> = at_once(&all, |(path, lines)| {
        typed(lines).err().map(|why| format!("{}: {why}", path.display()))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
fn a_command_that_does_not_work_is_found() {
    let wrong = typed(&["fathom run --no-such-option job.fio".to_owned()]).unwrap_err();
    assert!(wrong.contains("no-such-option"), "{wrong}");
}
