//! Help, held against fio's layout; fio is needed.

use job::{Dialect, help};
use std::process::Command;

const FIO: &str = "/usr/bin/fio";

fn fio(argument: &str) -> String {
    let output = Command::new(FIO).arg(argument).output();
    let output = output.unwrap_or_else(|error| panic!("{FIO} is needed for this test: {error}"));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The lines that are fields with a fixed meaning: alias, type, default. Of a switch the default is
/// left out: fio has none, we say 0.
fn fields(text: &str) -> Vec<&str> {
    let switch = text.contains("empty or boolean");
    let fixed = |line: &&str| {
        let label = line.split(':').next().unwrap_or_default().trim();
        ["alias", "type"].contains(&label) || (label == "default" && !switch)
    };
    text.lines().filter(fixed).collect()
}

#[test]
fn options_are_explained_in_fios_layout() {
    for name in ["rw", "bsrange", "thread", "iodepth", "direct", "runtime", "ioengine", "nrfiles"] {
        let theirs = fio(&format!("--cmdhelp={name}"));
        let ours = help::command(Some(name)).unwrap();
        assert_eq!(fields(&ours), fields(&theirs), "{name}");
        let label = |text: &str| text.lines().next().and_then(|line| line.find(':'));
        assert_eq!(label(&ours), label(&theirs), "{name}");
        assert!(ours.ends_with("\n\n"), "{name}");
    }
}

#[test]
fn every_option_can_be_asked_for_by_any_name() {
    let list = help::command(None).unwrap();
    for def in job::options::all().filter(|def| def.engines.is_empty()) {
        assert!(list.contains(&format!("{:<24}: {}", def.name, def.doc)), "{}", def.name);
        for name in def.names() {
            let text = help::command(Some(name)).unwrap();
            assert!(text.contains(&format!("{}: {}", def.name, def.doc)), "{name}");
        }
    }
    assert_eq!(help::command(Some("all")).unwrap(), list);
    assert!(help::closest("iodeph").starts_with(" - showing closest match\n"));
    assert!(help::closest("iodeph").contains("iodepth: "));
    assert_eq!(help::closest("zzzzqqqqwww"), "");
}

#[test]
fn engines_are_listed_with_their_options() {
    let list = help::engine(None, Dialect::Fathom).unwrap();
    for engine in ["psync", "libaio", "io_uring", "null"] {
        assert!(list.contains(&format!("\t{engine}\n")), "{engine}");
    }
    let (works, not) = list.split_once("Not in this build:\n").unwrap();
    for engine in ["libhdfs", "xnvme", "windowsaio", "ime_aio"] {
        let line = format!("\t{engine} ");
        assert!(!works.contains(engine), "{works}");
        assert!(not.lines().any(|l| l.starts_with(&line) && l.contains("needs ")), "{not}");
    }
    assert_eq!(help::engine(None, Dialect::Fio).unwrap(), works, "what can be asked for, no more");
    assert!(help::engine(Some("libaio"), Dialect::Fio).unwrap().contains("userspace_reap"));
    let theirs = fio("--enghelp=libaio,userspace_reap");
    let ours = help::engine(Some("libaio,userspace_reap"), Dialect::Fio).unwrap();
    assert_eq!(fields(&ours), fields(&theirs));
    assert_eq!(help::engine(Some("null"), Dialect::Fio).unwrap(), fio("--enghelp=null"));
    assert_eq!(
        help::engine(Some("nope"), Dialect::Fio),
        Err("there is no ioengine 'nope'; --enghelp lists them".into())
    );
    assert!(help::engine(Some("libaio,nope"), Dialect::Fio).is_err());
}

#[test]
fn what_is_not_there_is_said_with_the_nearest() {
    assert_eq!(
        help::command(Some("iodeph")),
        Err("unknown option 'iodeph'; did you mean 'iodepth'?".into())
    );
    assert!(help::command(Some("hipri")).unwrap_err().contains("--enghelp="));
}

#[test]
fn usage_names_every_option_of_fios_usage() {
    let theirs = fio("--help");
    let (fathom, fio) = (help::all_options(), help::usage(Dialect::Fio));
    for line in theirs.lines().filter_map(|line| line.trim_start().strip_prefix("--")) {
        let name: String =
            line.chars().take_while(|c| c.is_ascii_alphabetic() || *c == '-').collect();
        assert!(fathom.contains(&name) && fio.contains(&name), "--{name}");
    }
    assert!(fathom.contains("--allow-destroy=DEVICE") && !fio.contains("allow-destroy"));
    assert!(fathom.lines().all(|line| line.chars().count() <= 100), "{fathom}");
}

#[test]
fn the_overview_fits_two_screens_and_names_only_known_options() {
    let overview = help::overview();
    assert!(overview.lines().count() <= 60 && overview.lines().all(|line| line.len() <= 100));
    for line in overview.lines().filter_map(|line| line.strip_prefix("  --")) {
        let name = line.split([' ', '=', '[']).next().unwrap();
        let listed = help::all_options();
        assert!(listed.lines().any(|l| l.trim_start().starts_with(&format!("--{name}"))), "{name}");
    }
}
