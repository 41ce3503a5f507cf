//! `fathom powercut`, from end to end: the tester is killed in place of the machine, and files are damaged
//! in place of a cut that damages them.

use crate::common::*;
use rustix::process::Signal;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// `fathom powercut ARGUMENTS` in a directory.
#[track_caller]
fn powercut(directory: &Path, arguments: &[&str]) -> Ran {
    run(Command::new(FATHOM).arg("powercut").args(arguments).current_dir(directory))
}

/// A server of promises in a directory, which ends with the value.
struct Server {
    _running: Running,
    address: String,
    directory: PathBuf,
}

fn serve(directory: &Path) -> Server {
    let address = format!("127.0.0.1:{}", free_port());
    let listen = format!("--listen={address}");
    let mut running = Running::fathom("powercut", directory, &["serve", &listen]);
    running.says("out", &address);
    Server { _running: running, address, directory: directory.join("promises") }
}

impl Server {
    #[track_caller]
    fn write(&self, directory: &Path, arguments: &[&str]) -> Ran {
        let to = format!("--to={}", self.address);
        powercut(directory, &[&["write", &to], arguments].concat())
    }

    #[track_caller]
    fn check(&self, directory: &Path, arguments: &[&str]) -> Ran {
        let from = format!("--from={}", self.address);
        powercut(directory, &[&["check", &from], arguments].concat())
    }

    /// Writes to a directory until the tester is killed.
    #[track_caller]
    fn write_and_kill(&self, directory: &Path, arguments: &[&str]) {
        let to = format!("--to={}", self.address);
        let all = [&["write", &to], arguments].concat();
        let mut tester = Running::fathom("powercut", directory, &all);
        tester.says("err", "What cuts show");
        wait_until("promises", || self.has_promises(30_000));
        tester.signal(Signal::KILL);
        tester.end();
    }

    /// Whether a run has more than so many bytes of promises. It has no file before it begins.
    fn has_promises(&self, bytes: u64) -> bool {
        let logs = names(&self.directory);
        logs.iter().any(|log| fs::metadata(self.directory.join(log)).unwrap().len() > bytes)
    }

    fn log(&self) -> PathBuf {
        let names = names(&self.directory);
        self.directory.join(names.iter().rfind(|name| *name != "order").unwrap())
    }

    /// `--run` with the number of the only run.
    fn last_run(&self) -> String {
        format!("--run={}", self.log().file_stem().unwrap().to_str().unwrap())
    }
}

#[test]
fn what_a_killed_tester_was_promised_is_kept_and_what_is_damaged_is_found() {
    let scratch = scratch();
    let at = scratch.path();
    let server = serve(at);
    fs::create_dir(at.join("data")).unwrap();
    server.write_and_kill(at, &["data", "--size=8m", "--threads=1"]);
    let ran = server.check(at, &["data"]).expect(0);
    let said = joined(&ran.out);
    assert!(said.contains("promises were kept."), "{said}");
    assert!(said.contains("does not count as a cut"), "{said}");
    let json = server.check(at, &["data", "--json", "--html=report.html"]).expect(0).json();
    assert_eq!(json["broken"], 0);
    let classes = json["classes"].as_array().unwrap();
    assert!(classes.len() >= 8 && classes.iter().all(|class| class["made"].as_u64() > Some(0)));
    assert!(fs::read_to_string(at.join("report.html")).unwrap().contains("promises were kept."));
    // The file of stream 3, which writes in the class fsync.
    let damaged = at.join("data/powercut-3");
    fs::write(&damaged, vec![0; fs::metadata(&damaged).unwrap().len() as usize]).unwrap();
    let ran = server.check(at, &["data"]).expect(1);
    let said = joined(&ran.out);
    assert!(said.contains("were broken: fsync.") && said.contains("nothing of this run"), "{said}");
    // A check reads: it can be made again, with the same result.
    assert_eq!(server.check(at, &["data"]).expect(1).out, ran.out);
}

#[test]
fn a_session_without_a_cut_is_no_trial() {
    let scratch = scratch();
    let at = scratch.path();
    let server = serve(at);
    server.write(at, &["file", "--size=4m", "--time=300ms", "--class=fsync"]).expect(0);
    let ran = server.check(at, &["file"]).expect(0);
    let said = joined(&ran.out);
    assert!(said.contains("The writes ended by the end of their time, not by a cut"), "{said}");
    assert!(!said.contains("What all cuts"), "{said}");
    // The file of an earlier test may be written again, the file of a user not.
    server.write(at, &["file", "--size=4m", "--time=300ms", "--class=fsync"]).expect(0);
    fs::write(at.join("letter"), "Dear").unwrap();
    let refused = server.write(at, &["letter", "--time=1"]).expect(3);
    assert!(refused.err.contains("--allow-destroy="), "{}", refused.err);
    assert_eq!(fs::read_to_string(at.join("letter")).unwrap(), "Dear");
}

#[test]
fn a_command_that_does_not_cut_is_an_error_of_its_own() {
    let scratch = scratch();
    let at = scratch.path();
    let server = serve(at);
    fs::create_dir(at.join("data")).unwrap();
    let to = format!("--to={}", server.address);
    let arguments = ["write", "data", &to, "--cut=touch cut; exit 7", "--cut-after=100ms"];
    let mut tester = Running::fathom("powercut", at, &arguments);
    tester.says("err", "the command of --cut ended with exit status: 7");
    assert!(at.join("cut").exists());
    tester.signal(Signal::INT);
    tester.end().expect(130);
}

#[test]
fn damaged_promises_are_said_and_wrong_targets_refused() {
    let scratch = scratch();
    let at = scratch.path();
    let server = serve(at);
    fs::create_dir(at.join("data")).unwrap();
    server.write_and_kill(at, &["data", "--size=2m", "--threads=1", "--class=dsync"]);
    let refused = server.check(at, &["other"]).expect(3);
    assert!(refused.err.contains("keeps no promises of other"), "{}", refused.err);
    let mut log = fs::read(server.log()).unwrap();
    let last = log.len() - 20;
    log[last] ^= 1;
    fs::write(server.log(), &log).unwrap();
    let said = joined(&server.check(at, &["data"]).expect(0).out);
    assert!(said.contains("The promises are damaged in line"), "{said}");
    // Another directory in its place.
    fs::remove_file(at.join("data/powercut-0")).unwrap();
    let refused = server.check(at, &["data"]).expect(3);
    assert!(joined(&refused.err).contains("is it the target that was written?"), "{}", refused.err);
    log[30] ^= 1;
    fs::write(server.log(), &log).unwrap();
    let run = server.last_run();
    let refused = server.check(at, &["data", &run]).expect(3);
    assert!(refused.err.contains("first line"), "{}", refused.err);
}

#[test]
fn bad_arguments_are_refused_before_anything_is_written() {
    let scratch = scratch();
    let at = scratch.path();
    fs::create_dir(at.join("data")).unwrap();
    fs::write(at.join("data/letter"), "Dear").unwrap();
    let server = serve(at);
    let unreachable = format!("--to=127.0.0.1:{}", free_port());
    let error = powercut(at, &["write", "new", &unreachable]).expect(1).err;
    assert!(error.contains("cannot be reached"), "{error}");
    assert!(!at.join("new").exists());
    for (arguments, code, text) in [
        (&["data", "--time=1"][..], 3, "holds 'letter'"),
        (&["no/such", "--time=1"], 2, "its directory is not there"),
        (&["new", "--class=sync"], 2, "expected one of"),
        (&["new", "--class=rename"], 2, "name a directory"),
        (&["new", "--size=64k", "--threads=2"], 2, "too few"),
        (&["new", "--time=1", "--cut=true"], 2, "cannot be used with"),
        (&["/dev/null", "--time=1"], 3, "neither a directory nor a file"),
    ] {
        let error = server.write(at, arguments).expect(code).err;
        assert!(error.contains(text), "{arguments:?}: {error}");
    }
    let error = powercut(at, &["serve", "--listen=0.0.0.0:0"]).expect(2).err;
    assert!(error.contains("--token-file"), "{error}");
}

#[test]
fn a_device_is_written_only_where_it_is_named() {
    let scratch = scratch();
    let at = scratch.path();
    let server = serve(at);
    let device = loop_device(at, 8 << 20, &[]);
    let refused = server.write(at, &[&device.device, "--time=1"]).expect(3);
    assert!(refused.err.contains("--allow-destroy="), "{}", refused.err);
    let allow = format!("--allow-destroy={}", device.device);
    server.write(at, &[&device.device, &allow, "--time=500ms", "--threads=1"]).expect(0);
    let said = joined(&server.check(at, &[&device.device]).expect(0).out);
    assert!(said.contains("promises were kept.") && said.contains("fua"), "{said}");
    // The device shrinks.
    fs::OpenOptions::new().write(true).open(at.join("loop.img")).unwrap().set_len(4 << 20).unwrap();
    testbed::system("losetup", &["--set-capacity", &device.device]);
    let refused = server.check(at, &[&device.device]).expect(3);
    assert!(joined(&refused.err).contains("is it another device?"), "{}", refused.err);
    let run = server.last_run();
    let said = joined(&server.check(at, &[&device.device, &run]).expect(1).out);
    assert!(said.contains("behind the end"), "{said}");
}

#[test]
fn a_filesystem_that_does_not_mount_is_a_result() {
    let scratch = scratch();
    let at = scratch.path();
    let server = serve(at);
    let device = loop_device(at, 64 << 20, &[]);
    testbed::system("mkfs.ext4", &["-q", &device.device]);
    let mounted = testbed::Mounted::new(&[], &device.device, at.join("mnt"));
    fs::create_dir(at.join("mnt/data")).unwrap();
    server.write_and_kill(at, &["mnt/data", "--size=2m", "--threads=1", "--class=fsync"]);
    server.check(at, &["mnt/data"]).expect(0);
    drop(mounted);
    fs::create_dir_all(at.join("mnt/data")).unwrap();
    let refused = server.check(at, &["mnt/data"]).expect(3);
    let said = joined(&refused.err);
    assert!(said.contains("was on ext4") && said.contains("--unmountable"), "{said}");
    let run = server.last_run();
    let said = joined(&server.check(at, &["mnt/data", "--unmountable", &run]).expect(1).out);
    assert!(said.contains("does not mount after the cut: every promise counts as lost"), "{said}");
}

#[test]
fn a_file_that_shrank_is_a_loss_and_a_second_tester_is_kept_away() {
    let scratch = scratch();
    let at = scratch.path();
    let server = serve(at);
    let to = format!("--to={}", server.address);
    let options = ["write", &to, "file", "--size=4m", "--class=fsync", "--threads=1"];
    let mut tester = Running::fathom("powercut", at, &options);
    tester.says("err", "What cuts show");
    let refused = server.write(at, &["file", "--time=1"]).expect(3);
    assert!(refused.err.contains("another tester writes to it"), "{}", refused.err);
    wait_until("promises", || server.has_promises(20_000));
    tester.signal(Signal::KILL);
    tester.end();
    server.check(at, &["file"]).expect(0);
    fs::OpenOptions::new().write(true).open(at.join("file")).unwrap().set_len(8192).unwrap();
    let said = joined(&server.check(at, &["file", &server.last_run()]).expect(1).out);
    assert!(said.contains("The file has 8192 bytes and had"), "{said}");
    let nobody = format!("--from=127.0.0.1:{}", free_port());
    let error = powercut(at, &["check", "file", &nobody]).expect(1).err;
    assert!(error.contains("cannot be reached"), "{error}");
}

#[test]
fn a_tester_goes_on_when_its_server_is_started_again() {
    let scratch = scratch();
    let at = scratch.path();
    let server = serve(at);
    let to = format!("--to={}", server.address);
    let options = ["write", &to, "file", "--size=4m", "--class=fsync", "--threads=1"];
    let mut tester = Running::fathom("powercut", at, &options);
    tester.says("err", "What cuts show");
    wait_until("promises", || server.has_promises(10_000));
    let Server { _running: running, address, directory } = server;
    running.signal(Signal::KILL);
    running.end();
    let log = directory.join(names(&directory).into_iter().find(|name| name != "order").unwrap());
    let before = fs::metadata(&log).unwrap().len();
    let listen = format!("--listen={address}");
    let mut again = Running::fathom("powercut", at, &["serve", &listen]);
    again.says("out", &address);
    wait_until("further promises", || fs::metadata(&log).unwrap().len() > before + 10_000);
    tester.signal(Signal::KILL);
    tester.end();
    let from = format!("--from={address}");
    let said = joined(&powercut(at, &["check", "file", &from]).expect(0).out);
    assert!(said.contains("promises were kept.") && !said.contains("damaged"), "{said}");
}

/// A call of fathom on a machine that was started under this name.
fn after_start(boot: &str, directory: &Path, arguments: &[&str]) -> Ran {
    let name = directory.join("boot_id");
    fs::write(&name, format!("{boot}\n")).unwrap();
    let mount = "mount --bind boot_id /proc/sys/kernel/random/boot_id && exec \"$0\" \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", mount, FATHOM, "powercut"]).args(arguments);
    run(command.current_dir(directory))
}

#[test]
fn a_campaign_continues_after_each_start_until_it_has_its_cuts() {
    let scratch = scratch();
    let at = scratch.path();
    let server = serve(at);
    fs::create_dir(at.join("data")).unwrap();
    let to = format!("--to={}", server.address);
    // The death of the tester stands for the cut.
    let arguments = [
        "campaign",
        "data",
        &to,
        "--cuts=2",
        "--cut=kill -KILL $PPID",
        "--cut-after=400ms",
        "--size=2m",
        "--class=fsync",
        "--archive=runs.db",
        "--html=report.html",
    ];
    assert_eq!(after_start("first", at, &arguments).code, -9);
    let second = after_start("second", at, &arguments);
    assert!(second.code == -9 && joined(&second.err).contains("cut 1 of 2: All"), "{second:?}");
    let third = after_start("third", at, &arguments).expect(0);
    assert!(joined(&third.err).contains("cut 2 of 2: All"), "{third:?}");
    let said = joined(&third.out);
    assert!(said.contains("promises broken in 2 cuts"), "{said}");
    assert!(fs::read_to_string(at.join("report.html")).unwrap().contains("broken in 2 cuts"));
    // It is done, and says so as often as it is asked.
    let again = after_start("fourth", at, &arguments).expect(0);
    assert!(joined(&again.out).contains("broken in 2 cuts") && !again.err.contains("cut 3"));
    let list = |arguments: &[&str]| {
        run(Command::new(FATHOM)
            .arg("runs")
            .args(arguments)
            .current_dir(at)
            .env("FATHOM_ARCHIVE", at.join("runs.db")))
        .expect(0)
    };
    let archived = list(&["kind=powercut", "--all", "--json"]).json();
    assert_eq!(archived.as_array().map(Vec::len), Some(2), "{archived}");
    let record = list(&["show", "latest", "--json"]).out;
    assert!(record.contains("all_cuts") && !record.contains("-KILL"), "{record}");
    let shown = list(&["show", "latest"]).out;
    assert!(joined(&shown).contains("promises were kept."), "{shown}");
}

#[test]
fn a_unit_of_systemd_is_printed_and_nothing_else_done() {
    let scratch = scratch();
    let at = scratch.path();
    let nobody = format!("--to=127.0.0.1:{}", free_port());
    let arguments = ["campaign", "data", &nobody, "--cuts=9", "--cut=echo b >/x", "--print-unit"];
    let unit = powercut(at, &arguments).expect(0).out;
    let command = format!(
        "\"powercut\" \"campaign\" \"data\" \"{nobody}\" \"--cuts=9\" \"--cut=echo b >/x\"\n"
    );
    assert!(unit.contains("ExecStart=\"") && unit.contains(&command), "{unit}");
    assert!(unit.contains(&format!("WorkingDirectory={}\n", at.canonicalize().unwrap().display())));
    assert_eq!(names(at), Vec::<String>::new());
}

#[test]
fn connections_are_encrypted_when_both_sides_want_it() {
    let scratch = scratch();
    let at = scratch.path();
    let authority = test_servers::Authority::new();
    let (certificate, key) = authority.identity(&["127.0.0.1"]).files(at);
    let address = format!("127.0.0.1:{}", free_port());
    let [listen, to] = ["listen", "to"].map(|option| format!("--{option}={address}"));
    let path = |option: &str, path: &Path| format!("--{option}={}", path.display());
    let (cert, key) = (path("tls-cert", &certificate), path("tls-key", &key));
    let mut running = Running::fathom("powercut", at, &["serve", &listen, &cert, &key]);
    running.says("out", &address);
    let ca = path("tls-ca", &authority.file());
    let options = ["--size=4m", "--time=300ms", "--class=fsync"];
    powercut(at, &[&["write", "file", &to, &ca], &options[..]].concat()).expect(0);
    let stranger = test_servers::Authority::new();
    let other = path("tls-ca", &stranger.file());
    let error =
        powercut(at, &[&["write", "new", &to, &other], &options[..]].concat()).expect(1).err;
    assert!(error.contains("certificate"), "{error}");
    let wrong = path("tls-ca", Path::new("no-such-file"));
    let error =
        powercut(at, &[&["write", "new", &to, &wrong], &options[..]].concat()).expect(2).err;
    assert!(error.contains("--tls-ca: no-such-file"), "{error}");
    assert!(!at.join("new").exists());
}
