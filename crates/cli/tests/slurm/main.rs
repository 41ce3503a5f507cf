//! Ranks that Slurm's srun starts. Its daemons need a machine of their own kind, so that `cargo xtask slurm`
//! installs them and runs these tests; other runs leave them out.

#[path = "../common/mod.rs"]
mod common;

use common::{FATHOM, Ran, document, free_port, run, scratch};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Slurm's interfaces for ranks, with the MPI library that speaks each.
const INTERFACES: [(&str, &str); 2] = [("pmi2", "MPICH"), ("pmix", "Open MPI")];

/// Slurm on one node, which ends with the value.
struct Slurm(TempDir);

impl Slurm {
    fn start() -> Slurm {
        let directory = scratch();
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(include_str!("start.sh")).arg("start");
        shell.arg(directory.path()).args([free_port().to_string(), free_port().to_string()]);
        shell.env("SLURM_CONF", directory.path().join("slurm.conf"));
        let slurm = Slurm(directory);
        run(&mut shell).expect(0);
        slurm
    }

    fn at(&self) -> &Path {
        self.0.path()
    }

    /// Starts ranks, each by a shell script whose arguments are the program and its own.
    fn ranks(&self, interface: &str, count: u32, script: &str, arguments: &[&str]) -> Ran {
        let mut command = Command::new("srun");
        command.env("SLURM_CONF", self.at().join("slurm.conf")).current_dir(self.at());
        command.args([&format!("--mpi={interface}"), "--overcommit", "-n", &count.to_string()]);
        let script = format!("{script}\nexec \"$@\"");
        command.args(["sh", "-c", &script, "sh", FATHOM, "run"]).args(arguments);
        run(&mut command)
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        for file in ["slurmd.pid", "slurmctld.pid", "munge/pid"] {
            if let Ok(pid) = std::fs::read_to_string(self.at().join(file)) {
                let _ = Command::new("kill").args(["-KILL", pid.trim()]).status();
            }
        }
    }
}

const READS: [&str; 7] = [
    "--name=t",
    "--filename=data.$rank",
    "--rw=randread",
    "--size=1m",
    "--number_ios=256",
    "--output-format=json",
    "--rank-timeout=5",
];

#[test]
#[ignore = "run by cargo xtask slurm"]
fn ranks_that_srun_starts_are_one_measurement() {
    let slurm = Slurm::start();
    for (interface, library) in INTERFACES {
        let json = document(&slurm.ranks(interface, 3, "", &READS).expect(0));
        let fleet = &json["fathom"]["fleet"];
        assert!(fleet["library"].as_str().unwrap().starts_with(library), "{fleet}");
        assert_eq!(fleet["ranks"].as_array().unwrap().len(), 3, "{fleet}");
        assert_eq!(json["jobs"][0]["read"]["total_ios"], 768, "{json}");
    }
}

#[test]
#[ignore = "run by cargo xtask slurm"]
fn a_rank_that_srun_loses_is_told_and_the_rest_is_measured() {
    let slurm = Slurm::start();
    let dies = "if [ $SLURM_PROCID = 1 ]; then (sleep 2; kill -KILL $$) & fi";
    let lasting = [&READS[..4], &["--time_based", "--runtime=6"], &READS[5..]].concat();
    // srun's own exit code tells of the signal.
    let ran = slurm.ranks("pmi2", 3, dies, &lasting);
    assert_ne!(ran.code, 0);
    let json = document(&ran);
    let ranks = json["fathom"]["fleet"]["ranks"].as_array().unwrap();
    let measured: Vec<bool> = ranks.iter().map(|rank| rank["why"].is_null()).collect();
    assert_eq!(measured, [true, false, true], "{ranks:?}");
    assert!(ran.err.contains("rank 1"), "{}", ran.err);
}
