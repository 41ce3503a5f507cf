//! What tests of servers share: one that runs, and clients of it.

use super::{FATHOM, Ran, Running, free_port, run, wait_until};
use std::path::Path;
use std::process::Command;

/// A server of ours in a directory.
pub struct Served {
    /// Its process.
    pub server: Running,
    /// Its address, as fio writes it.
    pub address: String,
}

impl Served {
    /// At a port that is free, with further options.
    pub fn start(directory: &Path, more: &[&str]) -> Served {
        Served::at(&format!("127.0.0.1,{}", free_port()), directory, more)
    }

    /// At an address.
    pub fn at(address: &str, directory: &Path, more: &[&str]) -> Served {
        let option = format!("--server={address}");
        let arguments = [&[option.as_str()], more].concat();
        let mut server = Running::fathom("fio", directory, &arguments);
        server.says("out", "server listening on");
        Served { server, address: address.into() }
    }

    /// The option that makes a client of it.
    pub fn client(&self) -> String {
        format!("--client={}", self.address)
    }

    /// A client whose run here would last for minutes; it has begun.
    pub fn asked_for_long(&self, directory: &Path) -> Running {
        let own = self.client();
        let arguments = [&[own.as_str()], &LONG[..]].concat();
        let mut asking = Running::fathom("run", directory, &arguments);
        asking.says("out", "Starting 1 process");
        wait_until("the file", || directory.join("long.0.0").exists());
        asking
    }
}

/// A client of ours; ends by itself or is an error.
pub fn client(verb: &str, directory: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new("timeout");
    command.args(["120", FATHOM, verb]).args(arguments).current_dir(directory);
    run(&mut command)
}

/// Makes a job file in a directory.
pub fn job_file(directory: &Path, name: &str, text: &str) {
    std::fs::write(directory.join(name), text).unwrap();
}

/// A run that would last for minutes.
pub const LONG: [&str; 6] =
    ["--name=long", "--size=64k", "--rw=read", "--time_based", "--runtime=120", "--thinktime=1000"];
