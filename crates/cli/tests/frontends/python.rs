//! The Python module in `python/`, with its own tests and its notebook, against this program.

use crate::common::{FATHOM, run, scratch};
use std::process::Command;

const MODULE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python");

fn python(arguments: &[&str]) -> Command {
    let programs = testbed::python().unwrap_or_else(|why| panic!("{why}"));
    let mut python = Command::new(programs.join("python"));
    python.args(arguments).env("PYTHONPATH", MODULE).env("FATHOM_PROGRAM", FATHOM);
    python.env("PYTHONDONTWRITEBYTECODE", "1");
    python
}

#[test]
fn the_module_runs_jobs_and_reads_results() {
    let directory = scratch();
    let tests = format!("{MODULE}/tests/test_fathom.py");
    let ran = run(python(&[&tests]).current_dir(directory.path())).expect(0);
    // unittest says so on stderr, also when it found no test.
    assert!(ran.err.contains("Ran 10 tests"), "{}", ran.err);
}

#[test]
fn the_module_is_typed() {
    let directory = scratch();
    let cache = directory.path().join("cache");
    let strict = ["-m", "mypy", "--config-file", "pyproject.toml", "--cache-dir"];
    let ran = run(python(&strict).arg(cache).arg("fathom").current_dir(MODULE));
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
}
