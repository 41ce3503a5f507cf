//! Processes of this machine that serve what a run asks for: who listens on the ports, and the CPU time
//! that they use meanwhile.

use crate::Host;
use record::{Nanos, ServerProcess};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// State of a listening socket in /proc/net/tcp.
const LISTENING: &str = "0A";

/// The CPU time of servers before a run.
#[derive(Clone, Debug)]
pub(super) struct ServersBefore {
    at: Instant,
    cpu_ms: BTreeMap<u32, u64>,
}

impl Host {
    /// The processes that listen on these ports, with their CPU time so far.
    pub(super) fn servers_before(&self, ports: &BTreeSet<u16>) -> ServersBefore {
        let listening = if ports.is_empty() { BTreeSet::new() } else { self.listeners(ports) };
        let cpu = |pid: u32| Some((pid, self.process_cpu_ms(pid)?));
        ServersBefore {
            at: Instant::now(),
            cpu_ms: listening.into_iter().filter_map(cpu).collect(),
        }
    }

    /// What they used since. A process that ended is left out.
    pub(super) fn servers_after(&self, before: &ServersBefore) -> Vec<ServerProcess> {
        let window = Nanos(u64::try_from(before.at.elapsed().as_nanos()).unwrap_or(u64::MAX));
        let cpu_use = |(pid, then): (&u32, &u64)| {
            let used = self.process_cpu_ms(*pid)?.saturating_sub(*then);
            let name = self.text(format!("/proc/{pid}/comm")).unwrap_or_default();
            Some(ServerProcess { pid: *pid, name, cpu: Nanos::from_millis(used), window })
        };
        before.cpu_ms.iter().filter_map(cpu_use).collect()
    }

    fn listeners(&self, ports: &BTreeSet<u16>) -> BTreeSet<u32> {
        let tables =
            ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| self.text(path).unwrap_or_default());
        let sockets = tables.iter().flat_map(|table| table.lines().skip(1));
        let inodes: BTreeSet<String> = sockets
            .filter_map(|line| listening_inode(line, ports))
            .map(|inode| format!("socket:[{inode}]"))
            .collect();
        if inodes.is_empty() {
            return BTreeSet::new();
        }
        let pids = self.names("/proc").into_iter().filter_map(|name| name.parse::<u32>().ok());
        pids.filter(|pid| {
            let open = self.names(format!("/proc/{pid}/fd"));
            open.iter().any(|fd| {
                let link = std::fs::read_link(self.real(format!("/proc/{pid}/fd/{fd}")));
                link.is_ok_and(|link| inodes.contains(&*link.to_string_lossy()))
            })
        })
        .collect()
    }
}

/// The inode of a socket that listens on one of the ports: "0: 0100007F:2328 00000000:0000 0A … inode".
fn listening_inode(line: &str, ports: &BTreeSet<u16>) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let port = u16::from_str_radix(words.get(1)?.rsplit_once(':')?.1, 16).ok()?;
    let listens = *words.get(3)? == LISTENING && ports.contains(&port);
    listens.then(|| words.get(9).map(|inode| (*inode).to_owned())).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use testbed::put;

    #[test]
    fn who_listens_on_a_port_is_found_with_its_cpu_time() {
        let root = tempfile::tempdir().unwrap();
        let stat =
            |ticks: u64| format!("812 (minio) S 1 1 1 0 -1 0 0 0 0 0 {ticks} 100 0 0 20 0 1 0 0");
        let head = "sl local_address rem_address st tx_queue rx_queue tr tm->when retrnsmt uid timeout inode\n";
        let line = |port: &str, state: &str, inode: u32| {
            format!("0: 0100007F:{port} 00000000:0000 {state} 0:0 00:0 0 0 0 {inode} 1\n")
        };
        let table = format!(
            "{head}{}{}{}",
            line("2328", "01", 7),
            line("2328", "0A", 8),
            line("1F90", "0A", 9)
        );
        put(root.path(), "proc/net/tcp", &table);
        put(root.path(), "proc/812/stat", stat(100));
        put(root.path(), "proc/812/comm", "minio\n");
        for (pid, inode) in [(812, 8), (900, 7), (901, 9)] {
            let fds = root.path().join(format!("proc/{pid}/fd"));
            fs::create_dir_all(&fds).unwrap();
            std::os::unix::fs::symlink(format!("socket:[{inode}]"), fds.join("3")).unwrap();
        }
        let host = Host::at(root.path());
        let before = host.servers_before(&BTreeSet::from([9000]));
        put(root.path(), "proc/812/stat", stat(300));
        let after = host.servers_after(&before);
        assert_eq!(after.len(), 1, "not who is connected, nor who listens elsewhere: {after:?}");
        let ticks = rustix::param::clock_ticks_per_second();
        assert_eq!((after[0].pid, after[0].name.as_str()), (812, "minio"));
        assert_eq!(after[0].cpu, Nanos::from_millis(200 * 1000 / ticks));
        let none = host.servers_before(&BTreeSet::new());
        assert_eq!(host.servers_after(&none), []);
    }
}
