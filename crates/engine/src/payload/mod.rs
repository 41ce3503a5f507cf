//! Content of write buffers.

pub(crate) mod content;

use crate::hot::op::{Op, OpKind};
use crate::random::{Random, mix};
use plan::{BufferContent, DedupeMode, Worker};

/// Fills write buffers with the content that a job asks for.
///
/// # Rules
/// - Random content is made once per buffer. Before each write, scrambling changes 16 bytes of every
///   512, so that no two written sectors are equal; refilling makes new content.
/// - Scrambling does not change patterns and zeros. A job that refills or also reads writes them into
///   the buffer before each write, because reads use the same buffers.
/// - A copy does not touch buffers: a write carries the data of the read before it.
/// - A compressible buffer is filled for each write: in every chunk, random bytes and then the pattern
///   or zeros. With 100 % there are no random bytes.
/// - A share of the writes are duplicates: of the last unique write, or of a write of the working set.
///   The working set has the first unique writes of the worker, or of all workers that share theirs.
#[derive(Clone, Debug)]
pub struct Payload {
    before_write: BeforeWrite,
    filler: Filler,
    writes: bool,
    seed: u64,
    prepared: u64,
    count: u64,
}

/// What happens to the buffer before each write.
#[derive(Clone, Debug)]
enum BeforeWrite {
    Nothing,
    Scramble,
    Refill,
    RefillOrRepeat(Dedupe),
}

/// Fills a whole buffer from a seed.
#[derive(Clone, Debug)]
struct Filler {
    /// Content of the bytes that are not random; empty for zeros.
    pattern: Vec<u8>,
    /// Bytes per chunk, the random ones first; 0: the buffer is one chunk.
    chunk: usize,
    /// Share of random bytes in a chunk, in per cent.
    random_percent: u64,
}

#[derive(Clone, Debug)]
struct Dedupe {
    percent: u32,
    /// Blocks of the working set; 0: duplicates repeat the last unique write.
    working_set: u64,
    /// Unique writes so far.
    unique: u64,
    /// Seeds of the workers whose unique writes make the working set.
    seeds: Vec<u64>,
    random: Random,
}

impl Payload {
    /// For a worker's buffers.
    pub fn new(worker: &Worker) -> Payload {
        let buffers = &worker.buffers;
        let filler = Filler::new(worker);
        let writes = worker.pattern.rw.writes();
        let seed = content_seed(worker.number, worker.pattern.seed);
        let is_random = filler.random_percent > 0;
        let dedupe = buffers.dedupe_percentage.filter(|percent| *percent > 0 && is_random);
        let before_write = if !writes || buffers.content == BufferContent::AsRead {
            BeforeWrite::Nothing
        } else if let Some(percent) = dedupe {
            BeforeWrite::RefillOrRepeat(Dedupe {
                percent: u32::from(percent.min(100)),
                working_set: working_set(worker),
                unique: 0,
                seeds: worker
                    .duplicates
                    .iter()
                    .map(|(number, seed)| content_seed(*number, *seed))
                    .collect(),
                random: Random::new(seed, 0),
            })
        } else if !is_random {
            let overwritten = worker.pattern.rw.reads();
            if buffers.refill || overwritten { BeforeWrite::Refill } else { BeforeWrite::Nothing }
        } else if buffers.refill || buffers.compress_percentage.is_some_and(|p| p > 0) {
            BeforeWrite::Refill
        } else if buffers.scramble {
            BeforeWrite::Scramble
        } else {
            BeforeWrite::Nothing
        };
        Payload { before_write, filler, writes, seed, prepared: 0, count: 0 }
    }

    /// Fills a slot's whole buffer. Called once per slot, before the run.
    pub fn prepare(&mut self, slot_buffer: &mut [u8]) {
        if !self.writes {
            // Touches the pages, so that none is allocated while I/O is timed.
            slot_buffer.fill(0);
            return;
        }
        self.prepared += 1;
        self.filler.fill(slot_buffer, self.seed.wrapping_sub(self.prepared));
    }

    /// Fills the buffer of a write; does nothing for other I/O.
    #[inline(always)]
    pub fn fill(&mut self, buffer: &mut [u8], op: &Op) {
        if matches!(self.before_write, BeforeWrite::Nothing) || op.kind != OpKind::Write {
            return;
        }
        self.fill_write(buffer, op.offset);
    }

    fn fill_write(&mut self, buffer: &mut [u8], offset: u64) {
        self.count += 1;
        match &mut self.before_write {
            BeforeWrite::Nothing => {}
            BeforeWrite::Scramble => content::scramble(buffer, offset ^ self.seed, self.count),
            BeforeWrite::Refill => self.filler.fill(buffer, self.seed.wrapping_add(self.count)),
            BeforeWrite::RefillOrRepeat(dedupe) => {
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
    /// The seed and the number of the next write's content: new content, or a duplicate of this or
    /// another worker's. Assumes that the other workers have made as many unique writes as this one.
    fn next(&mut self, own: u64) -> (u64, u64) {
        if self.unique > 0 && self.random.percent(self.percent) {
            if self.working_set == 0 {
                return (own, self.unique);
            }
            let number = 1 + self.random.below(self.working_set.min(self.unique));
            let worker = self.random.below(self.seeds.len() as u64) as usize;
            return (self.seeds.get(worker).copied().unwrap_or(own), number);
        }
        self.unique += 1;
        (own, self.unique)
    }
}

/// Seed of a worker's content. Workers write different data even with equal seeds; otherwise storage
/// could deduplicate it.
fn content_seed(number: u32, seed: u64) -> u64 {
    mix(mix(seed).wrapping_add(number.into()))
}

/// Number of blocks in the working set; 0 without one.
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
