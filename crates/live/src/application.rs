//! What an application has in flight, from two samples.

use record::{ApplicationSample, GroupIo, Wait, WaitCount, human};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Share of the looks that a depth covers.
const MOST_LOOKS: f64 = 0.95;
/// Sizes that are named.
const SIZES_MAX: usize = 4;
const MIB: f64 = (1 << 20) as f64;

/// What an application did and had in flight between two samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ApplicationRates {
    /// Its processes and their threads at the later sample.
    pub processes: u32,
    /// See above.
    pub threads: u32,
    /// Looks at its threads and rings.
    pub looks: u64,
    /// Mean number of I/Os in flight.
    pub in_flight: f64,
    /// At most so many in 95 % of the looks.
    pub in_flight_p95: u32,
    /// At most so many in any look.
    pub in_flight_most: u32,
    /// Share of the I/Os in flight that rings of io_uring held, in percent.
    pub in_rings_percent: f64,
    /// What waiting threads waited for: the sum over looks of each kind and size, the most frequent
    /// first.
    pub waits: Vec<WaitCount>,
    /// Bytes a second fetched from storage.
    pub read_bytes_per_second: f64,
    /// Bytes a second sent to storage, or made dirty.
    pub write_bytes_per_second: f64,
    /// Read calls a second, also of pipes and sockets.
    pub read_calls_per_second: f64,
    /// Write calls a second, also to pipes and sockets.
    pub write_calls_per_second: f64,
    /// I/Os of its control group by device.
    pub group: BTreeMap<String, GroupRates>,
    /// What cannot be seen, and why.
    pub unseen: Vec<String>,
}

/// I/Os of a control group on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupRates {
    /// Reads a second.
    pub reads_per_second: f64,
    /// Mean bytes of a read; `None` without any.
    pub read_bytes: Option<f64>,
    /// Writes a second.
    pub writes_per_second: f64,
    /// Mean bytes of a write; `None` without any.
    pub write_bytes: Option<f64>,
}

impl ApplicationRates {
    /// What was done between two samples that are `seconds` apart.
    pub fn between(
        earlier: &ApplicationSample,
        later: &ApplicationSample,
        seconds: f64,
    ) -> ApplicationRates {
        let per_second = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
        let seen = later.in_flight.iter().map(|(depth, looks)| {
            (*depth, looks - earlier.in_flight.get(depth).copied().unwrap_or(0).min(*looks))
        });
        let depths: Vec<(u32, u64)> = seen.filter(|(_, looks)| *looks > 0).collect();
        let looks: u64 = depths.iter().map(|(_, looks)| looks).sum();
        let sum: u64 = depths.iter().map(|(depth, looks)| u64::from(*depth) * looks).sum();
        let in_rings = later.in_rings.saturating_sub(earlier.in_rings);
        let percent =
            |part: u64, all: u64| if all > 0 { part as f64 * 100.0 / all as f64 } else { 0.0 };
        let group = later.group.iter().map(|(name, now)| {
            let before = earlier.group.get(name).copied().unwrap_or_default();
            (name.clone(), GroupRates::between(&before, now, seconds))
        });
        ApplicationRates {
            processes: later.processes,
            threads: later.threads,
            looks,
            in_flight: if looks > 0 { sum as f64 / looks as f64 } else { 0.0 },
            in_flight_p95: covering(&depths, looks),
            in_flight_most: depths.last().map_or(0, |(depth, _)| *depth),
            in_rings_percent: percent(in_rings, sum),
            waits: waits(&earlier.waits, &later.waits),
            read_bytes_per_second: per_second(later.io.read_bytes, earlier.io.read_bytes),
            write_bytes_per_second: per_second(later.io.write_bytes, earlier.io.write_bytes),
            read_calls_per_second: per_second(later.io.read_calls, earlier.io.read_calls),
            write_calls_per_second: per_second(later.io.write_calls, earlier.io.write_calls),
            group: group.collect(),
            unseen: later.unseen.clone(),
        }
    }

    /// Share of the waiting threads that waited for this, in percent.
    fn percent_of(&self, what: Wait) -> f64 {
        let found = |is_it: &dyn Fn(Wait) -> bool| -> u64 {
            self.waits.iter().filter(|wait| is_it(wait.what)).map(|wait| wait.found).sum()
        };
        match found(&|_| true) {
            0 => 0.0,
            all => found(&|wait| wait == what) as f64 * 100.0 / all as f64,
        }
    }

    /// The figures in flight, each behind its name.
    pub(crate) fn figures(&self) -> String {
        let mut text = format!(
            "in_flight {:.2} p95 {} most {} rings% {:.0} read% {:.0} write% {:.0} sync% {:.0} other% \
             {:.0} read_MiB/s {:.2} write_MiB/s {:.2} read_calls/s {:.1} write_calls/s {:.1} \
             processes {} threads {}",
            self.in_flight,
            self.in_flight_p95,
            self.in_flight_most,
            self.in_rings_percent,
            self.percent_of(Wait::Read),
            self.percent_of(Wait::Write),
            self.percent_of(Wait::Sync),
            self.percent_of(Wait::Other),
            self.read_bytes_per_second / MIB,
            self.write_bytes_per_second / MIB,
            self.read_calls_per_second,
            self.write_calls_per_second,
            self.processes,
            self.threads,
        );
        let sizes = self.sizes();
        if !sizes.is_empty() {
            text += &format!(" sizes {sizes}");
        }
        text
    }

    /// The figures of a screen, the most important first.
    pub(crate) fn named_figures(&self) -> [(&'static str, String); 7] {
        let percent = |what: Wait| format!("{:.0} %", self.percent_of(what));
        [
            ("in flight", format!("{:.1}", self.in_flight)),
            ("95 %", format!("<= {}", self.in_flight_p95)),
            ("read", human::rate(self.read_bytes_per_second)),
            ("written", human::rate(self.write_bytes_per_second)),
            ("waits in reads", percent(Wait::Read)),
            ("writes", percent(Wait::Write)),
            ("syncs", percent(Wait::Sync)),
        ]
    }

    /// "read:16384=82% write:8192=11%": the most frequent sizes of the calls that threads waited in.
    fn sizes(&self) -> String {
        let sized: Vec<(&WaitCount, u64)> =
            self.waits.iter().filter_map(|wait| Some((wait, wait.bytes?))).collect();
        let all: u64 = sized.iter().map(|(wait, _)| wait.found).sum();
        let shown = sized.iter().take(SIZES_MAX).map(|(wait, bytes)| {
            format!(
                "{}:{bytes}={:.0}%",
                name(wait.what),
                wait.found as f64 * 100.0 / all.max(1) as f64
            )
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    /// I/Os of the control group on each device, each figure behind its name.
    pub(crate) fn group_figures(&self) -> Vec<(&str, String)> {
        let bytes = |mean: Option<f64>| mean.map_or("-".to_owned(), |mean| format!("{mean:.0}"));
        let line = |group: &GroupRates| {
            format!(
                "r/s {:.1} r_bytes {} w/s {:.1} w_bytes {}",
                group.reads_per_second,
                bytes(group.read_bytes),
                group.writes_per_second,
                bytes(group.write_bytes)
            )
        };
        self.group.iter().map(|(name, group)| (name.as_str(), line(group))).collect()
    }
}

impl GroupRates {
    fn between(before: &GroupIo, now: &GroupIo, seconds: f64) -> GroupRates {
        let since = |now: u64, before: u64| now.saturating_sub(before) as f64;
        let mean = |bytes: f64, ios: f64| (ios > 0.0).then(|| bytes / ios);
        let reads = since(now.read_ios, before.read_ios);
        let writes = since(now.write_ios, before.write_ios);
        GroupRates {
            reads_per_second: reads / seconds,
            read_bytes: mean(since(now.read_bytes, before.read_bytes), reads),
            writes_per_second: writes / seconds,
            write_bytes: mean(since(now.write_bytes, before.write_bytes), writes),
        }
    }
}

/// The least depth that covers [`MOST_LOOKS`].
fn covering(depths: &[(u32, u64)], looks: u64) -> u32 {
    let mut seen = 0;
    let covers = |(_, found): &&(u32, u64)| {
        seen += found;
        seen as f64 >= looks as f64 * MOST_LOOKS
    };
    depths.iter().find(covers).map_or(0, |(depth, _)| *depth)
}

fn waits(earlier: &[WaitCount], later: &[WaitCount]) -> Vec<WaitCount> {
    let before = |wait: &WaitCount| {
        let same = |old: &&WaitCount| (old.what, old.bytes) == (wait.what, wait.bytes);
        earlier.iter().find(same).map_or(0, |old| old.found)
    };
    let since = |wait: &WaitCount| WaitCount {
        found: wait.found.saturating_sub(before(wait)),
        ..wait.clone()
    };
    let mut all: Vec<WaitCount> = later.iter().map(since).filter(|wait| wait.found > 0).collect();
    all.sort_by_key(|wait| std::cmp::Reverse(wait.found));
    all
}

fn name(what: Wait) -> &'static str {
    match what {
        Wait::Read => "read",
        Wait::Write => "write",
        Wait::Sync => "sync",
        Wait::Other => "other",
    }
}

/// What the whole watch showed, and the options of a job with that depth, as lines.
pub fn summary(sample: &ApplicationSample, seconds: f64) -> String {
    let all = ApplicationRates::between(&ApplicationSample::default(), sample, seconds.max(1e-9));
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "# in flight over {}: {:.2} on average, at most {} in 95 % of {} looks, at most {} in any",
        human::duration(seconds),
        all.in_flight,
        all.in_flight_p95,
        all.looks,
        all.in_flight_most
    );
    let depth = all.in_flight_p95.max(1);
    let _ = match all.in_rings_percent {
        rings if rings >= 50.0 => writeln!(
            out,
            "# a job with that depth: --ioengine=io_uring --iodepth={depth}{}",
            job_options(&all)
        ),
        _ => writeln!(
            out,
            "# a job with that depth: --ioengine=psync --numjobs={depth}{}",
            job_options(&all)
        ),
    };
    for unseen in &all.unseen {
        let _ = writeln!(out, "# not seen: {unseen}");
    }
    out + "# not known without tracing: the order of offsets, which file, and I/Os that begin and end between \
           two looks; a thread that waits for a lock in the kernel counts as one that waits for storage\n"
}

/// Sizes and mix of a job, as far as calls showed them.
fn job_options(all: &ApplicationRates) -> String {
    let sizes = |what: Wait| -> Vec<(u64, u64)> {
        let own = all.waits.iter().filter(|wait| wait.what == what);
        own.filter_map(|wait| Some((wait.bytes?, wait.found))).take(SIZES_MAX).collect()
    };
    let split = |sizes: &[(u64, u64)]| {
        let sum: u64 = sizes.iter().map(|(_, found)| found).sum();
        let part = |(bytes, found): &(u64, u64)| {
            format!("{bytes}/{:.0}", *found as f64 * 100.0 / sum.max(1) as f64)
        };
        sizes.iter().map(part).collect::<Vec<_>>().join(":")
    };
    let (reads, writes) = (sizes(Wait::Read), sizes(Wait::Write));
    let mut text = String::new();
    match (&reads[..], &writes[..]) {
        ([], []) => {}
        ([(bytes, _)], []) | ([], [(bytes, _)]) => text += &format!(" --bs={bytes}"),
        _ => text += &format!(" --bssplit={},{}", split(&reads), split(&writes)),
    }
    let moved = all.read_bytes_per_second + all.write_bytes_per_second;
    if moved > 0.0 {
        text += &format!(" --rwmixread={:.0}", all.read_bytes_per_second * 100.0 / moved);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::ApplicationIo;

    fn sample(scale: u64) -> ApplicationSample {
        let wait = |what, bytes, found| WaitCount { what, bytes, found };
        ApplicationSample {
            processes: 2,
            threads: 9,
            looks: 100 * scale,
            in_flight: BTreeMap::from([(1, 60 * scale), (4, 38 * scale), (9, 2 * scale)]),
            in_rings: 0,
            waits: vec![
                wait(Wait::Read, Some(8192), 20 * scale),
                wait(Wait::Read, Some(16384), 60 * scale),
                wait(Wait::Write, Some(8192), 10 * scale),
                wait(Wait::Sync, None, 10 * scale),
            ],
            io: ApplicationIo {
                read_bytes: 3 << 20,
                write_bytes: 1 << 20,
                read_calls: 30,
                write_calls: 5,
            },
            group: BTreeMap::from([(
                "sda".to_owned(),
                GroupIo {
                    read_ios: 100 * scale,
                    read_bytes: 1_638_400 * scale,
                    ..GroupIo::default()
                },
            )]),
            unseen: Vec::new(),
        }
    }

    #[test]
    fn an_interval_counts_only_its_own_looks() {
        let rates = ApplicationRates::between(&sample(1), &sample(3), 2.0);
        assert_eq!((rates.looks, rates.in_flight_p95, rates.in_flight_most), (200, 4, 9));
        assert!((rates.in_flight - (60.0 + 4.0 * 38.0 + 18.0) / 100.0).abs() < 1e-9);
        assert_eq!((rates.waits[0].bytes, rates.waits[0].found), (Some(16384), 120));
        assert_eq!(rates.group["sda"].reads_per_second, 100.0);
        assert_eq!(
            (rates.group["sda"].read_bytes, rates.group["sda"].write_bytes),
            (Some(16384.0), None)
        );
        let text = rates.figures();
        for part in [
            "in_flight 2.30 p95 4 most 9",
            "read% 80 write% 10 sync% 10 other% 0",
            "sizes read:16384=67%",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let idle = ApplicationRates::between(&sample(1), &sample(1), 1.0);
        assert_eq!((idle.looks, idle.in_flight, idle.in_flight_p95), (0, 0.0, 0));
    }

    #[test]
    fn the_summary_gives_a_job_of_that_depth() {
        let text = summary(&sample(1), 10.0);
        assert!(
            text.contains("2.30 on average, at most 4 in 95 % of 100 looks, at most 9"),
            "{text}"
        );
        let job =
            "--ioengine=psync --numjobs=4 --bssplit=16384/75:8192/25,8192/100 --rwmixread=75\n";
        assert!(text.contains(job), "{text}");
        let rings = ApplicationSample { in_rings: 200, waits: Vec::new(), ..sample(1) };
        let text = summary(&ApplicationSample { unseen: vec!["x".into()], ..rings }, 10.0);
        assert!(text.contains("--ioengine=io_uring --iodepth=4 --rwmixread=75\n"), "{text}");
        assert!(
            text.contains("# not seen: x\n") && text.contains("not known without tracing"),
            "{text}"
        );
        assert!(text.lines().all(|line| line.starts_with("# ")), "{text}");
    }
}
