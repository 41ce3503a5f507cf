//! Applications of Debian: what prepares and runs each of them in the current directory.

use super::workloads::Workload;
use anyhow::Result;
use std::fs;
use std::path::Path;

/// A script that prepares and runs applications, or that another one calls.
struct Script {
    name: &'static str,
    text: &'static str,
}

const SCRIPTS: &[Script] = &[
    Script { name: "postgres.sh", text: include_str!("applications/postgres.sh") },
    Script { name: "mariadb.sh", text: include_str!("applications/mariadb.sh") },
    Script { name: "rocksdb.sh", text: include_str!("applications/rocksdb.sh") },
    Script { name: "compile.sh", text: include_str!("applications/compile.sh") },
    Script { name: "tar.sh", text: include_str!("applications/tar.sh") },
    Script { name: "git.sh", text: include_str!("applications/git.sh") },
    Script { name: "maildir.sh", text: include_str!("applications/maildir.sh") },
    Script { name: "maildir.py", text: include_str!("applications/maildir.py") },
    Script { name: "tree.py", text: include_str!("applications/tree.py") },
];

pub const APPLICATIONS: &[Workload] = &[
    Workload {
        name: "pgbench",
        what: "PostgreSQL with pgbench, 4 clients: 45 MB of tables, in 128 MB of shared buffers after their first use",
        programs: &["psql", "runuser"],
        lines: |directory, seconds| postgres(directory, "3", "128MB", seconds),
    },
    Workload {
        name: "pgbench-large",
        what: "PostgreSQL with pgbench, 4 clients: 240 MB of tables, 8 MB of shared buffers, its own checkpoints",
        programs: &["psql", "runuser"],
        lines: |directory, seconds| postgres(directory, "16", "8MB", seconds),
    },
    Workload {
        name: "mariadb",
        what: "MariaDB with sysbench (OLTP, reads and writes), 4 threads, 16 MB of buffer pool, O_DIRECT",
        programs: &["mariadbd", "mariadb-install-db", "sysbench"],
        lines: |directory, seconds| script(directory, "mariadb.sh", &[&seconds.to_string()]),
    },
    Workload {
        name: "rocksdb",
        what: "RocksDB's db_bench, 4 threads: 80 % reads with O_DIRECT, 20 % writes that are synced",
        programs: &["db_bench"],
        lines: |directory, seconds| script(directory, "rocksdb.sh", &[&seconds.to_string()]),
    },
    Workload {
        name: "compile",
        what: "make -j2 compiles and links C files that share headers",
        programs: &["make", "cc", "awk"],
        lines: |directory, seconds| {
            script(directory, "compile.sh", &[&(FILES_COMPILED * seconds).to_string()])
        },
    },
    Workload {
        name: "tar",
        what: "tar and gzip pack a tree of text files, and unpack it again",
        programs: &["tar", "gzip", "python3"],
        lines: |directory, seconds| {
            script(directory, "tar.sh", &[&(FILES_PACKED * seconds).to_string()])
        },
    },
    Workload {
        name: "git",
        what: "git clones a repository, checks an older version out, and collects garbage",
        programs: &["git", "python3"],
        lines: |directory, seconds| {
            script(directory, "git.sh", &[&(FILES_TRACKED * seconds).to_string()])
        },
    },
    Workload {
        name: "maildir",
        what: "2 processes deliver messages: each is written, synced and renamed, and its directory is synced",
        programs: &["python3"],
        lines: |directory, seconds| script(directory, "maildir.sh", &[&seconds.to_string()]),
    },
];

/// Files for each second that the run should take. The time depends on the machine: these are for 2 CPUs.
const FILES_COMPILED: u32 = 12;
const FILES_PACKED: u32 = 600;
const FILES_TRACKED: u32 = 300;

fn postgres(
    directory: &Path,
    scale: &str,
    buffers: &str,
    seconds: u32,
) -> Result<Vec<Vec<String>>> {
    script(directory, "postgres.sh", &[scale, buffers, &seconds.to_string()])
}

/// The commands that prepare and run an application by its script, which is written into this directory.
fn script(directory: &Path, name: &str, arguments: &[&str]) -> Result<Vec<Vec<String>>> {
    let scripts = directory.join("scripts");
    fs::create_dir_all(&scripts)?;
    for Script { name, text } in SCRIPTS {
        fs::write(scripts.join(name), text)?;
    }
    let path = scripts.join(name).display().to_string();
    let line = |step: &str| {
        let first = ["bash", &path, step].into_iter();
        first.chain(arguments.iter().copied()).map(str::to_owned).collect()
    };
    Ok(vec![line("prepare"), line("run")])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Prepares and runs an application, and gives the names of what it left.
    fn left_by(name: &str) -> Vec<String> {
        let scratch = testbed::scratch();
        let load = scratch.path().join("load");
        fs::create_dir(&load).unwrap();
        let application = APPLICATIONS.iter().find(|one| one.name == name).unwrap();
        for line in (application.lines)(scratch.path(), 1).unwrap() {
            let ended =
                Command::new(&line[0]).args(&line[1..]).current_dir(&load).output().unwrap();
            assert!(ended.status.success(), "{line:?}: {ended:?}");
        }
        let mut names: Vec<String> = fs::read_dir(&load)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn applications_on_files_leave_what_they_make() {
        assert_eq!(left_by("tar"), ["tree", "tree.tar.gz", "unpacked"]);
        assert_eq!(left_by("git"), ["clone", "origin"]);
        assert_eq!(left_by("compile"), ["Makefile", "include", "program", "source"]);
        assert_eq!(left_by("maildir"), ["new", "tmp"]);
    }
}
