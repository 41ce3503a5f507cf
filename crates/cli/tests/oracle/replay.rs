//! Iologs: what is listed is done, as the oracle does it, and what is done is listed.

use crate::common::replay::{OURS, THEIRS, done_by, io_of};
use crate::common::{Seeded, as_fio, at_once, fathom, findings, recorded, scratch};
use record::RunRecord;
use std::io::Write;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};

/// Bytes of the files that logs are drawn for.
const FILE_BYTES: usize = 1 << 20;

/// Makes a file all of which holds data, so that nothing is laid out for it.
fn full_file(path: &Path) {
    let bytes: Vec<u8> = (0..FILE_BYTES).map(|at| (at ^ at >> 8) as u8 | 1).collect();
    std::fs::write(path, bytes).unwrap();
}

/// A log of `version` that works on `files` in turn, opening and closing them now and then. One
/// write is always among what it does.
fn draw_log(version: u32, files: &[String], seed: u64) -> String {
    let mut random = Seeded::new(seed);
    let mut text = format!("fio version {version} iolog\n");
    let mut time = 0;
    let mut line = |time: usize, words: String| {
        text += &if version == 2 { format!("{words}\n") } else { format!("{time} {words}\n") };
    };
    for file in files {
        line(0, format!("{file} add"));
        line(0, format!("{file} open"));
    }
    line(0, format!("{} write 0 4096", files[0]));
    for _ in 0..40 {
        time += random.below(300);
        let file = &files[random.below(files.len())];
        let length = 512 * (1 + random.below(64));
        let offset = 512 * random.below((FILE_BYTES - length) / 512);
        match random.below(10) {
            0 => line(time, format!("{file} sync 0 0")),
            1 => line(time, format!("{file} datasync 0 0")),
            2 => {
                line(time, format!("{file} close"));
                line(time, format!("{file} open"));
            }
            3..=6 => line(time, format!("{file} read {offset} {length}")),
            _ => line(time, format!("{file} write {offset} {length}")),
        }
    }
    text
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// A log's lines without their times.
fn actions(log: &str) -> Vec<&str> {
    log.lines().skip(1).map(|line| line.split_once(' ').unwrap().1).collect()
}

/// The I/O of a log: kind, offset, length.
fn ios(log: &str) -> Vec<String> {
    let moved = |line: &&str| line.split(' ').count() == 4;
    actions(log).into_iter().filter(moved).map(|l| l.split_once(' ').unwrap().1.into()).collect()
}

/// The times of a log's I/O.
fn times(log: &str) -> Vec<u64> {
    let moved = log.lines().filter(|line| line.split(' ').count() == 5);
    moved.map(|l| l.split(' ').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn logs_are_replayed_as_the_oracle_replays_them() {
    let options: [&[&str]; 5] = [
        &[],
        &["--replay_no_stall=1"],
        &["--replay_scale=3", "--replay_align=4096"],
        &["--replay_time_scale=400"],
        &["--read_iolog_chunked=1"],
    ];
    at_once(&(0..20).collect::<Vec<u64>>(), |&seed| {
        let directory = scratch();
        let at = directory.path();
        let files: Vec<String> =
            ["a", "b", "c"].iter().map(|f| at.join(f).to_str().unwrap().into()).collect();
        files.iter().for_each(|file| full_file(file.as_ref()));
        let version = 2 + (seed % 2) as u32;
        let used = &files[..1 + (seed % 3) as usize];
        write(&at.join("in.log"), &draw_log(version, used, seed));
        // Another file than the log's: what reads beyond its end fails with the oracle.
        let extra = options[(seed % 5) as usize];
        let line = [&["--name=r", "--thread=1", "--read_iolog=in.log", "--output=out.log"], extra];
        let ours = done_by(&OURS, at, "", &line.concat());
        let theirs = done_by(&THEIRS, at, "", &line.concat());
        assert!(ours.len() > 30, "{seed}: {ours:?}");
        assert_eq!(io_of(ours.clone()), io_of(theirs), "seed {seed} {extra:?}");
        let opened = ours.iter().filter(|call| call.starts_with("open ")).count();
        let closed = ours.iter().filter(|call| call.starts_with("close ")).count();
        assert_eq!(opened, closed, "{ours:?}");
    });
}

#[test]
fn what_is_listed_replays_to_the_same_list() {
    let directory = scratch();
    let at = directory.path();
    for (name, job) in [
        ("mix", "--rw=randrw --bs=4k,8k --size=256k --nrfiles=3 --fsync=5 --fdatasync=7"),
        ("loops", "--rw=write --bs=16k --size=64k --loops=3"),
        (
            "deep",
            "--rw=randwrite --bssplit=4k/50:12k/50 --size=512k --ioengine=libaio \
                  --iodepth=8 --direct=1",
        ),
        ("few", "--rw=write --size=128k --nrfiles=5 --openfiles=2 --file_service_type=sequential"),
    ] {
        let (first, second) = (format!("{name}.1.log"), format!("{name}.2.log"));
        let line = format!("--name={name} {job} --write_iolog={first}");
        fathom(at, &line.split_whitespace().collect::<Vec<_>>()).expect(0);
        let replay = format!("--name=r --read_iolog={first} --write_iolog={second}");
        fathom(at, &replay.split(' ').collect::<Vec<_>>()).expect(0);
        let (first, second) = (read(&at.join(first)), read(&at.join(second)));
        assert!(ios(&first).len() > 10, "{first}");
        assert_eq!(first.lines().next(), Some("fio version 3 iolog"));
        assert_eq!(actions(&first), actions(&second), "{name}");
        let early = times(&first).into_iter().zip(times(&second)).find(|(then, now)| now < then);
        assert_eq!(early, None, "{name}");
    }
}

#[test]
fn the_oracle_replays_what_we_list_and_we_what_it_lists() {
    let directory = scratch();
    let at = directory.path();
    let job = "--name=w --thread=1 --filename=f --rw=randrw --bs=4k --size=256k --fsync=8";
    let job: Vec<&str> = job.split(' ').collect();
    let (mine, its) = (["--write_iolog=mine.log"], ["--write_iolog=its.log"]);
    as_fio(at, &[&job[..], &mine].concat()).expect(0);
    crate::common::fio(at, &[&job[..], &its].concat()).expect(0);
    for log in ["mine.log", "its.log"] {
        let replay = format!("--read_iolog={log}");
        let line = ["--name=r", "--thread=1", &replay, "--output=out.log"];
        let (ours, theirs) = (done_by(&OURS, at, "", &line), done_by(&THEIRS, at, "", &line));
        assert!(ours.len() > 64, "{ours:?}");
        assert_eq!(io_of(ours), io_of(theirs), "{log}");
    }
}

/// A log of three reads of one file with so many microseconds between them.
fn three_reads(at: &Path, gap: u64) {
    full_file(&at.join("f"));
    let text = format!(
        "fio version 3 iolog\n0 f add\n0 f open\n0 f read 0 4096\n{gap} f read 4096 4096\n{} f \
         read 8192 4096\n{} f close\n",
        2 * gap,
        2 * gap
    );
    write(&at.join("in.log"), &text);
}

fn of_replay(at: &Path, options: &[&str]) -> (RunRecord, Vec<u64>) {
    let replay = ["--name=r", "--read_iolog=in.log", "--write_iolog=out.log"];
    let record = recorded(at, 0, &[&replay, options].concat());
    let log = read(&at.join("out.log"));
    std::fs::remove_file(at.join("out.log")).unwrap();
    let reads = log.lines().filter(|line| line.contains(" read "));
    (record, reads.map(|l| l.split(' ').next().unwrap().parse().unwrap()).collect())
}

#[test]
fn the_log_s_times_are_kept() {
    let directory = scratch();
    let at = directory.path();
    three_reads(at, 100_000);
    let (record, times) = of_replay(at, &[]);
    assert!(times[1] >= 100_000 && times[2] >= 200_000, "{times:?}");
    let job = &record.jobs[0];
    let response = job.results.read.latency.response.as_ref().unwrap();
    assert_eq!((job.results.read.ios, response.count()), (3, 3));
    assert_eq!(job.workload.rw, "replay");
    let (_, times) = of_replay(at, &["--replay_time_scale=50"]);
    assert!(times[1] >= 200_000 && times[2] >= 400_000, "{times:?}");
    three_reads(at, 60_000_000);
    let (record, times) = of_replay(at, &["--replay_no_stall=1"]);
    assert!(times[2] < 60_000_000, "{times:?}");
    assert!(record.jobs[0].results.read.latency.response.is_none());
    let (_, times) = of_replay(at, &["--replay_time_scale=6000000"]);
    assert!((1_000..60_000_000).contains(&times[1]), "{times:?}");
}

#[test]
fn waits_of_version_2_add_up() {
    let directory = scratch();
    let at = directory.path();
    full_file(&at.join("f"));
    let text = "fio version 2 iolog\nf add\nf open\nf read 0 512\nf wait 60000 0\nf read 512 512\n\
                f wait 99 0\nf wait 60000 0\nf read 1024 512\nf close\n";
    write(&at.join("in.log"), text);
    let (_, times) = of_replay(at, &[]);
    assert!(times[1] >= 60_000 && times[2] >= 120_000, "{times:?}");
}

#[test]
fn a_replay_ends_with_its_runtime() {
    let directory = scratch();
    let at = directory.path();
    three_reads(at, 30_000_000);
    let (record, times) = of_replay(at, &["--runtime=1"]);
    assert_eq!((times.len(), record.jobs[0].results.read.ios), (1, 1));
}

#[test]
fn kinds_are_left_out() {
    let directory = scratch();
    let at = directory.path();
    full_file(&at.join("f"));
    let text = "fio version 2 iolog\nf add\nf open\nf read 0 512\nf write 0 512\nf sync 0 0\n\
                f datasync 0 0\nf read 512 512\nf close\n";
    write(&at.join("in.log"), text);
    for (skip, reads, writes, syncs) in
        [("read", 0, 1, 2), ("write", 2, 0, 2), ("sync", 2, 1, 0), ("trim,write,sync", 2, 0, 0)]
    {
        let option = format!("--replay_skip={skip}");
        let (record, _) = of_replay(at, &[&option]);
        let results = &record.jobs[0].results;
        assert_eq!((results.read.ios, results.write.ios), (reads, writes), "{skip}");
        assert_eq!(record.jobs[0].sync.count, syncs);
    }
}

#[test]
fn everything_goes_where_it_is_redirected_to() {
    let directory = scratch();
    let at = directory.path();
    full_file(&at.join("to"));
    let files = ["/nowhere/a".to_owned(), "/nowhere/b".to_owned()];
    write(&at.join("in.log"), &draw_log(3, &files, 5));
    let line = ["--name=r", "--thread=1", "--read_iolog=in.log", "--replay_redirect=to"];
    let line = [&line[..], &["--output=out.log"]].concat();
    let (ours, theirs) = (done_by(&OURS, at, "", &line), done_by(&THEIRS, at, "", &line));
    assert!(ours.len() > 30);
    assert_eq!(io_of(ours), io_of(theirs));
}

#[test]
fn clones_take_the_logs_in_turn() {
    let directory = scratch();
    let at = directory.path();
    for name in ["a", "b"] {
        let text = format!("fio version 2 iolog\n{name} add\n{name} open\n{name} write 0 512\n");
        write(&at.join(format!("{name}:.log")), &text);
    }
    let logs = r"--read_iolog=a\:.log:b\:.log";
    let record = recorded(at, 0, &["--name=r", logs, "--numjobs=3"]);
    let mut files: Vec<String> =
        record.jobs.iter().flat_map(|job| job.workload.files.clone()).collect();
    files.sort();
    assert_eq!(files, ["a", "a", "b"]);
}

#[test]
fn logs_come_from_standard_input_and_sockets_too() {
    let directory = scratch();
    let at = directory.path();
    three_reads(at, 100);
    let log = read(&at.join("in.log"));
    for chunked in ["0", "1"] {
        let mut child = Command::new(crate::common::FATHOM)
            .args(["run", "--name=r", "--read_iolog=-", "--output=o.json"])
            .args([&format!("--read_iolog_chunked={chunked}"), "--output-format=json"])
            .current_dir(at)
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(log.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
        let json: serde_json::Value = serde_json::from_str(&read(&at.join("o.json"))).unwrap();
        assert_eq!(json["jobs"][0]["read"]["total_ios"], 3);
    }
    let listener = UnixListener::bind(at.join("socket")).unwrap();
    let giver = std::thread::spawn(move || {
        listener.accept().unwrap().0.write_all(log.as_bytes()).unwrap();
    });
    let record = recorded(at, 0, &["--name=r", "--read_iolog=socket"]);
    giver.join().unwrap();
    assert_eq!(record.jobs[0].results.read.ios, 3);
}

#[test]
fn conditions_know_the_log_s_directions() {
    let directory = scratch();
    let at = directory.path();
    full_file(&at.join("f"));
    write(&at.join("in.log"), "fio version 2 iolog\nf add\nf open\nf write 0 512\n");
    let line = ["--name=r", "--read_iolog=in.log"];
    fathom(at, &[&line[..], &["--undecided=pass", "--accept=write.max<600s"]].concat()).expect(0);
    let missed = fathom(at, &[&line[..], &["--accept=read.max<600s"]].concat()).expect(2);
    assert!(missed.err.contains("read"), "{}", missed.err);
}

#[test]
fn what_is_read_of_a_file_is_laid_out_and_what_is_written_is_not() {
    let directory = scratch();
    let at = directory.path();
    let text = "fio version 2 iolog\nr add\nr open\nw add\nw open\nr read 4096 4096\n\
                w write 8192 4096\n";
    write(&at.join("in.log"), text);
    let record = recorded(at, 0, &["--name=r", "--read_iolog=in.log"]);
    assert_eq!(record.jobs[0].results.read.ios, 1);
    assert!(findings(&record, "never-written").is_empty());
    let size = |name: &str| std::fs::metadata(at.join(name)).unwrap().len();
    assert_eq!((size("r"), size("w")), (8192, 12288));
}

#[test]
fn a_log_is_added_to_and_clones_are_warned_of() {
    let directory = scratch();
    let at = directory.path();
    let job = ["--name=w", "--rw=write", "--size=8k", "--write_iolog=w.log"];
    fathom(at, &job).expect(0);
    let once = read(&at.join("w.log"));
    fathom(at, &job).expect(0);
    let twice = read(&at.join("w.log"));
    assert!(twice.starts_with(&once));
    assert_eq!(twice.matches("fio version 3 iolog").count(), 2);
    let two = fathom(at, &["--name=r", "--read_iolog=w.log"]).expect(2);
    assert!(two.err.contains("line 7: another log begins here"), "{}", two.err);
    let clones = ["--name=w", "--rw=write", "--size=8k", "--numjobs=2", "--write_iolog=c.log"];
    let warned = fathom(at, &clones).expect(0);
    assert!(warned.err.contains("2 workers write the iolog c.log"), "{}", warned.err);
}

#[test]
fn what_a_replay_has_no_use_for_is_told() {
    let directory = scratch();
    let at = directory.path();
    three_reads(at, 10);
    let given = ["--filename=other", "--loops=2", "--number_ios=1", "--time_based"];
    let line = [&["--name=r", "--read_iolog=in.log"], &given[..]].concat();
    let told = fathom(at, &line).expect(0);
    for option in ["filename", "loops", "number_ios", "time_based"] {
        let text = format!("{option} has no effect on a replay");
        assert!(told.err.contains(&text), "{option}: {}", told.err);
    }
    assert!(!at.join("other").exists());
}

#[test]
fn work_without_files_lists_none() {
    let directory = scratch();
    for job in [
        "--ioengine=cpuio --cpuload=50 --cpuchunks=1000 --number_ios=3",
        "--ioengine=exec --program=true",
    ] {
        let job: Vec<&str> = job.split(' ').collect();
        recorded(directory.path(), 0, &[&["--name=w", "--write_iolog=w.log"], &job[..]].concat());
        assert_eq!(read(&directory.path().join("w.log")), "fio version 3 iolog\n");
        std::fs::remove_file(directory.path().join("w.log")).unwrap();
    }
}

#[test]
fn a_job_replays_the_log_that_an_earlier_job_wrote() {
    let directory = scratch();
    let path = directory.path();
    let chain = |redirect: &str| {
        let first =
            "[a]\nioengine=psync\nrw=randrw\nbs=4k-16k\nsize=256k\nfilename=f\nwrite_iolog=log\n";
        write(
            &path.join("chain.fio"),
            &format!(
                "{first}[b]\nstonewall\nioengine=psync\nread_iolog=./log\nreplay_no_stall=1\n{redirect}\
                 write_iolog=replayed\n"
            ),
        );
    };
    for redirect in ["", "replay_redirect=g\n"] {
        chain(redirect);
        // The second time, the log of the first is not the one that is replayed.
        for _ in 0..2 {
            let _ = std::fs::remove_file(path.join("replayed"));
            let _ = std::fs::remove_file(path.join("log"));
            as_fio(path, &["chain.fio", "--output-format=json"]).expect(0);
            assert_eq!(ios(&read(&path.join("replayed"))), ios(&read(&path.join("log"))));
        }
    }
    // fio says of its own replays no more than this.
    write(
        &path.join("plain.fio"),
        "[a]\nioengine=psync\nrw=write\nsize=64k\nfilename=h\nwrite_iolog=new\n[b]\nwait_for=a\n\
         ioengine=psync\nread_iolog=new\n",
    );
    for program in [OURS.to_vec(), THEIRS.to_vec()] {
        let _ = std::fs::remove_file(path.join("new"));
        let mut command = Command::new(program[0]);
        let ran = command.args(&program[1..]).arg("plain.fio").current_dir(path).output().unwrap();
        let text = String::from_utf8_lossy(&ran.stdout);
        assert_eq!(text.matches("issued rwts: total=0,16,0,0").count(), 2, "{text}");
    }
    // Jobs that start together cannot.
    let _ = std::fs::remove_file(path.join("new"));
    let together = read(&path.join("plain.fio")).replace("wait_for=a\n", "");
    write(&path.join("plain.fio"), &together);
    let refused = as_fio(path, &["plain.fio"]).expect(1);
    assert!(refused.err.contains("job 'a' writes it: let this job wait"), "{}", refused.err);
}

/// The oracle of these tests dies of such a job (signal 11).
#[test]
fn relative_names_of_a_log_lie_below_the_directory_of_the_job() {
    let at = scratch();
    std::fs::create_dir(at.path().join("d")).unwrap();
    std::fs::write(at.path().join("log"), "fio version 2 iolog\na add\na open\na write 0 4096\n")
        .unwrap();
    fathom(at.path(), &["--name=x", "--directory=d", "--read_iolog=log"]).expect(0);
    assert_eq!(std::fs::metadata(at.path().join("d/a")).unwrap().len(), 4096);
    fathom(at.path(), &["--name=x", "--directory=none", "--read_iolog=log"]).expect(3);
}
