//! Samples of a log: as text, and as fio stores them compressed.
//!
//! The compressed form was taken from files of Debian's fio 3.33: zlib streams (RFC 1950), one or
//! several, of samples in the machine's byte order. A sample is five numbers: milliseconds (64 bits),
//! value (64), direction (32; its topmost bits say that an offset follows and that the priority is
//! shown in full), priority (16 of 32), bytes (64), and after them the offset (64) where one follows.
//! What fio 3.42 has added, a second value and the moment of issue, follows behind the offset here,
//! announced by the two bits below.

use flate2::Compression;
use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;
use record::{Direction, logged_direction};
use std::io::{self, BufRead, Read, Write};

const HAS_OFFSET: u32 = 1 << 31;
const PRIORITY_IN_FULL: u32 = 1 << 30;
const HAS_MAX: u32 = 1 << 29;
const HAS_ISSUE: u32 = 1 << 28;
const FLAGS: u32 = HAS_OFFSET | PRIORITY_IN_FULL | HAS_MAX | HAS_ISSUE;
/// Class of the highest priority, as the kernel encodes it in the bits above this.
const CLASS_BITS: u16 = 13;
const REALTIME: u16 = 1;

/// One sample of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    /// When, in milliseconds.
    pub ms: u64,
    /// The value; the unit is the log's.
    pub value: u64,
    /// The maximum, beside a mean.
    pub max: Option<u64>,
    pub direction: Direction,
    pub bytes: u64,
    pub offset: Option<u64>,
    /// As the kernel encodes it.
    pub priority: u16,
    /// Whether it is shown in full, not only as high or not.
    pub priority_in_full: bool,
    /// Time of issue, in nanoseconds.
    pub issued: Option<u64>,
}

impl Sample {
    /// Its line, without the newline: `time, value[, max], direction, bytes[, offset], priority[,
    /// issued]`.
    pub fn text(&self) -> String {
        let Sample { ms, value, bytes, priority, .. } = self;
        let column = |number: Option<u64>| number.map_or(String::new(), |n| format!(", {n}"));
        let priority = match self.priority_in_full {
            true => format!("0x{priority:04x}"),
            false => u8::from(priority >> CLASS_BITS == REALTIME).to_string(),
        };
        format!(
            "{ms}, {value}{}, {}, {bytes}{}, {priority}{}",
            column(self.max),
            self.direction as u8,
            column(self.offset),
            column(self.issued),
        )
    }

    fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let flag = |set: bool, flag: u32| if set { flag } else { 0 };
        let direction = self.direction as u32
            | flag(self.offset.is_some(), HAS_OFFSET)
            | flag(self.priority_in_full, PRIORITY_IN_FULL)
            | flag(self.max.is_some(), HAS_MAX)
            | flag(self.issued.is_some(), HAS_ISSUE);
        to.write_all(&self.ms.to_ne_bytes())?;
        to.write_all(&self.value.to_ne_bytes())?;
        to.write_all(&direction.to_ne_bytes())?;
        to.write_all(&u32::from(self.priority).to_ne_bytes())?;
        to.write_all(&self.bytes.to_ne_bytes())?;
        let rest = [self.offset, self.max, self.issued];
        rest.into_iter().flatten().try_for_each(|number| to.write_all(&number.to_ne_bytes()))
    }

    /// The next sample; `None` at the end.
    fn read(from: &mut impl Read) -> Result<Option<Sample>, InflateError> {
        let mut head = [0; 8];
        if !fill(from, &mut head)? {
            return Ok(None);
        }
        let mut number = || -> Result<[u8; 8], InflateError> {
            let mut bytes = [0; 8];
            if fill(from, &mut bytes)? { Ok(bytes) } else { Err(InflateError::Cut) }
        };
        let ms = u64::from_ne_bytes(head);
        let value = u64::from_ne_bytes(number()?);
        let [a, b, c, d, e, f, _, _] = number()?;
        let direction = u32::from_ne_bytes([a, b, c, d]);
        let bytes = u64::from_ne_bytes(number()?);
        let way = u8::try_from(direction & !FLAGS).ok().filter(|way| *way < 3);
        let mut follows = |flag: u32| -> Result<Option<u64>, InflateError> {
            match direction & flag {
                0 => Ok(None),
                _ => Ok(Some(u64::from_ne_bytes(number()?))),
            }
        };
        Ok(Some(Sample {
            ms,
            value,
            direction: logged_direction(way.ok_or(InflateError::NoLog)?),
            bytes,
            offset: follows(HAS_OFFSET)?,
            max: follows(HAS_MAX)?,
            issued: follows(HAS_ISSUE)?,
            priority: u16::from_ne_bytes([e, f]),
            priority_in_full: direction & PRIORITY_IN_FULL != 0,
        }))
    }
}

/// Fills `bytes`. Returns false at the end of the input.
fn fill(from: &mut impl Read, bytes: &mut [u8]) -> Result<bool, InflateError> {
    let mut filled = 0;
    while filled < bytes.len() {
        match from.read(&mut bytes[filled..]) {
            Ok(0) if filled == 0 => return Ok(false),
            Ok(0) => return Err(InflateError::Cut),
            Ok(more) => filled += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(InflateError::Cut);
            }
            Err(_) => return Err(InflateError::NoLog),
        }
    }
    Ok(true)
}

/// Writes samples compressed.
pub(super) struct Writer<W: Write>(ZlibEncoder<W>);

impl<W: Write> Writer<W> {
    pub fn new(to: W) -> Self {
        Writer(ZlibEncoder::new(to, Compression::default()))
    }

    pub fn write(&mut self, sample: &Sample) -> io::Result<()> {
        sample.write(&mut self.0)
    }

    pub fn finish(self) -> io::Result<W> {
        self.0.finish()
    }
}

/// What is wrong with a compressed log.
#[derive(Debug, thiserror::Error)]
pub enum InflateError {
    /// It is not a compressed log.
    #[error("this is no compressed log; one is written with log_store_compressed=1")]
    NoLog,
    /// It ends too early.
    #[error("the compressed log is not complete; what it holds was printed")]
    Cut,
    /// The lines cannot be written.
    #[error("cannot write: {0}")]
    Output(#[from] io::Error),
}

/// Prints a compressed log as lines.
///
/// # Errors
/// It is not a compressed log, or damaged; the readable part was printed.
pub fn inflate(mut log: impl BufRead, out: &mut impl Write) -> Result<(), InflateError> {
    // The file may contain several streams.
    while !log.fill_buf().map_err(|_| InflateError::NoLog)?.is_empty() {
        let mut stream = ZlibDecoder::new(&mut log);
        while let Some(sample) = Sample::read(&mut stream)? {
            writeln!(out, "{}", sample.text())?;
        }
    }
    out.flush()?;
    Ok(())
}
