//! Evidence: the files and other processes before the first I/O of a run and after the last.

mod content;
mod neighbours;
mod network;
mod servers;

use crate::Host;
use neighbours::Traffic;
use network::NetworkBefore;
use record::{Bytes, Evidence, Extents, FileEvidence, FileLook};
use servers::ServersBefore;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::ops::Range;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// The evidence before the first I/O; [`Host::evidence_after`] makes [`Evidence`] of it.
#[derive(Clone, Debug, Default)]
pub struct EvidenceBefore {
    files: BTreeMap<String, BeforeFile>,
    traffic: BTreeMap<u32, Traffic>,
    servers: Option<ServersBefore>,
    network: Option<NetworkBefore>,
}

/// A file before the first I/O.
#[derive(Clone, Debug)]
struct BeforeFile {
    /// From the first to the last byte that jobs may access.
    region: Range<u64>,
    look: Option<FileLook>,
}

impl EvidenceBefore {
    /// Also notes the CPU time of the processes of this machine that listen on these ports.
    pub fn with_servers(self, host: &Host, ports: &BTreeSet<u16>) -> EvidenceBefore {
        EvidenceBefore { servers: Some(host.servers_before(ports)), ..self }
    }

    /// Also notes the counters of the network.
    pub fn with_network(self, host: &Host) -> EvidenceBefore {
        EvidenceBefore { network: Some(host.network_before()), ..self }
    }
}

impl Host {
    /// Examines the files of a run after their layout and the other processes. Each file comes with
    /// a region that a job may access, in bytes. Of many files, only the first
    /// [`Evidence::FILES_MAX`] are examined.
    ///
    /// Changes nothing: files are opened for reading only, and none is read.
    pub fn evidence_before<'a>(
        &self,
        files: impl IntoIterator<Item = (&'a str, Range<u64>)>,
    ) -> EvidenceBefore {
        let mut regions: BTreeMap<&str, Range<u64>> = BTreeMap::new();
        for (file, region) in files {
            if let Some(known) = regions.get_mut(file) {
                *known = known.start.min(region.start)..known.end.max(region.end);
            } else if regions.len() < Evidence::FILES_MAX {
                regions.insert(file, region);
            }
        }
        let look = |(path, region): (&str, Range<u64>)| {
            let look = self.file_state(path, &region);
            (path.to_owned(), BeforeFile { region, look })
        };
        let files = regions.into_iter().map(look).collect();
        EvidenceBefore { files, traffic: self.traffic(), ..EvidenceBefore::default() }
    }

    /// Examines them again after the last I/O, and samples the content of the files in `contents`:
    /// 64 blocks of each are read with O_DIRECT. `ranks`: processes that made the run with this one.
    pub fn evidence_after(
        &self,
        before: EvidenceBefore,
        contents: &[String],
        ranks: &[u32],
    ) -> Evidence {
        let servers = before.servers.as_ref().map(|servers| self.servers_after(servers));
        let network = before.network.as_ref().map(|network| self.network_after(network));
        let others = neighbours::between(&before.traffic, self.traffic());
        let (ranks, others): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|other| ranks.contains(&other.pid));
        let mut neighbours = neighbours::busiest(others);
        let own = before.files.keys().filter_map(|path| self.real(path).metadata().ok());
        let numbers: Vec<u64> = own.map(|facts| neighbours::storage_number(&facts)).collect();
        self.mark_same_storage(&mut neighbours, &numbers);
        let files = before.files.into_iter().map(|(path, BeforeFile { region, look: before })| {
            let after = self.file_state(&path, &region);
            let wanted = contents.contains(&path);
            let content = after
                .as_ref()
                .filter(|_| wanted)
                .and_then(|look| content::sample(&self.real(&path), look.size.0));
            (path, FileEvidence { before, after, content })
        });
        let (files, servers) = (files.collect(), servers.unwrap_or_default());
        let ranks_beside = neighbours::total_of_ranks(&ranks);
        Evidence { files, neighbours, ranks_beside, servers, network, ..Evidence::default() }
    }

    /// `None` if there is no such file or device, or it cannot be read.
    fn file_state(&self, path: &str, region: &Range<u64>) -> Option<FileLook> {
        let file = open(&self.real(path))?;
        let kind = file.metadata().ok()?.file_type();
        let size = self.size_of(&file, path)?;
        let kernel = self.kernel();
        let cache = kernel.and_then(|kernel| kernel.page_cache(&file, size).ok());
        let dirty = cache.and_then(|cache| cache.dirty);
        // Dirty pages may have no block yet, and would seem never written.
        let settled = dirty == Some(0) || cache.is_some_and(|cache| cache.cached == 0);
        let has_stable_extents = kind.is_file() && settled;
        let region = region.start.min(size)..region.end.min(size);
        let extents: Option<Extents> = kernel
            .filter(|_| has_stable_extents)
            .and_then(|kernel| kernel.extents(&file, region).ok());
        Some(FileLook {
            size: Bytes(size),
            cached: cache.map(|cache| Bytes(cache.cached.min(size))),
            dirty: dirty.map(Bytes),
            extents,
        })
    }

    fn size_of(&self, file: &File, path: &str) -> Option<u64> {
        let metadata = file.metadata().ok()?;
        if !metadata.file_type().is_block_device() {
            return Some(metadata.len());
        }
        let name = self.device_by_path(path)?;
        Some(self.number(format!("/sys/class/block/{name}/size"))? * 512)
    }
}

/// Opens a file or block device for reading. Opening anything else, such as a pipe, can have an
/// effect.
fn open(path: &Path) -> Option<File> {
    let kind = path.metadata().ok()?.file_type();
    if !kind.is_file() && !kind.is_block_device() {
        return None;
    }
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOATIME;
    let with = |flags: rustix::fs::OFlags| {
        OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path).ok()
    };
    // Only the owner may use O_NOATIME.
    with(flags).or_else(|| with(rustix::fs::OFlags::NONBLOCK))
}
