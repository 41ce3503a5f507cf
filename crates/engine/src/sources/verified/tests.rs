//! Verification on disks in memory, with I/O in an order drawn from a seed: each damage made is found and
//! named, and nothing else is.

use super::*;
use crate::random::Random;
use crate::zones::ZonedTargets;
use plan::{BlockPattern, BlockPlan, Engine, File, Named, ReadWrite, VerifyMethod};
use record::PerDirection;

const SIZE: u64 = 96 << 10;
const BLOCK: u64 = 4096;

/// Verification with default options.
pub(super) fn verify() -> Verify {
    Verify {
        method: VerifyMethod::Crc32c,
        read_back: true,
        only: false,
        interval: 0,
        offset: 0,
        pattern: None,
        pattern_interval: 0,
        fatal: false,
        dump: false,
        threads: 0,
        cpus: Vec::new(),
        backlog: 0,
        backlog_batch: 1,
        state_load: false,
        state_save: false,
        only_fsynced: false,
        write_sequence: true,
        header_seed: true,
        trimming: None,
    }
}

/// Changes a worker into one of another shape.
type Shape = (&'static str, fn(&mut Worker));

/// Blocks that nothing overwrites.
const PLAIN: [Shape; 7] = [
    ("sequential", |worker| worker.pattern.rw = ReadWrite::Write),
    ("random", |_| {}),
    ("mixed", |worker| worker.pattern.rw = ReadWrite::RandRw),
    ("files", |worker| worker.files = vec![worker.files[0].clone(); 3]),
    ("offset", |worker| options(worker).offset = 512),
    ("threads", |worker| options(worker).threads = 2),
    ("backlog", |worker| {
        (options(worker).backlog, options(worker).backlog_batch) = (1000, 1000);
    }),
];

/// Blocks that later writes overlap.
const CUT: [Shape; 6] = [
    ("anywhere", |worker| anywhere(worker, BlockPlan::Fixed(BLOCK), 512)),
    ("intervals", |worker| {
        anywhere(worker, BlockPlan::Fixed(BLOCK), 512);
        options(worker).interval = 1024;
    }),
    ("offset", |worker| {
        anywhere(worker, BlockPlan::Fixed(BLOCK), 512);
        options(worker).offset = 512;
    }),
    ("split", |worker| {
        anywhere(worker, BlockPlan::Split(vec![(1024, 30), (3072, 30), (8192, 40)]), 1024);
    }),
    ("unaligned", |worker| {
        anywhere(worker, BlockPlan::Range { min: 777, max: 5000, step: 1 }, 1);
    }),
    ("backlog", |worker| {
        anywhere(worker, BlockPlan::Fixed(BLOCK), 1024);
        (options(worker).backlog, options(worker).backlog_batch) = (1000, 1000);
    }),
];

fn options(worker: &mut Worker) -> &mut Verify {
    worker.verify.as_mut().unwrap()
}

fn anywhere(worker: &mut Worker, blocks: BlockPlan, align: u64) {
    worker.pattern.norandommap = true;
    worker.pattern.blocks.write = blocks;
    worker.pattern.align = PerDirection::all(align);
    worker.stop.bytes = Some(3 * SIZE);
}

fn worker(method: VerifyMethod, shape: Shape, seed: u64) -> Worker {
    let mut worker = Worker::default();
    worker.pattern.rw = ReadWrite::RandWrite;
    worker.pattern.mix_read = 30;
    worker.pattern.run_length = 1;
    worker.pattern.align = PerDirection::all(BLOCK);
    worker.pattern.blocks = PerDirection::all(BlockPlan::Fixed(BLOCK));
    worker.pattern.seed = seed;
    worker.selection.ios = 1;
    worker.stop.loops = 1;
    worker.queue.engine = Engine::Psync;
    worker.queue.depth = 8;
    worker.files = vec![File { length: SIZE, whole: SIZE, ..File::default() }];
    let patterned = matches!(method, VerifyMethod::Pattern | VerifyMethod::PatternHeader);
    let pattern = BlockPattern { bytes: b"\0\0\0\0\0\0\0\0abc".to_vec(), offsets: vec![0] };
    let pattern = patterned.then_some(pattern);
    worker.verify = Some(Verify { method, pattern, ..verify() });
    (shape.1)(&mut worker);
    worker
}

/// Files, as bytes.
type Disk = Vec<Vec<u8>>;

/// A worker's I/O and the disk it goes to.
struct Trial {
    verified: Verified,
    disk: Disk,
    in_flight: Vec<(Op, Vec<u8>)>,
    random: Random,
    told: Vec<String>,
}

impl Trial {
    fn new(worker: &Worker, disk: Option<Disk>) -> Trial {
        let empty = vec![vec![0; SIZE as usize]; worker.files.len()];
        Trial {
            verified: Verified::new(
                worker,
                worker.verify.as_ref().unwrap(),
                "",
                &ZonedTargets::default(),
            ),
            disk: disk.unwrap_or(empty),
            in_flight: Vec::new(),
            random: Random::new(worker.pattern.seed, 77),
            told: Vec::new(),
        }
    }

    /// Ends one of the I/Os in flight, whichever.
    fn end_one(&mut self) {
        let at = self.random.below(self.in_flight.len() as u64) as usize;
        let (op, mut buffer) = self.in_flight.swap_remove(at);
        let file = &mut self.disk[op.file as usize];
        let (from, to) = (op.offset as usize, (op.offset + op.length) as usize);
        let there = to.min(file.len()).saturating_sub(from);
        match op.kind {
            OpKind::Write => file[from..to].copy_from_slice(&buffer),
            _ if there > 0 => buffer[..there].copy_from_slice(&file[from..from + there]),
            _ => {}
        }
        if op.kind == OpKind::Read && there < buffer.len() {
            // As the loop does: what is there is looked at, then the rest finds the end.
            let part = Op { length: there as u64, ..op };
            let rest = Op { offset: op.offset + part.length, length: 0, ..op };
            let looked_at = self.verified.part_ended(&part, &mut buffer[..there]);
            self.told.extend(looked_at.err().map(|fault| fault.text));
            self.told.extend(self.verified.read_past_end(&rest).map(|fault| fault.text));
            return self.verified.completed(&rest, 0);
        }
        self.verified.completed(&op, op.length);
        let ended = self.verified.ended(&op, &mut buffer, &Stamps::default(), 0);
        self.told.extend(ended.err().map(|fault| fault.text));
    }

    fn drain(&mut self) {
        while !self.in_flight.is_empty() {
            self.end_one();
        }
    }

    fn issue(&mut self, op: Op) {
        let mut buffer = vec![0; op.length as usize];
        if op.kind == OpKind::Write {
            assert!(self.verified.fill(&op, &mut buffer));
        }
        self.verified.issued(&op, &Stamps::default());
        self.in_flight.push((op, buffer));
    }

    /// Runs it to its end; `harm` is done once all is written. What was told, and the disk.
    fn run(mut self, mut harm: impl FnMut(&mut Trial)) -> (Vec<String>, Disk) {
        loop {
            if self.in_flight.len() == 8 {
                self.end_one();
            }
            match self.verified.next() {
                Next::Io(op) => self.issue(op),
                Next::Busy => self.end_one(),
                Next::Settle => {
                    self.drain();
                    harm(&mut self);
                }
                Next::End if self.in_flight.is_empty() => break,
                _ => self.drain(),
            }
        }
        self.told.extend(self.verified.late.drain(..).map(|(_, fault)| fault.text));
        (self.told, self.disk)
    }

    /// Places that hold all of one write, or any part of it.
    fn pieces(&self, whole: bool) -> Vec<(usize, Piece)> {
        let files = 0..self.disk.len() as u32;
        let all = files.flat_map(|file| {
            let pieces = self.verified.writes.pieces(file, 0, SIZE);
            pieces.into_iter().map(move |piece| (file as usize, piece))
        });
        all.filter(|(_, piece)| !whole || (piece.head && piece.tail)).collect()
    }

    fn pick(&mut self, whole: bool) -> (usize, std::ops::Range<usize>) {
        let pieces = self.pieces(whole);
        let (file, piece) = pieces[self.random.below(pieces.len() as u64) as usize];
        (file, piece.start as usize..(piece.start + piece.length) as usize)
    }
}

/// What is done to a disk; the second one holds what another run left there.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Harm {
    Flip,
    Swap,
    Stale,
    TearFront,
    TearBack,
    Zero,
    Cut,
}

const HARMS: [Harm; 7] =
    [Harm::Flip, Harm::Swap, Harm::Stale, Harm::TearFront, Harm::TearBack, Harm::Zero, Harm::Cut];

impl Harm {
    /// The expected message; `None` if the method cannot detect this damage: its blocks hold no data of
    /// the job, or the same data in each write.
    fn name(self, method: VerifyMethod) -> Option<&'static str> {
        let same = matches!(method, VerifyMethod::Pattern | VerifyMethod::PatternHeader);
        let blind = method == VerifyMethod::Meta;
        match self {
            Harm::Flip | Harm::TearBack if blind => None,
            Harm::TearBack if same => None,
            Harm::Stale | Harm::TearFront if method == VerifyMethod::Pattern => None,
            // Torn or stale: only the header tells.
            Harm::TearFront if same || blind => Some("verify failed"),
            Harm::Swap if method == VerifyMethod::Pattern => Some("verify failed"),
            Harm::Flip => Some("bit flip"),
            Harm::Swap => Some("misplaced block"),
            Harm::Stale => Some("stale block"),
            Harm::TearFront | Harm::TearBack => Some("torn block"),
            Harm::Zero => Some("zeroed block"),
            Harm::Cut => Some("short file"),
        }
    }

    fn strike(self, trial: &mut Trial, other: &Disk) {
        let (file, place) = trial.pick(true);
        let middle = usize::midpoint(place.start, place.end);
        let mut take = |place: std::ops::Range<usize>| {
            trial.disk[file][place.clone()].copy_from_slice(&other[file][place]);
        };
        match self {
            Harm::Stale => take(place),
            Harm::TearFront => take(place.start..middle),
            Harm::TearBack => take(middle..place.end),
            Harm::Zero => trial.disk[file][place].fill(0),
            Harm::Cut => trial.disk[file].truncate(place.start),
            Harm::Flip => {
                let at = place.start + trial.random.below(place.len() as u64) as usize;
                trial.disk[file][at] ^= 1 << trial.random.below(8);
            }
            Harm::Swap => {
                let other = trial.pieces(true);
                let elsewhere = |(at, piece): &&(usize, Piece)| {
                    *at == file && piece.start as usize != place.start
                };
                let there = other.iter().find(elsewhere).unwrap().1.start as usize;
                let (a, b) = (place.start.min(there), place.start.max(there));
                let (front, back) = trial.disk[file].split_at_mut(b);
                front[a..a + place.len()].swap_with_slice(&mut back[..place.len()]);
            }
        }
    }
}

fn checked(told: &[String], name: Option<&str>, case: &str) {
    match name {
        Some(name) => {
            assert!(told.iter().any(|text| text.contains(name)), "{case}: {told:?}");
        }
        None => assert!(told.is_empty(), "{case}: {told:?}"),
    }
}

fn methods() -> impl Iterator<Item = VerifyMethod> {
    VerifyMethod::NAMES
        .iter()
        .map(|(method, _)| *method)
        .filter(|method| *method != VerifyMethod::Null)
}

/// Seventeen methods, seven shapes, seven harms and none, in the run itself and by going through the
/// job again.
#[test]
fn every_harm_is_found_and_named_and_nothing_else_is() {
    for (method, shape) in methods().flat_map(|m| PLAIN.map(|shape| (m, shape))) {
        let case = |harm| format!("{method:?}, {}, {harm:?}", shape.0);
        let ours = worker(method, shape, 1);
        let (told, other) = Trial::new(&worker(method, shape, 2), None).run(|_| {});
        checked(&told, None, &case(None));
        let (_, disk) = Trial::new(&ours, None).run(|_| {});
        let again = Verify { only: true, ..ours.verify.clone().unwrap() };
        let again = Worker { verify: Some(again), ..ours.clone() };
        checked(&Trial::new(&again, Some(disk.clone())).run(|_| {}).0, None, &case(None));
        for harm in HARMS {
            let strike = |trial: &mut Trial| harm.strike(trial, &other);
            let (told, _) = Trial::new(&ours, None).run(strike);
            checked(&told, harm.name(method), &case(Some(harm)));
            let (told, _) = Trial::new(&again, Some(disk.clone())).run(strike);
            checked(&told, harm.name(method), &format!("{} again", case(Some(harm))));
        }
    }
}

/// A block that a later write overlaps has no checksum of the rest: the data of the rest is compared.
#[test]
fn harm_to_cut_blocks_is_found_wherever_it_strikes() {
    for (method, shape) in methods().flat_map(|m| CUT.map(|shape| (m, shape))) {
        let shaped = |seed| {
            let mut worker = worker(method, shape, seed);
            if method == VerifyMethod::Pattern {
                (options(&mut worker).interval, options(&mut worker).offset) = (0, 0);
            }
            worker
        };
        for seed in 0..6 {
            let ours = shaped(seed);
            let case = format!("{method:?}, {}, seed {seed}", shape.0);
            let (told, _) = Trial::new(&ours, None).run(|_| {});
            checked(&told, None, &case);
            let struck = |trial: &mut Trial| {
                // A piece longer than any header ends with data, which is what is compared.
                let pieces = trial.pieces(false);
                let long = pieces.iter().filter(|(_, piece)| piece.length > 256).count();
                assert!(long > 3, "there is something to harm");
                let (file, place) = loop {
                    let (file, place) = trial.pick(false);
                    if place.len() > 256 {
                        break (file, place);
                    }
                };
                trial.disk[file][place.end - 1] ^= 8;
            };
            let (told, _) = Trial::new(&ours, None).run(struck);
            let name = if method == VerifyMethod::Meta { continue } else { Some("verify failed") };
            checked(&told, name, &case);
        }
    }
}
