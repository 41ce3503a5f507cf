//! The table of options: name, value, meaning, effect.

use super::MdtestCommand;
use super::parse::finish;
use crate::Usage;
use crate::hpc::{
    self, Act, Call, Flag, Own, acts, counts, flags, noted, number, positive, refused, sets, small,
    switch,
};

const HEAD: &str = "\
Usage: fathom mdtest --tasks=N [OPTIONS]

mdtest's tests on fathom's engine: its phases, its summary, and below it what it leaves out.
Tasks are workers of this machine, as many as --tasks says. Started by mpirun they are its ranks, as
with mdtest: all of them, or the first --tasks.

Examples:
  fathom mdtest --tasks=4 -n 1000 -d /data/md               1000 directories and files of each task
  fathom mdtest --tasks=4 -n 1000 -F -u -d /data/md         files only, a directory for each task
  fathom mdtest -n 1000 -F -w 4k -e 4k -Y -d /data/md       files of 4 KiB, synchronised
  fathom mdtest --tasks=2 -z 2 -b 3 -I 10 -i 3 -d /data/md  a tree, three iterations
  fathom mdtest -n 1000 -F -C -d /data/md                   create only; -T, -E and -r go on with it

Sizes take k, m, g, t or p behind them, in powers of 1024.

";

/// The output of `fathom mdtest -h`.
pub fn help() -> String {
    HEAD.to_owned() + &hpc::help::<MdtestCommand>()
}

type Command = MdtestCommand;

impl Call for MdtestCommand {
    const TOOL: &'static str = "mdtest";
    const FLAGS: &'static [Flag<MdtestCommand>] = FLAGS;
    const NO_OPERANDS: &'static str = "name the directory with -d";

    fn own(&mut self) -> &mut Own {
        &mut self.own
    }

    fn notes(&mut self) -> &mut Vec<String> {
        &mut self.notes
    }

    fn finish(&mut self) -> Result<(), Usage> {
        finish(self)
    }
}

fn api(_: &mut MdtestCommand, text: &str) -> Result<(), String> {
    match text.eq_ignore_ascii_case("POSIX") {
        true => Ok(()),
        false => Err(format!("'{text}' is not POSIX")),
    }
}

fn directory(call: &mut MdtestCommand, text: &str) -> Result<(), String> {
    match text.split('@').any(str::is_empty) {
        true => Err(format!("'{text}' has an empty name in it")),
        false => {
            call.directory = text.to_owned();
            Ok(())
        }
    }
}

const TASKS: &str = "one call has one number of tasks; give --tasks";

const FLAGS: &[Flag<MdtestCommand>] = flags! {
    /// tasks; 1, or the ranks of mpirun
    "tasks" "" "N" => sets!(|call, text| call.tasks = hpc::tasks(text)?)
        .note("fathom's own: workers of this machine, or ranks"),
    /// items of the tasks of a host in one run; 262144
    "items-per-run" "" "N" => sets!(|call, text| call.items_per_run = positive(text)?)
        .note("fathom's own: phases of more items are several runs"),
    /// POSIX
    "a" "" "API" => acts(Act::Set(api)).note("POSIX; others are refused"),
    /// directories in each directory of the tree; 1
    "b" "" "N" => sets!(|call, text| call.branch = positive(text)?),
    /// no barriers between phases
    "B" "" => refused("phases end for all tasks before the next begins"),
    /// task 0 creates all items
    "c" "" => refused("each task creates its items; --tasks=1 has one do all"),
    /// create only, unless -T, -E or -r is given
    "C" "" => switch!(create),
    /// the directory; a@b with -u deals the tasks out to both; ./out
    "d" "" "DIR" => acts(Act::Set(directory)),
    /// directories only
    "D" "" => switch!(directories_only),
    /// bytes to read of each file; 0
    "e" "" "SIZE" => sets!(|call, text| call.read_bytes = number(text)?),
    /// read only, unless -C, -T or -r is given
    "E" "" => switch!(read).note("without -e each file is opened and closed, which needs -C"),
    /// first number of tasks
    "f" "" "N" => refused(TASKS),
    /// files only
    "F" "" => switch!(files_only),
    /// seed of -R; drawn by default
    "G" "" "N" => sets!(|call, text| call.seed = Some(number(text)?)),
    /// this text
    "h" "" => acts(Act::Help),
    /// iterations; 1
    "i" "" "N" => sets!(|call, text| call.iterations = small(text)?),
    /// items of each task in each directory
    "I" "" "N" => sets!(|call, text| call.per_directory = positive(text)?)
        .note("works; with -n and without -z, in n ÷ I test directories"),
    /// make files with mknod
    "k" "" => refused("files are created by open, as programs do"),
    /// last number of tasks
    "l" "" "N" => refused(TASKS),
    /// items in the lowest directories only
    "L" "" => switch!(leaves_only),
    /// items of each task
    "n" "" "N" => sets!(|call, text| call.items = positive(text)?)
        .note("works; dealt out to the directories of a tree, rounded down"),
    /// stat items of the task N away, read those 2N away, remove those 3N
    "N" "" "N" => sets!(|call, text| call.stride = small(text)?)
        .note("works; all tasks share the caches of this host"),
    /// seconds to wait before each phase
    "p" "" "S" => sets!(|call, text| call.delay_s = number(text)?),
    /// rates and times
    "P" "" => switch!(rates_and_times).note("times are seconds of whole phases"),
    /// remove only, unless -C, -T or -E is given
    "r" "" => switch!(remove),
    /// stat in random order
    "R" "" => switch!(random),
    /// step between numbers of tasks
    "s" "" "N" => refused(TASKS),
    /// one file for all tasks
    "S" "" => refused("each task has files of its own; fathom ior has tasks that share a file"),
    /// time the set-up of unique directories
    "t" "" => noted("changes nothing: directories are named by their paths, so there is no set-up to time"),
    /// stat only, unless -C, -E or -r is given
    "T" "" => switch!(stat),
    /// a tree for each task
    "u" "" => switch!(unique),
    /// rename directories
    "U" "" => refused("no directory is renamed; its row is 0.000"),
    /// more text
    "v" "" => counts!(verbose).note("changes nothing"),
    /// more text, at this level
    "V" "" "N" => sets!(|call, text| call.verbose = u32::try_from(number(text)?).unwrap_or(u32::MAX))
        .note("changes nothing"),
    /// bytes to write into each file; 0
    "w" "" "SIZE" => sets!(|call, text| call.write_bytes = number(text)?),
    /// seconds after which the creation of files ends
    "W" "" "S" => sets!(|call, text| call.stonewall_s = positive(text)?)
        .note("files only; all tasks then go on to the count of the fastest, in a run of its own"),
    /// file for the count that -W reached, read without -C
    "x" "" "FILE" => sets!(|call, text| call.status_file = Some(text.to_owned())),
    /// compare what is read
    "X" "" => refused("fathom ior -R compares what is read"),
    /// fsync each file after its write
    "y" "" => switch!(fsync),
    /// sync after each phase, in its time
    "Y" "" => switch!(sync).note("works; syncfs of the filesystem of -d"),
    /// levels of directories below the first; 0
    "z" "" "N" => sets!(|call, text| call.depth = u32::try_from(number(text)?).unwrap_or(u32::MAX)),
    /// times, not rates
    "Z" "" => switch!(times).note("times are seconds of whole phases"),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_in_the_help_and_the_document() {
        let document = include_str!("../../../../docs/MDTEST.md");
        hpc::tests::check_table::<MdtestCommand>(&help(), document);
    }
}
