//! rados and rbd against a Ceph cluster of one node. Its packages are large, so that
//! `cargo xtask ceph` installs them and runs these tests; other runs leave them out.

#[path = "../common/mod.rs"]
mod common;

use common::{FATHOM, Ran, free_port, run, scratch};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A cluster that ends with the value.
struct Cluster(TempDir);

impl Cluster {
    fn start() -> Cluster {
        let directory = scratch();
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(include_str!("start.sh")).arg("start");
        shell.arg(directory.path()).arg(free_port().to_string());
        shell.env("CEPH_CONF", directory.path().join("ceph.conf"));
        let cluster = Cluster(directory);
        run(&mut shell).expect(0);
        cluster
    }

    fn at(&self) -> &Path {
        self.0.path()
    }

    /// A job in the cluster's directory.
    fn job(&self, engine: &str, options: &str) -> Ran {
        let mut command = Command::new(FATHOM);
        command.args(["run", "--output-format=json", "--name=a", "--pool=pool"]);
        command.arg(format!("--ioengine={engine}")).current_dir(self.at());
        command.env("CEPH_CONF", self.at().join("ceph.conf"));
        run(command.args(options.split(' ').map(|option| format!("--{option}"))))
    }

    #[track_caller]
    fn done(&self, engine: &str, options: &str) -> Value {
        self.job(engine, options).expect(0).json()["jobs"][0].clone()
    }

    /// What one of Ceph's own programs prints.
    fn tool(&self, words: &[&str]) -> Vec<u8> {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).env("CEPH_CONF", self.at().join("ceph.conf"));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        output.stdout
    }

    fn kill(&self, daemon: &str) {
        if let Ok(pid) = std::fs::read_to_string(self.at().join(format!("{daemon}.pid"))) {
            let _ = Command::new("kill").args(["-KILL", pid.trim()]).status();
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.kill("osd.0");
        self.kill("mon.a");
    }
}

fn ios(job: &Value) -> [u64; 3] {
    ["read", "write", "trim"].map(|direction| job[direction]["total_ios"].as_u64().unwrap())
}

#[test]
#[ignore = "run by cargo xtask ceph"]
fn rbd_and_rados_work_on_a_real_cluster() {
    let cluster = Cluster::start();

    let work = "rbdname=disk rw=randwrite bs=4k size=1m iodepth=8 verify=crc32c fsync=16";
    let done = cluster.done("rbd", work);
    assert_eq!(ios(&done), [256, 256, 0]);
    assert!(done["sync"]["total_ios"].as_u64() > Some(10));
    // Without a size, the image's own.
    let whole = cluster.done("rbd", "rbdname=disk rw=read bs=4m iodepth=4 busy_poll=1");
    assert_eq!(whole["read"]["io_bytes"], 64 << 20);
    let known = "rbdname=disk rw=write bs=64k offset=1m size=128k buffer_pattern=0xa5";
    cluster.done("rbd", known);
    let image = cluster.tool(&["rbd", "export", "pool/disk", "-"]);
    assert!(image[1 << 20..(1 << 20) + (128 << 10)].iter().all(|byte| *byte == 0xa5));
    cluster.done("rbd", "rbdname=disk rw=trim bs=64k offset=1m size=128k");
    let image = cluster.tool(&["rbd", "export", "pool/disk", "-"]);
    assert!(image[1 << 20..(1 << 20) + (128 << 10)].iter().all(|byte| *byte == 0));

    let named = "clustername=ceph clientname=admin rbdname=disk rw=randread bs=4k size=64k";
    assert_eq!(ios(&cluster.done("rbd", named)), [16, 0, 0]);
    let absent = cluster.job("rbd", "rbdname=none rw=read").expect(3);
    assert!(absent.err.contains("rbdname=none cannot be opened: No such file"), "{}", absent.err);

    let objects = "rw=randwrite bs=4k size=1m nrfiles=4 iodepth=8 verify=crc32c";
    assert_eq!(ios(&cluster.done("rados", objects)), [256, 256, 0]);
    let listed = String::from_utf8(cluster.tool(&["rados", "-p", "pool", "ls"])).unwrap();
    for number in 0..4 {
        assert!(listed.lines().any(|name| name == format!("a.0.{number}")), "{listed}");
    }
    let conf = cluster.at().join("ceph.conf");
    let conf = format!("conf={} clientname=admin rw=trim bs=64k size=256k", conf.display());
    assert_eq!(ios(&cluster.done("rados", &conf)), [0, 0, 4]);
    let untouched = "touch_objects=0 filename=none rw=read size=4k";
    let missing = cluster.job("rados", untouched).expect(1);
    assert!(missing.err.contains("No such file"), "{}", missing.err);
    let pool = cluster.job("rados", "pool=none size=4k").expect(3);
    assert!(pool.err.contains("pool=none cannot be opened"), "{}", pool.err);
}

#[test]
fn what_ceph_needs_is_said_before_the_run() {
    let directory = scratch();
    let job = |options: &[&str]| {
        let mut command = Command::new(FATHOM);
        command.args(["run", "--name=a", "--size=4k"]).args(options).current_dir(&directory);
        run(command.env("CEPH_CONF", "/nowhere/ceph.conf"))
    };
    let no_pool = job(&["--ioengine=rbd"]).expect(2);
    assert!(no_pool.err.contains("pool: ioengine=rbd needs it"), "{}", no_pool.err);
    let no_image = job(&["--ioengine=rbd", "--pool=p"]).expect(2);
    assert!(no_image.err.contains("rbdname: ioengine=rbd needs it"), "{}", no_image.err);
    let no_conf = job(&["--ioengine=rados", "--pool=p"]).expect(3);
    let words = ["the configuration of Ceph", "check pool, conf"];
    // Debian's fio brings the library; without it, the package is named.
    let has_all = words.iter().all(|word| no_conf.err.contains(word));
    assert!(has_all || no_conf.err.contains("apt-get install librados2"), "{}", no_conf.err);
}
