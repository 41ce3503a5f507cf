//! Job files: sections, defaults, includes, variables, and everything that can be wrong with them.

mod common;
#[path = "common/lines.rs"]
mod lines;

use common::Texts;
use job::Dialect::{Fathom, Fio};
use job::{Action, Invocation};
use lines::{errors, run};
use testbed::Seeded;

fn parsed(text: impl Into<Vec<u8>>) -> Invocation {
    run("quick.fio", Fathom, &Texts::one(text)).unwrap()
}

fn own(invocation: &Invocation, index: usize) -> Vec<(&str, &str)> {
    let options = &invocation.jobs[index].options.own;
    options.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

fn names(invocation: &Invocation) -> Vec<&str> {
    invocation.jobs.iter().map(|job| job.identity.name.as_str()).collect()
}

#[test]
fn a_global_section_holds_for_the_sections_after_it() {
    let invocation =
        parsed("[global]\niodepth=4\n[a]\n[b]\niodepth=8\n[global]\nnumjobs=3\n[c]\nthread\n");
    assert_eq!(names(&invocation), ["a", "b", "c"]);
    let depths: Vec<_> = invocation.jobs.iter().map(|job| job.queue.iodepth).collect();
    assert_eq!(depths, [Some(4), Some(8), Some(4)]);
    let clones: Vec<_> = invocation.jobs.iter().map(|job| job.identity.numjobs).collect();
    assert_eq!(clones, [None, None, Some(3)]);
    assert_eq!(own(&invocation, 1), [("iodepth", "8")]);
    assert_eq!(own(&invocation, 2), [("thread", "")]);
    let globals = [("iodepth", "4"), ("numjobs", "3")].map(|(n, v)| (n.into(), v.into()));
    assert_eq!(invocation.global_options, globals);
    assert_eq!(invocation.jobs[0].options.global, globals[..1]);
    assert_eq!(invocation.jobs[2].options.global, globals);
    assert_eq!(invocation.jobs[1].identity.origin, "quick.fio:4");
}

#[test]
fn comments_blanks_and_line_ends_mean_nothing() {
    let invocation = parsed(
        "; one\n# two\n\n  ; three\n [a] ; four\r\n\tiodepth=2 # five\r\n\x0b\n thread \nnumjobs=3;six",
    );
    assert_eq!(own(&invocation, 0), [("iodepth", "2"), ("thread", ""), ("numjobs", "3")]);
    let with_bom = parsed("\u{feff}[a]\nnumjobs=3\n");
    assert_eq!(own(&with_bom, 0), [("numjobs", "3")]);
}

#[test]
fn sections_may_be_named_alike_and_oddly() {
    let invocation = parsed("[a]\n[a]\n[a b]\n[]\n[a]b]\n[[x]\n[Global]\n");
    assert_eq!(names(&invocation), ["a", "a", "a b", "", "a]b", "[x", "Global"]);
}

#[test]
fn every_section_that_begins_with_global_sets_defaults() {
    let invocation = parsed("[global_defaults]\niodepth=7\n[a]\n");
    assert_eq!(names(&invocation), ["a"]);
    assert_eq!(invocation.jobs[0].queue.iodepth, Some(7));
    assert!(invocation.warnings[0].text.starts_with("quick.fio:1: [global_defaults] begins with"));
    assert!(
        errors("--warnings-fatal quick.fio", Fathom, &Texts::one("[globalx]\n[a]\n")).len() == 1
    );
}

#[test]
fn a_bracket_left_open_is_an_error_and_under_fio_a_warning() {
    let texts = Texts::one("[abc\nnumjobs=2\n");
    assert_eq!(
        errors("quick.fio", Fathom, &texts),
        ["quick.fio:1: the section name '[abc' is not closed by ']' at the line's end"]
    );
    let invocation = run("quick.fio", Fio, &texts).unwrap();
    assert_eq!(names(&invocation), ["ab"]);
    assert_eq!(invocation.warnings.len(), 1);
}

#[test]
fn all_errors_of_all_files_come_at_once() {
    let texts = Texts::one("[job1]\n\niodeph=4\nnumjobs\n=5\n[job2]\nbogus_nonsense_option=1\n")
        .file("other.fio", "numjobs=1\niodepth=3\n[c]\ndescription=\n");
    let found = errors("--thread=no quick.fio other.fio missing.fio", Fathom, &texts);
    let expected = [
        "command line: in [global]: thread",
        "quick.fio:5: there is no option name before '='",
        "quick.fio:4: in [job1]: ",
        "quick.fio:3: unknown option 'iodeph' in [job1]; did you mean 'iodepth'?",
        "quick.fio:7: unknown option 'bogus_nonsense_option' in [job2]",
        "other.fio:1: 'numjobs' stands outside of a section; begin with [global] or [NAME]",
        "other.fio:4: description: there is no value after '='",
        "command line: cannot read job file 'missing.fio': there is no such file",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for wanted in expected {
        assert!(found.iter().any(|error| error.starts_with(wanted)), "{wanted}: {found:#?}");
    }
}

#[test]
fn errors_come_in_the_order_of_their_lines() {
    let texts = Texts::one("[a]\nfilename=\nnope1=1\niodepth=zz\nnope2=1\n[b]\nnope3=1\n");
    let found = errors("quick.fio", Fathom, &texts);
    let lines: Vec<&str> = found.iter().filter_map(|error| error.split(':').nth(1)).collect();
    assert_eq!(lines, ["2", "3", "4", "5", "7"]);
}

#[test]
fn variables_and_keywords_are_replaced_in_values_only() {
    let mut texts = Texts::one(
        "[x${D}]\ndescription=${D}/${NONE}x $D $jobname\nnumjobs=${D}\niodepth=8*$ncpus\n",
    );
    texts.variables.insert("D".into(), "4".into());
    let invocation = run("quick.fio", Fathom, &texts).unwrap();
    assert_eq!(names(&invocation), ["x${D}"]);
    assert_eq!(
        own(&invocation, 0),
        [("description", "4/x $D $jobname"), ("numjobs", "4"), ("iodepth", "16")]
    );
    assert_eq!(
        errors("quick.fio", Fathom, &Texts::one("[a]\nnumjobs=${NOPE}\n")),
        ["quick.fio:2: numjobs: the value is empty: '${NOPE}' is not set"]
    );
}

#[test]
fn blanks_after_the_equals_sign_are_dropped_by_us_and_kept_by_fio() {
    let texts = Texts::one("[a]\ndescription =  hello  there \n");
    let invocation = run("quick.fio", Fathom, &texts).unwrap();
    assert_eq!(own(&invocation, 0), [("description", "hello  there")]);
    let invocation = run("quick.fio", Fio, &texts).unwrap();
    assert_eq!(own(&invocation, 0), [("description", "  hello  there")]);
}

#[test]
fn includes_take_in_options_from_beside_the_including_file() {
    let texts = Texts::default()
        .file("dir/main.fio", "[a]\ninclude one.fio ; c\nnumjobs=2\n[b]\n")
        .file("dir/one.fio", "iodepth=3\ninclude\ttwo.fio")
        .file("dir/two.fio", "thread=1\n")
        .file("two.fio", "thread=0\n");
    let invocation = run("dir/main.fio", Fathom, &texts).unwrap();
    assert_eq!(own(&invocation, 0), [("iodepth", "3"), ("thread", "0"), ("numjobs", "2")]);
    assert_eq!(own(&invocation, 1), []);
    let sources: Vec<&str> = invocation.sources.iter().map(|source| source.name.as_str()).collect();
    assert_eq!(sources, ["dir/main.fio", "dir/one.fio", "two.fio"]);
}

#[test]
fn includes_that_cannot_be_are_errors_with_their_line() {
    let texts =
        Texts::one("include a.fio\n[a]\ninclude nope.fio\ninclude\ninclude a.fio\ninclude b.fio\n")
            .file("a.fio", "thread\n[x]\n")
            .file("b.fio", "include b.fio\nnope=1\n");
    assert_eq!(
        errors("quick.fio", Fathom, &texts),
        [
            "quick.fio:1: 'include' stands outside of a section; begin with [global] or [NAME]",
            "quick.fio:3: cannot read job file 'nope.fio': there is no such file",
            "quick.fio:4: 'include' needs the path of a file",
            "a.fio:2: an included file cannot begin a [section]",
            "b.fio:1: 'b.fio' includes itself",
            "b.fio:2: unknown option 'nope' in [a]",
        ]
    );
}

#[test]
fn an_include_bomb_goes_off_quickly() {
    let mut texts = Texts::one("[a]\ninclude 0\n");
    for level in 0..15 {
        let text = format!("include {}\n", level + 1).repeat(1000);
        texts = texts.file(&level.to_string(), text);
    }
    texts = texts.file("15", "thread\n");
    let found = errors("quick.fio", Fathom, &texts);
    assert!(
        found[0].contains("more than 16 files include each other, or more than 1000"),
        "{found:?}"
    );
}

#[test]
fn only_wanted_sections_are_read_and_globals_always() {
    let text = "[global]\niodepth=2\n[a]\nnope=1\ninclude nope\n[b]\n[global]\nnumjobs=2\n[c]\n";
    let invocation = run("--section=b --section c quick.fio", Fathom, &Texts::one(text)).unwrap();
    assert_eq!(names(&invocation), ["b", "c"]);
    assert_eq!(invocation.jobs[1].identity.numjobs, Some(2));
    assert_eq!(
        errors("--section=zz quick.fio", Fathom, &Texts::one(text)),
        ["command line: --section=zz: no job file has such a section; they have a, b, c"]
    );
}

/// As fio does: --section chooses among the jobs behind it, also those of the command line.
#[test]
fn under_fio_a_section_chooses_among_later_jobs_of_the_command_line() {
    let texts = Texts::one("[b]\n[c]\n");
    let chosen = |line: &str| names(&run(line, Fio, &texts).unwrap()).join(" ");
    assert_eq!(chosen("--section=b --name=zz quick.fio"), "b");
    assert_eq!(chosen("--name=zz --section=b quick.fio"), "zz b");
    assert_eq!(chosen("--section=zz --section=b --name=zz quick.fio"), "zz b");
    assert!(errors("--section=b --name=zz", Fio, &texts)[0].contains("no job"));
}

#[test]
fn files_run_one_after_the_other() {
    let texts = Texts::one("[a]\n[b]\n").file("d.fio", "[d]\n[e]\n");
    let invocation = run("--name=x quick.fio d.fio", Fathom, &texts).unwrap();
    assert_eq!(names(&invocation), ["x", "a", "b", "d", "e"]);
    let waits: Vec<bool> = invocation.jobs.iter().map(|job| job.identity.stonewall).collect();
    assert_eq!(waits, [false, false, false, true, false]);
}

#[test]
fn options_of_an_engine_follow_the_engine_wherever_it_is_named() {
    let text = "[a]\nhipri\nioengine=io_uring\n[global]\nioengine=io_uring\nhipri=1\n[b]\n\
                [c]\nioengine=libaio\n";
    let invocation = parsed(text);
    let hipri: Vec<bool> = invocation.jobs.iter().map(|job| job.queue.options.hipri).collect();
    assert_eq!(hipri, [true, true, false]);
    assert_eq!(
        errors(
            "quick.fio",
            Fathom,
            &Texts::one("[a]\nuserspace_reap\n[b]\nioengine=nope\nhipri\n")
        )[0],
        "quick.fio:2: option 'userspace_reap' in [a] belongs to ioengine libaio; this job's is psync"
    );
}

#[test]
fn units_take_effect_before_sizes_and_file_names_last() {
    let invocation = parsed("[a]\nfilename=x\nsize=64k\nkb_base=1000\n");
    assert_eq!(own(&invocation, 0), [("kb_base", "1000"), ("size", "64k"), ("filename", "x")]);
    assert_eq!(invocation.jobs[0].target.size, Some(job::Size::Bytes(record::Bytes(64_000))));
}

#[test]
fn empty_files_hold_no_job() {
    for text in ["", "\n\n", "; nothing", "[global]\nnumjobs=2\n"] {
        assert_eq!(
            errors("quick.fio", Fathom, &Texts::one(text)),
            ["command line: no job: quick.fio has no section to run"]
        );
        let invocation = run("--parse-only quick.fio", Fathom, &Texts::one(text)).unwrap();
        assert_eq!((invocation.action, invocation.jobs.len()), (Action::ParseOnly, 0));
    }
    assert_eq!(errors("quick.fio", Fathom, &Texts::one("[a]\nnumjobs=0\n")).len(), 1);
}

#[test]
fn ten_thousand_jobs_are_read() {
    let text: String = (0..10_000).map(|n| format!("[job{n}]\niodepth=2\n")).collect();
    assert_eq!(parsed(text.clone()).jobs.len(), 10_000);
    assert_eq!(
        errors("--max-jobs=9999 quick.fio", Fathom, &Texts::one(text)),
        ["command line: 10000 jobs (numjobs counted) are more than --max-jobs=9999"]
    );
}

#[test]
fn bytes_that_are_no_text_are_named_by_line() {
    let found =
        errors("quick.fio", Fathom, &Texts::one(b"[a]\nthread\0\n\xff\xfe=1\n; \xff\0\n".to_vec()));
    assert_eq!(
        found,
        [
            "quick.fio:2: this line holds a NUL byte; is this a job file?",
            "quick.fio:3: this line is not UTF-8 text; is this a job file, or saved as UTF-16?",
        ]
    );
}

#[test]
fn a_mebibyte_of_noise_gives_errors_soon() {
    let noise = Seeded::new(1).bytes(1 << 20);
    let errors = run("quick.fio", Fathom, &Texts::one(noise.clone())).unwrap_err();
    assert!(errors.list.len() <= 100);
    let printable: Vec<u8> =
        noise.iter().map(|byte| b"abc=[]\n \t$"[usize::from(*byte) % 10]).collect();
    assert!(!run("quick.fio", Fathom, &Texts::one(printable)).unwrap_err().is_empty());
    let line = [b"[a]\n".to_vec(), vec![b'x'; 1 << 20]].concat();
    let error = run("quick.fio", Fathom, &Texts::one(line)).unwrap_err().to_string();
    assert!(error.len() < 200, "a long line is not printed whole");
    assert!(run("quick.fio", Fathom, &Texts::one(vec![b'['; 1 << 20])).is_err());
}

#[test]
fn standard_input_is_a_job_file_named_by_a_dash() {
    let invocation = run("-", Fathom, &Texts::default().file("-", "[a]\n")).unwrap();
    assert_eq!(names(&invocation), ["a"]);
    assert_eq!(invocation.sources[0].name, "-");
}
