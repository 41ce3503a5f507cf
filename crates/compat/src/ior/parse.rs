//! Parses a command line into an [`IorCommand`].

use super::{IorCommand, Packet, layout};
use crate::{Usage, hpc};

/// The request of a command line.
pub type Request = hpc::Request<IorCommand>;

/// Parses a command line, without the program's name.
///
/// # Errors
/// The first mistake.
pub fn parse(arguments: &[String]) -> Result<Request, Usage> {
    hpc::parse(arguments)
}

fn wrong(flag: &str, what: impl Into<String>, cure: impl Into<String>) -> Usage {
    hpc::wrong::<IorCommand>(flag, what, cure)
}

/// More transfers than these in random order would need too much memory to list.
const LISTED_MAX: u64 = 1 << 22;

/// Checks the options in combination.
pub(super) fn finish(call: &mut IorCommand) -> Result<(), Usage> {
    if !(call.write || call.read || call.check_write || call.check_read) {
        (call.write, call.read) = (true, true);
    }
    check_sizes(call)?;
    check_order(call)?;
    check_data(call)?;
    check_files(call)?;
    if call.is_stamped() && call.packet != Packet::Timestamp {
        call.notes.push("-l: data that -W, -R or -G stamps is not filled another way".into());
    }
    Ok(())
}

fn check_sizes(call: &IorCommand) -> Result<(), Usage> {
    if !call.block.is_multiple_of(call.transfer) {
        let what = format!("{} bytes are not a multiple of -t {}", call.block, call.transfer);
        return Err(wrong("-b", what, "make the block a multiple of the transfer"));
    }
    if !call.transfer.is_multiple_of(8) {
        let what = format!("{} bytes are not a multiple of 8", call.transfer);
        return Err(wrong("-t", what, "make it a multiple of 8"));
    }
    if call.transfer > u64::from(u32::MAX) {
        return Err(wrong("-t", "transfers are 4 GiB at most", "lower -t"));
    }
    let total = call.block.checked_mul(call.segments);
    let total = total.and_then(|bytes| bytes.checked_mul(u64::from(call.tasks)));
    match total {
        Some(bytes) if bytes < 1 << 62 => Ok(()),
        _ => Err(wrong("-b", "the files would be larger than any file can be", "lower -b or -s")),
    }
}

fn check_order(call: &IorCommand) -> Result<(), Usage> {
    let reorders = call.reorder || call.reorder_random > 0;
    if call.random_offset == 1 && call.block == call.transfer {
        let what = "a block is one transfer, so there is no order in it to draw";
        return Err(wrong("-z", what, "raise -b, or give -zz"));
    }
    if call.random_offset > 0 && reorders && !call.per_process {
        let what = "deals the transfers of a shared file out anew, so -C and -Z mean nothing";
        return Err(wrong("-z", what, "add -F, or leave -C and -Z away"));
    }
    if call.reorder && call.reorder_random > 0 {
        return Err(wrong("-C", "-Z is given as well", "leave one of them away"));
    }
    if layout::listed(call) > LISTED_MAX {
        let what = format!("{} transfers in random order", layout::listed(call));
        return Err(wrong("-z", what, format!("lower -b, -s or -N: {LISTED_MAX} are the most")));
    }
    Ok(())
}

fn check_data(call: &IorCommand) -> Result<(), Usage> {
    if call.check_read && !call.write && call.signature.is_none() {
        let what = "nothing is written, so what should be read is not known";
        return Err(wrong(
            "-R",
            what,
            "add -w, or -G with the number that the data was written with",
        ));
    }
    if call.check_write && !call.write {
        let what = "nothing is written that could be checked";
        return Err(wrong("-W", what, "add -w, or give -R -G N"));
    }
    if call.deadline_s > 0 && call.check_write {
        let what = "compares all that -w writes, and -D ends writes early";
        return Err(wrong("-W", what, "leave one of them away"));
    }
    if call.deadline_s > 0 && call.random_offset > 1 && call.write && call.phases().len() > 1 {
        let what = "reads anywhere in the file, and -D ends writes before the file is whole";
        return Err(wrong("-zz", what, "give -z, or leave -D away"));
    }
    check_wear_out(call)?;
    if call.api == super::Api::Mmap && call.direct {
        let what = "-a MMAP is given, and a mapping is the page cache";
        return Err(wrong("--posix.odirect", what, "leave one of them away"));
    }
    Ok(())
}

fn check_wear_out(call: &IorCommand) -> Result<(), Usage> {
    const WEAR_OUT: &str = "-O stoneWallingWearOut=1";
    if call.wear_out && call.deadline_s == 0 {
        return Err(wrong(WEAR_OUT, "nothing ends the tasks early", "give -D SECONDS"));
    }
    if call.wear_out && call.random_offset > 0 && !call.per_process {
        let what = "-z deals the transfers of a shared file out unevenly, so no count is that of all tasks";
        return Err(wrong(WEAR_OUT, what, "add -F, or leave -z away"));
    }
    if call.status_file.is_some() && call.write && !call.keep {
        let what = "keeps a count for later reads, and the file is removed";
        return Err(wrong("-O stoneWallingStatusFile", what, "add -k"));
    }
    Ok(())
}

fn check_files(call: &IorCommand) -> Result<(), Usage> {
    if !call.per_process && call.file.contains('@') {
        return Err(wrong("-o", "names several files, and all tasks share one", "add -F"));
    }
    if call.unique_dir && !call.per_process {
        return Err(wrong("-u", "is about the files of -F", "add -F"));
    }
    if call.multi_file && call.read && !call.write && call.repetitions > 1 {
        let what = "names a new file for each repetition, and nothing writes them";
        return Err(wrong("-m", what, "add -w, or leave it away"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Api, Format, Phase, help};
    use super::*;

    fn read(line: &str) -> Result<Request, Usage> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&words)
    }

    #[track_caller]
    fn call(line: &str) -> IorCommand {
        match read(line) {
            Ok(Request::Run(call)) => *call,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn every_way_to_write_an_option_is_read() {
        for line in
            ["-b 4m", "-b=4m", "-b4m", "--blockSize=4m", "--blockSize 4m", "-O blockSize=4m"]
        {
            assert_eq!(call(line).block, 4 << 20, "{line}");
        }
        let all =
            call("-wrk -zz -Z=0 -e=0 -N 4 -a aio --aio.max-pending=16 -O useO_DIRECT=1,refNum=-3");
        assert!(all.write && all.read && all.keep && all.direct && !all.fsync);
        assert_eq!((all.random_offset, all.reorder_random, all.tasks), (2, 0, 4));
        assert_eq!((all.api, all.pending, all.reference), (Api::Aio, 16, -3));
        assert_eq!(call("--tasks=3").tasks, 3);
        assert_eq!(call("-O summaryFormat=json,summaryFile=x").format, Format::Json);
    }

    #[test]
    fn help_is_printed_wherever_it_is_asked_for() {
        for line in ["-h", "--help", "-wrh", "-b 4k -h -F"] {
            assert_eq!(read(line), Ok(Request::Help), "{line}");
        }
    }

    #[test]
    fn without_phases_it_writes_and_reads() {
        assert_eq!(call("").phases(), [Phase::Write, Phase::Read]);
        assert_eq!(call("-w -W").phases(), [Phase::Write, Phase::Check]);
        assert_eq!(call("-w -R").phases(), [Phase::Write, Phase::Read]);
        assert_eq!(call("-r").phases(), [Phase::Read]);
    }

    #[test]
    fn what_ior_refuses_is_refused_with_a_cure() {
        for (line, flag) in [
            ("-b 5 -t 4", "-b"),
            ("-b 12 -t 12", "-t"),
            ("-b 4k -t 4k -z", "-z"),
            ("-z -C", "-z"),
            ("-F -C -Z", "-C"),
            ("-r -R", "-R"),
            ("-r -W", "-W"),
            ("-O stoneWallingWearOut=1", "-O stoneWallingWearOut=1"),
            ("-z -b 8k -t 4k -D 1 -O stoneWallingWearOut=1", "-O stoneWallingWearOut=1"),
            ("-w -O stoneWallingStatusFile=s", "-O stoneWallingStatusFile"),
            ("-a MPIIO", "-a"),
            ("-f script", "-f"),
            ("-N 0", "-N"),
            ("-N", "-N"),
            ("-y", "-y"),
            ("-O nothing=1", "-O nothing=1"),
            ("-o a@b", "-o"),
            ("--nothing", "--nothing"),
            ("file", "file"),
            ("-b 8p -s 8t", "-b"),
            ("-F -t 8 -b 1g -z", "-z"),
            ("-zz -F -D 1", "-zz"),
            ("--=5", "--"),
        ] {
            let error = read(line).expect_err(line);
            assert_eq!(error.flag, flag, "{line}: {error}");
            assert!(!error.cure.is_empty() && !error.what.is_empty(), "{line}");
        }
    }

    #[test]
    fn the_examples_of_the_help_are_right() {
        let help = help();
        let examples = help.lines().filter_map(|line| line.strip_prefix("  fathom ior "));
        let mut count = 0;
        for example in examples {
            let line = example.split("   ").next().unwrap();
            assert!(read(line).is_ok(), "{line}: {:?}", read(line));
            count += 1;
        }
        assert_eq!(count, 5);
    }
}
