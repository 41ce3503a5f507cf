//! The command line of both dialects.

mod common;
#[path = "common/lines.rs"]
mod lines;

use common::Texts;
use job::Dialect::{Fathom, Fio};
use job::{Action, Eta, Invocation, Override};
use lines::{errors, run};
use record::{Format, Nanos};

fn depths(invocation: &Invocation) -> Vec<(&str, Option<u64>)> {
    let jobs = invocation.jobs.iter();
    jobs.map(|job| (job.identity.name.as_str(), job.queue.iodepth)).collect()
}

fn files() -> Texts {
    Texts::one("[a]\n[b]\niodepth=7\n").file("d.fio", "[global]\niodepth=8\n[d]\n[e]\niodepth=9\n")
}

#[test]
fn fathom_lets_the_command_line_override_every_file_wherever_it_stands() {
    for line in [
        "--iodepth 5 quick.fio d.fio",
        "quick.fio --iodepth=5 d.fio",
        "quick.fio d.fio -iodepth=5",
        "quick.fio d.fio -iodepth 5",
    ] {
        let invocation = run(line, Fathom, &files()).unwrap();
        let five = Some(5);
        assert_eq!(
            depths(&invocation),
            [("a", five), ("b", five), ("d", five), ("e", five)],
            "{line}"
        );
    }
}

#[test]
fn fio_takes_them_for_defaults_of_the_first_file() {
    for line in ["--iodepth 5 quick.fio d.fio", "quick.fio d.fio --iodepth=5"] {
        let invocation = run(line, Fio, &files()).unwrap();
        let expected = [("a", Some(5)), ("b", Some(7)), ("d", Some(8)), ("e", Some(9))];
        assert_eq!(depths(&invocation), expected);
        assert_eq!(invocation.warnings.len(), 1, "the second file does not see them: {line}");
        assert_eq!(invocation.global_options, [("iodepth".into(), "8".into())]);
    }
    let invocation = run("--iodepth=5 d.fio quick.fio", Fio, &files()).unwrap();
    let expected = [("d", Some(8)), ("e", Some(9)), ("a", None), ("b", Some(7))];
    assert_eq!(depths(&invocation), expected);
}

#[test]
fn each_name_begins_a_job_and_inherits_what_was_global() {
    let line =
        "--iodepth=2 --name=a --numjobs=3 --name=b --iodepth=4 --name=global --iodepth=6 --name c";
    for dialect in [Fathom, Fio] {
        let invocation = run(line, dialect, &Texts::default()).unwrap();
        assert_eq!(depths(&invocation), [("a", Some(2)), ("b", Some(4)), ("c", Some(6))]);
        assert_eq!(invocation.jobs[0].identity.numjobs, Some(3));
        assert_eq!(invocation.jobs[1].identity.numjobs, None);
        let own: Vec<_> =
            invocation.jobs[1].options.own.iter().map(|(n, v)| (&**n, &**v)).collect();
        assert_eq!(own, [("name", "b"), ("iodepth", "4")]);
        let global: Vec<_> = invocation.global_options.iter().map(|(n, v)| (&**n, &**v)).collect();
        assert_eq!(global, [("iodepth", "2"), ("name", "global"), ("iodepth", "6")]);
    }
}

#[test]
fn jobs_of_the_command_line_come_before_those_of_files() {
    let invocation = run("quick.fio --name=x --iodepth=3", Fathom, &files()).unwrap();
    assert_eq!(depths(&invocation), [("x", Some(3)), ("a", None), ("b", Some(7))]);
}

#[test]
fn switches_take_a_value_only_after_an_equals_sign() {
    let invocation = run("--name=x --thread quick.fio", Fathom, &files()).unwrap();
    assert_eq!(invocation.job_files, ["quick.fio"]);
    assert!(invocation.jobs[0].process.thread);
    let invocation = run("--name=x --thread=0", Fathom, &files()).unwrap();
    assert!(!invocation.jobs[0].process.thread);
}

#[test]
fn names_may_be_cut_while_one_option_is_left() {
    let invocation = run("--output-f=json --numj=2 --name=x", Fathom, &files()).unwrap();
    assert_eq!(invocation.formats, [Format::Json]);
    assert_eq!(invocation.jobs[0].identity.numjobs, Some(2));
    let found = errors("--iodep=2 --name=x", Fathom, &files());
    assert!(
        found[0].starts_with("command line: '--iodep' may mean --iodepth, --iodepth_batch"),
        "{found:?}"
    );
    assert_eq!(
        errors("--iodeph=2 --name=x", Fathom, &files()),
        ["command line: unknown option '--iodeph'; did you mean '--iodepth'?"]
    );
    assert_eq!(
        errors("--name=x -q -- --z", Fathom, &files()),
        [
            "command line: unknown option '--q'",
            "command line: cannot read job file '--z': there is no such file",
        ]
    );
}

#[test]
fn program_options_are_read() {
    let line = "--output=o -F json+,normal --terse-version 5 --eta=never --eta-newline 2m \
                --eta-interval=500ms --readonly --max-jobs=5 --alloc-size=1 --section=x \
                --aux-path=/tmp --name=x";
    let fio = run(line, Fio, &Texts::default()).unwrap();
    assert_eq!(fio.output.as_deref(), Some("o".as_ref()));
    assert_eq!(fio.formats, [Format::JsonPlus, Format::Normal]);
    assert_eq!((fio.terse_version, fio.eta, fio.readonly), (5, Eta::Never, true));
    assert_eq!(
        (fio.eta_newline, fio.eta_interval),
        (Some(Nanos(120_000_000_000)), Some(Nanos(500_000_000)))
    );
    assert_eq!(fio.aux_path, "/tmp");
    assert_eq!((fio.max_jobs, fio.sections), (Some(5), vec!["x".to_string()]));
    let line = "--record=r --allow-destroy=/dev/a --allow-destroy /dev/b --name=x --append-terse";
    let ours = run(line, Fathom, &Texts::default()).unwrap();
    assert_eq!(ours.record.as_deref(), Some("r".as_ref()));
    assert_eq!(ours.allow_destroy, ["/dev/a", "/dev/b"]);
    assert_eq!(ours.formats, [Format::Normal, Format::Terse]);
    assert_eq!(run("--name=x", Fathom, &Texts::default()).unwrap().formats, [Format::Normal]);
    assert_eq!(run("-m --name=x", Fio, &Texts::default()).unwrap().formats, [Format::Terse]);
    let fio = run(line, Fio, &Texts::default()).unwrap();
    assert_eq!(fio.allow_destroy, ours.allow_destroy, "in full they work under fio's name too");
    assert!(run("--allow-d=/dev/a --name=x", Fathom, &Texts::default()).is_ok());
    assert!(
        errors("--allow-d=/dev/a --name=x", Fio, &Texts::default())[0].contains("unknown option")
    );
}

#[test]
fn wrong_values_say_what_is_expected() {
    for (line, expected) in [
        ("--eta=foo", "--eta: 'foo' is none of auto, always and never"),
        ("--eta-interval=1ms", "--eta-interval: '1ms' is less than 250ms"),
        ("--status-interval=1ms", "--status-interval: '1ms' is less than 100ms"),
        (
            "--latency-log=x",
            "--latency-log: it is gone, from fio as well; use the job option write_lat_log=x",
        ),
        ("--eta-newline=x", "--eta-newline: 'x' is not a time such as 10, 500ms or 2m"),
        ("--output-format=json,x", "--output-format: 'x' is none of normal, terse, json and json+"),
        ("--terse-version=9", "--terse-version: '9' is none of 2, 3, 4 and 5"),
        ("--max-jobs=0", "--max-jobs: '0' is not a whole number above 0"),
        ("--readonly=1", "--readonly: takes no value, but '1' is given"),
        ("--output", "--output: needs a value: --output=FILE"),
        ("--iodepth --thread", "--iodepth: needs a value: --iodepth=VALUE"),
        ("--description=", "--description: needs a value: --description=VALUE"),
        ("--thread=", "--thread: needs a value: --thread=VALUE"),
        (
            "iodepth=4",
            "cannot read job file 'iodepth=4': there is no such file; did you mean '--iodepth=4'?",
        ),
    ] {
        let found = errors(&format!("{line} --name=x"), Fathom, &Texts::default());
        assert_eq!(found, [format!("command line: {expected}")], "{line}");
    }
}

#[test]
fn a_wrong_override_is_reported_once() {
    assert_eq!(errors("--iodepth=zz quick.fio d.fio", Fathom, &files()).len(), 1);
    assert_eq!(errors("--nope_nope=zz quick.fio d.fio", Fathom, &files()).len(), 1);
}

#[test]
fn engine_options_beside_a_file_reach_the_engine_the_file_names() {
    let texts = Texts::one("[a]\nioengine=io_uring\n");
    let invocation = run("--hipri quick.fio --name=x --ioengine=pvsync2", Fathom, &texts).unwrap();
    let hipri: Vec<bool> = invocation.jobs.iter().map(|job| job.queue.options.hipri).collect();
    assert_eq!(hipri, [true, true]);
    assert_eq!(errors("--hipri quick.fio", Fathom, &Texts::one("[a]\n")).len(), 1);
    assert!(
        errors("--name=x --hipri --ioengine=io_uring", Fio, &Texts::default())[0]
            .contains("option 'hipri' in [x] belongs to ioengine")
    );
    assert!(run("--name=x --hipri --ioengine=io_uring", Fathom, &Texts::default()).is_ok());
    assert!(run("--name=x --ioengine=io_uring --hipri", Fio, &Texts::default()).is_ok());
}

#[test]
fn requests_for_help_win_over_everything_else() {
    for (line, action) in [
        ("--nope --help", Action::Help),
        ("-h", Action::Help),
        ("-v", Action::Version),
        ("--bs=zz --cmdhelp=bs --enghelp", Action::CmdHelp(Some("bs".into()))),
        ("--cmdhelp", Action::CmdHelp(None)),
        ("--enghelp=libaio,nowait missing.fio", Action::EngHelp(Some("libaio,nowait".into()))),
    ] {
        assert_eq!(run(line, Fio, &Texts::default()).unwrap().action, action, "{line}");
    }
}

#[test]
fn without_anything_to_run_it_says_what_to_do() {
    assert_eq!(
        errors("", Fathom, &Texts::default()),
        [
            "command line: no job: name a job file, or describe a job with --name; 'fathom examples' lists \
          job files to run"
        ]
    );
    assert!(run("--parse-only", Fathom, &Texts::default()).is_ok());
    assert_eq!(errors("--name=x --numjobs=9 --max-jobs=8", Fathom, &Texts::default()).len(), 1);
}

#[test]
fn showcmd_prints_each_file_and_nothing_of_the_command_line() {
    let shown = |line: &str, dialect| match run(line, dialect, &files()).unwrap().action {
        Action::ShowCmd(text) => text,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        shown("--showcmd --numjobs=2 --name=z quick.fio d.fio", Fio),
        "fio --name=a --name=b --iodepth=7 \nfio --iodepth=8 --name=d --name=e --iodepth=9 \n"
    );
    assert_eq!(
        shown("--numjobs=2 --parse-only --showcmd d.fio quick.fio", Fio),
        "fio --numjobs=2 --iodepth=8 --name=d --name=e --iodepth=9 \nfio --name=a --name=b --iodepth=7 \n"
    );
    assert_eq!(
        shown("--numjobs=2 --showcmd quick.fio", Fathom),
        "fathom run --name=a --numjobs=2 --name=b --iodepth=7 --numjobs=2\n"
    );
}

#[test]
fn keywords_work_on_the_command_line() {
    let invocation = run("--name=x --iodepth=8*$ncpus", Fio, &Texts::default()).unwrap();
    assert_eq!(depths(&invocation), [("x", Some(16))]);
}

#[test]
fn what_stands_beside_a_job_file_holds_for_another_in_its_place() {
    let line = "--iodepth=5 --readonly quick.fio --name=x --numjobs=2 --name=global --rw=read";
    let arguments: Vec<String> = line.split(' ').map(Into::into).collect();
    let instead = |name: &str| {
        job::parse_instead(&arguments, &[name.to_string()], Fathom, &files())
            .map_err(|errors| errors.to_string())
    };
    let other = instead("d.fio").unwrap();
    assert_eq!(depths(&other), [("d", Some(5)), ("e", Some(5))]);
    assert!(other.readonly && other.job_files == ["d.fio"]);
    assert!(instead("none.fio").unwrap_err().contains("none.fio"));
}

#[test]
fn explained_options_say_where_they_come_from() {
    let files = Texts::one("[global]\nbs=8k\nruntime=60\n[a]\nbs=16k\nthread\n");
    let explained = |line: &str, dialect| match run(line, dialect, &files).unwrap().action {
        Action::Explain(text) => text,
        other => panic!("{other:?}"),
    };
    let text = explained("--runtime=30 --explain quick.fio", Fathom);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "[a]  quick.fio:4");
    let line = |name: &str| {
        let found = lines.iter().find(|line| line.trim_start().starts_with(name));
        found
            .unwrap_or_else(|| panic!("no {name} in {text}"))
            .split_whitespace()
            .collect::<Vec<_>>()
    };
    assert_eq!(line("bs=").join(" "), "bs=16k quick.fio:5, over bs=8k (quick.fio:2)");
    let over = "runtime=30 command line, over runtime=60 (quick.fio:3)";
    assert_eq!(line("runtime=").join(" "), over);
    assert_eq!(line("thread").join(" "), "thread quick.fio:6");
    assert_eq!(line("ioengine=").join(" "), "ioengine=psync default");
    assert!(explained("--explain --name=b --rw=write", Fathom).contains("[b]  command line"));
}

#[test]
fn overrides_hold_whatever_jobs_say_themselves() {
    let given = |job: Option<&str>, name: &str, value: &str| Override {
        job: job.map(str::to_owned),
        name: name.into(),
        value: value.into(),
    };
    let with = |line: &str, overrides: &[Override]| {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        job::parse_with(&words, overrides, Fathom, &files())
    };
    let line = "--iodepth=5 --name=x --iodepth=6 --name=y quick.fio";
    let three = Some(3);
    let all = with(line, &[given(None, "iodepth", "3")]).unwrap();
    assert_eq!(depths(&all), [("x", three), ("y", three), ("a", three), ("b", three)]);
    let some = with(line, &[given(Some("y"), "iodepth", "3"), given(Some("b"), "iodepth", "4")]);
    let expected = [("x", Some(6)), ("y", three), ("a", Some(5)), ("b", Some(4))];
    assert_eq!(depths(&some.unwrap()), expected);
    for (wrong, says) in [
        (given(None, "iodepth", "many"), "--vary: in [x]: iodepth"),
        (given(None, "iodepht", "1"), "did you mean 'iodepth'?"),
        (given(Some("z"), "iodepth", "1"), "no job is called 'z'; there are x, y, a, b"),
    ] {
        let errors = with(line, &[wrong]).unwrap_err().to_string();
        assert!(errors.contains(says), "{errors}");
    }
}
