use super::*;
use plan::{BlockPlan, Buffers, File, ReadWrite};
use std::collections::HashMap;

const BLOCK: usize = 4096;

fn worker(buffers: Buffers) -> Worker {
    let mut worker = Worker { buffers, ..Worker::default() };
    worker.pattern.rw = ReadWrite::RandWrite;
    worker.pattern.blocks.write = BlockPlan::Fixed(BLOCK as u64);
    worker.files = vec![File { length: 100 * BLOCK as u64, ..File::default() }];
    worker
}

/// The content of `count` writes of one slot.
fn writes(worker: &Worker, count: usize) -> Vec<Vec<u8>> {
    let mut payload = Payload::new(worker);
    let mut buffer = vec![0; BLOCK];
    payload.prepare(&mut buffer);
    (0..count as u64)
        .map(|index| {
            let offset = index % 100 * BLOCK as u64;
            let op = Op { kind: OpKind::Write, file: 0, offset, length: BLOCK as u64, tag: 0 };
            payload.fill(&mut buffer, &op);
            buffer.clone()
        })
        .collect()
}

/// How many writes carry each content, largest first.
fn repeats(writes: &[Vec<u8>]) -> Vec<usize> {
    let mut counts: HashMap<&[u8], usize> = HashMap::new();
    writes.iter().for_each(|w| *counts.entry(w).or_default() += 1);
    let mut counts: Vec<_> = counts.into_values().collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts
}

/// Share of bytes that a compressor of repeated 4-byte words would save.
fn savings(writes: &[Vec<u8>]) -> f64 {
    let (mut saved, mut all) = (0, 0);
    for write in writes {
        let words: Vec<&[u8]> = write.chunks(4).collect();
        saved += words.windows(2).filter(|pair| pair[0] == pair[1]).count();
        all += words.len();
    }
    saved as f64 / all as f64
}

#[test]
fn random_and_scrambled_buffers_are_all_different() {
    let writes = writes(&worker(Buffers::default()), 300);
    assert_eq!(repeats(&writes).len(), 300);
    assert!(savings(&writes) < 0.001);
}

#[test]
fn without_scrambling_the_buffer_does_not_change() {
    let plain = Buffers { scramble: false, ..Buffers::default() };
    assert_eq!(repeats(&writes(&worker(plain.clone()), 10)), [10]);
    let refilled = Buffers { refill: true, ..plain };
    assert_eq!(repeats(&writes(&worker(refilled), 10)).len(), 10);
}

#[test]
fn zeros_and_patterns_do_not_change() {
    let zero = Buffers { content: BufferContent::Zero, ..Buffers::default() };
    assert!(writes(&worker(zero), 3).iter().flatten().all(|b| *b == 0));
    let content = BufferContent::Pattern(b"xyz".to_vec());
    let pattern = Buffers { content, ..Buffers::default() };
    let writes = writes(&worker(pattern), 3);
    assert_eq!(repeats(&writes), [3]);
    assert!(writes[0].iter().zip(b"xyz".iter().cycle()).all(|(a, b)| a == b));
}

#[test]
fn zeros_are_refilled_if_buffers_are_refilled() {
    let zero = Buffers { content: BufferContent::Zero, refill: true, ..Buffers::default() };
    let worker = worker(zero);
    let mut buffer = vec![9; 512];
    let write = Op { kind: OpKind::Write, file: 0, offset: 0, length: 512, tag: 0 };
    Payload::new(&worker).fill(&mut buffer, &write);
    assert_eq!(buffer, vec![0; 512]);
}

#[test]
fn zeros_survive_reads_through_the_same_buffer() {
    let mut worker = worker(Buffers { content: BufferContent::Zero, ..Buffers::default() });
    worker.pattern.rw = ReadWrite::RandRw;
    let mut payload = Payload::new(&worker);
    let mut buffer = vec![9; 512];
    let op = |kind| Op { kind, file: 0, offset: 0, length: 512, tag: 0 };
    payload.fill(&mut buffer, &op(OpKind::Read));
    assert_eq!(buffer[0], 9);
    payload.fill(&mut buffer, &op(OpKind::Write));
    assert_eq!(buffer, vec![0; 512]);
}

#[test]
fn compressible_shares_are_achieved() {
    for percent in [10, 50, 80, 100] {
        for (chunk, content) in [
            (512, BufferContent::Random),
            (4096, BufferContent::Pattern(b"abcd".to_vec())),
            (0, BufferContent::Random),
            (1000, BufferContent::Random),
        ] {
            let buffers = Buffers {
                content,
                compress_percentage: Some(percent),
                compress_chunk: record::Bytes(chunk),
                ..Buffers::default()
            };
            let writes = writes(&worker(buffers), 50);
            let found = savings(&writes) * 100.0;
            assert!((found - f64::from(percent)).abs() < 2.0, "{percent} {chunk}: {found}");
            if percent < 100 {
                assert_eq!(repeats(&writes).len(), 50);
            }
        }
    }
}

#[test]
fn without_compression_the_content_is_random() {
    let buffers = Buffers { compress_percentage: Some(0), ..Buffers::default() };
    let writes = writes(&worker(buffers), 20);
    assert!(savings(&writes) < 0.001);
    assert_eq!(repeats(&writes).len(), 20);
}

#[test]
fn repeated_writes_have_their_share() {
    for percent in [20, 50, 90] {
        let buffers = Buffers { dedupe_percentage: Some(percent), ..Buffers::default() };
        let writes = writes(&worker(buffers), 5000);
        let unique = repeats(&writes).len() as f64 / 50.0;
        assert!((unique + f64::from(percent) - 100.0).abs() < 2.5, "{percent}: {unique}");
    }
    let all = Buffers { dedupe_percentage: Some(100), ..Buffers::default() };
    assert_eq!(repeats(&writes(&worker(all), 20)), [20]);
}

#[test]
fn only_the_working_set_is_repeated() {
    let buffers = Buffers {
        dedupe_percentage: Some(50),
        dedupe_mode: DedupeMode::WorkingSet,
        dedupe_working_set_percentage: 5,
        ..Buffers::default()
    };
    let repeats = repeats(&writes(&worker(buffers), 5000));
    // 5 % of 100 blocks.
    assert_eq!(repeats.iter().filter(|count| **count > 1).count(), 5);
    let share = repeats[..5].iter().sum::<usize>() as f64 / 5000.0;
    assert!((share - 0.5).abs() < 0.03, "{share}");
}

#[test]
fn several_workers_may_share_a_working_set() {
    let buffers = Buffers {
        dedupe_percentage: Some(50),
        dedupe_mode: DedupeMode::WorkingSet,
        dedupe_working_set_percentage: 5,
        ..Buffers::default()
    };
    let of = |number: u32, together: &[u32]| {
        let mut worker = worker(buffers.clone());
        worker.number = number;
        worker.duplicates = together.iter().map(|other| (*other, 0)).collect();
        writes(&worker, 2000)
    };
    let in_both = |together: &[u32]| {
        let first: std::collections::HashSet<_> = of(1, together).into_iter().collect();
        let second: std::collections::HashSet<_> = of(2, together).into_iter().collect();
        first.intersection(&second).count()
    };
    assert_eq!(in_both(&[]), 0);
    // Five blocks of each.
    assert_eq!(in_both(&[1, 2]), 10);
}

#[test]
fn readers_do_nothing_and_seeds_decide() {
    let mut reader = worker(Buffers { refill: true, ..Buffers::default() });
    reader.pattern.rw = ReadWrite::Read;
    assert!(matches!(Payload::new(&reader).before_write, BeforeWrite::Nothing));
    let mut other = worker(Buffers::default());
    assert_eq!(writes(&other, 3), writes(&worker(Buffers::default()), 3));
    other.pattern.seed = 1;
    assert_ne!(writes(&other, 3), writes(&worker(Buffers::default()), 3));
}

#[test]
fn buffers_of_jobs_that_only_read_cost_no_random_bytes() {
    let mut worker = worker(Buffers::default());
    worker.pattern.rw = ReadWrite::RandRead;
    let mut buffer = vec![7; BLOCK];
    Payload::new(&worker).prepare(&mut buffer);
    assert!(buffer.iter().all(|b| *b == 0));
}

#[test]
fn a_copy_writes_what_was_read() {
    let copied = Buffers { content: BufferContent::AsRead, ..Buffers::default() };
    let mut worker = worker(copied);
    worker.pattern.rw = ReadWrite::Replay { reads: true, writes: true, trims: false };
    let mut payload = Payload::new(&worker);
    let mut buffer = vec![0; BLOCK];
    payload.prepare(&mut buffer);
    buffer.fill(7);
    let op = Op { kind: OpKind::Write, file: 0, offset: 0, length: BLOCK as u64, tag: 0 };
    payload.fill(&mut buffer, &op);
    assert_eq!(buffer, vec![7; BLOCK]);
}
