//! Finds the programs that benchmarks need.

use crate::Failure;
use std::path::{Path, PathBuf};

/// A program and its Debian package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// The package.
    pub package: &'static str,
}

/// The directory of PostgreSQL's programs, which is not in PATH: one subdirectory a version.
const POSTGRES: &str = "/usr/lib/postgresql";
/// Directories of administration programs, which the PATH of users lacks.
const SYSTEM: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// The path of a program.
///
/// # Errors
/// The program is missing: with the command that installs it.
pub fn find(program: Program) -> Result<PathBuf, Failure> {
    find_in(program, &program_directories())
}

/// The path of the first installed program of a list.
///
/// # Errors
/// None is installed: with the command that installs the first.
pub(crate) fn find_any(programs: &[Program]) -> Result<PathBuf, Failure> {
    let directories = program_directories();
    let mut found = programs.iter().map(|program| find_in(*program, &directories));
    let first = found.next().unwrap_or_else(|| Err(Failure("no program is named".into())));
    first.or_else(|missing| found.find_map(Result::ok).ok_or(missing))
}

fn find_in(program: Program, directories: &[PathBuf]) -> Result<PathBuf, Failure> {
    let mut paths = directories.iter().map(|directory| directory.join(program.name));
    let found = paths.find(|path| path.is_file());
    found.ok_or_else(|| {
        Failure(format!(
            "'{}' is needed and not installed: apt-get install {}",
            program.name, program.package
        ))
    })
}

/// Directories of programs. PostgreSQL's come first, since Debian has wrappers of its programs in PATH.
fn program_directories() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = SYSTEM.map(|directory| Path::new(directory).to_path_buf());
    postgres(Path::new(POSTGRES))
        .into_iter()
        .chain(std::env::split_paths(&path))
        .chain(system)
        .collect()
}

/// Directories of PostgreSQL's programs, the newest version first.
fn postgres(below: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(below).into_iter().flatten().flatten();
    let version = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let mut versions: Vec<u32> = entries.filter_map(version).collect();
    versions.sort_unstable_by(|a, b| b.cmp(a));
    versions.into_iter().map(|version| below.join(version.to_string()).join("bin")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_server_comes_first() {
        let scratch = testbed::scratch();
        for version in ["9", "15", "17", "common"] {
            std::fs::create_dir(scratch.path().join(version)).unwrap();
        }
        let found = postgres(scratch.path());
        let names: Vec<_> = found.iter().map(|p| p.strip_prefix(scratch.path()).unwrap()).collect();
        assert_eq!(names, ["17/bin", "15/bin", "9/bin"].map(Path::new));
        assert!(postgres(Path::new("/nowhere")).is_empty());
    }

    #[test]
    fn a_missing_program_is_named_with_its_package() {
        let scratch = testbed::scratch();
        let places = [scratch.path().to_path_buf()];
        let program = Program { name: "mariadbd", package: "mariadb-server" };
        let error = find_in(program, &places).unwrap_err();
        assert_eq!(
            error.0,
            "'mariadbd' is needed and not installed: apt-get install mariadb-server"
        );
        std::fs::write(places[0].join("mariadbd"), "").unwrap();
        assert_eq!(find_in(program, &places), Ok(places[0].join("mariadbd")));
    }
}
