//! The path of I/Os through the kernel, as its block layer was seen to handle them.

use crate::{Bytes, Direction, Histogram, LatencyHistory, Nanos};
use serde::{Deserialize, Serialize};

/// The layers that the I/Os of a run passed, and who else used its devices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Layers {
    /// Whether they were timed although nobody asked for it, because it costs little.
    pub is_default: bool,
    /// From when on, from the run's origin; 0: from the first I/O on.
    pub since: Nanos,
    /// CPU time that timing took for each I/O, as the kernel measured it in a part of the run; `None` if it
    /// was not measured.
    pub cost_ns: Option<f64>,
    /// For each job, device and direction that had I/O.
    pub paths: Vec<LayerPath>,
    /// Requests of others on the same devices; the one that used most device time first.
    pub others: Vec<OtherRequests>,
    /// Commits of the journals on the same devices, where the kernel tells of them: an fsync of ext4
    /// waits for one if it changed more than data. A commit contains its data and its flushes.
    pub journals: Vec<DeviceEvents>,
    /// Flushes of the volatile caches of the same devices, whoever asked for them.
    pub flushes: Vec<DeviceEvents>,
    /// I/Os that were not timed because too many were in flight, or an event is missing.
    pub lost: u64,
    /// Requests that began before the measurement, or that no I/O of a process began.
    pub unseen: u64,
    /// I/Os of workers that read or wrote data of the filesystem itself. They are in no path.
    pub metadata: u64,
    /// Requests of processes for which there was no room in `others`.
    pub unnamed: u64,
}

/// I/Os of a job on a device in one direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LayerPath {
    /// Name of the job; empty if all jobs are counted together.
    pub job: String,
    /// Kernel name of the disk.
    pub device_name: String,
    /// Whether it lies below another device of the run.
    pub is_member: bool,
    /// `None`: flushes of the device's cache.
    pub direction: Option<Direction>,
    /// I/Os that the job itself counted in this direction; 0 for flushes.
    pub job_ios: u64,
    /// The job's mean latency of these, from the start of the system call to its end.
    pub job_latency_ns: Option<f64>,
    /// I/Os that entered the block layer.
    pub ios: u64,
    /// Their bytes.
    pub bytes: Bytes,
    /// Those that were added to a request of another I/O.
    pub merged: u64,
    /// Those that were split.
    pub split: u64,
    /// Parts that were split off, which are not in `ios`.
    pub parts: u64,
    /// Those that the driver gave back at least once.
    pub requeued: u64,
    /// Those that a kernel thread of io_uring submitted.
    pub helped: u64,
    /// Those that found requests of others in the device when the driver got them.
    pub beside: u64,
    /// The time that these spent in the driver and the device, together.
    pub beside_time: Nanos,
    /// Mean time from the start to the block layer; `None` unless each I/O of the job is one of `ios`.
    pub submission_ns: Option<f64>,
    /// Mean time from the completion in the block layer to the job's end of the I/O.
    pub completion_ns: Option<f64>,
    /// From the entry into the block layer until it has a request.
    pub request: LayerTimes,
    /// In the list of requests that its thread keeps before it hands them over.
    pub plug: LayerTimes,
    /// In the scheduler.
    pub scheduler: LayerTimes,
    /// In the driver and the device.
    pub device: LayerTimes,
    /// In all of these.
    pub total: LayerTimes,
    /// I/Os by their time in all layers, the fastest first. Those of one class differ by up to 25 %.
    pub classes: Vec<LayerClass>,
    /// The same for each size class, the shortest first; empty if all I/Os are of one.
    pub sizes: Vec<SizeClasses>,
    /// The slowest I/Os, up to 100, the slowest first.
    pub slowest: Vec<SlowIo>,
    /// The slowest I/O of each second of the run, or of longer steps in long runs, the first step first.
    pub slowest_of_steps: Vec<SlowIo>,
}

/// I/Os of about the same size.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SizeClasses {
    /// Their length at most; `None`: longer than those of all other classes.
    pub up_to: Option<Bytes>,
    /// They by their time in all layers, as in [`LayerPath::classes`].
    pub classes: Vec<LayerClass>,
}

/// Times in the layers of the block layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LayerSpans {
    /// Until it has a request.
    pub request: Nanos,
    /// In the list of its thread.
    pub plug: Nanos,
    /// In the scheduler.
    pub scheduler: Nanos,
    /// In the driver and the device.
    pub device: Nanos,
}

impl LayerPath {
    /// Times of the layers in the order in which an I/O passes them.
    pub fn inside(&self) -> [&LayerTimes; 4] {
        [&self.request, &self.plug, &self.scheduler, &self.device]
    }

    /// The same, to be changed.
    pub fn inside_mut(&mut self) -> [&mut LayerTimes; 4] {
        [&mut self.request, &mut self.plug, &mut self.scheduler, &mut self.device]
    }

    /// The sum of the times in each layer.
    pub fn spans(&self) -> LayerSpans {
        let [request, plug, scheduler, device] = self.inside().map(|times| times.sum);
        LayerSpans { request, plug, scheduler, device }
    }
}

impl LayerSpans {
    /// The layers in the order in which an I/O passes them.
    pub fn all(&self) -> [Nanos; 4] {
        [self.request, self.plug, self.scheduler, self.device]
    }

    /// The same of so many other I/Os added.
    #[must_use]
    pub fn plus(self, other: LayerSpans) -> LayerSpans {
        LayerSpans {
            request: self.request + other.request,
            plug: self.plug + other.plug,
            scheduler: self.scheduler + other.scheduler,
            device: self.device + other.device,
        }
    }
}

/// I/Os that took about as long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LayerClass {
    /// Their number.
    pub ios: u64,
    /// Their times in each layer, together.
    pub spans: LayerSpans,
}

/// One slow I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SlowIo {
    /// When it was complete in the block layer, from the run's origin.
    pub at: Nanos,
    /// Its time in the block layer.
    pub total: Nanos,
    /// Its time in each layer.
    pub spans: LayerSpans,
    /// Where on the disk, in bytes.
    pub offset: Bytes,
    /// Its length.
    pub bytes: Bytes,
    /// It was added to a request of another I/O.
    pub merged: bool,
    /// The driver gave it back.
    pub requeued: bool,
}

/// Times of one layer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LayerTimes {
    /// Their exact sum.
    pub sum: Nanos,
    /// Their distribution, to 3 %.
    pub histogram: Histogram,
    /// Their distribution over time, by when the I/Os were complete; empty for flushes.
    pub history: LatencyHistory,
}

/// Requests that are not of the run's jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OtherRequests {
    /// Name of the process, or kind of kernel thread, that submitted them.
    pub name: String,
    /// Number of the process; 0: a thread of the kernel.
    pub pid: u32,
    /// Path of the cgroup that the kernel charges them to; `None` if it charges none, or the cgroup is
    /// gone. Data that a process wrote to the page cache is charged to its cgroup also when a thread of the
    /// kernel submits it.
    pub cgroup: Option<String>,
    /// Kernel name of the disk.
    pub device: String,
    /// Whether it is a thread of this program.
    pub own: bool,
    /// Their number.
    pub requests: u64,
    /// Their bytes.
    pub bytes: Bytes,
    /// The time that they spent in the driver and the device, together.
    pub device_time: Nanos,
}

impl OtherRequests {
    /// "postgres 4711", "kworker", "fathom (own)".
    pub fn label(&self) -> String {
        match (self.own, self.pid) {
            (true, _) => format!("{} (own)", self.name),
            (false, 0) => self.name.clone(),
            (false, pid) => format!("{} {pid}", self.name),
        }
    }
}

/// Sums of the times of I/Os on a disk in one direction: of a job since the end of its ramp, or of all
/// processes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LayerSums {
    /// Name of the job; empty if all jobs, or processes, are counted together.
    pub job: String,
    /// Kernel name of the disk.
    pub device: String,
    /// `None`: flushes of the disk's cache.
    pub direction: Option<Direction>,
    /// Number of I/Os.
    pub ios: u64,
    /// Their times in each layer, together, in nanoseconds.
    pub spans: LayerSpans,
}

impl LayerSums {
    /// Whether these are I/Os of the same job, disk and direction.
    pub fn is_of_same_path(&self, other: &LayerSums) -> bool {
        (&self.job, &self.device, self.direction) == (&other.job, &other.device, other.direction)
    }
}

/// What `fathom watch --layers` has timed since it began.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LayerSample {
    /// I/Os of all processes, for each disk and direction.
    pub paths: Vec<LayerSums>,
    /// Requests of each process.
    pub processes: Vec<OtherRequests>,
}

/// Events of a kind on a disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceEvents {
    /// Kernel name of the disk.
    pub device: String,
    /// Their number.
    #[serde(alias = "commits")]
    pub count: u64,
    /// How long they took, together.
    pub time: Nanos,
    /// How long the longest one took.
    pub longest: Nanos,
}

impl DeviceEvents {
    /// How long one took on average, in nanoseconds.
    pub fn mean_ns(&self) -> f64 {
        self.time.0 as f64 / self.count.max(1) as f64
    }
}

/// When the I/Os of a worker began and ended, in sums: mean times to moments that were measured
/// elsewhere follow from them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StampSums {
    /// Number of I/Os.
    pub ios: u64,
    /// Sum of the starts, modulo 2^64, from the run's origin.
    pub started: u64,
    /// Sum of the ends.
    pub ended: u64,
}
