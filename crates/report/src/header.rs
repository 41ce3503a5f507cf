//! fio's lines before a run.

use crate::fio_numbers::SizeStyle;
use record::{Bytes, PerDirection};

/// The fields of the line of one job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobLine {
    /// Its name.
    pub name: String,
    /// Its group.
    pub group: u32,
    /// `rw` without its suffix ("randread").
    pub rw: String,
    /// Smallest and largest block, per direction.
    pub block_size: PerDirection<(Bytes, Bytes)>,
    /// I/O engine.
    pub ioengine: String,
    /// The queue depth of the job.
    pub iodepth: u32,
    /// Workers that run it (`numjobs`).
    pub workers: u32,
    /// How it shows sizes.
    pub style: SizeStyle,
}

/// The lines of one job; "..." stands for further workers.
pub fn job(line: &JobLine) -> String {
    let range = |(min, max): (Bytes, Bytes)| {
        format!("{}-{}", line.style.size(min.0), line.style.size(max.0))
    };
    let mut out = format!(
        "{}: (g={}): rw={}, bs=(R) {}, (W) {}, (T) {}, ioengine={}, iodepth={}\n",
        line.name,
        line.group,
        line.rw,
        range(line.block_size.read),
        range(line.block_size.write),
        range(line.block_size.trim),
        line.ioengine,
        line.iodepth,
    );
    if line.workers > 1 {
        out += "...\n";
    }
    out
}

/// "Starting 2 processes", "Starting 1 thread and 1 process", as the jobs ask for.
pub fn starting(threads: u32, processes: u32) -> String {
    let counted = |count: u32, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{count} {many}")),
    };
    let parts: Vec<String> =
        [counted(threads, "thread", "threads"), counted(processes, "process", "processes")]
            .into_iter()
            .flatten()
            .collect();
    format!("Starting {}\n", parts.join(" and "))
}

/// "job: Laying out IO file (1 file / 4MiB)": number and total size of the files that a job makes.
pub fn layout(job: &str, files: u64, bytes: u64) -> String {
    let mebibytes = bytes >> 20;
    match files {
        1 => format!("{job}: Laying out IO file (1 file / {mebibytes}MiB)\n"),
        _ => format!("{job}: Laying out IO files ({files} files / total {mebibytes}MiB)\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> JobLine {
        JobLine {
            name: "a".into(),
            group: 1,
            rw: "randrw".into(),
            block_size: PerDirection {
                read: (Bytes(512), Bytes(16384)),
                write: (Bytes(65536), Bytes(65536)),
                trim: (Bytes(4096), Bytes(1 << 20)),
            },
            ioengine: "psync".into(),
            iodepth: 8,
            workers: 1,
            style: SizeStyle::default(),
        }
    }

    #[test]
    fn a_job_is_one_line_and_clones_are_dots() {
        let expected = "a: (g=1): rw=randrw, bs=(R) 512B-16.0KiB, (W) 64.0KiB-64.0KiB, \
                        (T) 4096B-1024KiB, ioengine=psync, iodepth=8\n";
        assert_eq!(job(&line()), expected);
        assert_eq!(job(&JobLine { workers: 3, ..line() }), format!("{expected}...\n"));
        let decimal = SizeStyle { kb_base: 1000, ..SizeStyle::default() };
        assert!(job(&JobLine { style: decimal, ..line() }).contains("(R) 512B-16.4kB"));
    }

    #[test]
    fn workers_are_counted_in_words() {
        assert_eq!(starting(0, 1), "Starting 1 process\n");
        assert_eq!(starting(2, 0), "Starting 2 threads\n");
        assert_eq!(starting(1, 1), "Starting 1 thread and 1 process\n");
    }

    #[test]
    fn layout_counts_files_and_whole_mebibytes() {
        assert_eq!(layout("a", 1, 1_536_000), "a: Laying out IO file (1 file / 1MiB)\n");
        assert_eq!(layout("a", 3, 5 << 20), "a: Laying out IO files (3 files / total 5MiB)\n");
    }
}
