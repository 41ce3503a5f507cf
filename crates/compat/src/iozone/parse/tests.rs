use super::super::{Sync, Unit};
use super::*;

fn read(line: &str) -> Result<Request, Usage> {
    parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
}

#[track_caller]
fn call(line: &str) -> IozoneCommand {
    match read(line) {
        Ok(Request::Run(call)) => *call,
        other => panic!("{line}: {other:?}"),
    }
}

#[track_caller]
fn refused(line: &str) -> String {
    let text = read(line).unwrap_err().to_string();
    text.strip_prefix("iozone: ").unwrap().to_owned()
}

#[test]
fn the_line_of_the_seed() {
    let call = call("-s 4096 -r 32 -f /tmp/testio -I -o -M");
    assert_eq!(call.grid(), [(4096, 32)]);
    assert_eq!(call.tests, (0..=7).collect::<Vec<u8>>());
    assert_eq!(call.operations().len(), 13, "the thirteen columns");
    assert_eq!(call.path(0), "/tmp/testio");
    assert!(call.access.direct && call.access.sync == Sync::Sync && call.show.uname);
    assert!(call.notes.is_empty(), "{:?}", call.notes);
}

#[test]
fn nothing_is_run_unasked() {
    assert!(refused("").starts_with("no flags: no test is asked for"), "{}", refused(""));
}

#[test]
fn letters_stand_together_and_values_at_once_or_apart() {
    let together = call("-RaeI -i0 -i 1 -s64k -r4");
    let apart = call("-R -a -e -I -i 0 -i 1 -s 64 -r 4k");
    assert_eq!(together, apart);
    assert!(together.show.spreadsheet && together.access.fsync);
    assert_eq!((together.mode, together.all_records), (Mode::Automatic, false));
    assert_eq!(together.tests, [0, 1]);
    for line in ["-az", "-za", "-A"] {
        assert_eq!((call(line).mode, call(line).all_records), (Mode::Automatic, true), "{line}");
    }
    assert_eq!(call("-+p70 -t 2").access.reads, call("-+p 70 -t 2").access.reads);
}

#[test]
fn throughput_mode_has_files_and_phases_of_its_own() {
    let named = call("-t 2 -F a b -i 0 -x");
    assert_eq!(named.mode, Mode::Throughput { from: 2, to: 2 });
    assert_eq!(named.paths(), ["a", "b"]);
    assert!(!named.together.stonewall);
    assert_eq!(call("-l 1 -u 3").mode, Mode::Throughput { from: 1, to: 3 });
    assert_eq!(call("-u 3 -l 2").mode, Mode::Throughput { from: 2, to: 3 });
    assert_eq!(call("-t 2").paths(), ["iozone.DUMMY.0", "iozone.DUMMY.1"]);
    assert_eq!(call("-t 3 -+V -f x").paths(), ["x.DUMMY.0"]);
    assert_eq!(call("-t 2").tests, [0, 1, 2, 3, 5, 6, 7, 8], "re-write record has no phase");
}

#[test]
fn flags_that_mean_something_else_here_say_so() {
    for (line, word) in [
        ("-A", "-a -z"),
        ("-c", "-e"),
        ("-U /mnt", "page cache"),
        ("-T -t 2", "threads"),
        ("-+r", "O_SYNC"),
        ("-S 2048", "shown"),
        ("-H 4", "-k"),
        ("-n 4", "-a"),
        ("-z", "-a"),
    ] {
        let call = call(line);
        assert_eq!(call.notes.len(), 1, "{line}");
        assert!(call.notes[0].contains(word), "{line}: {:?}", call.notes);
    }
    assert_eq!(call("-k 4").access.calls, IoCalls::Asynchronous(4));
    assert!(call("-B -G").access.fsync);
    assert_eq!(call("-O").show.unit, Unit::Operations);
    assert_eq!(call("-+D -o").access.sync, Sync::Sync, "O_SYNC is the more of the two");
    assert_eq!(call("-E -i 0").tests, [0, 9, 10]);
}

#[test]
fn what_cannot_be_had_says_why_and_what_can() {
    for (line, word) in [
        ("-+b 4,10", "--thinktime"),
        ("-Z", "-B"),
        ("-K", "--percentage_random"),
        ("-X f", "--read_iolog"),
        ("-p", "larger"),
        ("-+m hosts", "--client"),
        ("-+l", "-W"),
        ("-+A 4 -B", "MADV_WILLNEED"),
    ] {
        let text = refused(line);
        let flag = line.split(' ').next().unwrap();
        assert!(text.starts_with(flag) && text.contains(word), "{line}: {text}");
    }
    let empty = ["-f".to_owned(), String::new()];
    assert!(parse(&empty).unwrap_err().to_string().contains("needs the name of a file"));
}

#[test]
fn mistakes_name_the_flag() {
    for (line, words) in [
        ("-s", "-s: has no SIZE"),
        ("-s 0", "-s: 0 is no size"),
        ("-s 4x", "-s: '4x'"),
        ("-i 13", "-i: '13' is no test"),
        ("-i x", "-i: 'x'"),
        ("-é", "-é: is no flag"),
        ("-+", "-+: has no letter"),
        ("-+nx", "-+n takes no value"),
        ("-+é", "-+é: is no flag"),
        ("-", "-: is no flag"),
        ("file", "file: is no flag"),
        ("-r 8 -s 4", "-r: every record is larger"),
        ("-a -n 2m -g 1m", "-n: 2048 kB to 1024 kB"),
        ("-a -y 8 -q 4", "-y: 8 kB to 4 kB"),
        ("-a -t 2", "choose one"),
        ("-t 2 -a", "choose one"),
        ("-t 0", "-t: 0"),
        ("-t 99999", "4096"),
        ("-l 4 -u 2", "-l: 4 processes to 2"),
        ("-F", "-F: has no names"),
        ("-F a", "-F: names a file for each process"),
        ("-t 2 -F a", "-F: 1 files for 2"),
        ("-t 2 -F a a", "named twice"),
        ("-i 8", "add -t"),
        ("-i 4 -t 2", "-i 4"),
        ("-x", "add -t"),
        ("-C", "add -t"),
        ("-I -B", "-I: -B"),
        ("-B -k 4", "choose one"),
        ("-O -N", "two units"),
        ("-+A 1", "add -B"),
        ("-V 256", "no byte"),
        ("-V 1 -+w 20", "-V: -+w"),
        ("-V 1 -t 2", "add -x"),
        ("-j 0", "-j: 0"),
        ("-+x 1 -a", "2 or more"),
        ("-+p 101 -t 2", "0 to 100"),
        ("--nothing", "--nothing"),
        ("--record", "--record=PATH"),
        ("--no-archive=1", "takes no value"),
    ] {
        let text = refused(line);
        assert!(text.contains(words), "{line}: {text}");
    }
}

#[test]
fn help_and_version_stand_for_the_whole_line() {
    assert_eq!(read("-h"), Ok(Request::Help));
    assert_eq!(read("--help -s 4"), Ok(Request::Help));
    assert_eq!(read("-a -v"), Ok(Request::Version));
}

#[test]
fn nothing_that_is_typed_panics() {
    let parts = ["-", "+", "s", "i", "0", "9", "k", "é", "a", "t", "F", "--", "=", "V", "\u{0}"];
    for first in parts {
        for second in parts {
            for third in parts {
                let words = [format!("{first}{second}{third}"), format!("{third}{second}")];
                let _ = parse(&words);
            }
        }
    }
}

#[test]
fn fathoms_own_flags() {
    let call = call("--allow-destroy=/a --allow-destroy /b --record=r.json --with-serials");
    assert_eq!(call.own.allow_destroy, ["/a", "/b"]);
    assert_eq!(call.own.record.as_deref(), Some("r.json"));
    assert!(call.own.with_serials && !call.own.no_archive && !call.own.json);
    // A file of their own and no archive is a wish like any; the second name is the old one.
    for name in ["--no-archive", "--no-record"] {
        let own = self::call(&format!("--record=r.json {name}")).own;
        assert!(own.no_archive && own.record.is_some(), "{name}");
    }
}
