//! The table of options: letter, directive, value, meaning, effect.

use super::command::{Api, Format, IorCommand, Packet};
use super::parse::finish;
use crate::Usage;
use crate::hpc::{
    self, Act, Call, Flag, Own, acts, counts, flags, noted, number, positive, refused, sets, small,
    switch,
};

const HEAD: &str = "\
Usage: fathom ior [-N TASKS] [OPTIONS]

IOR's tests on fathom's engine: its phases, its tables, and below them what they leave out.
Tasks are workers of this machine, as many as -N says. Started by mpirun they are its ranks, as with
IOR: all of them, or the first -N.

Examples:
  fathom ior -N 4 -b 64m -t 1m -F -e                  write and read a file for each of 4 tasks
  fathom ior -N 4 -w -k -b 1g -t 1m --posix.odirect   write one shared file, past the page cache
  fathom ior -N 2 -t 4k -b 16m -z -e -i 3             4 KiB transfers in random order, three times
  fathom ior -N 2 -w -D 10 -b 1g -t 1m -F -e          end each write phase after 10 seconds
  fathom ior -R -w -O summaryFormat=JSON              compare what is read; print JSON

Sizes take k, m, g, t or p behind them, in powers of 1024.

";

/// The output of `fathom ior -h`.
pub fn help() -> String {
    HEAD.to_owned() + &hpc::help::<IorCommand>()
}

type Command = IorCommand;

impl Call for IorCommand {
    const TOOL: &'static str = "ior";
    const FLAGS: &'static [Flag<IorCommand>] = FLAGS;
    const NO_OPERANDS: &'static str = "name the file with -o";

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

fn signed(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| format!("'{text}' is not a whole number"))
}

const NO_MPI: &str = "needs MPI; POSIX, AIO and MMAP are there";

fn api(call: &mut IorCommand, text: &str) -> Result<(), String> {
    call.api = match text.to_ascii_uppercase().as_str() {
        "POSIX" => Api::Posix,
        "AIO" => Api::Aio,
        "MMAP" => Api::Mmap,
        "MPIIO" | "HDF5" | "NCMPI" => return Err(format!("{text} {NO_MPI}")),
        _ => return Err(format!("'{text}' is none of POSIX, AIO and MMAP")),
    };
    Ok(())
}

fn packet(call: &mut IorCommand, text: &str) -> Result<(), String> {
    call.packet = match text {
        "t" | "timestamp" => Packet::Timestamp,
        "o" | "offset" | "i" | "incompressible" => Packet::Offset,
        "r" | "random" => Packet::Random,
        _ => return Err(format!("'{text}' is none of t, o, i and r")),
    };
    Ok(())
}

fn format(call: &mut IorCommand, text: &str) -> Result<(), String> {
    call.format = match text.to_ascii_lowercase().as_str() {
        "default" => Format::Text,
        "json" => Format::Json,
        "csv" => Format::Csv,
        _ => return Err(format!("'{text}' is none of default, JSON and CSV")),
    };
    Ok(())
}

fn file(call: &mut IorCommand, text: &str) -> Result<(), String> {
    match text.split('@').any(str::is_empty) {
        true => Err(format!("'{text}' has an empty name in it")),
        false => {
            call.file = text.to_owned();
            Ok(())
        }
    }
}

fn signature(call: &mut IorCommand, text: &str) -> Result<(), String> {
    // As atoi(3) and a cast of IOR do with negative numbers.
    call.signature = Some(signed(text)? as u32);
    Ok(())
}

const NOT_SCRIPTED: &str =
    "no script is read; give the options of each test on a command line of its own";
const ALWAYS_BARRIERS: &str =
    "is always so: tasks begin together when the last has opened its file";

const FLAGS: &[Flag<IorCommand>] = flags! {
    /// POSIX, AIO or MMAP; POSIX
    "a" "api" "API" => acts(Act::Set(api))
        .note(
            "pread and pwrite, libaio, or a mapping; others are refused: they need MPI or a \
             library",
        ),
    /// number in the summary, for you
    "A" "refNum" "N" => sets!(|call, text| call.reference = signed(text)?),
    /// bytes side by side of a task in a segment; 1m
    "b" "blockSize" "SIZE" => sets!(|call, text| call.block = positive(text)?),
    /// O_DIRECT, as before IOR 3.3
    "B" "" => switch!(direct),
    /// collective I/O
    "c" "collective" => refused(NO_MPI),
    /// tasks read what tasks of the next host wrote
    "C" "reorderTasks" => switch!(reorder).note("changes nothing on one host, as in IOR"),
    /// seconds to wait before each phase
    "d" "interTestDelay" "S" => sets!(|call, text| call.delay_s = number(text)?),
    /// end each phase after these seconds
    "D" "deadlineForStonewalling" "S" => sets!(|call, text| call.deadline_s = number(text)?),
    /// fsync after the last write of each task, in the time
    "e" "fsync" => switch!(fsync),
    /// do not remove the file before writing
    "E" "useExistingTestFile" => switch!(use_existing),
    /// read tests from a script
    "f" "scriptFile" "FILE" => refused(NOT_SCRIPTED),
    /// a file for each task, named FILE.00000000 and so on
    "F" "filePerProc" => switch!(per_process),
    /// wait for all tasks after open and before close
    "g" "intraTestBarriers" => acts(Act::Set(|_: &mut Command, _| Ok(())))
        .note(ALWAYS_BARRIERS),
    /// number in the data that -W and -R compare
    "G" "setTimeStampSignature" "N" => acts(Act::Set(signature))
        .note(
            "is in the data of each transfer beside its offset; `-R -G N` compares what an \
             earlier call wrote with it",
        ),
    /// this text
    "h" "" => acts(Act::Help),
    /// repetitions; 1
    "i" "repetitions" "N" => sets!(|call, text| call.repetitions = small(text)?),
    /// warn of tasks so many seconds from the mean
    "j" "outlierThreshold" "S" => noted("the text below the tables names the fastest and the slowest task"),
    /// keep the files at the end
    "k" "keepFile" => switch!(keep),
    /// keep files in which data was wrong
    "K" "keepFileWithError" => switch!(keep_with_error),
    /// t: one buffer for all; o, i: with offsets; r: random
    "l" "dataPacketType" "TYPE" => acts(Act::Set(packet))
        .note("o and i are the same: offsets are stamped into data that does not compress"),
    /// a new file for each repetition
    "m" "multiFile" => switch!(multi_file),
    /// memory to occupy meanwhile
    "M" "memoryPerNode" "SIZE" => refused(
        "no memory is occupied; --posix.odirect goes past the page cache",
    ),
    /// tasks; 1, or the ranks of mpirun
    "N" "numTasks" "N" => sets!(|call, text| call.tasks = hpc::tasks(text)?)
        .note("workers of this machine, or ranks"),
    /// the file; a@b with -F deals the tasks out to both; testFile
    "o" "testFile" "FILE" => acts(Act::Set(file)),
    /// directives: the names in brackets, and those below
    "O" "" "K=V,..." => acts(Act::Directives),
    /// end at the first error
    "q" "quitOnError" => noted("is always so: no phase follows one with an error"),
    /// how many hosts away -C and -Z read; 1
    "Q" "taskPerNodeOffset" "N" => sets!(|call, text| call.task_offset = number(text)?)
        .note("changes nothing on one host, as in IOR; not of -Z"),
    /// read
    "r" "readFile" => switch!(read),
    /// read and compare, in the time
    "R" "checkRead" => switch!(check_read),
    /// segments; 1
    "s" "segmentCount" "N" => sets!(|call, text| call.segments = positive(text)?),
    /// bytes of each call; 256k
    "t" "transferSize" "SIZE" => sets!(|call, text| call.transfer = positive(text)?),
    /// begin no phase after these minutes
    "T" "maxTimeDuration" "MIN" => sets!(|call, text| call.minutes_max = number(text)?),
    /// each file of -F in a directory of its own
    "u" "uniqueDir" => switch!(unique_dir),
    /// more rows: those of removal, and the best bandwidth
    "v" "verbose" => counts!(verbose).note("once shows these; more change nothing"),
    /// write
    "w" "writeFile" => switch!(write),
    /// read back after writing and compare, untimed
    "W" "checkWrite" => switch!(check_write),
    /// do not go on after a short transfer
    "x" "singleXferAttempt" => noted("a short transfer is counted and shown, and goes on"),
    /// seed of -Z; negative: another each repetition
    "X" "reorderTasksRandomSeed" "N" => sets!(|call, text| call.reorder_seed = signed(text)?),
    /// fsync after each write
    "Y" "fsyncPerWrite" => switch!(fsync_per_write),
    /// transfers in random order; -zz: blocks at random places
    "z" "randomOffset" => counts!(random_offset),
    /// read what a drawn task wrote; -ZZ: each of them once
    "Z" "reorderTasksRandom" => counts!(reorder_random)
        .note("tasks of one host share one page cache"),
    /// the same as -N
    "tasks" "" "N" => sets!(|call, text| call.tasks = hpc::tasks(text)?).note("fathom's own"),
    /// open with O_DIRECT
    "posix.odirect" "useO_DIRECT" => switch!(direct),
    /// I/Os in flight with -a AIO; 128
    "aio.max-pending" "" "N" => sets!(|call, text| call.pending = small(text)?),
    /// seed of -z; drawn by default
    "random-offset-seed" "randomOffsetSeed" "N" =>
        sets!(|call, text| call.random_seed = Some(number(text)?)),
    /// microseconds to wait after each transfer
    "" "interIODelay" "US" => sets!(|call, text| call.transfer_delay_us = number(text)?),
    /// a line for each transfer
    "" "savePerOpDataCSV" "FILE" => refused(
        "fathom run --write_lat_log=FILE has a line for each I/O",
    ),
    /// file for the count that -w reached, read by -r
    "" "stoneWallingStatusFile" "FILE" =>
        sets!(|call, text| call.status_file = Some(text.to_owned())),
    /// after -D, go on to the count of the fastest
    "" "stoneWallingWearOut" "1" => switch!(wear_out)
        .note("a run of its own for the tasks behind the fastest; reads then have no deadline"),
    /// transfers of each task at most
    "" "stoneWallingWearOutIterations" "N" => sets!(|call, text| call.iterations = number(text)?),
    /// write the results to this file
    "" "summaryFile" "FILE" => sets!(|call, text| call.summary_file = Some(text.to_owned())),
    /// default, JSON or CSV
    "" "summaryFormat" "FORM" => acts(Act::Set(format)),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_in_the_help_and_the_document() {
        hpc::tests::check_table::<IorCommand>(&help(), include_str!("../../../../docs/IOR.md"));
    }
}
