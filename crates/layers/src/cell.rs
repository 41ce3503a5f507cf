//! What the programs add up: the layout of their maps' values, as in `bpf/layers.bpf.c`.

use record::{Bytes, LayerClass, LayerPath, LayerSpans, LayerTimes, Nanos, SlowIo};
use std::cmp::Reverse;

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
/// Where the classes begin, and the slowest I/Os: the number of these is in the first word's lower half.
const CLASSES_AT: usize = COUNTERS + SPANS * SPAN_WORDS;
const SLOWEST_AT: usize = CLASSES_AT + CLASSES * CLASS_WORDS;
/// Words of a cell.
pub(crate) const WORDS: usize = SLOWEST_AT + 2 + SLOWEST * SLOW_WORDS;
/// Flags of a slow I/O.
const REQUEUED: u64 = 4;
const MERGED: u64 = 32;

/// The cell of one group, device and direction, on one CPU.
pub(crate) type Cell = [u64; WORDS];

/// Bytes that all cells may need, over all CPUs.
pub(crate) const BYTES_MAX: u64 = 64 << 20;

/// Adds up a cell over all CPUs. Returns it with the sums of the times at which its I/Os entered the
/// block layer and left it, modulo 2^64; `None` if no I/O was counted.
pub(crate) fn gather(cpus: &[Cell]) -> Option<(LayerPath, u64, u64)> {
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
        classes: classes(cpus),
        slowest: slowest(cpus),
        ..LayerPath::default()
    };
    Some((path, entered, left))
}

/// Times in four layers, from words.
fn spans(words: &[u64]) -> LayerSpans {
    let time = |layer: usize| Nanos(words.get(layer).copied().unwrap_or_default());
    LayerSpans { request: time(0), plug: time(1), scheduler: time(2), device: time(3) }
}

/// The classes that have I/Os, the fastest first.
fn classes(cpus: &[Cell]) -> Vec<LayerClass> {
    let class = |number: usize| {
        let at = CLASSES_AT + number * CLASS_WORDS;
        cpus.iter().fold(LayerClass::default(), |sum, cell| LayerClass {
            ios: sum.ios + cell[at],
            spans: sum.spans.plus(spans(&cell[at + 1..at + CLASS_WORDS])),
        })
    };
    (0..CLASSES).map(class).filter(|class| class.ios > 0).collect()
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
        let (path, entered, left) = gather(&cells).unwrap();
        let [LayerClass { ios: 2, spans }] = path.classes[..] else { panic!("{path:?}") };
        assert_eq!(spans.device.0, 700);
        let [slower, slow] = path.slowest[..] else { panic!("{path:?}") };
        assert_eq!((slower.total.0, slow.total.0, slow.offset.0), (900, 800, 5120));
        assert_eq!((slow.spans.all().map(|span| span.0), slow.bytes.0), ([1, 2, 3, 4], 4096));
        assert!(slow.merged && !slow.requeued);
        assert_eq!((path.ios, entered, left), (7, 10, 0));
        assert_eq!((path.device.sum.0, path.device.histogram.count()), (5000, 5));
        assert_eq!((path.beside, path.beside_time.0), (1, 4000));
        assert_eq!(gather(&[[0; WORDS]]), None);
    }
}
