//! Counters of the network: interfaces, TCP, NFS.

use crate::Host;
use record::{Bytes, InterfaceUse, Nanos, NetworkUse, NfsUse};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Instant;

/// Interfaces with fewer bytes than this are left out.
const BYTES_MIN: u64 = 64 << 10;
/// The calls of NFS that move data.
const DATA_CALLS: [&str; 3] = ["READ", "WRITE", "COMMIT"];

/// The counters before a run.
#[derive(Clone, Debug)]
pub(super) struct NetworkBefore {
    at: Instant,
    counters: NetworkUse,
}

impl Host {
    /// The counters now.
    pub(super) fn network_before(&self) -> NetworkBefore {
        NetworkBefore { at: Instant::now(), counters: self.network() }
    }

    /// What the network did since.
    pub(super) fn network_after(&self, before: &NetworkBefore) -> NetworkUse {
        let window = Nanos(u64::try_from(before.at.elapsed().as_nanos()).unwrap_or(u64::MAX));
        let mut used = since(&before.counters, self.network());
        used.window = window;
        for interface in &mut used.interfaces {
            interface.speed = self.link_speed(&interface.name);
        }
        used
    }

    /// All counters since boot or mount.
    fn network(&self) -> NetworkUse {
        let interfaces = self.text("/proc/net/dev").unwrap_or_default();
        let tcp = self.text("/proc/net/snmp").unwrap_or_default();
        let mounts = self.text("/proc/self/mountstats").unwrap_or_default();
        let (segments, segments_again) = segments(&tcp).unwrap_or_default();
        NetworkUse {
            window: Nanos::default(),
            interfaces: interfaces.lines().filter_map(interface).collect(),
            segments,
            segments_again,
            nfs: nfs(&mounts),
        }
    }

    /// Bytes a second. The kernel has megabits, and -1 or an error where there is no link.
    fn link_speed(&self, name: &str) -> Option<Bytes> {
        let text = self.text(format!("/sys/class/net/{name}/speed"))?;
        let megabits: u64 = text.trim().parse().ok().filter(|speed| *speed > 0)?;
        Some(Bytes(megabits * 1_000_000 / 8))
    }
}

/// A line of /proc/net/dev (proc_pid_net(5)): bytes, packets, errors and drops received, four others; the
/// same sent.
fn interface(line: &str) -> Option<InterfaceUse> {
    let (name, rest) = line.split_once(':')?;
    let numbers: Option<Vec<u64>> = rest.split_whitespace().map(|word| word.parse().ok()).collect();
    let numbers = numbers.filter(|numbers| numbers.len() >= 12 && name.trim() != "lo")?;
    Some(InterfaceUse {
        name: name.trim().to_owned(),
        speed: None,
        received: Bytes(numbers[0]),
        sent: Bytes(numbers[8]),
        lost: numbers[2] + numbers[3] + numbers[10] + numbers[11],
    })
}

/// `OutSegs` (without repeated ones) and `RetransSegs` of /proc/net/snmp (RFC 4022), as (all, repeated).
fn segments(text: &str) -> Option<(u64, u64)> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp:"));
    let names: Vec<&str> = lines.next()?.split_whitespace().collect();
    let values: Vec<&str> = lines.next()?.split_whitespace().collect();
    let value = |name: &str| -> Option<u64> {
        let at = names.iter().position(|known| *known == name)?;
        values.get(at)?.parse().ok()
    };
    let (sent, again) = (value("OutSegs")?, value("RetransSegs")?);
    Some((sent + again, again))
}

/// The NFS mounts of /proc/self/mountstats. Each operation has: calls, transmissions, timeouts, bytes
/// sent, bytes received, milliseconds queued, until the answer, and in all.
fn nfs(text: &str) -> Vec<NfsUse> {
    let mut mounts: Vec<NfsUse> = Vec::new();
    let mut is_nfs = false;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("device ") {
            let words: Vec<&str> = rest.split_whitespace().collect();
            is_nfs = matches!(words.get(6), Some(&("nfs" | "nfs4")));
            if let (true, [source, "mounted", "on", mount_point, ..]) = (is_nfs, &words[..]) {
                mounts.push(NfsUse {
                    mount_point: (*mount_point).to_owned(),
                    source: (*source).to_owned(),
                    ..NfsUse::default()
                });
            }
            continue;
        }
        let (Some(mount), Some((name, rest))) = (mounts.last_mut(), line.trim().split_once(':'))
        else {
            continue;
        };
        let numbers: Vec<u64> =
            rest.split_whitespace().map_while(|word| word.parse().ok()).collect();
        if is_nfs && DATA_CALLS.contains(&name) && numbers.len() >= 8 {
            mount.calls += numbers[0];
            mount.again += numbers[1].saturating_sub(numbers[0]);
            mount.queued += Nanos::from_millis(numbers[5]);
            mount.answered += Nanos::from_millis(numbers[6]);
        }
    }
    mounts
}

fn since(before: &NetworkUse, after: NetworkUse) -> NetworkUse {
    let interfaces: BTreeMap<&str, &InterfaceUse> =
        before.interfaces.iter().map(|interface| (interface.name.as_str(), interface)).collect();
    let moved = |mut after: InterfaceUse| {
        if let Some(before) = interfaces.get(after.name.as_str()) {
            after.received = Bytes(after.received.0.saturating_sub(before.received.0));
            after.sent = Bytes(after.sent.0.saturating_sub(before.sent.0));
            after.lost = after.lost.saturating_sub(before.lost);
        }
        Some(after).filter(|used| used.received.0 + used.sent.0 >= BYTES_MIN)
    };
    let called = |mut after: NfsUse| {
        if let Some(before) = before.nfs.iter().find(|mount| mount.mount_point == after.mount_point)
        {
            after.calls = after.calls.saturating_sub(before.calls);
            after.again = after.again.saturating_sub(before.again);
            after.queued = Nanos(after.queued.0.saturating_sub(before.queued.0));
            after.answered = Nanos(after.answered.0.saturating_sub(before.answered.0));
        }
        Some(after).filter(|used| used.calls > 0)
    };
    let mut interfaces: Vec<InterfaceUse> =
        after.interfaces.into_iter().filter_map(moved).collect();
    interfaces.sort_by_key(|used| Reverse(used.received.0 + used.sent.0));
    NetworkUse {
        window: Nanos::default(),
        interfaces,
        segments: after.segments.saturating_sub(before.segments),
        segments_again: after.segments_again.saturating_sub(before.segments_again),
        nfs: after.nfs.into_iter().filter_map(called).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testbed::put;

    const DEV: &str = "Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 9000000     10    0    0    0     0          0         0  9000000      10    0    0    0     0       0          0
  eth0: RECEIVED   1000    1    2    0     0          0         0    70000     900    3    4    0     0       0          0
  eth1:     100      1    0    0    0     0          0         0      100       1    0    0    0     0       0          0
";
    const SNMP: &str = "Ip: Forwarding DefaultTTL\nIp: 1 64\n\
        Tcp: RtoAlgorithm OutSegs RetransSegs InErrs\nTcp: 1 OUT AGAIN 0\n";
    const MOUNTSTATS: &str = "device /dev/vda mounted on / with fstype ext4
device nas:/export mounted on /mnt/nas with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.2
\tper-op statistics
\t        NULL: 1 1 0 44 24 0 0 0 0
\t        READ: CALLS 1003 0 100 200 50 4000 4100 0
\t       WRITE: 10 10 0 100 200 5 60 70 0
\t     GETATTR: 500 500 0 100 200 9 90 99 0
";

    #[test]
    fn counters_are_read_and_subtracted() {
        let root = tempfile::tempdir().unwrap();
        let write = |received: &str, out: &str, again: &str, calls: &str| {
            put(root.path(), "proc/net/dev", DEV.replace("RECEIVED", received));
            put(root.path(), "proc/net/snmp", SNMP.replace("OUT", out).replace("AGAIN", again));
            put(root.path(), "proc/self/mountstats", MOUNTSTATS.replace("CALLS", calls));
        };
        put(root.path(), "sys/class/net/eth0/speed", "1000\n");
        let host = Host::at(root.path());
        write("1000", "100", "1", "1000");
        let all = host.network();
        assert_eq!((all.segments, all.segments_again), (101, 1));
        let mount = &all.nfs[0];
        assert_eq!((&*mount.mount_point, &*mount.source), ("/mnt/nas", "nas:/export"));
        assert_eq!((mount.calls, mount.again), (1010, 3));
        assert_eq!(
            (mount.queued, mount.answered),
            (Nanos::from_millis(55), Nanos::from_millis(4060))
        );
        let before = host.network_before();
        write("126000", "250", "7", "1002");
        let used = host.network_after(&before);
        assert_eq!((used.segments, used.segments_again, used.nfs[0].calls), (156, 6, 2));
        let [eth0] = &used.interfaces[..] else { panic!("{used:?}") };
        assert_eq!(
            (&*eth0.name, eth0.received, eth0.sent, eth0.lost),
            ("eth0", Bytes(125_000), Bytes(0), 0)
        );
        assert_eq!(eth0.load(Nanos::from_millis(1)), Some(1.0));
    }

    #[test]
    fn a_machine_without_network_has_no_use_of_it() {
        let host = Host::at(tempfile::tempdir().unwrap().path());
        let used = host.network_after(&host.network_before());
        assert_eq!(NetworkUse { window: Nanos::default(), ..used }, NetworkUse::default());
    }
}
