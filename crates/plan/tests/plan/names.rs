use crate::support::*;
use job::{Engine, ReadWrite};
use plan::{ProblemKind::*, Wanted};

fn paths(plan: &plan::Plan) -> Vec<Vec<&str>> {
    plan.workers.iter().map(|w| w.files.iter().map(|f| f.path.as_str()).collect()).collect()
}

#[test]
fn clones_take_directories_in_turn() {
    let mut job = sized("test", 10 * MIB);
    job.target.directories = vec!["d1/".into(), "d2".into(), String::new()];
    job.identity.numjobs = Some(3);
    job.target.nrfiles = Some(2);
    let plan = plan(&[job], &machine());
    let expected: [[&str; 2]; 3] = [
        ["d1/test.0.0", "d1/test.0.1"],
        ["d1/test.2.0", "d1/test.2.1"],
        ["d2/test.1.0", "d2/test.1.1"],
    ];
    assert_eq!(paths(&plan), expected);
    assert_eq!(plan.workers[0].files[0].length, 5 * MIB);
}

#[test]
fn given_names_lie_below_the_first_directory() {
    // Oracle: --directory=d1:d2 --filename=hello:world --numjobs=2; an absolute name too.
    let mut job = sized("test", 10 * MIB);
    job.target.directories = vec!["d1".into(), "d2".into()];
    job.target.filenames = vec!["hello".into(), "/world".into()];
    job.identity.numjobs = Some(2);
    let plan = plan(&[job], &machine());
    assert_eq!(paths(&plan), vec![vec!["d1/hello", "d1/world"]; 2]);
    assert_eq!(regions(&plan, 1), [("d1/hello", 0, 5 * MIB), ("d1/world", 0, 5 * MIB)]);
}

#[test]
fn nrfiles_cuts_a_list_of_names_short() {
    // Oracle: nrfiles=1 uses x only, nrfiles=5 both.
    for (nrfiles, expected) in [(1, vec!["x"]), (5, vec!["x", "y"])] {
        let mut job = on("x:y", ReadWrite::Read, 4096);
        job.target.size = bytes(MIB);
        job.target.nrfiles = Some(nrfiles);
        assert_eq!(paths(&plan(&[job], &machine())), [expected]);
    }
}

#[test]
fn keywords_of_the_format() {
    // Oracle: `x$foo$jobnumber` names x$foo0ber.
    let cases = [
        ("f.$filenum", ["f.0", "f.1"]),
        ("$jobname-$jobnum-$clientuid-$filenum.$jobname", ["$a-0--0.$a", "$a-0--1.$a"]),
        ("x$foo$jobnumber$", ["x$foo0ber$", "x$foo0ber$"]),
        ("same", ["same", "same"]),
    ];
    for (format, expected) in cases {
        let mut job = sized("$a", 64 * KIB);
        job.target.filename_format = Some(format.into());
        job.target.nrfiles = Some(2);
        assert_eq!(paths(&plan(&[job], &machine())), [expected], "{format}");
    }
    let mut job = sized("a", 64 * KIB);
    (job.target.filename_format, job.target.nrfiles) = (Some("f.$filenum".into()), Some(2));
    job.target.filenum_first = 99;
    assert_eq!(paths(&plan(&[job], &machine())), [["f.99", "f.100"]]);
}

#[test]
fn a_later_job_of_the_same_name_shares_files() {
    // Oracle: the second [b] uses b.0.0 again.
    let plan = plan(&[sized("b", MIB), sized("b", MIB)], &machine());
    assert_eq!(paths(&plan), [["b.0.0"], ["b.0.0"]]);
}

#[test]
fn missing_directories_of_a_name_are_no_problem_but_those_of_directory_are() {
    // Oracle: filename=sub/deep/x is made with its directories; directory=nodir is an error.
    let mut job = on("sub/deep/x", ReadWrite::Write, 4096);
    job.target.size = bytes(MIB);
    assert_eq!(paths(&plan(&[job], &machine())), [["sub/deep/x"]]);

    let mut job = sized("a", MIB);
    job.target.directories = vec!["d1".into(), "nodir".into()];
    one_problem(&[job], &machine(), Refusal, "directory", "nodir is not there");

    let mut facts = machine();
    file(&mut facts, "plain", 1);
    let mut job = sized("a", MIB);
    job.target.directories = vec!["plain".into()];
    let problems = problems(&[job], &facts, &plan::Policy::default());
    assert_eq!(
        problems[0].to_string(),
        "a.fio:1: [a] directory: plain is no directory; make it or name another one"
    );
}

#[test]
fn targets_are_listed_once_with_what_is_above_them() {
    let mut writer = sized("w", MIB);
    writer.target.directories = vec!["d1".into()];
    writer.pattern.rw = ReadWrite::Write;
    writer.identity.numjobs = Some(2);
    let mut reader = on("/dev/sdb:d1/w.0.0", ReadWrite::Read, 4096);
    reader.identity.numjobs = Some(1000);
    let wanted = |path: &str, write| Wanted { path: path.into(), write };
    assert_eq!(
        plan::targets(&[writer, reader, null("n", MIB)]),
        [
            wanted("d1", false),
            wanted("d1/w.0.0", true),
            wanted(".", false),
            wanted("d1/w.1.0", true),
            wanted("/dev/sdb", false),
            wanted("/dev", false),
            wanted("/", false),
        ]
    );
}

#[test]
fn an_absurd_number_of_files_is_refused_without_listing_them() {
    let mut job = sized("a", u64::MAX);
    job.target.nrfiles = Some(u64::MAX);
    job.identity.numjobs = Some(u64::MAX);
    assert_eq!(plan::targets(std::slice::from_ref(&job)), []);
    one_problem(&[job.clone()], &machine(), Usage, "numjobs", "18446744073709551615 jobs");
    job.identity.numjobs = Some(4096);
    one_problem(&[job.clone()], &machine(), Usage, "nrfiles", "more than 4194304 files");
    job.queue.engine = Engine::Null;
    one_problem(&[job], &machine(), Usage, "nrfiles", "more than 4194304 files");
}

#[test]
fn files_found_below_a_directory_come_first_and_stay_as_they_are() {
    let mut found = sized("a", 3 * MIB);
    found.target.opendir = Some("d1".into());
    found.target.directories = vec!["d2".into()];
    found.target.filenames = vec!["x".into()];
    found.target.below = vec!["d1/a".into(), "d1/b/c".into()];
    let all = plan(&[found.clone()], &machine());
    let expected = [("d1/a", 0, MIB), ("d1/b/c", 0, MIB), ("d2/x", 0, MIB)];
    assert_eq!(regions(&all, 0), expected);
    found.target.nrfiles = Some(2);
    assert_eq!(paths(&plan(&[found], &machine())), [["d1/a", "d1/b/c"]]);
}

#[test]
fn a_directory_without_files_is_refused() {
    let mut empty = sized("a", MIB);
    empty.target.opendir = Some("d1".into());
    one_problem(&[empty], &machine(), Refusal, "opendir", "no file below");
}

/// fio reserves the name and then fails to get its size.
#[test]
fn a_dash_is_no_file() {
    let mut job = null("a", MIB);
    job.queue.engine = Engine::Psync;
    job.target.filenames = vec!["-".into()];
    one_problem(&[job.clone()], &machine(), Usage, "filename", "'-' is standard input or output");
}
