//! What a rank works on, so that only ranks with the same work are compared.

use record::{JobRecord, Workload};

/// Settings that may differ between ranks that do the same work: seeds, CPUs, places and amounts.
const OF_A_RANK: [&str; 5] =
    ["randseed", "cpus_allowed", "directory", "number_ios", "object_range"];

/// A digest of the names and workloads of some jobs. A number at the end of a name is no part of it: each rank
/// may have a job of its own (`task.7`).
pub fn work(jobs: &[&JobRecord]) -> u64 {
    let mut texts: Vec<String> = jobs.iter().map(|job| text(job)).collect();
    texts.sort_unstable();
    // FNV-1a. Ranks may run other builds, so it must not depend on the build.
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    texts.iter().flat_map(|text| text.bytes()).fold(0xcbf2_9ce4_8422_2325, step)
}

fn text(job: &JobRecord) -> String {
    let Workload {
        rw,
        block_size,
        ioengine,
        medium,
        iodepth,
        direct,
        region,
        rate,
        rate_iops,
        settings,
        // When it ends, and where it works.
        io_size: _,
        runtime: _,
        time_based: _,
        ramp: _,
        files: _,
        regions: _,
    } = &job.workload;
    let name = job.name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let settings: Vec<(&str, &str)> = settings
        .iter()
        .filter(|(name, _)| !OF_A_RANK.contains(&name.as_str()))
        .map(|(name, value)| (name.as_str(), without_list(value)))
        .collect();
    format!(
        "{name:?} {rw} {block_size:?} {ioengine} {medium:?} {iodepth} {direct} {region:?} {rate:?} {rate_iops:?} \
         {settings:?};"
    )
}

/// The order of a list of blocks is that of a rank.
fn without_list(value: &str) -> &str {
    if value.starts_with("sequence:") { "sequence" } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Bytes, Direction, PerDirection};

    fn job(name: &str, change: impl FnOnce(&mut Workload)) -> JobRecord {
        let mut workload = Workload { rw: "write".into(), iodepth: 4, ..Workload::default() };
        change(&mut workload);
        JobRecord { name: name.into(), workload, ..JobRecord::default() }
    }

    #[test]
    fn the_work_of_ranks_is_the_same_but_for_where_and_how_much() {
        let of = |name: &str, change: fn(&mut Workload)| work(&[&job(name, change)]);
        let plain = of("task.0", |_| {});
        let alike: [fn(&mut Workload); 3] = [
            |w| w.files = vec!["data.7".into()],
            |w| w.io_size = Some(Bytes(9)),
            |w| drop(w.settings.insert("randseed".into(), "7".into())),
        ];
        for change in alike {
            assert_eq!(of("task.17", change), plain);
        }
        let others: [fn(&mut Workload); 5] = [
            |w| w.rw = "read".into(),
            |w| w.rate_iops = PerDirection::all(Some(7)),
            |w| w.block_size[Direction::Write] = (Bytes(4096), Bytes(4096)),
            |w| w.iodepth = 8,
            |w| drop(w.settings.insert("fsync".into(), "1".into())),
        ];
        for change in others {
            assert_ne!(of("task.0", change), plain);
        }
        assert_ne!(of("writer", |_| {}), of("reader", |_| {}));
        let (one, two) = (job("a", |_| {}), job("b", |w| w.rw = "read".into()));
        assert_eq!(work(&[&one, &two]), work(&[&two, &one]));
        assert_ne!(work(&[&one, &one]), work(&[&one]), "twice as many workers");
    }
}
