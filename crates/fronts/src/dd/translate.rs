//! From a [`Call`] and what it found at both ends to the I/O the engine does.

use super::{Call, EachSync, EndSync, Input, Output, TOOL};
use crate::Usage;
use job::{BufferContent, Job, ReadUse};
use record::{Bytes, Facts, TargetFacts, TargetKind};
use std::sync::Arc;
use trace::{CopyEnd, Copying, Kind, Recording};

/// Bytes behind which dd tells the page cache to drop them (`nocache`). Oracle: strace of dd 9.1.
const FORGOTTEN: u64 = 128 << 10;
/// O_DIRECT takes multiples of this at the least.
const SECTOR: u64 = 512;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// The job, as fathom's command line takes it; [`Work::complete`] adds its I/O.
    pub arguments: Vec<String>,
    /// To what size the output is cut before the run; it is made where it is not there. `None`: it
    /// is left as it is.
    pub cut: Option<u64>,
    /// The output must not be there when it is made.
    pub excl: bool,
    /// What the user should know; a sentence each.
    pub notes: Vec<String>,
    recording: Arc<Recording>,
    /// What is written, where that is no content of the job's own.
    content: Option<BufferContent>,
    /// What becomes of what is read.
    read_use: ReadUse,
}

impl Work {
    /// Gives the job that was made of [`Work::arguments`] its I/O.
    pub fn complete(&self, job: &mut Job) {
        // What names the targets in messages, where a log has its name.
        job.replay.logs = vec![TOOL.into()];
        job.replay.no_stall = true;
        if let Some(content) = &self.content {
            job.buffers.content = content.clone();
        }
        job.buffers.read_use = self.read_use;
        job.attach(vec![Arc::clone(&self.recording)]);
    }

    /// The I/O, in order.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }
}

/// Where the bytes of a call lie, and how many there are.
struct Span {
    /// Where reads begin.
    from: u64,
    /// Where writes begin.
    to: u64,
    total: u64,
}

impl Call {
    /// What the call does with the targets as `facts` describe them: those of [`Call::read`] and
    /// [`Call::written`] that are no source of bytes.
    ///
    /// # Errors
    /// Why a target does not suit, and what to do.
    pub fn work(&self, facts: &Facts) -> Result<Work, Usage> {
        let target = |path: &str| facts.targets.get(path).cloned().unwrap_or_default();
        let input = match &self.input {
            Input::Path(path) => Some(target(path)),
            _ => None,
        };
        let output = self.written().map(target);
        self.check_input(input.as_ref())?;
        self.check_output(input.as_ref(), output.as_ref())?;
        let mut span = self.span(input.as_ref(), output.as_ref())?;
        let mut notes = self.notes.clone();
        notes.extend(self.whole_sectors(&mut span)?);
        let recording = self.recording(&span);
        let is_file = output.is_some_and(|output| output.kind != TargetKind::Block);
        // Oracle: of an output that begins within its first block nothing is kept.
        let kept = if self.seek < self.obs { 0 } else { self.seek };
        Ok(Work {
            arguments: self.arguments(),
            cut: Some(kept).filter(|_| is_file && !self.notrunc),
            excl: self.excl,
            notes,
            recording: Arc::new(recording),
            content: self.content(),
            read_use: self.read_use(),
        })
    }

    /// O_DIRECT, on whatever of the two ends is a file or device.
    fn is_direct(&self) -> bool {
        let reads = self.direct_in && matches!(self.input, Input::Path(_));
        reads || (self.direct_out && self.written().is_some())
    }

    fn check_input(&self, input: Option<&TargetFacts>) -> Result<(), Usage> {
        let (Input::Path(path), Some(input)) = (&self.input, input) else { return Ok(()) };
        let wrong =
            |what: &str, cure: &str| Err(Usage::target(TOOL, format!("if={path}"), what, cure));
        match input.kind {
            TargetKind::File | TargetKind::Block if input.readable => Ok(()),
            TargetKind::File | TargetKind::Block => wrong("it may not be read", "ask for access"),
            TargetKind::Missing => wrong("it is not there", "make it first, or check its name"),
            TargetKind::Directory => wrong("it is a directory", "name a file or a device"),
            TargetKind::Char | TargetKind::Fifo | TargetKind::Other => {
                wrong("its speed is that of another program", "name a file or a block device")
            }
        }
    }

    fn check_output(
        &self,
        input: Option<&TargetFacts>,
        output: Option<&TargetFacts>,
    ) -> Result<(), Usage> {
        let (Output::Path(path), Some(output)) = (&self.output, output) else { return Ok(()) };
        let wrong =
            |what: &str, cure: &str| Err(Usage::target(TOOL, format!("of={path}"), what, cure));
        if input.is_some_and(|input| input.canonical == output.canonical) {
            return wrong("it is the input itself", "name another file");
        }
        match output.kind {
            TargetKind::File | TargetKind::Block if self.excl => {
                wrong("it is there, and conv=excl wants it new", "remove it, or name another")
            }
            TargetKind::File | TargetKind::Block => Ok(()),
            TargetKind::Missing if self.nocreat => {
                wrong("it is not there, and conv=nocreat keeps it from being made", "make it first")
            }
            TargetKind::Missing if !output.parent_exists => {
                wrong("its directory is not there", "make it first")
            }
            TargetKind::Missing => Ok(()),
            TargetKind::Directory => wrong("it is a directory", "name a file in it"),
            TargetKind::Char | TargetKind::Fifo | TargetKind::Other => {
                wrong("it is neither a file nor a block device", "name one, or of=/dev/null")
            }
        }
    }

    fn span(
        &self,
        input: Option<&TargetFacts>,
        output: Option<&TargetFacts>,
    ) -> Result<Span, Usage> {
        let nothing =
            |flag: &str, what: String, cure: &str| Err(Usage::target(TOOL, flag, what, cure));
        let there = match input {
            Some(TargetFacts { size: Bytes(0), .. }) => {
                let what = "the input holds nothing to copy".into();
                return nothing("if=", what, "name a file or device with content");
            }
            Some(input) if input.size.0 <= self.skip => {
                let size = input.size.0;
                let what = format!("the input has {size} bytes, and nothing is left of them");
                return nothing("skip=", what, "name a larger file, or lower skip=");
            }
            Some(input) => Some(input.size.0 - self.skip),
            None => None,
        };
        let appended = output.filter(|_| self.append && self.notrunc).map(|output| output.size.0);
        let to = appended.unwrap_or(self.seek);
        // dd writes a device to its end, and fails there; a call without an end ends there here.
        let device = output.filter(|output| output.kind == TargetKind::Block);
        let room = device.map(|device| device.size.0.saturating_sub(to));
        let wanted = match (there, self.limit) {
            (Some(there), Some(limit)) => there.min(limit),
            (Some(bytes), None) | (None, Some(bytes)) => bytes,
            (None, None) => match room {
                Some(room) => room,
                None => {
                    let what = "is missing: the input never ends, nor does the output";
                    return Err(Usage::line(TOOL, "count=", what, "say how many blocks"));
                }
            },
        };
        if wanted == 0 {
            return nothing("count=", "nothing would be copied".into(), "give 1 or more");
        }
        if let Some(room) = room.filter(|room| *room < wanted) {
            let what = format!("{wanted} bytes are to be written, the device has room for {room}");
            return nothing("of=", what, "lower count= or seek=");
        }
        match self.skip.max(to).checked_add(wanted).filter(|end| *end <= i64::MAX as u64) {
            Some(_) => Ok(Span { from: self.skip, to, total: wanted }),
            None => nothing("count=", "reaches beyond 2^63 - 1 bytes".into(), "lower it"),
        }
    }

    /// O_DIRECT moves whole sectors: a rest that is none is left out of a read, which is told, and
    /// kept from a write, which would be incomplete.
    fn whole_sectors(&self, span: &mut Span) -> Result<Option<String>, Usage> {
        let rest = span.total % SECTOR;
        if !self.is_direct() || rest == 0 {
            return Ok(None);
        }
        if self.written().is_some() || span.total < SECTOR {
            let what = format!("the last {rest} bytes are no whole sector, as O_DIRECT needs them");
            return Err(Usage::target(
                TOOL,
                "oflag=direct",
                what,
                "choose count= so that they are",
            ));
        }
        span.total -= rest;
        Ok(Some(format!(
            "iflag=direct: the last {rest} bytes are left out: they are no whole sector"
        )))
    }

    /// The reads and writes in dd's order, and the synchronisation at the end.
    fn recording(&self, span: &Span) -> Recording {
        let end = |start, forgets| CopyEnd { start, forgets };
        let (read, written) = (self.read(), self.written());
        let copying = Copying {
            source: read.map(|_| end(span.from, self.forget_in)),
            target: written.map(|_| end(span.to, self.forget_out)),
            block: if read.is_some() { self.ibs } else { self.obs },
            total: span.total,
            forgotten: FORGOTTEN,
            sync: self.end.filter(|_| written.is_some()).map(|end| match end {
                EndSync::Fsync => Kind::Sync,
                EndSync::Fdatasync => Kind::Datasync,
            }),
        };
        copying.recording([read, written].into_iter().flatten().map(str::to_owned).collect())
    }

    /// What is written. dd reads its zeros for every block, which is a part of its time.
    fn content(&self) -> Option<BufferContent> {
        match (&self.input, self.written()) {
            (Input::Path(_), Some(_)) => Some(BufferContent::AsRead),
            (Input::Zero, Some(_)) => Some(BufferContent::ZeroDevice),
            _ => None,
        }
    }

    /// dd hands on what it reads, also where nobody wants it.
    fn read_use(&self) -> ReadUse {
        match self.output {
            Output::Null => ReadUse::NullDevice,
            Output::Path(_) => ReadUse::Nothing,
        }
    }

    fn arguments(&self) -> Vec<String> {
        let mut options = vec!["name=dd", "ioengine=psync", "iodepth=1"];
        // dd neither lays its files out nor tells the kernel how it reads.
        options.extend(["create_on_open=1", "fadvise_hint=0", "percentile_list=50:90:99:99.9"]);
        options.push(if self.forget_in { "invalidate=1" } else { "invalidate=0" });
        if self.is_direct() {
            options.push("direct=1");
        }
        match self.sync {
            EachSync::No => {}
            EachSync::Dsync => options.push("sync=dsync"),
            EachSync::Sync => options.push("sync=sync"),
        }
        match (&self.input, &self.output) {
            (Input::Zero, Output::Path(_)) => options.push("zero_buffers=1"),
            (Input::Random, Output::Path(_)) => options.push("refill_buffers=1"),
            _ => {}
        }
        options.into_iter().map(|option| format!("--{option}")).collect()
    }
}
