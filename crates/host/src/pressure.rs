//! Paging and pressure stall information.

use crate::Host;
use record::{PagingSample, PressureSample};

/// The unit of pgpgin and pgpgout.
const KIB: u64 = 1024;

impl Host {
    /// Paging counters; `None` if the kernel has none.
    pub(crate) fn paging(&self) -> Option<PagingSample> {
        let page = rustix::param::page_size() as u64;
        parse_paging(&self.text("/proc/vmstat")?, page)
    }

    /// Stall times; `None` in kernels without pressure stall information or if it is disabled.
    pub(crate) fn pressure(&self) -> Option<PressureSample> {
        let pressure = |resource: &str| self.text(format!("/proc/pressure/{resource}"));
        let (cpu, io, memory) = (pressure("cpu")?, pressure("io")?, pressure("memory")?);
        let total = |text: &str, kind: &str| total_us(text, kind).unwrap_or(0);
        Some(PressureSample {
            cpu_some_us: total(&cpu, "some"),
            io_some_us: total(&io, "some"),
            io_full_us: total(&io, "full"),
            memory_some_us: total(&memory, "some"),
            memory_full_us: total(&memory, "full"),
        })
    }
}

fn parse_paging(text: &str, page: u64) -> Option<PagingSample> {
    let mut sample = PagingSample::default();
    let mut known = false;
    for (name, value) in text.lines().filter_map(|line| line.split_once(' ')) {
        let Ok(value) = value.trim().parse::<u64>() else { continue };
        let (field, unit) = match name {
            "pgpgin" => (&mut sample.in_bytes, KIB),
            "pgpgout" => (&mut sample.out_bytes, KIB),
            // One counter for files and anonymous memory before 5.9.
            "workingset_refault_file" | "workingset_refault" => (&mut sample.refault_bytes, page),
            "pswpin" => (&mut sample.swap_in_bytes, page),
            "pswpout" => (&mut sample.swap_out_bytes, page),
            "pgmajfault" => (&mut sample.major_faults, 1),
            _ => continue,
        };
        *field = value.saturating_mul(unit);
        known = true;
    }
    known.then_some(sample)
}

/// "some avg10=0.94 avg60=0.90 avg300=1.74 total=4092044373".
fn total_us(text: &str, kind: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.split(' ').next() == Some(kind))?;
    line.split_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paging_is_in_bytes_whatever_the_kernel_counts_in() {
        let text = "nr_free_pages 5\npgpgin 10\npgpgout 20\npswpin 1\npswpout 2\npgmajfault 7\n\
                    workingset_refault_anon 9\nworkingset_refault_file 3\n";
        let sample = parse_paging(text, 4096).unwrap();
        assert_eq!((sample.in_bytes, sample.out_bytes), (10 << 10, 20 << 10));
        assert_eq!((sample.swap_in_bytes, sample.swap_out_bytes), (4096, 8192));
        assert_eq!((sample.refault_bytes, sample.major_faults), (3 * 4096, 7));
        assert_eq!(parse_paging("nr_free_pages 5\n", 4096), None);
    }

    #[test]
    fn pressure_is_the_total_of_each_kind() {
        let root = tempfile::tempdir().unwrap();
        let host = Host::at(root.path());
        assert_eq!(host.pressure(), None);
        let directory = root.path().join("proc/pressure");
        std::fs::create_dir_all(&directory).unwrap();
        let line = |kind: &str, total: u64| {
            format!("{kind} avg10=0.94 avg60=0.90 avg300=1.74 total={total}\n")
        };
        // Kernels before 5.13 have no "full" of the CPU.
        std::fs::write(directory.join("cpu"), line("some", 1)).unwrap();
        std::fs::write(directory.join("io"), line("some", 2) + &line("full", 3)).unwrap();
        std::fs::write(directory.join("memory"), line("some", 4) + &line("full", 5)).unwrap();
        let expected = PressureSample {
            cpu_some_us: 1,
            io_some_us: 2,
            io_full_us: 3,
            memory_some_us: 4,
            memory_full_us: 5,
        };
        assert_eq!(host.pressure(), Some(expected));
    }
}
