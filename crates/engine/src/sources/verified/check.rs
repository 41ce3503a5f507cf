//! Compares what was read with what was written, and names the damage.

use super::content::Content;
use super::diagnosis::{self, Damage};
use super::dump;
use super::header::{self, Header, Malformed};
use super::write_map::{Held, Piece, WriteNumber};
use super::write_tracker::grid;
use crate::checksum;
use crate::hot::op::{Fault, Op};
use crate::job_record::VERIFY;
use plan::{Verify, VerifyMethod, Worker};
use std::sync::Arc;

/// What the worker knows about the writes whose blocks it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Knowledge {
    /// Nothing: the job only reads.
    Nothing,
    /// Their order, from a replay of the job; another run may have written the file.
    Order,
    /// Everything: this run wrote the blocks.
    All,
}

/// A read that ended, and its expected content.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub op: Op,
    pub pieces: Vec<Piece>,
    /// Number of the last write.
    pub last: WriteNumber,
}

/// The result of a check.
#[derive(Clone, Debug)]
pub(super) struct CheckResult {
    pub op: Op,
    pub fault: Option<Fault>,
    /// A block carries the seed of this job's writes.
    pub own: bool,
    /// A block carries another seed: a fault if this job wrote the file.
    pub foreign: Option<Fault>,
}

/// A piece with wrong content.
struct Bad {
    at: u64,
    length: u64,
    what: String,
    expected: Option<Vec<u8>>,
}

/// An interval with wrong content.
struct Wrong {
    what: String,
    /// The expected data, if it is known.
    data: Option<Vec<u8>>,
}

impl From<String> for Wrong {
    fn from(what: String) -> Self {
        Wrong { what, data: None }
    }
}

/// Start of the block that a piece belongs to.
enum Start {
    Known(u64),
    /// One of several candidates.
    Possible(u64),
    /// Not needed.
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

/// The run that wrote an interval.
enum Owner {
    Own,
    Unknown,
    Foreign,
}

/// Checks the data of reads. Each checking thread has its own.
#[derive(Clone)]
pub(super) struct Checker {
    content: Content,
    knowing: Knowledge,
    /// Checks nothing.
    pretends: bool,
    verify: Arc<Verify>,
    paths: Arc<[String]>,
    aux_path: Arc<str>,
    /// The block size, if there is only one.
    one_size: Option<u64>,
    /// The largest block size.
    size_max: u64,
    /// Blocks start and end at multiples of this, counted from the start of their region.
    grid: u64,
}

impl Checker {
    pub fn new(worker: &Worker, verify: &Verify, knowing: Knowledge, aux_path: &str) -> Checker {
        let write = &worker.pattern.blocks.write;
        // The null engine stores nothing; fio checks nothing either.
        let pretends = worker.queue.engine.moves_nothing();
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

    /// Checks a read. Moves headers within `buffer` (`verify_offset`).
    pub fn check(&mut self, request: &Request, buffer: &mut [u8]) -> CheckResult {
        let mut found = CheckResult { op: request.op, fault: None, own: false, foreign: None };
        if self.pretends {
            return found;
        }
        let (mut first, mut count) = (None, 0u64);
        for piece in &request.pieces {
            let from = (piece.start - request.op.offset) as usize;
            let Some(data) = buffer.get_mut(from..from + piece.length as usize) else { continue };
            let bad = match piece.holds {
                Held::Trimmed => self.check_trimmed(piece, data),
                Held::Write(write) => self.check_piece(request, piece, write, data, &mut found),
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
        write: WriteNumber,
        data: &mut [u8],
        found: &mut CheckResult,
    ) -> Option<Bad> {
        // One of the possible starts of the block has to match.
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
            let bad = self.check_parts(request, piece, write, part, block.offset(), found)?;
            first.get_or_insert(bad);
        }
        first
    }

    /// The possible starts of the block of a piece.
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
        // Blocks start on the grid.
        let into = (1..).map(|cells| cells * self.grid);
        let into = into.take_while(|into| into + piece.length <= self.size_max);
        into.filter_map(|into| piece.start.checked_sub(into).map(Start::Possible)).collect()
    }

    /// Whether every grid position is the start of an interval.
    fn is_aligned(&self) -> bool {
        self.interval_length().is_some_and(|step| self.grid.is_multiple_of(step))
    }

    /// Checks the intervals of a piece whose block starts at `block`.
    fn check_parts(
        &mut self,
        request: &Request,
        piece: &Piece,
        write: WriteNumber,
        data: &mut [u8],
        block: Option<u64>,
        found: &mut CheckResult,
    ) -> Option<Bad> {
        match self.content.method {
            VerifyMethod::Null => return None,
            VerifyMethod::Pattern => return self.check_data(piece.start, write, 0, data, block),
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
                    self.check_whole(request, at, part, write, block, found)
                }
                // Too short for a header.
                true => self.check_data(at, write, 0, part, block),
                false => self.check_cut(at, part, into, write, block),
            };
            bad = bad.or(wrong);
            (rest, at, into) = (others, at + left, Some(0));
        }
        bad
    }

    /// Checks a whole interval.
    fn check_whole(
        &mut self,
        request: &Request,
        at: u64,
        part: &mut [u8],
        write: WriteNumber,
        block: Option<u64>,
        found: &mut CheckResult,
    ) -> Option<Bad> {
        let length = part.len() as u64;
        match self.check_interval(request, at, part, write, block) {
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
                let data = data.or_else(|| self.expected(at, part.len(), write, block));
                let expected = data.map(|data| self.content.like(data, part));
                self.content.swap_header(part);
                return Some(Bad { at, length, what, expected });
            }
        }
        None
    }

    /// Checks the part of an interval that later writes left, by its data: no checksum covers a part.
    fn check_cut(
        &mut self,
        at: u64,
        part: &[u8],
        into: Option<u64>,
        write: WriteNumber,
        block: Option<u64>,
    ) -> Option<Bad> {
        let (size, offset) = (self.content.header_size(), self.content.offset);
        let Some(into) = into.map(|into| into as usize).filter(|_| offset > 0) else {
            // At least one cell is overwritten.
            let gone = into.unwrap_or(self.grid) as usize;
            return self.check_data(at, write, (offset + size).saturating_sub(gone), part, block);
        };
        let end = into + part.len();
        let start = at - into as u64;
        let mut expected = self.expected(start, end.max(offset + size), write, block)?;
        self.content.swap_header(&mut expected);
        // The header's content is not known.
        let header = offset.clamp(into, end)..(offset + size).clamp(into, end);
        expected[header.clone()].copy_from_slice(&part[header.start - into..header.end - into]);
        bad_data(at, expected[into..end].to_vec(), part, 0)
    }

    /// Length of all intervals, if they have the same.
    fn interval_length(&self) -> Option<u64> {
        if self.content.interval > 0 { Some(self.content.interval) } else { self.one_size }
    }

    /// The data that the write left at `at`; `None` if that is unknown.
    fn expected(
        &mut self,
        at: u64,
        length: usize,
        write: WriteNumber,
        block: Option<u64>,
    ) -> Option<Vec<u8>> {
        let placeless = self.content.is_placeless();
        let block = block.or(placeless.then_some(at))?;
        if placeless && self.knowing == Knowledge::Nothing {
            return None;
        }
        let mut data = vec![0; length];
        let seed = self.content.seed_of(write);
        self.content.data(&mut data, at, block, seed);
        Some(data)
    }

    /// Compares the data, except for the first `skip` bytes.
    fn check_data(
        &mut self,
        at: u64,
        write: WriteNumber,
        skip: usize,
        data: &[u8],
        block: Option<u64>,
    ) -> Option<Bad> {
        let expected = self.expected(at, data.len(), write, block)?;
        bad_data(at, expected, data, skip)
    }

    /// Checks an interval with its header.
    fn check_interval(
        &mut self,
        request: &Request,
        at: u64,
        part: &mut [u8],
        write: WriteNumber,
        block: Option<u64>,
    ) -> Result<Owner, Wrong> {
        self.content.swap_header(part);
        let header = match Header::read(part) {
            Ok(header) => header,
            Err(malformed) => {
                return Err(self.without_header(at, part, write, block, malformed).into());
            }
        };
        self.check_place(&header, at, part)?;
        let owner = self
            .check_generation(request, &header, write)
            .map_err(|stale| self.torn(at, part, write, block).unwrap_or(stale))?;
        self.check_content(&header, at, part, block, &owner)?;
        Ok(owner)
    }

    /// Checks method, offset and length of a header.
    fn check_place(&self, header: &Header, at: u64, part: &[u8]) -> Result<(), String> {
        let wanted = header::number(self.content.method);
        // verify=meta accepts any header.
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

    /// Checks which write a block comes from.
    fn check_generation(
        &self,
        request: &Request,
        header: &Header,
        write: WriteNumber,
    ) -> Result<Owner, String> {
        if self.knowing == Knowledge::Nothing {
            let is_ours = || self.content.write_of(header, WriteNumber::MAX - (1 << 16)).is_some();
            return match self.verify.header_seed && !is_ours() {
                true => Err(format!(
                    "stale block: bad header seed {:#x}: it is of another run",
                    header.seed
                )),
                false => Ok(Owner::Unknown),
            };
        }
        let wanted = (write - 1) as u16;
        let right_seed = header.seed == self.content.seed_of(write);
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
            let writes = write.saturating_sub(earlier);
            let known = match writes {
                0 => String::new(),
                _ => format!(": it is what write {earlier} left, not write {write}"),
            };
            return if sequence { stale(&known) } else { Ok(Owner::Own) };
        }
        if self.knowing == Knowledge::Order {
            return Ok(if seed { Owner::Foreign } else { Owner::Unknown });
        }
        if sequence && header.sequence != wanted {
            return stale(" and it is of another run");
        }
        if seed {
            return Err(format!(
                "stale block: bad header seed {:#x}, wanted {:#x}: it is of another run",
                header.seed,
                self.content.seed_of(write)
            ));
        }
        Ok(Owner::Unknown)
    }

    /// Describes a torn write: the header is an earlier one's, some of the data this one's.
    fn torn(
        &mut self,
        at: u64,
        part: &[u8],
        write: WriteNumber,
        block: Option<u64>,
    ) -> Option<String> {
        let data = self.expected(at, part.len(), write, block)?;
        let size = self.content.header_size();
        let torn = matches!(Damage::between(&data, part, size), Damage::Torn(_));
        (torn && self.content.is_placeless()).then(|| diagnosis::describe(&data, part, size))
    }

    /// Checks the data by its checksum, and byte by byte if the checksum is weak.
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
        // Bytes that a short block leaves undefined match.
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

    /// The data that belongs to a header; `None` if it cannot be generated. With `doubtful`, data without
    /// any match is taken to be of another writer.
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

    /// Describes an interval without a valid header.
    fn without_header(
        &mut self,
        at: u64,
        part: &[u8],
        write: WriteNumber,
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
        let kind = match self.expected(at, part.len(), write, block) {
            Some(data) if data[size..] == part[size..] => "damaged header".to_owned(),
            Some(data) => match Damage::between(&data, part, size) {
                Damage::Torn(_) => diagnosis::describe(&data, part, size),
                _ => "foreign data".to_owned(),
            },
            None if matches!(malformed, Malformed::Crc { .. }) => "damaged header".to_owned(),
            None => "foreign data".to_owned(),
        };
        format!("{kind}: {header}")
    }

    /// A read beyond the end of the file.
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

/// Compares data at `at` with what is expected, except for the first `skip` bytes.
fn bad_data(at: u64, expected: Vec<u8>, data: &[u8], skip: usize) -> Option<Bad> {
    let skip = skip.min(data.len());
    if expected[skip..] == data[skip..] {
        return None;
    }
    let what = diagnosis::describe(&expected, data, skip);
    Some(Bad { at, length: data.len() as u64, what, expected: Some(expected) })
}

/// Whether other data may have the same checksum: then the data itself is compared, if it can be
/// generated.
fn is_weak(method: VerifyMethod) -> bool {
    use VerifyMethod::{Crc7, Crc16, PatternHeader, Sha512};
    matches!(method, Crc7 | Crc16 | PatternHeader | Sha512)
}

fn mismatch(computed: &[u8], found: &[u8]) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    format!("checksum of its data {}, in its header {}", hex(computed), hex(found))
}
