//! What the programs add up: the layout of their maps' values, as in `bpf/layers.bpf.c`.

use record::{
    Bytes, LayerClass, LayerPath, LayerSpans, LayerSums, LayerTimes, Nanos, SizeClasses, SlowIo,
};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Kinds of I/O: reads, writes, trims, flushes.
pub(crate) const DIRECTIONS: u32 = 4;
const SPANS: usize = 5;
const BUCKETS: usize = 896;
/// Counters before the spans.
const COUNTERS: usize = 11;
/// The sum, then two buckets in each word.
const SPAN_WORDS: usize = 1 + BUCKETS / 2;
/// Classes of I/Os that took about as long.
const CLASSES: usize = BUCKETS / 8;
/// Number of I/Os, then their sums in four layers.
const CLASS_WORDS: usize = 5;
/// The slowest I/Os that a cell keeps.
const SLOWEST: usize = 100;
/// Completion, total time, four layers, sector, then length and flags in one word.
const SLOW_WORDS: usize = 8;
/// The last steps of the run, each with its number and its slowest I/O.
const STEPS: usize = 4;
const STEP_WORDS: usize = 1 + SLOW_WORDS;
/// Where the classes begin, the steps, and the slowest I/Os: the number of these is in the first word's
/// lower half.
const CLASSES_AT: usize = COUNTERS + SPANS * SPAN_WORDS;
const STEPS_AT: usize = CLASSES_AT + CLASSES * CLASS_WORDS;
const SLOWEST_AT: usize = STEPS_AT + STEPS * STEP_WORDS;
/// Words of a cell.
const WORDS: usize = SLOWEST_AT + 2 + SLOWEST * SLOW_WORDS;
/// Flags of a slow I/O.
const REQUEUED: u64 = 4;
const MERGED: u64 = 32;

/// The cell of one group, device and direction, on one CPU.
pub(crate) type Cell = [u64; WORDS];

/// The longest I/O of each size class; `None`: there is no limit.
const SIZES: [Option<Bytes>; 5] = [
    Some(Bytes(4 << 10)),
    Some(Bytes(16 << 10)),
    Some(Bytes(64 << 10)),
    Some(Bytes(256 << 10)),
    None,
];

/// The I/Os of a cell by size, on one CPU: the classes of each size class.
pub(crate) type CellBySize = [[u64; CLASSES * CLASS_WORDS]; SIZES.len()];

/// Bytes that all cells may need, over all CPUs.
pub(crate) const BYTES_MAX: usize = 64 << 20;

/// I/Os of a group.
#[derive(Clone, Debug)]
pub struct Path {
    /// Its group.
    pub group: usize,
    /// What was measured.
    pub path: LayerPath,
    /// Sum of the times at which its I/Os entered the block layer, modulo 2^64, on CLOCK_MONOTONIC.
    pub entered: u64,
    /// The same for the times at which they left it.
    pub left: u64,
    /// The slowest I/O of each of the last steps, by their numbers ([`crate::Collector::begin_step`]). They were
    /// complete at a time on CLOCK_MONOTONIC, as those of `path`.
    pub slowest_of_steps: BTreeMap<u64, SlowIo>,
}

impl Path {
    /// Its sums, as those of this job.
    pub fn into_sums(self, job: String) -> LayerSums {
        let path = self.path;
        LayerSums {
            job,
            spans: path.spans(),
            device: path.device_name,
            direction: path.direction,
            ios: path.ios,
        }
    }
}

/// Adds up a cell over all CPUs, as a path of the first group; `None` if no I/O was counted.
pub(crate) fn gather(cpus: &[Cell]) -> Option<Path> {
    let sum = |word: usize| cpus.iter().fold(0_u64, |sum, cell| sum.wrapping_add(cell[word]));
    let [ios, entered, left, bytes, merged, split, parts, requeued, helped, beside, beside_ns] =
        std::array::from_fn(sum);
    if ios + parts == 0 {
        return None;
    }
    let [request, plug, scheduler, device, total] =
        std::array::from_fn(|span| times(cpus, COUNTERS + span * SPAN_WORDS));
    let path = LayerPath {
        ios,
        bytes: Bytes(bytes),
        merged,
        split,
        parts,
        requeued,
        helped,
        beside,
        beside_time: Nanos(beside_ns),
        request,
        plug,
        scheduler,
        device,
        total,
        classes: classes(cpus.iter().map(|cell| &cell[CLASSES_AT..STEPS_AT])),
        slowest: slowest(cpus),
        ..LayerPath::default()
    };
    Some(Path { group: 0, path, entered, left, slowest_of_steps: slowest_of_steps(cpus) })
}

/// Times in four layers, from words.
fn spans(words: &[u64]) -> LayerSpans {
    let time = |layer: usize| Nanos(words.get(layer).copied().unwrap_or_default());
    LayerSpans { request: time(0), plug: time(1), scheduler: time(2), device: time(3) }
}

/// The classes that have I/Os, the fastest first, from the words of each CPU.
fn classes<'a>(cpus: impl Iterator<Item = &'a [u64]>) -> Vec<LayerClass> {
    let mut classes = [LayerClass::default(); CLASSES];
    for words in cpus {
        for (class, words) in classes.iter_mut().zip(words.chunks_exact(CLASS_WORDS)) {
            class.ios += words[0];
            class.spans = class.spans.plus(spans(&words[1..]));
        }
    }
    classes.into_iter().filter(|class| class.ios > 0).collect()
}

/// The I/Os of a cell by size, over all CPUs; empty if all are of one size class.
pub(crate) fn sizes(cpus: &[CellBySize]) -> Vec<SizeClasses> {
    let size = |(index, up_to): (usize, Option<Bytes>)| {
        let classes = classes(cpus.iter().map(|cell| &cell[index][..]));
        SizeClasses { up_to, classes }
    };
    let all = SIZES.into_iter().enumerate().map(size);
    let some: Vec<SizeClasses> = all.filter(|size| !size.classes.is_empty()).collect();
    if some.len() > 1 { some } else { Vec::new() }
}

/// The slowest I/O of each of the last steps, of all CPUs.
fn slowest_of_steps(cpus: &[Cell]) -> BTreeMap<u64, SlowIo> {
    let mut slowest: BTreeMap<u64, SlowIo> = BTreeMap::new();
    let steps = cpus.iter().flat_map(|cell| cell[STEPS_AT..SLOWEST_AT].chunks_exact(STEP_WORDS));
    for words in steps.filter(|words| words[0] > 0) {
        let io = slow_io(&words[1..]);
        let known = slowest.entry(words[0]).or_insert(io);
        if io.total > known.total {
            *known = io;
        }
    }
    slowest
}

/// The slowest I/Os of all CPUs. Their completion is on CLOCK_MONOTONIC.
fn slowest(cpus: &[Cell]) -> Vec<SlowIo> {
    let mut all: Vec<SlowIo> = Vec::new();
    for cell in cpus {
        let [head, _, ios @ ..] = &cell[SLOWEST_AT..] else { continue };
        let count = (head & u64::from(u32::MAX)) as usize;
        all.extend(ios.chunks_exact(SLOW_WORDS).take(count).map(slow_io));
    }
    all.sort_by_key(|io| Reverse(io.total));
    all.truncate(SLOWEST);
    all
}

fn slow_io(words: &[u64]) -> SlowIo {
    let flags = words[7] >> 32;
    SlowIo {
        at: Nanos(words[0]),
        total: Nanos(words[1]),
        spans: spans(&words[2..6]),
        offset: Bytes(words[6] << 9),
        bytes: Bytes(words[7] & u64::from(u32::MAX)),
        merged: flags & MERGED > 0,
        requeued: flags & REQUEUED > 0,
    }
}

/// The span whose words begin at `start`.
fn times(cpus: &[Cell], start: usize) -> LayerTimes {
    let mut out = LayerTimes::default();
    for cell in cpus {
        let [sum, buckets @ ..] = &cell[start..start + SPAN_WORDS] else { continue };
        out.sum += Nanos(*sum);
        for (word, two) in buckets.iter().enumerate().filter(|(_, two)| **two > 0) {
            for (bucket, times) in
                [(2 * word, two & u64::from(u32::MAX)), (2 * word + 1, two >> 32)]
            {
                if times > 0 {
                    out.histogram.record_n(middle(bucket), times);
                }
            }
        }
    }
    out
}

/// The time in the middle of a bucket, in nanoseconds.
fn middle(bucket: usize) -> u64 {
    let low = |bucket: usize| {
        let octave = (bucket / 32).saturating_sub(1);
        let value = if bucket < 32 { bucket } else { 32 + bucket % 32 };
        (value as u64) << octave << 4
    };
    u64::midpoint(low(bucket), low(bucket + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bucket that the programs choose.
    fn bucket(time: u64) -> usize {
        let value = time >> 4;
        if value < 32 {
            return value as usize;
        }
        let power = value.ilog2() as usize;
        (power - 4) * 32 + ((value >> (power - 5)) & 31) as usize
    }

    #[test]
    fn the_middle_of_a_bucket_is_close_to_its_times() {
        for time in (9..36).flat_map(|power| [1_u64 << power, (1 << power) * 7 / 5]) {
            let middle = middle(bucket(time)) as f64;
            assert!((middle / time as f64 - 1.0).abs() < 0.035, "{time} {middle}");
        }
        assert_eq!(bucket((1 << 36) - 1), BUCKETS - 1);
        assert_eq!(middle(0), 8);
    }

    #[test]
    fn cpus_are_added_up() {
        let mut cells = [[0; WORDS]; 2];
        (cells[0][0], cells[1][0]) = (3, 4);
        (cells[0][1], cells[1][1]) = (u64::MAX, 11);
        let device = COUNTERS + 3 * SPAN_WORDS;
        cells[1][device] = 5000;
        // Buckets 0 and 1.
        cells[1][device + 1] = 2 | 3 << 32;
        (cells[0][9], cells[1][10]) = (1, 4000);
        // The fourth class has two I/Os; one CPU keeps one slow I/O, the other one that is slower.
        let class = CLASSES_AT + 3 * CLASS_WORDS;
        (cells[0][class], cells[1][class], cells[1][class + 4]) = (1, 1, 700);
        for (cell, total) in cells.iter_mut().zip([800, 900]) {
            cell[SLOWEST_AT] = 1 | 7 << 32;
            let io = &mut cell[SLOWEST_AT + 2..][..SLOW_WORDS];
            io.copy_from_slice(&[5, total, 1, 2, 3, 4, 10, 4096 | (MERGED << 32)]);
        }
        // Each CPU has its slowest I/O of the sixth step, and one of them that of the seventh.
        let step = |cell: &mut Cell, number: u64, total: u64| {
            let words = &mut cell[STEPS_AT + number as usize % STEPS * STEP_WORDS..][..STEP_WORDS];
            (words[0], words[2]) = (number, total);
        };
        step(&mut cells[0], 6, 500);
        step(&mut cells[1], 6, 600);
        step(&mut cells[0], 7, 70);
        let Path { path, entered, left, slowest_of_steps, .. } = gather(&cells).unwrap();
        let steps = slowest_of_steps.iter().map(|(step, io)| (*step, io.total.0));
        assert_eq!(steps.collect::<Vec<_>>(), [(6, 600), (7, 70)]);
        let [LayerClass { ios: 2, spans }] = path.classes[..] else { panic!("{path:?}") };
        assert_eq!(spans.device.0, 700);
        let [slower, slow] = path.slowest[..] else { panic!("{path:?}") };
        assert_eq!((slower.total.0, slow.total.0, slow.offset.0), (900, 800, 5120));
        assert_eq!((slow.spans.all().map(|span| span.0), slow.bytes.0), ([1, 2, 3, 4], 4096));
        assert!(slow.merged && !slow.requeued);
        assert_eq!((path.ios, entered, left), (7, 10, 0));
        assert_eq!((path.device.sum.0, path.device.histogram.count()), (5000, 5));
        assert_eq!((path.beside, path.beside_time.0), (1, 4000));
        assert!(gather(&[[0; WORDS]]).is_none());
    }

    #[test]
    fn sizes_are_apart_if_there_are_several() {
        let mut cells: [CellBySize; 2] = [[[0; CLASSES * CLASS_WORDS]; SIZES.len()]; 2];
        cells[0][0][0] = 2;
        assert!(sizes(&cells).is_empty(), "all are short");
        (cells[1][4][5], cells[1][4][9]) = (3, 900);
        let [short, long] = &sizes(&cells)[..] else { panic!() };
        assert_eq!((short.up_to, short.classes[0].ios), (Some(Bytes(4096)), 2));
        assert_eq!((long.up_to, long.classes[0].spans.device.0), (None, 900));
    }
}
