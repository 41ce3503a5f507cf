//! Parses a command line into an [`MdtestCommand`].

use super::runs::NAMES_MAX;
use super::{MdtestCommand, Phase};
use crate::Usage;
use crate::hpc::{self, wrong};

/// The request of a command line.
pub type Request = hpc::Request<MdtestCommand>;

/// Parses a command line, without the program's name.
///
/// # Errors
/// The first mistake.
pub fn parse(arguments: &[String]) -> Result<Request, Usage> {
    hpc::parse(arguments)
}

/// More levels make paths that no filesystem takes.
const DEPTH_MAX: u32 = 64;

/// Checks the options in combination.
pub(super) fn finish(call: &mut MdtestCommand) -> Result<(), Usage> {
    if !(call.create || call.stat || call.read || call.remove) {
        (call.create, call.stat, call.read, call.remove) = (true, true, true, true);
    }
    check_tree(call)?;
    check_amount(call)?;
    check_data(call)
}

fn refused(flag: &str, what: impl Into<String>, cure: impl Into<String>) -> Result<(), Usage> {
    Err(wrong::<MdtestCommand>(flag, what, cure))
}

fn check_tree(call: &MdtestCommand) -> Result<(), Usage> {
    if call.files_only && call.directories_only {
        return refused("-D", "-F is given as well", "leave one of them away, or both for both");
    }
    if call.items == 0 && call.per_directory == 0 {
        return refused("-n", "is missing, so there are no items", "give -n N or -I N");
    }
    if !call.unique && call.directory.contains('@') {
        return refused("-d", "names several directories, and all tasks share one", "add -u");
    }
    if call.depth > DEPTH_MAX || call.directories().is_none_or(|all| all > NAMES_MAX) {
        let what = format!("makes a tree of more than {NAMES_MAX} directories, or too deep a one");
        return refused("-z", what, "lower -z or -b");
    }
    if call.items > 0 && call.per_directory > 0 && call.depth > 0 {
        let what = "says how many items each directory has, and so does -n";
        return refused("-I", what, "leave one of them away, or -z");
    }
    Ok(())
}

fn check_amount(call: &MdtestCommand) -> Result<(), Usage> {
    if call.items_per_task() == 0 {
        let what = "is less than one item for each directory, or each -I";
        return refused("-n", what, "raise it, or lower -z, -b or -I");
    }
    let trees = if call.unique { u64::from(call.tasks) } else { 1 };
    let directories = call.directories().unwrap_or_default() * call.loops() * trees;
    if directories > NAMES_MAX {
        let what = format!("makes {directories} directories of trees; {NAMES_MAX} are the most");
        return refused("-n", what, "lower -z, or -n, or raise -I");
    }
    Ok(())
}

fn check_data(call: &MdtestCommand) -> Result<(), Usage> {
    let reads = call.phases().contains(&Phase::FileRead);
    if reads && call.create && call.read_bytes > call.write_bytes {
        return refused("-e", "is more than -w writes", "lower it, or raise -w");
    }
    if reads && !call.create && call.read_bytes == 0 {
        let what = "opens and closes files only, and nothing says that they are there";
        return refused("-E", what, "add -e SIZE, or -C");
    }
    if call.stonewall_s > 0 && (!call.create || call.directories_only) {
        let what = "ends the creation of files, and there is none";
        return refused("-W", what, "leave it away, or add -C, or leave -D away");
    }
    if call.fsync && call.write_bytes == 0 {
        return refused("-y", "nothing is written into the files", "give -w, or -Y for the names");
    }
    if call.write_bytes.max(call.read_bytes) > u64::from(u32::MAX) {
        return refused("-w", "files are 4 GiB at most", "lower it, or -e");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::help;
    use super::*;

    fn read(line: &str) -> Result<Request, Usage> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&words)
    }

    #[track_caller]
    fn call(line: &str) -> MdtestCommand {
        match read(line) {
            Ok(Request::Run(call)) => *call,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn options_are_read_as_iors() {
        let found = call("--tasks=3 -FCTu -n 1k -b=2 -z2 -i 2 -N 1 -w 4k -vv -d a@b -R -G 7");
        assert!(found.files_only && found.create && found.stat && found.unique && found.random);
        assert!(!found.read && !found.remove);
        assert_eq!((found.tasks, found.items, found.branch, found.depth), (3, 1024, 2, 2));
        assert_eq!((found.stride, found.write_bytes, found.verbose), (1, 4096, 2));
        assert_eq!(read("-n 1 -h"), Ok(Request::Help));
    }

    #[test]
    fn without_phases_it_makes_all() {
        assert_eq!(call("-n 1").phases().len(), 9);
        let files: Vec<&str> = call("-n 1 -F").phases().iter().map(|phase| phase.name()).collect();
        let expected = "tree-creation file-creation file-stat file-read file-removal tree-removal";
        assert_eq!(files.join(" "), expected);
        assert_eq!(call("-n 1 -D -T").phases(), [Phase::DirectoryStat]);
    }

    #[test]
    fn what_cannot_be_is_refused_with_a_cure() {
        for (line, flag) in [
            ("", "-n"),
            ("-n 1 -F -D", "-D"),
            ("-n 1 -d a@b", "-d"),
            ("-n 3 -z 2 -b 2", "-n"),
            ("-n 3 -I 9", "-n"),
            ("-n 8 -I 2 -z 1", "-I"),
            ("-I 1 -z 60 -b 9", "-z"),
            ("-n 100000 -I 1", "-n"),
            ("-n 1 --items-per-run=0", "--items-per-run"),
            ("-n 1 -e 4k", "-e"),
            ("-n 1 -E", "-E"),
            ("-n 1 -y", "-y"),
            ("-n 1 -w 8g", "-w"),
            ("-n 1 -a MPIIO", "-a"),
            ("-n 1 -W 0", "-W"),
            ("-n 1 -D -W 3", "-W"),
            ("-n 1 -T -W 3", "-W"),
            ("-n 1 -U", "-U"),
            ("-n 1 --tasks=0", "--tasks"),
            ("-n 1 --nothing", "--nothing"),
            ("-n 1 dir", "dir"),
        ] {
            let error = read(line).expect_err(line);
            assert_eq!(error.flag, flag, "{line}: {error}");
            assert!(!error.cure.is_empty() && !error.what.is_empty(), "{line}");
        }
    }

    #[test]
    fn the_examples_of_the_help_are_right() {
        let help = help();
        let examples = help.lines().filter_map(|line| line.strip_prefix("  fathom mdtest "));
        let lines = examples.map(|example| example.split("  ").next().unwrap());
        assert_eq!(lines.filter(|line| read(line).is_ok()).count(), 5);
    }
}
