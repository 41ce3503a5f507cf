//! Did others use the disks during the run?

use super::prelude::*;
use super::traffic::{self, Traffic};
use crate::layers::{BesideOthers, OtherUse, beside_others, other_use};
use record::{Neighbour, OtherRequests};

const MIB: f64 = 1_048_576.0;
/// Share of the disks' traffic, and bytes a second, from which it is a note …
const NOTE: (f64, f64) = (0.02, MIB);
/// … and from which it is a warning.
const WARNING: (f64, f64) = (0.05, 4.0 * MIB);
/// Fewest foreign bytes: any system moves less than this now and then, also in a short run.
const BYTES_MIN: u64 = 1 << 20;
/// Fewer I/Os that met others may have been slow by chance.
const MET_MIN: u64 = 30;
/// Neighbours named.
const NAMED: usize = 3;
/// Threads of the kernel, which work for others: for us as well, below a loop device.
const KERNEL: [&str; 6] = ["kworker/", "jbd2/", "loop", "kswapd", "xfsaild/", "btrfs-"];

pub(super) const CHECK: Check = Check {
    id: "noisy-neighbour",
    question: "Did others use the disks during the run?",
    evidence: "bytes the lowest disks moved (/sys/block/*/stat), compared with the bytes this process caused (/proc/self/io) and with data that was dirty before the run; I/O of other processes (/proc/*/io); where the layers of I/Os are timed, the time in the device of those that found requests of other processes there",
    threshold: "warning when others moved at least 5 % of the bytes and 4 MiB/s, or made the job's I/Os take 5 % longer in the device; note from 2 % and 1 MiB/s, or 2 %; with caches or layers in between only if a process is found that did it",
    reason: "a disk shares its throughput among all users, and the job's requests queue behind those of others. Every system writes journals and logs below these thresholds",
    cause: "another process, or another machine on the same disk, used it during the run",
    remedy: || {
        "stop it and run again, or repeat the run and read the figure as that of a shared disk"
            .into()
    },
    proof: Proof::real(
        "checks/machine.rs::another_process_on_the_disk_is_named",
        "checks/machine.rs::a_disk_of_ones_own_has_no_neighbour",
    ),
    function: CheckFunction::Run(check),
};

fn check(case: &Case) -> Vec<Finding> {
    let by_bytes = traffic::traffic(case).and_then(|traffic| check_traffic(case, &traffic));
    let timed = DelayByOthers::worst(case);
    let found = match (by_bytes, timed) {
        (Some(found), Some(delay)) => {
            let figures = [found.figures.clone(), delay.figures()].concat();
            Some(found.figures(figures))
        }
        (None, Some(delay)) => delay.finding(),
        (found, None) => found,
    };
    found.into_iter().collect()
}

/// What requests of others cost the I/Os of a job in a device, as the kernel timed each of them
/// (`--layers`).
struct DelayByOthers {
    device: String,
    beside: BesideOthers,
    /// Share of the job's time in the device that it would not have taken without them.
    excess: f64,
    /// The others, the busiest first.
    others: Vec<OtherUse>,
}

impl DelayByOthers {
    /// Of the device and direction in which it is largest; `None` if no process was seen there.
    fn worst(case: &Case) -> Option<DelayByOthers> {
        if case.record.evidence.ranks_beside.is_some() {
            return None;
        }
        let layers = case.record.evidence.layers.as_ref()?;
        let delays = layers.paths.iter().filter_map(|path| {
            let beside = beside_others(path).filter(|beside| beside.ios >= MET_MIN)?;
            let is_process = |other: &&OtherRequests| {
                other.device == path.device_name && !other.own && other.pid > 0
            };
            let others = layers.others.iter().filter(is_process);
            let others: Vec<OtherUse> = others.map(|other| other_use(layers, other)).collect();
            let saved = match beside.otherwise_ns {
                Some(rest) => (1.0 - rest / beside.mean_ns.max(1.0)).max(0.0),
                // Without an I/O that met none, their share of the device's time has to do.
                None => others.iter().map(|other| other.device_share).sum(),
            };
            let excess = beside.time_share * saved;
            let device = path.device_name.clone();
            (!others.is_empty()).then_some(DelayByOthers { device, beside, excess, others })
        });
        delays.max_by(|a, b| a.excess.total_cmp(&b.excess))
    }

    fn figures(&self) -> Vec<Figure> {
        vec![
            Figure::new(
                "job's time in the device beside others",
                self.beside.time_share * 100.0,
                "percent",
            ),
            Figure::new("of it lost to them", self.excess * 100.0, "percent"),
        ]
    }

    fn finding(&self) -> Option<Finding> {
        let severity = match self.excess {
            excess if excess >= WARNING.0 => Severity::Warning,
            excess if excess >= NOTE.0 => Severity::Note,
            _ => return None,
        };
        let busiest = || self.others.iter().take(NAMED);
        let named: Vec<String> = busiest()
            .map(|other| {
                let OtherRequests { name, pid, cgroup, .. } = &other.requests;
                let group = cgroup.as_deref().filter(|path| *path != "/");
                let group = group.map_or(String::new(), |path| format!(", control group {path}"));
                format!(
                    "{name} (process {pid}{group}: {} of the device's time)",
                    percent(other.device_share)
                )
            })
            .collect();
        let names: Vec<&str> = busiest().map(|other| other.requests.name.as_str()).collect();
        let text =
            format!("others delayed the job's I/Os on {}: {}", self.device, self.beside.clause());
        let found = CHECK.finding(severity, Vec::new(), text).figures(self.figures());
        let cause = format!("the busiest processes were {}", list(&named));
        let remedy: Remedy = format!("stop {} and run again", list(&names)).into();
        Some(found.cause(cause).remedy(remedy))
    }
}

fn check_traffic(case: &Case, traffic: &Traffic) -> Option<Finding> {
    let neighbours = processes(case);
    // Bytes of these processes are certainly foreign, up to the bytes that the jobs did not request.
    let on_disks = |moved: fn(&Neighbour) -> u64| -> u64 {
        neighbours.iter().filter(|other| other.same_storage).map(|other| moved(other)).sum()
    };
    let read = on_disks(|other| other.read.0).min(traffic.unasked_read);
    let written = on_disks(|other| other.written.0).min(traffic.unasked_written);
    let (read, written) = (read.max(traffic.foreign_read), written.max(traffic.foreign_written));
    let foreign = read + written;
    let (share, rate) = (traffic.share(foreign), traffic.rate(foreign));
    if share < NOTE.0 || rate < NOTE.1 || foreign < BYTES_MIN {
        return None;
    }
    let seen: u64 = neighbours.iter().map(|n| n.read.0 + n.written.0).sum();
    if !traffic.plain && seen * 2 < foreign {
        return None;
    }
    let grave = share >= WARNING.0 && rate >= WARNING.1;
    let severity = if grave { Severity::Warning } else { Severity::Note };
    let text = format!(
        "others moved {} of the {} that {} moved during the run: they read {} and wrote {}, {}/s",
        percent(share),
        size((traffic.read + traffic.written) as f64),
        list(&traffic.disks),
        size(read as f64),
        size(written as f64),
        size(rate),
    );
    let figures = vec![
        Figure::new("bytes others read", read as f64, "bytes"),
        Figure::new("bytes others wrote", written as f64, "bytes"),
        Figure::new("share of the disks' traffic", share * 100.0, "percent"),
    ];
    let (cause, remedy) = reason(case, &neighbours);
    Some(CHECK.finding(severity, Vec::new(), text).figures(figures).cause(cause).remedy(remedy))
}

/// Other processes with traffic, without threads of the kernel.
pub(crate) fn processes<'a>(case: &Case<'a>) -> Vec<&'a Neighbour> {
    let is_process = |other: &&Neighbour| !KERNEL.iter().any(|name| other.name.starts_with(name));
    case.record.evidence.neighbours.iter().filter(is_process).collect()
}

fn reason(case: &Case, neighbours: &[&Neighbour]) -> (Sentence, Remedy) {
    let named: Vec<String> =
        neighbours.iter().take(NAMED).map(|neighbour| named(neighbour)).collect();
    if !named.is_empty() {
        let names: Vec<&str> =
            neighbours.iter().take(NAMED).map(|neighbour| neighbour.name.as_str()).collect();
        return (
            format!("the busiest processes were {}", list(&named)).into(),
            format!("stop {} and run again", list(&names)).into(),
        );
    }
    let unseen = match case.record.facts.environment.is_root {
        true => {
            "no process that still runs did it: it was a process that ended, the kernel, or another machine on the same disk"
        }
        false => "only root can see which process it was",
    };
    (unseen.into(), (CHECK.remedy)())
}

fn named(neighbour: &Neighbour) -> String {
    let moved = match (neighbour.read.0 as f64, neighbour.written.0 as f64) {
        (read, 0.0) => format!("read {}", size(read)),
        (0.0, written) => format!("wrote {}", size(written)),
        (read, written) => format!("read {}, wrote {}", size(read), size(written)),
    };
    format!("{} (process {}: {moved})", neighbour.name, neighbour.pid)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{at_each, findings, job, record, the_finding};
    use super::*;
    use record::{Bytes, Direction, LayerPath, LayerTimes, Layers, Nanos, RanksBeside, RunRecord};

    /// A run of 10 s at 4 MB/s, with others reading and writing so many bytes a second.
    fn shared(direction: Direction, read: f64, written: f64) -> RunRecord {
        let mut record = record(vec![job("job", direction, 10)]);
        at_each(&mut record, |at, sample| {
            let disk = sample.disks.get_mut("sda").unwrap();
            disk.read_bytes += (read * at) as u64;
            disk.write_bytes += (written * at) as u64;
        });
        record
    }

    #[test]
    fn what_others_move_is_told_with_their_names() {
        let mut record = shared(Direction::Read, 0.0, 50e6);
        record.evidence.neighbours.push(Neighbour {
            pid: 4711,
            name: "dd".into(),
            read: Bytes(0),
            written: Bytes(500_000_000),
            same_storage: true,
        });
        let found = the_finding(&record, CHECK.id);
        assert_eq!(found.severity, Severity::Warning);
        assert!(found.text.contains("92 % of the"), "{}", found.text);
        assert!(found.cause.contains("dd (process 4711: wrote 477 MiB)"), "{}", found.cause);
        assert_eq!(found.remedy.to_string(), "stop dd and run again");
    }

    #[test]
    fn a_little_is_a_note_and_less_is_nothing() {
        let found = the_finding(&shared(Direction::Read, 2e6, 0.0), CHECK.id);
        assert_eq!(found.severity, Severity::Note);
        assert!(findings(&shared(Direction::Read, 5e5, 0.0), CHECK.id).is_empty());
    }

    #[test]
    fn the_price_of_our_own_writes_is_not_a_neighbour() {
        let mut record = shared(Direction::Write, 0.0, 4e6);
        assert_eq!(findings(&record, CHECK.id).len(), 1, "without a synchronisation");
        record.jobs[0].sync.count = 10_000;
        assert!(findings(&record, CHECK.id).is_empty());
    }

    #[test]
    fn other_ranks_of_the_measurement_are_no_neighbours() {
        let mut record = shared(Direction::Read, 50e6, 0.0);
        let beside = RanksBeside { ranks: 3, read: Bytes(500_000_000), ..RanksBeside::default() };
        record.evidence.ranks_beside = Some(beside);
        assert!(findings(&record, CHECK.id).is_empty());
    }

    #[test]
    fn others_that_delay_the_jobs_ios_are_told_however_little_they_move() {
        let mut record = shared(Direction::Read, 0.0, 0.0);
        let other = |pid, own| OtherRequests {
            name: "postgres".into(),
            pid,
            own,
            cgroup: Some("/db".into()),
            device: "sda".into(),
            device_time: Nanos(100_000),
            ..OtherRequests::default()
        };
        let device = LayerTimes { sum: Nanos(900_000), ..LayerTimes::default() };
        let path = LayerPath {
            device_name: "sda".into(),
            direction: Some(Direction::Read),
            ios: 800,
            beside: 100,
            beside_time: Nanos(200_000),
            device,
            ..LayerPath::default()
        };
        let layers = |others| Layers { paths: vec![path.clone()], others, ..Layers::default() };
        record.evidence.layers = Some(layers(vec![other(0, false), other(7, true)]));
        assert!(findings(&record, CHECK.id).is_empty(), "the kernel and we are no processes");
        record.evidence.layers = Some(layers(vec![other(4711, false)]));
        let found = the_finding(&record, CHECK.id);
        assert_eq!(found.severity, Severity::Warning);
        assert!(found.text.contains("took 2 µs in it, the rest 1 µs"), "{}", found.text);
        assert!(
            found.cause.contains("postgres (process 4711, control group /db: 10 %"),
            "{}",
            found.cause
        );
    }

    #[test]
    fn behind_a_cache_only_a_process_that_did_it_counts() {
        let mut record = shared(Direction::Read, 50e6, 0.0);
        record.jobs[0].workload.direct = false;
        assert!(findings(&record, CHECK.id).is_empty());
        record
            .evidence
            .neighbours
            .push(Neighbour { read: Bytes(450_000_000), ..Neighbour::default() });
        assert_eq!(findings(&record, CHECK.id).len(), 1);
    }
}
