//! Following a run: what happens is told to whoever wants it, here or over a connection.

use crate::interims::{Due, Interims};
use crate::output::{Output, say};
use crate::picture::Live;
use crate::runner::UnderWay;
use crate::ticker::Ticker;
use crate::trigger::Trigger;
use anyhow::Result;
use engine::{Event, Run};
use job::Invocation;
use record::{Nanos, RunRecord};
use std::time::Duration;

/// How often signals are looked at.
const GLANCE: Duration = Duration::from_millis(50);

/// Who follows a run.
pub trait Audience {
    /// Files of a job are being made, in a line.
    ///
    /// # Errors
    /// Those of telling it; the same holds for the others.
    fn laying_out(&mut self, line: &str) -> Result<()>;
    /// Lines of a trace.
    ///
    /// # Errors
    /// See [`Self::laying_out`].
    fn traced(&mut self, lines: &str) -> Result<()>;
    /// What was measured so far.
    ///
    /// # Errors
    /// See [`Self::laying_out`].
    fn so_far(&mut self, record: RunRecord) -> Result<()>;
    /// A moment has passed. Says what is to be done with the run.
    ///
    /// # Errors
    /// See [`Self::laying_out`].
    fn glance(&mut self, under_way: &UnderWay) -> Result<Wish>;
    /// The run has ended.
    ///
    /// # Errors
    /// See [`Self::laying_out`].
    fn ended(&mut self, under_way: &UnderWay) -> Result<()>;
}

/// What is to be done with a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// It is to end.
    pub stop: bool,
    /// It is to be told what was measured so far.
    pub report: bool,
}

/// Follows it until the run has ended. What was measured so far is told at every `interval`, when the
/// audience asks for it and when somebody else does by a signal.
///
/// # Errors
/// Those of the audience.
pub fn follow(
    under_way: &UnderWay,
    interval: Option<Nanos>,
    audience: &mut impl Audience,
) -> Result<()> {
    let UnderWay { run, signals, .. } = *under_way;
    let mut due = Due::new(interval);
    let mut asked = signals.asked();
    let mut owed = false;
    loop {
        let ended = run.wait(GLANCE);
        tell(run, audience)?;
        if ended {
            return audience.ended(under_way);
        }
        let wish = audience.glance(under_way)?;
        if wish.stop {
            run.stop();
        }
        let before = std::mem::replace(&mut asked, signals.asked());
        if wish.report || asked != before {
            owed = true;
            due.ask(run);
        }
        if due.is_due(run.origin()) {
            let record = under_way.so_far();
            // Before the first worker has begun there is nothing to tell. Who asked is told then.
            if record.jobs.iter().any(|job| job.elapsed.0 > 0) {
                owed = false;
                audience.so_far(record)?;
            } else if owed {
                due.ask(run);
            }
        }
    }
}

fn tell(run: &Run, audience: &mut impl Audience) -> Result<()> {
    for event in run.events() {
        let Event::LayingOut { job, files, bytes } = event;
        audience.laying_out(&report::header::layout(&job, files, bytes))?;
    }
    let traced = run.traced().concat();
    if traced.is_empty() { Ok(()) } else { audience.traced(&traced) }
}

/// How what happens meanwhile is told.
#[derive(Clone, Copy)]
pub struct Manner {
    /// As fio does.
    pub as_fio: bool,
    /// The report is text, among others, and takes what fio writes into it.
    pub text: bool,
    /// Nothing but errors goes to stderr.
    pub quiet: bool,
}

/// Who called us, on this machine.
pub struct Console<'a> {
    output: &'a mut Output,
    manner: Manner,
    ticker: Option<Ticker>,
    live: Live,
    trigger: &'a Trigger,
    interims: Option<&'a mut Interims>,
    stopping: bool,
}

impl<'a> Console<'a> {
    /// Shows what happens; reports on what was measured so far where `interims` are given.
    pub fn new(
        invocation: &Invocation,
        output: &'a mut Output,
        manner: Manner,
        trigger: &'a Trigger,
        interims: Option<&'a mut Interims>,
    ) -> Console<'a> {
        let ticker = Ticker::new(invocation, output, manner.as_fio, manner.text);
        let live = Live::new(invocation, output, manner);
        Console { output, manner, ticker, live, trigger, interims, stopping: false }
    }

    /// Makes room for a line.
    fn clear(&mut self) -> Result<()> {
        match &mut self.ticker {
            Some(ticker) => ticker.clear(),
            None => Ok(()),
        }
    }

    fn leave(&mut self) -> Result<()> {
        match &mut self.ticker {
            Some(ticker) => ticker.leave(),
            None => Ok(()),
        }
    }

    fn terminating(&mut self, signal: i32) -> Result<()> {
        self.leave()?;
        match (self.manner.as_fio, self.manner.text) {
            (true, true) => {
                self.output.write(&format!("\nfio: terminating on signal {signal}\n"))?;
            }
            (true, false) => say(&format!("fio: terminating on signal {signal}\n")),
            (false, _) => {
                say(&format!(
                    "fathom: terminating on signal {signal}; once more ends it at once\n"
                ));
            }
        }
        Ok(())
    }
}

impl Audience for Console<'_> {
    fn laying_out(&mut self, line: &str) -> Result<()> {
        self.clear()?;
        if self.manner.text {
            return self.output.write(line);
        }
        // Oracle: only text has it.
        if !self.manner.quiet && !self.manner.as_fio {
            say(line);
        }
        Ok(())
    }

    fn traced(&mut self, lines: &str) -> Result<()> {
        self.output.write(lines)
    }

    fn so_far(&mut self, record: RunRecord) -> Result<()> {
        let Some(interims) = &mut self.interims else { return Ok(()) };
        let report = interims.report(&record);
        self.clear()?;
        self.output.write(&report)
    }

    fn glance(&mut self, under_way: &UnderWay) -> Result<Wish> {
        if let (Some(signal), false) = (under_way.signals.caught(), self.stopping) {
            self.stopping = true;
            self.terminating(signal)?;
        }
        self.trigger.goes_off();
        self.trigger.settle(false);
        if self.live.is_due(under_way) {
            self.clear()?;
            self.live.take(under_way)?;
        }
        let is_drawn = self.live.glance(under_way);
        if let Some(ticker) = self.ticker.as_mut().filter(|_| !is_drawn) {
            ticker.tick(|| under_way.run.snapshot())?;
        }
        Ok(Wish { stop: self.stopping || self.trigger.was_pulled(), report: false })
    }

    fn ended(&mut self, under_way: &UnderWay) -> Result<()> {
        self.trigger.settle(true);
        self.live.leave();
        match &mut self.ticker {
            Some(ticker) if !self.stopping => ticker.finish(|| under_way.run.snapshot()),
            _ => self.leave(),
        }
    }
}
