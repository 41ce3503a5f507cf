//! Translates a [`DdCommand`] and the facts about its input and output into I/O for the engine.

use super::direct::{Span, Ways};
use super::{DdCommand, EachSync, EndSync, Input, Output, TOOL};
use crate::Usage;
use job::{BufferContent, Job, ReadUse};
use record::{Bytes, Facts, TargetFacts, TargetKind};
use std::sync::Arc;
use trace::{CopyEnd, Copying, Kind, Recording};

/// After this many bytes dd drops them from the page cache (`nocache`). Oracle: strace of dd 9.1.
const DROP_CACHE_EVERY: u64 = 128 << 10;

/// The job of a call, and the preparation of its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// The job as options of fathom's command line; [`Work::complete`] adds its I/O.
    pub arguments: Vec<String>,
    /// The output is a file, which is created before the run if it does not exist.
    pub makes: bool,
    /// The size to which the output is truncated; `None`: not truncated.
    pub cut: Option<u64>,
    /// The output must not exist before (O_EXCL).
    pub excl: bool,
    /// Notes for the user, a sentence each.
    pub notes: Vec<String>,
    recording: Arc<Recording>,
    /// Each write carries the bytes of the read before it.
    copies: bool,
    /// The use of the bytes that are read.
    read_use: ReadUse,
}

impl Work {
    /// Adds the I/O to the job that was parsed from [`Work::arguments`].
    pub fn complete(&self, job: &mut Job) {
        // Messages name the tool where they would name an I/O log.
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

impl DdCommand {
    /// The work of the call. `facts` describe its input and output, if these are files or devices.
    ///
    /// # Errors
    /// Why input or output cannot be used, and what to do.
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
            cut: Some(self.truncated_size()).filter(|_| makes && !self.notrunc),
            excl: self.excl,
            notes,
            recording: Arc::new(recording),
            copies: matches!((&self.input, &self.output), (Input::Path(_), Output::Path(_))),
            read_use: self.read_use(),
        })
    }

    /// The size to which the output is truncated. Oracle: dd truncates to 0 if `seek=` is within the
    /// first block.
    fn truncated_size(&self) -> u64 {
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
        let refused =
            |flag: &str, what: String, cure: &str| Err(Usage::target(TOOL, flag, what, cure));
        let available = match input {
            Some(TargetFacts { size: Bytes(0), .. }) => {
                let what = "the input holds nothing to copy".into();
                return refused("if=", what, "name a file or device with content");
            }
            Some(input) if input.size.0 <= self.skip => {
                let size = input.size.0;
                let what = format!("the input has {size} bytes, and nothing is left of them");
                return refused("skip=", what, "name a larger file, or lower skip=");
            }
            Some(input) => Some(input.size.0 - self.skip),
            None => None,
        };
        let appended = output.filter(|_| self.append).and_then(|output| match output.kind {
            _ if self.notrunc => Some(output.size.0),
            TargetKind::Block => None,
            // dd truncates first, which extends a file that ends before `seek=`.
            _ => Some(self.truncated_size()),
        });
        let to = appended.unwrap_or(self.seek);
        // dd fails at the end of a device. Here a call without a limit stops there.
        let device = output.filter(|output| output.kind == TargetKind::Block);
        let room = device.map(|device| device.size.0.saturating_sub(to));
        let wanted = match (available, self.limit) {
            (Some(available), Some(limit)) => available.min(limit),
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
            return refused("count=", "nothing would be copied".into(), "give 1 or more");
        }
        if let Some(room) = room.filter(|room| *room < wanted) {
            let what = format!("{wanted} bytes are to be written, the device has room for {room}");
            return refused("of=", what, "lower count= or seek=");
        }
        match self.skip.max(to).checked_add(wanted).filter(|end| *end <= i64::MAX as u64) {
            Some(_) => Ok(Span { from: self.skip, to, total: wanted }),
            None => refused("count=", "reaches beyond 2^63 - 1 bytes".into(), "lower it"),
        }
    }

    /// The reads and writes in dd's order, and the sync at the end.
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
            forgotten: DROP_CACHE_EVERY,
            sync: match self.end.filter(|_| written.is_some()) {
                Some(EndSync::Fsync) => Some(Kind::Sync),
                Some(EndSync::Fdatasync) => Some(Kind::Datasync),
                None => ways.syncs.then_some(Kind::Sync),
            },
        };
        copying.recording([read, written].into_iter().flatten().map(str::to_owned).collect())
    }

    /// dd writes the data it read even if the output is /dev/null.
    fn read_use(&self) -> ReadUse {
        match self.output {
            Output::Null => ReadUse::NullDevice,
            Output::Path(_) => ReadUse::Nothing,
        }
    }

    fn arguments(&self, direct: bool) -> Vec<String> {
        let mut options = vec!["name=dd", "ioengine=psync", "iodepth=1"];
        // dd neither fills its output before nor calls fadvise.
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
            // The kernel makes the zeros of every block anew, within the time of dd.
            (Input::Zero, Output::Path(_)) => {
                options.extend(["zero_buffers=1", "refill_buffers=1"]);
            }
            (Input::Random, Output::Path(_)) => options.push("refill_buffers=1"),
            _ => {}
        }
        options.into_iter().map(|option| format!("--{option}")).collect()
    }
}
