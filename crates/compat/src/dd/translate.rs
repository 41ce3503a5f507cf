//! From a [`DdCommand`] and what it found at both ends to the I/O the engine does.

use super::direct::Ways;
use super::{DdCommand, EachSync, EndSync, Input, Output, TOOL};
use crate::Usage;
use job::{BufferContent, Job, ReadUse};
use record::{Bytes, Facts, TargetFacts, TargetKind};
use std::sync::Arc;
use trace::{CopyEnd, Copying, Kind, Recording};

/// Bytes behind which dd tells the page cache to drop them (`nocache`). Oracle: strace of dd 9.1.
const FORGOTTEN: u64 = 128 << 10;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// The job, as fathom's command line takes it; [`Work::complete`] adds its I/O.
    pub arguments: Vec<String>,
    /// The output is a file, and made before the run where it is not there.
    pub makes: bool,
    /// To what size it is cut then. `None`: what is there is left as it is.
    pub cut: Option<u64>,
    /// The output must not be there when it is made.
    pub excl: bool,
    /// What the user should know; a sentence each.
    pub notes: Vec<String>,
    recording: Arc<Recording>,
    /// What is written is what was read.
    copies: bool,
    /// What becomes of what is read.
    read_use: ReadUse,
}

impl Work {
    /// Gives the job that was made of [`Work::arguments`] its I/O.
    pub fn complete(&self, job: &mut Job) {
        // What names the targets in messages, where a log has its name.
        job.replay.logs = vec![TOOL.into()];
        job.replay.no_stall = true;
        if self.copies {
            job.buffers.content = BufferContent::AsRead;
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
pub(super) struct Span {
    /// Where reads begin.
    pub from: u64,
    /// Where writes begin.
    pub to: u64,
    pub total: u64,
}

impl DdCommand {
    /// What the call does with the targets as `facts` describe them: those of [`DdCommand::read`] and
    /// [`DdCommand::written`] that are no source of bytes.
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
        let ways = self.ways(facts, &mut span)?;
        let recording = self.recording(&span, &ways);
        let arguments = self.arguments(ways.is_direct());
        notes.extend(ways.notes);
        let makes = output.is_some_and(|output| output.kind != TargetKind::Block);
        Ok(Work {
            arguments,
            makes,
            cut: Some(self.kept()).filter(|_| makes && !self.notrunc),
            excl: self.excl,
            notes,
            recording: Arc::new(recording),
            copies: matches!((&self.input, &self.output), (Input::Path(_), Output::Path(_))),
            read_use: self.read_use(),
        })
    }

    /// Bytes of the output that stay when it is cut. Oracle: of one that begins within its first
    /// block nothing does.
    fn kept(&self) -> u64 {
        if self.seek < self.obs { 0 } else { self.seek }
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
        let appended = output.filter(|_| self.append).and_then(|output| match output.kind {
            _ if self.notrunc => Some(output.size.0),
            TargetKind::Block => None,
            // It is cut first, and longer then where `seek=` goes beyond its end.
            _ => Some(self.kept()),
        });
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

    /// The reads and writes in dd's order, and the synchronisation at the end.
    fn recording(&self, span: &Span, ways: &Ways) -> Recording {
        let (read, written) = (self.read(), self.written());
        let copying = Copying {
            source: read.map(|_| CopyEnd {
                start: span.from,
                forgets: self.forget_in,
                opened: ways.source,
            }),
            target: written.map(|_| CopyEnd {
                start: span.to,
                forgets: self.forget_out,
                opened: ways.target,
            }),
            block: if read.is_some() { self.ibs } else { self.obs },
            total: span.total,
            forgotten: FORGOTTEN,
            sync: match self.end.filter(|_| written.is_some()) {
                Some(EndSync::Fsync) => Some(Kind::Sync),
                Some(EndSync::Fdatasync) => Some(Kind::Datasync),
                None => ways.syncs.then_some(Kind::Sync),
            },
        };
        copying.recording([read, written].into_iter().flatten().map(str::to_owned).collect())
    }

    /// dd hands on what it reads, also where nobody wants it.
    fn read_use(&self) -> ReadUse {
        match self.output {
            Output::Null => ReadUse::NullDevice,
            Output::Path(_) => ReadUse::Nothing,
        }
    }

    fn arguments(&self, direct: bool) -> Vec<String> {
        let mut options = vec!["name=dd", "ioengine=psync", "iodepth=1"];
        // dd neither lays its files out nor tells the kernel how it reads.
        options.extend(["create_on_open=1", "fadvise_hint=0", "percentile_list=50:90:99:99.9"]);
        options.push(if self.forget_in { "invalidate=1" } else { "invalidate=0" });
        if direct {
            options.push("direct=1");
        }
        match self.sync {
            EachSync::No => {}
            EachSync::Dsync => options.push("sync=dsync"),
            EachSync::Sync => options.push("sync=sync"),
        }
        match (&self.input, &self.output) {
            // dd has its zeros made for every block, which is a part of its time.
            (Input::Zero, Output::Path(_)) => {
                options.extend(["zero_buffers=1", "refill_buffers=1"]);
            }
            (Input::Random, Output::Path(_)) => options.push("refill_buffers=1"),
            _ => {}
        }
        options.into_iter().map(|option| format!("--{option}")).collect()
    }
}
