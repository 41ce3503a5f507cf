//! `fathom inspect` on this machine.

use crate::common::{FATHOM, Mounted, Ran, alone, loop_device, run, scratch};
use serde_json::Value;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use testbed::{Loop, command};

fn inspect(directory: &Path, arguments: &[&str]) -> Ran {
    run(Command::new(FATHOM).arg("inspect").args(arguments).current_dir(directory))
}

fn section<'a>(page: &'a Value, id: &str) -> &'a Value {
    let sections = page["sections"].as_array().unwrap();
    sections.iter().find(|section| section["id"] == id).unwrap()
}

#[test]
fn here_is_the_default_and_fits_a_terminal() {
    let directory = scratch();
    let ran = inspect(directory.path(), &[]).expect(0);
    assert_eq!(ran.err, "");
    assert!(ran.out.starts_with(".: "), "{}", ran.out);
    for number in 1..=14 {
        assert!(ran.out.contains(&format!("\n{number:2} ")), "{number}: {}", ran.out);
    }
    let widest = ran.out.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 80, "{}", ran.out);
    assert!(!ran.out.contains('\x1b'), "no colours but on a terminal");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn json_has_the_sections_and_the_facts_without_serial_numbers() {
    let directory = scratch();
    let page = inspect(directory.path(), &["--json"]).expect(0).json();
    assert_eq!(page["target"], ".");
    assert_eq!(page["sections"].as_array().unwrap().len(), 14);
    for section in page["sections"].as_array().unwrap() {
        assert!(["ok", "look", "problem"].contains(&section["mark"].as_str().unwrap()));
        assert!(!section["rows"].as_array().unwrap().is_empty());
    }
    assert!(page["durability"]["class"].is_string());
    assert!(page["facts"]["environment"]["tunables"]["vm.dirty_ratio"].is_string());
    let devices = page["facts"]["devices"].as_object().unwrap();
    assert!(devices.values().all(|device| device["serial"].is_null()));
}

#[test]
fn a_loop_device_and_the_filesystem_on_it() {
    let _alone = alone();
    let directory = scratch();
    let disk = loop_device(directory.path(), 16 << 20, &[]);
    let page = inspect(directory.path(), &["--json", &disk.device]).expect(0).json();
    assert_eq!(page["stack"][0], disk.name());
    let rows = &section(&page, "device")["rows"];
    let shown = rows[1]["value"].as_str().unwrap();
    assert!(shown.starts_with("loop over /") && shown.ends_with("loop.img, 16 MiB"), "{shown}");
    assert_eq!(rows[1]["mark"], "look");
    assert_eq!(section(&page, "filesystem")["rows"][0]["value"], "none on this path");

    crate::common::system("mkfs.ext4", &["-q", &disk.device]);
    let point = directory.path().join("point");
    let mounted = Mounted::new(&["-onobarrier"], &disk.device, point);
    let page = inspect(mounted.path(), &["--json"]).expect(0).json();
    assert_eq!(page["stack"][0], "ext4");
    assert_eq!(page["durability"]["class"], "write back, never flushed");
    assert_eq!(section(&page, "filesystem")["mark"], "problem");
    let ran = inspect(directory.path(), &[&disk.device]).expect(0);
    assert!(ran.out.contains("Only read it: writing would destroy its data."), "{}", ran.out);
}

#[test]
fn a_loop_device_through_the_page_cache_is_to_be_set_up_with_direct_io() {
    let _alone = alone();
    let directory = scratch();
    for (way, advises) in [("off", true), ("on", false)] {
        let option = format!("--direct-io={way}");
        let disk = Loop::over(&directory.path().join("loop.img"), 16 << 20, &[&option]);
        let page = inspect(directory.path(), &["--json", &disk.device]).expect(0).json();
        let direct = section(&page, "direct");
        let says = direct.to_string();
        assert_eq!(says.contains("losetup --direct-io=on"), advises, "{says}");
        assert_eq!(direct["mark"] == "problem", advises, "{says}");
    }
}

#[test]
fn memory_is_called_memory() {
    let directory = scratch();
    let options = ["-ttmpfs", "-osize=64k"];
    let mounted = Mounted::new(&options, "tmpfs", directory.path().join("memory"));
    let page = inspect(mounted.path(), &["--json", "."]).expect(0).json();
    assert_eq!(page["durability"]["class"], "memory");
    assert_eq!(page["durability"]["keeps_synced"], false);
    assert_eq!(section(&page, "direct")["mark"], "problem");
}

#[test]
fn a_path_that_is_not_there_names_the_nearest_that_is() {
    let directory = scratch();
    let missing = directory.path().join("no/where");
    let ran = inspect(directory.path(), &[missing.to_str().unwrap()]).expect(2);
    let here = directory.path().display();
    let expected = format!(
        "fathom: error: {}: not there; make it first, or inspect {here}, the nearest that is \
         there\n",
        missing.display()
    );
    assert_eq!((ran.err.as_str(), ran.out.as_str()), (expected.as_str(), ""));
    let relative = inspect(directory.path(), &["no/where"]).expect(2).err;
    assert!(relative.contains("inspect ., the nearest"), "{relative}");
    let ran = inspect(directory.path(), &["null"]).expect(2);
    assert_eq!(ran.err, "fathom: error: null: not there; for the device say /dev/null\n");
    symlink("nowhere", directory.path().join("link")).unwrap();
    assert!(inspect(directory.path(), &["link"]).expect(2).err.contains("link: not there"));
    fs::write(directory.path().join("file"), "").unwrap();
    assert!(inspect(directory.path(), &["file/x"]).expect(2).err.contains("inspect file, the"));
    inspect(directory.path(), &["--nonsense"]).expect(2);
}

/// Ours as nobody, from a copy where everybody may go.
fn as_nobody(directory: &Path, arguments: &[&str]) -> Ran {
    let program = directory.join("fathom");
    if !program.exists() {
        fs::copy(FATHOM, &program).unwrap();
        fs::set_permissions(directory, Permissions::from_mode(0o755)).unwrap();
    }
    let ids = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    run(command("setpriv").args(ids).arg(&program).arg("inspect").args(arguments).current_dir("/"))
}

#[test]
fn without_root_it_works_and_says_what_root_would_see() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let page = as_nobody(directory.path(), &["--json", "/tmp"]).expect(0).json();
    assert_eq!(page["facts"]["environment"]["is_root"], false);
    assert_eq!(page["sections"].as_array().unwrap().len(), 14);

    let disk = loop_device(directory.path(), 16 << 20, &[]);
    let ran = as_nobody(directory.path(), &[&disk.device]).expect(0);
    assert!(ran.out.contains(" Root can see"), "{}", ran.out);
    assert!(ran.out.contains("only root may read what it holds"), "{}", ran.out);

    let closed = directory.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, Permissions::from_mode(0o700)).unwrap();
    let within = closed.join("file");
    let ran = as_nobody(directory.path(), &[within.to_str().unwrap()]).expect(2);
    assert!(ran.err.contains("may not be looked at; try as root"), "{}", ran.err);
}
