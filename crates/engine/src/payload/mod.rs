//! What write buffers hold.

pub(crate) mod content;

use crate::hot::op::{Op, OpKind};
use crate::random::{Random, mix};
use plan::{BufferContent, DedupeMode, Worker};

/// Makes the content of write buffers as a job asks for it.
///
/// # Rules
/// - Random content is made once a buffer. Scrambling then changes 16 bytes of every 512 before each
///   write, so that no two written sectors are alike; refilling makes it all anew.
/// - A pattern or zeros stay what they are: scrambling does not touch them. In a job that refills, or
///   reads as well, they are made again before each write: reads go through the same buffers.
/// - A copy leaves buffers alone: a write carries what the read before it brought.
/// - A compressible buffer is made anew for each write: in every chunk, random bytes and then the
///   pattern or zeros. A share of 100 % has no random bytes.
/// - A share of dedupable writes repeats the last write that was not one, or one of the working set:
///   the first of those writes, as many as the working set has blocks, of its own or of all workers
///   that share theirs.
#[derive(Clone, Debug)]
pub struct Payload {
    task: Task,
    filler: Filler,
    writes: bool,
    seed: u64,
    prepared: u64,
    count: u64,
}

/// What is done before each write.
#[derive(Clone, Debug)]
enum Task {
    Nothing,
    Scramble,
    Refill,
    Repeat(Dedupe),
}

/// How a whole buffer is made from a seed.
#[derive(Clone, Debug)]
struct Filler {
    /// What is not random.
    pattern: Vec<u8>,
    /// Bytes of a chunk, the random ones first; 0: the buffer is a single chunk.
    chunk: usize,
    /// Share of a chunk that is random, per cent.
    random_percent: u64,
}

#[derive(Clone, Debug)]
struct Dedupe {
    percent: u32,
    /// Blocks of the working set; 0: repeats the last unique one.
    working_set: u64,
    /// Unique writes so far.
    unique: u64,
    /// Seeds of all whose unique writes make the working set.
    seeds: Vec<u64>,
    random: Random,
}

impl Payload {
    /// What the worker's buffers ask for.
    pub fn new(worker: &Worker) -> Payload {
        let buffers = &worker.buffers;
        let filler = Filler::new(worker);
        let writes = worker.pattern.rw.writes();
        let seed = seed_of(worker.number, worker.pattern.seed);
        let is_random = filler.random_percent > 0;
        let dedupe = buffers.dedupe_percentage.filter(|percent| *percent > 0 && is_random);
        let task = if !writes || buffers.content == BufferContent::AsRead {
            Task::Nothing
        } else if let Some(percent) = dedupe {
            Task::Repeat(Dedupe {
                percent: u32::from(percent.min(100)),
                working_set: working_set(worker),
                unique: 0,
                seeds: worker
                    .duplicates
                    .iter()
                    .map(|(number, seed)| seed_of(*number, *seed))
                    .collect(),
                random: Random::new(seed, 0),
            })
        } else if !is_random {
            let overwritten = worker.pattern.rw.reads();
            if buffers.refill || overwritten { Task::Refill } else { Task::Nothing }
        } else if buffers.refill || buffers.compress_percentage.is_some_and(|p| p > 0) {
            Task::Refill
        } else if buffers.scramble {
            Task::Scramble
        } else {
            Task::Nothing
        };
        Payload { task, filler, writes, seed, prepared: 0, count: 0 }
    }

    /// Gives a slot's whole buffer its first content. Called once for each slot, before the run.
    pub fn prepare(&mut self, slot_buffer: &mut [u8]) {
        if !self.writes {
            // Touched all the same: no page is to be found for it while I/O is timed.
            slot_buffer.fill(0);
            return;
        }
        self.prepared += 1;
        self.filler.fill(slot_buffer, self.seed.wrapping_sub(self.prepared));
    }

    /// Gives a buffer the content for a write; anything else leaves it alone.
    #[inline(always)]
    pub fn fill(&mut self, buffer: &mut [u8], op: &Op) {
        if matches!(self.task, Task::Nothing) || op.kind != OpKind::Write {
            return;
        }
        self.fill_write(buffer, op.offset);
    }

    fn fill_write(&mut self, buffer: &mut [u8], offset: u64) {
        self.count += 1;
        match &mut self.task {
            Task::Nothing => {}
            Task::Scramble => content::scramble(buffer, offset ^ self.seed, self.count),
            Task::Refill => self.filler.fill(buffer, self.seed.wrapping_add(self.count)),
            Task::Repeat(dedupe) => {
                let (seed, number) = dedupe.next(self.seed);
                self.filler.fill(buffer, seed.wrapping_add(number));
            }
        }
    }
}

impl Filler {
    fn new(worker: &Worker) -> Filler {
        let buffers = &worker.buffers;
        let compress = buffers.compress_percentage.map(|p| u64::from(p.min(100)));
        let random_percent = match (&buffers.content, compress) {
            (BufferContent::Zero | BufferContent::AsRead, _)
            | (BufferContent::Pattern(_), None) => 0,
            (BufferContent::Random, None) => 100,
            (_, Some(percent)) => 100 - percent,
        };
        let pattern = match &buffers.content {
            BufferContent::Pattern(pattern) => pattern.clone(),
            BufferContent::Random | BufferContent::Zero | BufferContent::AsRead => Vec::new(),
        };
        let chunk = usize::try_from(buffers.compress_chunk.0).unwrap_or(0);
        Filler { pattern, chunk, random_percent }
    }

    fn fill(&self, buffer: &mut [u8], seed: u64) {
        match self.random_percent {
            100 => content::random(buffer, seed),
            0 => content::pattern(buffer, &self.pattern),
            percent => {
                let chunk = if self.chunk == 0 { buffer.len().max(1) } else { self.chunk };
                for (index, chunk) in buffer.chunks_mut(chunk).enumerate() {
                    let random = (chunk.len() as u64 * percent / 100) as usize;
                    let (random, rest) = chunk.split_at_mut(random);
                    content::random(random, mix(seed) ^ index as u64);
                    content::pattern(rest, &self.pattern);
                }
            }
        }
    }
}

impl Dedupe {
    /// Which of the unique contents comes next, by the seed of whose it is and its number there; a
    /// new one has a new number. Of the others it takes what they have written by now if they are as
    /// far as this one.
    fn next(&mut self, own: u64) -> (u64, u64) {
        if self.unique > 0 && self.random.percent(self.percent) {
            if self.working_set == 0 {
                return (own, self.unique);
            }
            let number = 1 + self.random.below(self.working_set.min(self.unique));
            let whose = self.random.below(self.seeds.len() as u64) as usize;
            return (self.seeds.get(whose).copied().unwrap_or(own), number);
        }
        self.unique += 1;
        (own, self.unique)
    }
}

/// Seed of a worker's content: workers write different data even with equal seeds, else storage that
/// finds duplicates would find them.
fn seed_of(number: u32, seed: u64) -> u64 {
    mix(mix(seed).wrapping_add(number.into()))
}

/// Blocks of the working set; 0 without one.
fn working_set(worker: &Worker) -> u64 {
    if worker.buffers.dedupe_mode != DedupeMode::WorkingSet {
        return 0;
    }
    let blocks = worker.region() / worker.pattern.blocks.write.min().max(1);
    let percent = u128::from(worker.buffers.dedupe_working_set_percentage.min(100));
    ((u128::from(blocks) * percent / 100) as u64).max(1)
}

#[cfg(test)]
mod tests;
