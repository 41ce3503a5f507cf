//! Merges block traces in order of time.

use crate::blktrace::{Record, Records};
use crate::error::TraceError;
use std::io::{self, BufRead, Write};

/// A trace to be merged.
pub struct Source<'a> {
    /// Opens it at its start.
    pub open: &'a dyn Fn() -> io::Result<Box<dyn BufRead>>,
    /// Scale of its times in per cent: 50 halves them.
    pub percent: f64,
    /// Number of repetitions, one after the other; at least 1.
    pub runs: u64,
}

/// A source that is being read.
struct Under<'a> {
    source: &'a Source<'a>,
    records: Records<Box<dyn BufRead>>,
    /// Time of the last record, if the source is repeated.
    length: u64,
    run: u64,
    next: Option<Record>,
}

impl<'a> Under<'a> {
    fn begin(source: &'a Source<'a>) -> Result<Self, TraceError> {
        let open = || -> Result<_, TraceError> { Ok(Records::new((source.open)()?)) };
        let mut length = 0;
        if source.runs > 1 {
            let mut records = open()?;
            while let Some((_, record)) = records.next()? {
                length = length.max(record.time);
            }
        }
        let mut under = Under { source, records: open()?, length, run: 0, next: None };
        under.advance()?;
        Ok(under)
    }

    /// Moves to the next record about I/O, starting the next repetition if necessary.
    fn advance(&mut self) -> Result<(), TraceError> {
        loop {
            match self.records.next()? {
                Some((_, record)) if record.is_io() => {
                    self.next = Some(Record { time: self.scaled(record.time), ..record });
                    return Ok(());
                }
                Some(_) => {}
                None if self.run + 1 < self.source.runs => {
                    self.run += 1;
                    self.records = Records::new((self.source.open)()?);
                }
                None => {
                    self.next = None;
                    return Ok(());
                }
            }
        }
    }

    fn scaled(&self, time: u64) -> u64 {
        let whole = time as f64 + self.run as f64 * self.length as f64;
        (whole * self.source.percent / 100.0) as u64
    }
}

/// Writes the I/O of all sources in order of their scaled times, in this machine's byte order and
/// without data. Returns the number of records.
///
/// # Errors
/// The index of the source with an error, and the error; `None` for errors of `out`.
pub fn merge(
    sources: &[Source<'_>],
    out: &mut impl Write,
) -> Result<u64, (Option<usize>, TraceError)> {
    let numbered = sources.iter().enumerate();
    let begun = numbered.map(|(at, source)| Under::begin(source).map_err(|e| (Some(at), e)));
    let mut all = begun.collect::<Result<Vec<_>, _>>()?;
    let mut written = 0;
    loop {
        let waiting = all.iter_mut().enumerate().filter_map(|(at, u)| Some((at, u.next?, u)));
        let Some((at, record, under)) = waiting.min_by_key(|(_, record, _)| record.time) else {
            out.flush().map_err(|e| (None, e.into()))?;
            return Ok(written);
        };
        let record = Record { sequence: written as u32 + 1, ..record };
        out.write_all(&record.encode()).map_err(|e| (None, e.into()))?;
        written += 1;
        under.advance().map_err(|e| (Some(at), e))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blktrace::tests::{queued, record};
    use crate::reader::Reader;

    const READ: u32 = 1 << 16;
    const NOTIFY: u32 = 1 << 26;

    fn merged(traces: &[(Vec<u8>, f64, u64)]) -> Vec<(u64, u64)> {
        let opens: Vec<_> = traces
            .iter()
            .map(|(bytes, _, _)| {
                move || -> io::Result<Box<dyn BufRead>> {
                    Ok(Box::new(io::Cursor::new(bytes.clone())))
                }
            })
            .collect();
        let sources: Vec<Source> = opens
            .iter()
            .zip(traces)
            .map(|(open, (_, percent, runs))| Source { open, percent: *percent, runs: *runs })
            .collect();
        let mut out = Vec::new();
        let written = merge(&sources, &mut out).unwrap();
        let mut reader = Reader::new(&*out).unwrap();
        let mut events = Vec::new();
        while let Some(event) = reader.next_event().unwrap() {
            events.push((event.at, event.offset / 512));
        }
        assert_eq!(written as usize, events.len());
        events
    }

    fn trace(times: &[u64], sector: u64, swap: bool) -> Vec<u8> {
        let io = |time: &u64| record(*time, sector, 512, queued(READ), swap);
        let notes = record(0, 0, 0, NOTIFY, swap);
        [notes, times.iter().flat_map(io).collect()].concat()
    }

    #[test]
    fn times_decide_the_order() {
        let (a, b) = (trace(&[0, 20, 40], 1, false), trace(&[10, 30], 2, true));
        let plain = [(a.clone(), 100.0, 1), (b.clone(), 100.0, 1)];
        assert_eq!(merged(&plain), [(0, 1), (10, 2), (20, 1), (30, 2), (40, 1)]);
        let scaled = [(a, 50.0, 2), (b, 100.0, 1)];
        assert_eq!(
            merged(&scaled),
            [(0, 1), (10, 1), (10, 2), (20, 1), (20, 1), (30, 1), (30, 2), (40, 1)]
        );
    }

    #[test]
    fn a_wrong_trace_is_named() {
        let good = || -> io::Result<Box<dyn BufRead>> { Ok(Box::new(io::empty())) };
        let bad = || -> io::Result<Box<dyn BufRead>> { Ok(Box::new(&b"hello"[..])) };
        let one = |open| Source { open, percent: 100.0, runs: 1 };
        let (at, error) = merge(&[one(&good), one(&bad)], &mut Vec::new()).unwrap_err();
        assert_eq!(at, Some(1));
        assert!(error.to_string().starts_with("byte 0: the trace ends within a record"));
    }
}
