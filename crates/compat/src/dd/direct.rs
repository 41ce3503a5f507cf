//! O_DIRECT for input and output: its alignment rules, and a last block that does not match them.

use super::{DdCommand, Input, TOOL};
use crate::Usage;
use record::Facts;
use trace::Opened;

/// The bytes that a call copies.
pub(super) struct Span {
    /// Offset of the first read.
    pub from: u64,
    /// Offset of the first write.
    pub to: u64,
    /// Number of bytes.
    pub total: u64,
}

/// How input and output are opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ways {
    /// The input.
    pub source: Opened,
    /// The output.
    pub target: Opened,
    /// The last block is written through the page cache, so an fsync follows.
    pub syncs: bool,
    /// Notes for the user, a sentence each.
    pub notes: Vec<String>,
}

impl Ways {
    /// Whether input or output bypasses the page cache.
    pub fn is_direct(&self) -> bool {
        [self.source, self.target].iter().any(|opened| *opened != Opened::Buffered)
    }
}

/// An input or output with O_DIRECT, with the operands that describe it.
struct End<'a> {
    path: &'a str,
    /// "iflag=" or "oflag=".
    list: &'static str,
    /// The operand of its block size, and that size in bytes.
    block: (&'static str, u64),
    /// The operand of its first offset, and that offset.
    start: (&'static str, u64),
}

impl DdCommand {
    /// How input and output are opened. Without an output, `span` is shortened to a length that O_DIRECT
    /// accepts.
    ///
    /// # Errors
    /// The alignment rule that the call breaks, and what to do.
    pub(super) fn ways(&self, facts: &Facts, span: &mut Span) -> Result<Ways, Usage> {
        let (source, target) = (Opened::Buffered, Opened::Buffered);
        let mut ways = Ways { source, target, syncs: false, notes: Vec::new() };
        let operand = |own| if self.ibs == self.obs { "bs=" } else { own };
        if let (Input::Path(path), true) = (&self.input, self.direct_in) {
            let (block, start) = ((operand("ibs="), self.ibs), ("skip=", span.from));
            let end = End { path, list: "iflag=", block, start };
            self.direct_source(&end, facts, span, &mut ways)?;
        }
        if let (Some(path), true) = (self.written(), self.direct_out) {
            let appends = self.append && self.notrunc;
            let block = (operand("obs="), self.obs);
            let start = (if appends { "oflag=append" } else { "seek=" }, span.to);
            direct_target(&End { path, list: "oflag=", block, start }, facts, span, &mut ways)?;
        }
        Ok(ways)
    }

    fn direct_source(
        &self,
        end: &End<'_>,
        facts: &Facts,
        span: &mut Span,
        ways: &mut Ways,
    ) -> Result<(), Usage> {
        let unit = end.check(facts, span.total)?.unwrap_or(1);
        let (rest, last) = (span.total % unit, span.total % end.block.1);
        ways.source = Opened::Direct;
        if rest == 0 {
            return Ok(());
        }
        if self.written().is_none() {
            if span.total < unit {
                let what =
                    format!("only {rest} bytes are read, and O_DIRECT reads {unit} at least");
                return Err(end.refused("iflag=direct".into(), what, "read more"));
            }
            span.total -= rest;
            ways.notes.push(format!(
                "iflag=direct: the last {rest} bytes are left out: O_DIRECT reads multiples of {unit}"
            ));
            return Ok(());
        }
        ways.source = if span.total > last { Opened::DirectButLast } else { Opened::Buffered };
        ways.notes.push(format!(
            "iflag=direct: the last {last} bytes are read through the page cache: they are no \
             multiple of {unit}, as O_DIRECT needs"
        ));
        Ok(())
    }
}

/// Oracle: strace of dd 9.1. It clears O_DIRECT for a block that is not full, and synchronises.
fn direct_target(end: &End<'_>, facts: &Facts, span: &Span, ways: &mut Ways) -> Result<(), Usage> {
    end.check(facts, span.total)?;
    let last = span.total % end.block.1;
    ways.target = match last {
        0 => Opened::Direct,
        last if last < span.total => Opened::DirectButLast,
        _ => Opened::Buffered,
    };
    if last > 0 {
        ways.syncs = true;
        ways.notes.push(format!(
            "oflag=direct: the last {last} bytes are no whole block: they are written through the \
             page cache and synchronised at the end, as by dd"
        ));
    }
    Ok(())
}

impl End<'_> {
    /// The alignment of its offsets and lengths; `None`: no alignment is required. Only the whole
    /// blocks of `total` bytes are checked.
    fn check(&self, facts: &Facts, total: u64) -> Result<Option<u64>, Usage> {
        let flag = format!("{}direct", self.list);
        let Some(target) = facts.targets.get(self.path) else { return Ok(None) };
        if target.refuses_direct() {
            let what = format!("{} does not take O_DIRECT", self.path);
            return Err(self.refused(flag, what, "name another place"));
        }
        let device = target.device.as_ref().and_then(|name| facts.devices.get(name));
        let Some(unit) = target.direct_unit(device) else { return Ok(None) };
        let ((block, bytes), (start, begin)) = (self.block, self.start);
        if total >= bytes && !bytes.is_multiple_of(unit) {
            let what =
                format!("{bytes} is no multiple of {unit}, as O_DIRECT on {} needs", self.path);
            let cure = format!("give {block} a multiple of {unit}");
            return Err(self.refused(format!("{block}{bytes}"), what, &cure));
        }
        if total >= bytes && !begin.is_multiple_of(unit) {
            let what = format!(
                "it begins at byte {begin} of {}, and O_DIRECT there needs a multiple of {unit}",
                self.path
            );
            let cure = match start.strip_suffix('=') {
                Some(_) => format!("choose {start} so that it is one"),
                None => format!("give seek= with a multiple of {unit} in its stead"),
            };
            return Err(self.refused(start.into(), what, &cure));
        }
        Ok(Some(unit))
    }

    fn refused(&self, flag: String, what: String, cure: &str) -> Usage {
        let cure = format!("{cure}, or leave direct out of {}", self.list);
        Usage::target(TOOL, flag, what, cure)
    }
}
