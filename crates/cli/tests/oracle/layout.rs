//! Files: their names, directories, sizes and data are the same as the oracle's.

use crate::common::{FATHOM, FIO, Ran, Seeded, at_once, run, scratch};
use rustix::fs::{SeekFrom, seek};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

/// The state of a file on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Held {
    size: u64,
    /// Bytes outside of holes, by SEEK_DATA. Allocated space that was never written is a hole.
    data: u64,
    /// Whether all its blocks are allocated.
    allocated: bool,
}

/// Every file below a directory by its relative path. Directories end with a slash and have no
/// state.
fn tree(root: &Path) -> BTreeMap<String, Option<Held>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                found.insert(name + "/", None);
                open.push(path);
            } else {
                found.insert(name, Some(held(&path)));
            }
        }
    }
    found
}

fn held(path: &Path) -> Held {
    let file = File::open(path).unwrap();
    let meta = file.metadata().unwrap();
    let (mut data, mut at) = (0, 0);
    while let Ok(start) = seek(&file, SeekFrom::Data(at)) {
        at = seek(&file, SeekFrom::Hole(start)).unwrap();
        data += at - start;
    }
    Held { size: meta.size(), data, allocated: meta.blocks() * 512 >= meta.size() }
}

fn under(program: &[&str], directory: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new("timeout");
    run(command.arg("60").args(program).args(arguments).current_dir(directory))
}

/// The files that a program leaves in a directory that contained the directories 0, 1 and 2.
fn left_by(program: &[&str], arguments: &[&str], job: &str) -> BTreeMap<String, Option<Held>> {
    let directory = scratch();
    let root = directory.path().join("root");
    for name in ["0", "1", "2"] {
        std::fs::create_dir_all(root.join(name)).unwrap();
    }
    let file = directory.path().join("job.fio");
    std::fs::write(&file, job).unwrap();
    let path = file.to_str().unwrap();
    let arguments = if job.is_empty() { arguments.to_vec() } else { vec![path] };
    let ran = under(program, &root, &arguments);
    let failed = ran.out.lines().filter(|l| l.contains("err=") && !l.contains("err= 0"));
    // The oracle crashes on some jobs, but only after the layout.
    assert!(
        ran.code == 0 || program == [FIO],
        "{program:?}: {:?} {}\n{job}",
        failed.collect::<Vec<_>>(),
        ran.err
    );
    tree(&root)
}

/// A file's name and its size in MiB.
type Shown = (&'static str, u64);

/// Every command of the fio guide that shows files: some of the files, and their number.
const GUIDE: [(&str, &[Shown], usize); 7] = [
    ("--directory=0/", &[("0/test.0.0", 10), ("0/test.5.0", 10)], 6),
    ("--directory=0/:1/", &[("0/test.0.0", 10), ("1/test.1.0", 10), ("0/test.4.0", 10)], 6),
    ("--directory=0/:1/ --filename=hello", &[("0/hello", 10)], 1),
    ("--directory=0/:1/ --filename=hello:world", &[("0/hello", 5), ("0/world", 5)], 2),
    (
        "--directory=0/:1/ --filename=hello:world --filesize=7M",
        &[("0/hello", 7), ("0/world", 7)],
        2,
    ),
    ("--directory=0/:1/ --nrfiles=5", &[("0/test.0.4", 2), ("1/test.5.0", 2)], 30),
    ("--directory=0/:1/ --nrfiles=5 --filesize=1M", &[("0/test.4.4", 1), ("1/test.3.2", 1)], 30),
];

#[test]
fn the_guide_s_files() {
    at_once(&GUIDE, |(options, shown, count)| {
        let mut arguments = vec!["--name=test", "--size=10M", "--runtime=10s", "--numjobs=6"];
        arguments.extend(options.split(' '));
        let ours = left_by(&[FATHOM, "fio"], &arguments, "");
        let files: Vec<_> = ours.iter().filter_map(|(name, h)| Some((name, h.clone()?))).collect();
        assert_eq!(files.len(), *count, "{options}: {ours:?}");
        for (name, mib) in *shown {
            let held = ours[*name].clone().unwrap_or_else(|| panic!("{name}: {ours:?}"));
            let size = mib << 20;
            assert_eq!(held, Held { size, data: size, allocated: true }, "{options}: {name}");
        }
        assert_eq!(ours, left_by(&[FIO], &arguments, ""), "{options}");
    });
}

/// The directories and names of a section's files.
fn names(random: &mut Seeded, name: &str, set: &mut impl FnMut(&str, &str)) {
    if random.percent(60) {
        set("directory", random.one(&["0", "0:1", "0:1:2", "./1/", "2"]));
    }
    match random.between(0, 3) {
        0 => set(
            "filename",
            &[format!("{name}-a"), format!("{name}-b"), format!("{name}-c")]
                [..random.between(1, 3) as usize]
                .join(":"),
        ),
        1 => {
            let rest = ["$filenum", "$jobnum.$filenum", "x$jobnum-$filenum", "$jobname.$filenum"];
            set("filename_format", &format!("{name}.{}", random.one(&rest)));
        }
        _ => {}
    }
}

/// A random section with its own file names.
fn section(seed: u64) -> String {
    let mut random = Seeded::new(seed);
    let name = format!("j{seed}");
    let mut options = vec![format!("[{name}]"), "new_group".into()];
    let mut set = |option: &str, value: &str| options.push(format!("{option}={value}"));
    let rw = random.one(&["read", "write", "randread", "randwrite", "rw", "randrw"]);
    set("rw", rw);
    let engine = random.one(&["psync", "psync", "sync", "libaio", "io_uring", "mmap"]);
    set("ioengine", engine);
    names(&mut random, &name, &mut set);
    set("numjobs", &random.between(1, 4).to_string());
    let files = random.between(1, 4);
    set("nrfiles", &files.to_string());
    let size = 4096 * files * random.between(1, 20) + random.one(&[&0, &0, &0, &1000, &4095]);
    set("size", &size.to_string());
    if random.percent(20) {
        set("filesize", &(4096 * random.between(1, 9)).to_string());
    }
    if random.percent(40) {
        set("fallocate", random.one(&["none", "posix", "native", "keep", "truncate", "0", "1"]));
    }
    // A file that is created when it is opened cannot be read or mapped.
    let open = rw == "write" && engine != "mmap" && random.percent(40);
    if open {
        set("create_on_open", "1");
    }
    for (option, share) in [("overwrite", 20), ("unlink", 10)] {
        if random.percent(share) {
            set(option, "1");
        }
    }
    for (option, share) in [("unique_filename", 15), ("create_serialize", 15)] {
        if random.percent(share) {
            set(option, "0");
        }
    }
    if random.percent(15) {
        set("openfiles", "1");
    }
    if random.percent(10) {
        set("offset", "8k");
    }
    // The layout can be seen only if little sequential I/O follows it.
    if rw != "randwrite" && !open && random.percent(70) {
        set("number_ios", "1");
    }
    options.join("\n") + "\n"
}

#[test]
fn generated_layouts() {
    let sections: Vec<String> = (0..160).map(section).collect();
    let batches: Vec<&[String]> = sections.chunks(20).collect();
    let of_batch = |batch: &&[String]| {
        let mut wrong = Vec::new();
        let job = batch.concat();
        let (ours, theirs) = (left_by(&[FATHOM, "fio"], &[], &job), left_by(&[FIO], &[], &job));
        let names = ours.keys().chain(theirs.keys().filter(|name| !ours.contains_key(*name)));
        for name in names.filter(|name| ours.get(*name) != theirs.get(*name)) {
            let of = |s: &&String| {
                let section = s[1..].split(']').next().unwrap().to_owned();
                name.split(['/', '.', '-']).any(|part| part == section)
            };
            let section = batch.iter().find(of).map(|s| s.replace('\n', " "));
            let (ours, theirs) = (ours.get(name), theirs.get(name));
            wrong.push(format!("{name}: {section:?}\n  ours {ours:?}\n  theirs {theirs:?}"));
        }
        wrong
    };
    let wrong = at_once(&batches, of_batch).concat();
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Random sizes may differ from the oracle's, but must be within the range.
#[test]
fn file_sizes_of_a_range() {
    let arguments =
        ["--name=x", "--rw=write", "--bs=4k", "--filesize=16k-64k", "--nrfiles=12", "--size=1m"];
    let of = |program| {
        let files: Vec<(String, u64)> = left_by(program, &arguments, "")
            .into_iter()
            .filter_map(|(name, held)| Some((name, held?.size)))
            .collect();
        for (name, size) in &files {
            assert!((16 << 10..=64 << 10).contains(size) && size % 4096 == 0, "{name} {size}");
        }
        let mut sizes: Vec<u64> = files.iter().map(|f| f.1).collect();
        sizes.sort_unstable();
        sizes.dedup();
        assert!(sizes.len() > 3, "{sizes:?}");
        files.into_iter().map(|f| f.0).collect::<Vec<_>>()
    };
    assert_eq!(of(&[FATHOM, "fio"]), of(&[FIO]));
}
