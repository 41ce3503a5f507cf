//! The control group of this process: versions 1 and 2 (Documentation/admin-guide/cgroup-v2.rst and
//! cgroup-v1/).

use crate::Host;
use crate::facts::mounts::Mount;
use record::{Bytes, CgroupFacts, CgroupPlace};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Larger values mean that there is no limit.
const NO_LIMIT: u64 = 1 << 60;
/// Control groups whose names are looked up.
const GROUPS_MAX: usize = 10_000;

/// The group of this process in a hierarchy, and the mount point of the hierarchy.
struct GroupPath {
    mount: PathBuf,
    path: String,
}

impl GroupPath {
    /// The directories from the process's own group up to the root of the hierarchy.
    fn directories(&self) -> impl Iterator<Item = PathBuf> {
        let path = Path::new(self.path.trim_start_matches('/'));
        path.ancestors().map(|above| self.mount.join(above))
    }
}

/// The hierarchies of control groups and the groups of this process in them.
struct Hierarchies {
    /// Lines of `number:controllers:path` (cgroups(7)).
    own: String,
    mounts: Vec<Mount>,
}

impl Hierarchies {
    /// The group of this process in the hierarchy of a controller of version 1, or in the unified
    /// hierarchy for "".
    fn find(&self, controller: &str) -> Option<GroupPath> {
        let path = self.own.lines().find_map(|line| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            controllers.split(',').any(|name| name == controller).then(|| path.to_owned())
        })?;
        let wanted = if controller.is_empty() { "cgroup2" } else { "cgroup" };
        let mount = self.mounts.iter().find(|mount| {
            let named = || mount.options.iter().any(|option| option == controller);
            mount.kind == wanted && (controller.is_empty() || named())
        })?;
        Some(GroupPath { mount: mount.point.clone(), path })
    }
}

impl Host {
    /// The limits of the control group of this process.
    pub(crate) fn cgroup(&self) -> CgroupFacts {
        let hierarchies = self.hierarchies();
        let place = |controller: &str| hierarchies.find(controller);
        let unified = place("");
        let mut io_max = BTreeMap::new();
        let blkio = place("blkio");
        self.io_limits(unified.as_ref(), blkio.as_ref(), &mut io_max);
        let io = blkio.iter().map(|p| (1, p)).chain(unified.iter().map(|p| (2, p))).next();
        CgroupFacts {
            path: unified.as_ref().map(|place| place.path.clone()).unwrap_or_default(),
            cpu_quota: self.cpu_quota(unified.as_ref(), place("cpu").as_ref()),
            memory_max: self.memory_max(unified.as_ref(), place("memory").as_ref()),
            io_max,
            place: io.map(|(version, place)| CgroupPlace {
                version,
                mount: place.mount.display().to_string(),
                own: place.directories().next().unwrap_or_default().display().to_string(),
            }),
        }
    }

    /// The cpu.stat file of the control group, if it counts throttling.
    pub(crate) fn cpu_stat(&self) -> Option<PathBuf> {
        let hierarchies = self.hierarchies();
        let places = [hierarchies.find(""), hierarchies.find("cpu")];
        let files = places.into_iter().flatten();
        let mut files = files.filter_map(|p| p.directories().next()).map(|d| d.join("cpu.stat"));
        files.find(|file| self.text(file).is_some_and(|text| text.contains("throttled_")))
    }

    /// Paths of the control groups that the kernel charges I/O to, by the inodes of their directories.
    /// Where there are very many, some are left out.
    pub fn io_cgroups(&self) -> BTreeMap<u64, String> {
        let hierarchies = self.hierarchies();
        let place = hierarchies.find("blkio").or_else(|| hierarchies.find(""));
        let Some(GroupPath { mount, .. }) = place else { return BTreeMap::new() };
        let (mut found, mut open) = (BTreeMap::new(), vec![PathBuf::from("/")]);
        while let Some(path) = open.pop()
            && found.len() < GROUPS_MAX
        {
            let directory = mount.join(path.strip_prefix("/").unwrap_or(&path));
            let real = self.real(&directory);
            let Ok(metadata) = fs::metadata(&real) else { continue };
            found.insert(metadata.ino(), path.display().to_string());
            let entries = fs::read_dir(&real).into_iter().flatten().flatten();
            let below = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            open.extend(below.map(|entry| path.join(entry.file_name())));
        }
        found
    }

    fn hierarchies(&self) -> Hierarchies {
        let own = self.text("/proc/self/cgroup").unwrap_or_default();
        Hierarchies { own, mounts: self.mounts() }
    }

    /// The smallest CPU quota along the path, in CPUs.
    fn cpu_quota(&self, v2: Option<&GroupPath>, v1: Option<&GroupPath>) -> Option<f64> {
        let of_v2 = v2.into_iter().flat_map(GroupPath::directories).filter_map(|directory| {
            let text = self.text(directory.join("cpu.max"))?;
            let (quota, period) = text.split_once(' ')?;
            Some(quota.parse::<f64>().ok()? / period.trim().parse::<f64>().ok()?)
        });
        let of_v1 = v1.into_iter().flat_map(GroupPath::directories).filter_map(|directory| {
            let quota = self.number(directory.join("cpu.cfs_quota_us"))?;
            Some(quota as f64 / self.number(directory.join("cpu.cfs_period_us"))? as f64)
        });
        of_v2.chain(of_v1).filter(|cpus| cpus.is_finite()).min_by(f64::total_cmp)
    }

    fn memory_max(&self, v2: Option<&GroupPath>, v1: Option<&GroupPath>) -> Option<Bytes> {
        let limits = |place: Option<&GroupPath>, file: &str| -> Vec<u64> {
            let directories = place.into_iter().flat_map(GroupPath::directories);
            directories.filter_map(|directory| self.number(directory.join(file))).collect()
        };
        let both = [limits(v2, "memory.max"), limits(v1, "memory.limit_in_bytes")].concat();
        both.into_iter().filter(|limit| *limit < NO_LIMIT).min().map(Bytes)
    }

    fn io_limits(
        &self,
        v2: Option<&GroupPath>,
        v1: Option<&GroupPath>,
        found: &mut BTreeMap<String, BTreeMap<String, u64>>,
    ) {
        let mut tighten = |device: &str, name: &str, limit: u64| {
            let known = found.entry(device.to_owned()).or_default();
            let known = known.entry(name.to_owned()).or_insert(limit);
            *known = limit.min(*known);
        };
        for directory in v2.into_iter().flat_map(GroupPath::directories) {
            for line in self.text(directory.join("io.max")).unwrap_or_default().lines() {
                let (device, limits) = line.split_once(' ').unwrap_or((line, ""));
                for (name, limit) in limits.split(' ').filter_map(|pair| pair.split_once('=')) {
                    if let Ok(limit) = limit.parse() {
                        tighten(device, name, limit);
                    }
                }
            }
        }
        const FILES: [(&str, &str); 4] = [
            ("read_bps", "rbps"),
            ("write_bps", "wbps"),
            ("read_iops", "riops"),
            ("write_iops", "wiops"),
        ];
        for directory in v1.into_iter().flat_map(GroupPath::directories) {
            for (file, name) in FILES {
                let file = directory.join(format!("blkio.throttle.{file}_device"));
                for line in self.text(file).unwrap_or_default().lines() {
                    let Some((device, limit)) = line.split_once(' ') else { continue };
                    if let Ok(limit) = limit.trim().parse() {
                        tighten(device, name, limit);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Host) {
        let root = tempfile::tempdir().unwrap();
        files.iter().for_each(|(path, text)| testbed::put(root.path(), path, text));
        let host = Host::at(root.path());
        (root, host)
    }

    fn limits(pairs: &[(&str, u64)]) -> BTreeMap<String, u64> {
        pairs.iter().map(|(name, limit)| ((*name).to_owned(), *limit)).collect()
    }

    #[test]
    fn the_tightest_limit_along_the_path_counts() {
        let (_root, host) = tree(&[
            ("proc/self/cgroup", "0::/a/b\n"),
            ("proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            ("sys/fs/cgroup/a/cpu.max", "150000 100000\n"),
            ("sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
            ("sys/fs/cgroup/a/memory.max", "max\n"),
            ("sys/fs/cgroup/a/b/memory.max", "1048576\n"),
            ("sys/fs/cgroup/a/io.max", "8:0 rbps=2000 wbps=max riops=max wiops=50\n"),
            ("sys/fs/cgroup/a/b/io.max", "8:0 rbps=1000 wbps=max riops=max wiops=max\n"),
        ]);
        let facts = host.cgroup();
        assert_eq!((facts.path.as_str(), facts.cpu_quota), ("/a/b", Some(1.5)));
        assert_eq!(facts.memory_max, Some(Bytes(1048576)));
        assert_eq!(facts.io_max["8:0"], limits(&[("rbps", 1000), ("wiops", 50)]));
    }

    #[test]
    fn groups_are_known_by_the_inodes_of_their_directories() {
        let (root, host) = tree(&[
            ("proc/self/cgroup", "0::/a\n"),
            ("proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            ("sys/fs/cgroup/a/b/cgroup.procs", ""),
        ]);
        let inode = fs::metadata(root.path().join("sys/fs/cgroup/a/b")).unwrap().ino();
        let found = host.io_cgroups();
        assert_eq!((found.len(), found[&inode].as_str()), (3, "/a/b"));
    }

    #[test]
    fn the_first_version_has_a_hierarchy_for_each_controller() {
        let (_root, host) = tree(&[
            ("proc/self/cgroup", "7:blkio:/jobs\n4:cpu,cpuacct:/\n0::/\n"),
            (
                "proc/self/mountinfo",
                "30 1 0:26 / /cg/blkio rw - cgroup cgroup rw,blkio\n\
                 31 1 0:27 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n",
            ),
            ("cg/blkio/jobs/blkio.throttle.write_bps_device", "8:0 500\n8:16 700\n"),
            ("cg/cpu/cpu.cfs_quota_us", "50000\n"),
            ("cg/cpu/cpu.cfs_period_us", "100000\n"),
            ("cg/cpu/cpu.stat", "nr_periods 0\nthrottled_time 0\n"),
        ]);
        let facts = host.cgroup();
        assert_eq!(facts.cpu_quota, Some(0.5));
        assert_eq!(facts.memory_max, None);
        assert_eq!(facts.io_max["8:16"], limits(&[("wbps", 700)]));
        assert_eq!(host.cpu_stat().as_deref(), Some(Path::new("/cg/cpu/cpu.stat")));
    }
}
