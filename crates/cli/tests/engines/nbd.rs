//! The nbd engine against nbdkit.

use crate::common::*;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// An nbdkit that serves until it is dropped.
struct Server {
    child: Child,
    uri: String,
}

impl Server {
    /// Serves with these arguments on a socket in `directory`.
    fn start(directory: &Path, arguments: &[&str]) -> Server {
        let socket = directory.join("socket");
        let _ = fs::remove_file(&socket);
        let mut command = Command::new("nbdkit");
        command.args(["-f", "-U"]).arg(&socket).args(arguments);
        let child = command.current_dir(directory).stderr(Stdio::null()).spawn().unwrap();
        wait_until("nbdkit serves", || socket.exists());
        Server { child, uri: format!("--uri=nbd+unix:///?socket={}", socket.display()) }
    }

    fn job<'a>(&'a self, options: &[&'a str]) -> Vec<&'a str> {
        [&["--name=a", "--ioengine=nbd", &self.uri][..], options].concat()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn what_is_written_lies_where_it_belongs_and_is_read_back() {
    let directory = scratch();
    let disk = directory.path().join("disk");
    // With structured replies, which come in chunks, and with simple ones.
    for arguments in [&["file", "disk"][..], &["--no-sr", "file", "disk"]] {
        fs::write(&disk, vec![0; 8 << 20]).unwrap();
        let server = Server::start(directory.path(), arguments);
        let write = ["--rw=randwrite", "--bs=4k-64k", "--iodepth=16", "--verify=crc32c"];
        let record = recorded(directory.path(), 0, &server.job(&write));
        assert_eq!(record.jobs[0].results.read.bytes.0, 8 << 20);
        assert_eq!(record.jobs[0].results.write.bytes.0, 8 << 20);
        let pattern =
            ["--rw=write", "--bs=1m", "--iodepth=4", "--buffer_pattern=0xa5", "--fsync=2"];
        let region = ["--offset=1m", "--size=2m"];
        fathom(directory.path(), &server.job(&[&pattern[..], &region].concat())).expect(0);
        let bytes = fs::read(&disk).unwrap();
        assert!(bytes[1 << 20..3 << 20].iter().all(|byte| *byte == 0xa5));
        assert!(bytes[3 << 20..].iter().any(|byte| *byte != 0xa5));
        let trim = ["--rw=trim", "--bs=64k", "--iodepth=4"];
        fathom(directory.path(), &server.job(&[&trim[..], &region].concat())).expect(0);
        assert!(fs::read(&disk).unwrap()[1 << 20..3 << 20].iter().all(|byte| *byte == 0));
    }
}

#[test]
fn errors_of_the_server_are_errors_of_the_io() {
    let directory = scratch();
    let failing = ["--filter=error", "memory", "8m", "error-pread=ENOSPC", "error-pread-rate=100%"];
    let server = Server::start(directory.path(), &failing);
    let read = ["--rw=read", "--bs=4k", "--size=64k", "--iodepth=8"];
    let ran = fathom(directory.path(), &server.job(&read)).expect(1);
    assert!(ran.err.contains("No space left on device"), "{}", ran.err);
}

#[test]
fn a_server_that_cannot_serve_the_job_is_named_before_the_run() {
    let directory = scratch();
    let server = Server::start(directory.path(), &["-r", "memory", "8m"]);
    let ran = fathom(directory.path(), &server.job(&["--rw=write"])).expect(3);
    assert!(ran.err.contains("is read-only"), "{}", ran.err);
    fathom(directory.path(), &server.job(&["--rw=read", "--bs=64k"])).expect(0);
    drop(server);
    let gone = format!("--uri=nbd+unix:///?socket={}/none", directory.path().display());
    let ran = fathom(directory.path(), &["--name=a", "--ioengine=nbd", &gone]).expect(3);
    assert!(ran.err.contains("No such file"), "{}", ran.err);
    for (uri, reason) in [("--uri=nbds://a", "TLS"), ("--uri=x", "nbd://HOST")] {
        let ran = fathom(directory.path(), &["--name=a", "--ioengine=nbd", uri]).expect(3);
        assert!(ran.err.contains(reason), "{}", ran.err);
    }
    let ran = fathom(directory.path(), &["--name=a", "--ioengine=nbd"]).expect(2);
    assert!(ran.err.contains("no server to connect to"), "{}", ran.err);
}
