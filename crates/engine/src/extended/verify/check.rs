//! Whether what was read is what was written, and if not, what happened to it.

use super::checksum;
use super::content::Content;
use super::diagnosis::{self, Damage};
use super::dump;
use super::header::{self, Header, Malformed};
use super::ledger::{Holds, Piece, Stamp};
use super::writes::grid;
use crate::ops::{Fault, Op};
use crate::worker::VERIFY;
use plan::{Engine, Verify, VerifyMethod, Worker};
use std::sync::Arc;

/// What is known of the writes whose blocks are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Knowing {
    /// Nothing: a job that only reads.
    Nothing,
    /// Their order, from going through the job again; who wrote the file is not known.
    Order,
    /// Everything: this run wrote them.
    All,
}

/// A read that ended, and what its bytes should be.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub op: Op,
    pub pieces: Vec<Piece>,
    /// The last write there was.
    pub last: Stamp,
}

/// What was seen.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The read.
    pub op: Op,
    pub fault: Option<Fault>,
    /// A block carries the seed of this job's writes.
    pub own: bool,
    /// A block carries the seed of others: a fault where the file is this job's own.
    pub foreign: Option<Fault>,
}

/// A piece that is not what it should be.
struct Bad {
    at: u64,
    length: u64,
    what: String,
    expected: Option<Vec<u8>>,
}

/// An interval that is not what it should be.
struct Wrong {
    what: String,
    /// The data it should have, where that is known.
    data: Option<Vec<u8>>,
}

impl From<String> for Wrong {
    fn from(what: String) -> Self {
        Wrong { what, data: None }
    }
}

/// Where the block of a piece began.
enum Start {
    Known(u64),
    /// One of several places.
    Possible(u64),
    /// It does not matter.
    Needless,
}

impl Start {
    fn offset(&self) -> Option<u64> {
        match self {
            Start::Known(at) | Start::Possible(at) => Some(*at),
            Start::Needless => None,
        }
    }
}

/// Whose block an interval is.
enum Owner {
    Own,
    Unknown,
    Foreign,
}

/// Checks what reads bring. One for each thread that checks.
#[derive(Clone)]
pub(super) struct Checker {
    content: Content,
    knowing: Knowing,
    /// Nothing is checked.
    pretends: bool,
    verify: Arc<Verify>,
    paths: Arc<[String]>,
    aux_path: Arc<str>,
    /// The size of all blocks, where they have only one.
    one_size: Option<u64>,
    /// That of the largest.
    size_max: u64,
    /// What blocks begin and end at multiples of, from their region's start.
    grid: u64,
}

impl Checker {
    pub fn new(worker: &Worker, verify: &Verify, knowing: Knowing, aux_path: &str) -> Checker {
        let write = &worker.pattern.blocks.write;
        // What never went anywhere cannot be found again; fio pretends in the same way.
        let pretends = worker.queue.engine == Engine::Null;
        Checker {
            content: Content::new(worker, verify),
            knowing,
            pretends,
            verify: Arc::new(verify.clone()),
            paths: worker.files.iter().map(|file| file.path.clone()).collect(),
            aux_path: aux_path.into(),
            one_size: Some(write.min()).filter(|size| *size == write.max()),
            size_max: write.max(),
            grid: grid(worker),
        }
    }

    /// Checks a read; headers that stand elsewhere are moved back within `buffer`.
    pub fn check(&mut self, request: &Request, buffer: &mut [u8]) -> Found {
        let mut found = Found { op: request.op, fault: None, own: false, foreign: None };
        if self.pretends {
            return found;
        }
        let (mut first, mut count) = (None, 0u64);
        for piece in &request.pieces {
            let from = (piece.start - request.op.offset) as usize;
            let Some(data) = buffer.get_mut(from..from + piece.length as usize) else { continue };
            let bad = match piece.holds {
                Holds::Trimmed => self.check_trimmed(piece, data),
                Holds::Write(stamp) => self.check_piece(request, piece, stamp, data, &mut found),
            };
            if let Some(bad) = bad {
                count += 1;
                first.get_or_insert(bad);
            }
        }
        if let Some(bad) = first {
            found.fault = Some(self.fault(&request.op, &bad, count, buffer));
        }
        found
    }

    fn check_trimmed(&self, piece: &Piece, data: &[u8]) -> Option<Bad> {
        let zero = self.verify.trimming.is_some_and(|trimming| trimming.zero);
        let at = data.iter().position(|byte| *byte != 0).filter(|_| zero)?;
        let what = format!("trimmed block: byte {at} reads {:#04x}, not zero", data[at]);
        Some(Bad { at: piece.start, length: piece.length, what, expected: None })
    }

    fn check_piece(
        &mut self,
        request: &Request,
        piece: &Piece,
        stamp: Stamp,
        data: &mut [u8],
        found: &mut Found,
    ) -> Option<Bad> {
        // One of the places where the block may begin has to be right.
        let mut first = None;
        for block in self.starts(piece) {
            let mut copy;
            let part = match block {
                Start::Known(_) | Start::Needless => &mut *data,
                Start::Possible(_) => {
                    copy = data.to_vec();
                    &mut copy
                }
            };
            let bad = self.check_parts(request, piece, stamp, part, block.offset(), found)?;
            first.get_or_insert(bad);
        }
        first
    }

    /// Where the block of a piece may have begun.
    fn starts(&self, piece: &Piece) -> Vec<Start> {
        let end = piece.start + piece.length;
        let by_end = self.one_size.filter(|_| piece.tail).and_then(|size| end.checked_sub(size));
        if let Some(known) = Some(piece.start).filter(|_| piece.head).or(by_end) {
            return vec![Start::Known(known)];
        }
        let aligned = self.content.interval == 0 || self.is_aligned();
        if self.content.is_placeless() && aligned {
            return vec![Start::Needless];
        }
        // Blocks begin on the grid.
        let into = (1..).map(|cells| cells * self.grid);
        let into = into.take_while(|into| into + piece.length <= self.size_max);
        into.filter_map(|into| piece.start.checked_sub(into).map(Start::Possible)).collect()
    }

    /// Whether intervals begin wherever blocks may.
    fn is_aligned(&self) -> bool {
        self.interval_length().is_some_and(|step| self.grid.is_multiple_of(step))
    }

    /// Checks the intervals of a piece whose block begins at `block`.
    fn check_parts(
        &mut self,
        request: &Request,
        piece: &Piece,
        stamp: Stamp,
        data: &mut [u8],
        block: Option<u64>,
        found: &mut Found,
    ) -> Option<Bad> {
        match self.content.method {
            VerifyMethod::Null => return None,
            VerifyMethod::Pattern => return self.check_data(piece.start, stamp, 0, data, block),
            _ => {}
        }
        let step = self.interval_length().unwrap_or(u64::MAX);
        let aligned = self.is_aligned().then_some(0);
        let mut into = block.map(|block| (piece.start - block) % step).or(aligned);
        let (mut rest, mut at) = (data, piece.start);
        let mut bad = None;
        while !rest.is_empty() {
            let left = into.map_or(u64::MAX, |into| step - into).min(rest.len() as u64);
            let (part, others) = rest.split_at_mut(left as usize);
            let whole = into == Some(0) && (left == step || (others.is_empty() && piece.tail));
            let wrong = match whole {
                true if part.len() >= self.content.header_size() => {
                    self.check_whole(request, at, part, stamp, block, found)
                }
                // Too short for a header.
                true => self.check_data(at, stamp, 0, part, block),
                false => self.check_cut(at, part, into, stamp, block),
            };
            bad = bad.or(wrong);
            (rest, at, into) = (others, at + left, Some(0));
        }
        bad
    }

    /// Checks an interval that stands as a whole.
    fn check_whole(
        &mut self,
        request: &Request,
        at: u64,
        part: &mut [u8],
        stamp: Stamp,
        block: Option<u64>,
        found: &mut Found,
    ) -> Option<Bad> {
        let length = part.len() as u64;
        match self.check_interval(request, at, part, stamp, block) {
            Ok(Owner::Own) => found.own = true,
            Ok(Owner::Unknown) => {}
            Ok(Owner::Foreign) => {
                let what = "stale block: its header has the seed of another run".to_owned();
                let foreign = Bad { at, length, what, expected: None };
                if found.foreign.is_none() {
                    found.foreign = Some(self.fault(&request.op, &foreign, 1, &[]));
                }
            }
            Err(Wrong { what, data }) => {
                let data = data.or_else(|| self.expected(at, part.len(), stamp, block));
                let expected = data.map(|data| self.content.like(data, part));
                self.content.swap_header(part);
                return Some(Bad { at, length, what, expected });
            }
        }
        None
    }

    /// Checks what later writes left of an interval: its data, for no checksum covers that.
    fn check_cut(
        &mut self,
        at: u64,
        part: &[u8],
        into: Option<u64>,
        stamp: Stamp,
        block: Option<u64>,
    ) -> Option<Bad> {
        let (size, offset) = (self.content.header_size(), self.content.offset);
        let Some(into) = into.map(|into| into as usize).filter(|_| offset > 0) else {
            // Where it is not known how much is gone, it is a cell at least.
            let gone = into.unwrap_or(self.grid) as usize;
            return self.check_data(at, stamp, (offset + size).saturating_sub(gone), part, block);
        };
        let end = into + part.len();
        let start = at - into as u64;
        let mut expected = self.expected(start, end.max(offset + size), stamp, block)?;
        self.content.swap_header(&mut expected);
        // Of the header only its place is known.
        let header = offset.clamp(into, end)..(offset + size).clamp(into, end);
        expected[header.clone()].copy_from_slice(&part[header.start - into..header.end - into]);
        bad_data(at, expected[into..end].to_vec(), part, 0)
    }

    /// Bytes of each interval, where they are alike.
    fn interval_length(&self) -> Option<u64> {
        if self.content.interval > 0 { Some(self.content.interval) } else { self.one_size }
    }

    /// The data that the write should have left at `at`; `None` where that cannot be known.
    fn expected(
        &mut self,
        at: u64,
        length: usize,
        stamp: Stamp,
        block: Option<u64>,
    ) -> Option<Vec<u8>> {
        let placeless = self.content.is_placeless();
        let block = block.or(placeless.then_some(at))?;
        if placeless && self.knowing == Knowing::Nothing {
            return None;
        }
        let mut data = vec![0; length];
        let seed = self.content.seed_of(stamp);
        self.content.data(&mut data, at, block, seed);
        Some(data)
    }

    /// Compares the data itself, but for the first `skip` bytes.
    fn check_data(
        &mut self,
        at: u64,
        stamp: Stamp,
        skip: usize,
        data: &[u8],
        block: Option<u64>,
    ) -> Option<Bad> {
        let expected = self.expected(at, data.len(), stamp, block)?;
        bad_data(at, expected, data, skip)
    }

    /// Checks an interval with its header.
    fn check_interval(
        &mut self,
        request: &Request,
        at: u64,
        part: &mut [u8],
        stamp: Stamp,
        block: Option<u64>,
    ) -> Result<Owner, Wrong> {
        self.content.swap_header(part);
        let header = match Header::read(part) {
            Ok(header) => header,
            Err(malformed) => {
                return Err(self.without_header(at, part, stamp, block, malformed).into());
            }
        };
        self.check_place(&header, at, part)?;
        let owner = self
            .check_generation(request, &header, stamp)
            .map_err(|stale| self.torn(at, part, stamp, block).unwrap_or(stale))?;
        self.check_content(&header, at, part, block, &owner)?;
        Ok(owner)
    }

    /// Method, length and offset.
    fn check_place(&self, header: &Header, at: u64, part: &[u8]) -> Result<(), String> {
        let wanted = header::number(self.content.method);
        // What meta and patterns know is in every header.
        let any = matches!(self.content.method, VerifyMethod::Meta);
        if header.method != wanted && !any {
            return Err(format!(
                "another method: verify type {} in its header, {wanted} wanted ({})",
                header.method,
                self.content.method.name()
            ));
        }
        if header.offset != at {
            return Err(format!(
                "misplaced block: bad header offset {}, wanted {at}",
                header.offset
            ));
        }
        if u64::from(header.length) != part.len() as u64 {
            let (found, wanted) = (header.length, part.len());
            return Err(format!("bad header length {found}, wanted {wanted}"));
        }
        Ok(())
    }

    /// Which write the block comes from.
    fn check_generation(
        &self,
        request: &Request,
        header: &Header,
        stamp: Stamp,
    ) -> Result<Owner, String> {
        if self.knowing == Knowing::Nothing {
            return Ok(Owner::Unknown);
        }
        let wanted = (stamp - 1) as u16;
        let right_seed = header.seed == self.content.seed_of(stamp);
        if right_seed && header.sequence == wanted {
            return Ok(Owner::Own);
        }
        let (sequence, seed) = (self.verify.write_sequence, self.verify.header_seed);
        let stale = |known: &str| {
            Err(format!(
                "stale block: bad header write sequence {}, wanted {wanted}{known}",
                header.sequence
            ))
        };
        if let Some(earlier) = self.content.write_of(header, request.last) {
            let writes = stamp.saturating_sub(earlier);
            let known = match writes {
                0 => String::new(),
                _ => format!(": it is what write {earlier} left, not write {stamp}"),
            };
            return if sequence { stale(&known) } else { Ok(Owner::Own) };
        }
        if self.knowing == Knowing::Order {
            return Ok(if seed { Owner::Foreign } else { Owner::Unknown });
        }
        if sequence && header.sequence != wanted {
            return stale(" and it is of another run");
        }
        if seed {
            return Err(format!(
                "stale block: bad header seed {:#x}, wanted {:#x}: it is of another run",
                header.seed,
                self.content.seed_of(stamp)
            ));
        }
        Ok(Owner::Unknown)
    }

    /// A tear, where the header is an earlier write's and some of the data this one's.
    fn torn(&mut self, at: u64, part: &[u8], stamp: Stamp, block: Option<u64>) -> Option<String> {
        let data = self.expected(at, part.len(), stamp, block)?;
        let size = self.content.header_size();
        let torn = matches!(Damage::of(&data, part, size), Damage::Torn(_));
        (torn && self.content.is_placeless()).then(|| diagnosis::describe(&data, part, size))
    }

    /// The data against its checksum, and against itself where no checksum covers it.
    fn check_content(
        &mut self,
        header: &Header,
        at: u64,
        part: &[u8],
        block: Option<u64>,
        owner: &Owner,
    ) -> Result<(), Wrong> {
        let size = self.content.header_size();
        let mut digest = [0; 128];
        let digest = &mut digest[..size - header::SIZE];
        // What a block too short for its checksum leaves undefined stays as it is.
        digest.copy_from_slice(&part[header::SIZE..size]);
        checksum::digest(self.content.method, &part[size..], digest);
        let matches = digest == &part[header::SIZE..size];
        if matches && !is_weak(self.content.method) {
            return Ok(());
        }
        let data = self.data_of(header, at, part, block, !matches!(owner, Owner::Own));
        let Some(data) = data else {
            return match matches {
                true => Ok(()),
                false => Err(mismatch(digest, &part[header::SIZE..size]).into()),
            };
        };
        let kept = &part[header::SIZE..size];
        let right = data[size..] == part[size..];
        if right && matches {
            return Ok(());
        }
        let what = match (right, matches) {
            (true, _) => format!("{} (in its checksum)", diagnosis::describe(digest, kept, 0)),
            _ => diagnosis::describe(&data, part, size),
        };
        let what = if matches { what } else { format!("{what}; {}", mismatch(digest, kept)) };
        Err(Wrong { what, data: Some(data) })
    }

    /// The data that a header promises; `None` where it is of a writer whose data cannot be made
    /// again. With `doubtful`, data of which nothing matches is taken to be of another writer.
    fn data_of(
        &mut self,
        header: &Header,
        at: u64,
        part: &[u8],
        block: Option<u64>,
        doubtful: bool,
    ) -> Option<Vec<u8>> {
        let placeless = self.content.is_placeless();
        let block = block.or(placeless.then_some(at))?;
        let mut data = vec![0; part.len()];
        self.content.data(&mut data, at, block, header.seed);
        let known = !placeless || !doubtful || diagnosis::is_alike(&data, part);
        known.then_some(data)
    }

    /// What became of an interval that has no sound header.
    fn without_header(
        &mut self,
        at: u64,
        part: &[u8],
        stamp: Stamp,
        block: Option<u64>,
        malformed: Malformed,
    ) -> String {
        let header = match malformed {
            Malformed::Magic(magic) => format!("bad magic header {magic:x}, wanted acca"),
            Malformed::Crc { found, computed } => {
                format!("bad header crc {found:x}, calculated {computed:x}")
            }
        };
        if part.iter().all(|byte| *byte == 0) {
            return format!("zeroed block: {header}");
        }
        if let Some(bit) = header::flipped_bit(part) {
            return format!("bit flip: 1 wrong bit, in byte {} (of the header): {header}", bit / 8);
        }
        let size = self.content.header_size();
        let kind = match self.expected(at, part.len(), stamp, block) {
            Some(data) if data[size..] == part[size..] => "damaged header".to_owned(),
            Some(data) => match Damage::of(&data, part, size) {
                Damage::Torn(_) => diagnosis::describe(&data, part, size),
                _ => "foreign data".to_owned(),
            },
            None if matches!(malformed, Malformed::Crc { .. }) => "damaged header".to_owned(),
            None => "foreign data".to_owned(),
        };
        format!("{kind}: {header}")
    }

    /// A read that found the end of the file where there should be data.
    pub fn short(&self, op: &Op) -> Fault {
        let what = format!("short file: it ends at or before {}, its data is missing", op.offset);
        let bad = Bad { at: op.offset, length: op.length, what, expected: None };
        self.fault(op, &bad, 1, &[])
    }

    fn fault(&self, op: &Op, bad: &Bad, count: u64, buffer: &[u8]) -> Fault {
        let path = self.paths.get(op.file as usize).map_or("", String::as_str);
        let more = if count > 1 {
            format!(" (and {} more pieces of it)", count - 1)
        } else {
            String::new()
        };
        let mut text = format!(
            "{}: verify failed at file {path} offset {}, length {} (requested block: offset={}, \
             length={}): {}{more}",
            self.content.method.name(),
            bad.at,
            bad.length,
            op.offset,
            op.length,
            bad.what
        );
        if self.verify.dump && !buffer.is_empty() {
            let from = (bad.at - op.offset) as usize;
            let received = &buffer[from..from + bad.length as usize];
            let expected = bad.expected.as_deref();
            text.push_str(&dump::write(&self.aux_path, path, bad.at, received, expected));
        }
        Fault { errno: libc::EILSEQ, operation: VERIFY, text, ends: self.verify.fatal }
    }
}

/// How data at `at` differs from what is expected, but for the first `skip` bytes.
fn bad_data(at: u64, expected: Vec<u8>, data: &[u8], skip: usize) -> Option<Bad> {
    let skip = skip.min(data.len());
    if expected[skip..] == data[skip..] {
        return None;
    }
    let what = diagnosis::describe(&expected, data, skip);
    Some(Bad { at, length: data.len() as u64, what, expected: Some(expected) })
}

/// Whether other data may well have the same checksum: then the data itself is compared, where it
/// can be made again.
fn is_weak(method: VerifyMethod) -> bool {
    use VerifyMethod::{Crc7, Crc16, PatternHeader, Sha512};
    matches!(method, Crc7 | Crc16 | PatternHeader | Sha512)
}

fn mismatch(computed: &[u8], found: &[u8]) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    format!("checksum of its data {}, in its header {}", hex(computed), hex(found))
}
