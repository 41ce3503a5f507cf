//! `fathom s3`: an S3 store measured as its users use it.

mod access;
mod arguments;
mod ground;
mod jobs;
mod size;

pub use arguments::Arguments;

use crate::call::{Call, Said};
use crate::exit;
use crate::follow::{Console, follow};
use crate::inputs::Machine;
use crate::output::{Output, say};
use crate::runner::{Prepared, Runner};
use crate::several::{self, Refusal};
use crate::trigger::Trigger;
use access::Access;
use anyhow::Result;
use ground::Ground;
use job::{Dialect, Invocation};
use jobs::Jobs;
use record::{ObjectsPut, RecordSet, RunRecord};
use std::process::ExitCode;

/// Measures and reports.
pub fn main(arguments: &Arguments) -> ExitCode {
    ExitCode::from(s3(arguments).unwrap_or_else(|error| several::fail(&error)))
}

fn s3(arguments: &Arguments) -> Result<u8> {
    arguments.check()?;
    let access = Access::of(arguments)?;
    let mut keeper = arguments.kept.keeper_of_one("s3")?;
    let mut output = Output::open(arguments.output.as_deref())?;
    engine::look_at_clock();
    let runner = Runner::new(false);
    let prefix = prefix(arguments);
    let base = format!("/{}/{prefix}", arguments.bucket);
    let jobs = Jobs { arguments, access: &access, base };
    let measured = understood(&jobs.measure(), &runner, arguments)?;
    call(&runner, &measured).check().map_err(Refusal::usage)?;
    let planned = runner.prepare(&measured)?;
    let store = planned.plan.workers.first().and_then(|worker| worker.objects.as_ref());
    let Some(store) = store.map(engine::object_store) else {
        return Err(Refusal::usage("the job has no object store"));
    };
    let ground = Ground::new(store, &arguments.bucket);
    refuse_what_is_there(arguments, &prefix, ground.check(&prefix, arguments.make_bucket)?)?;
    // From here on there is something to take away when a signal comes.
    runner.signals()?;
    let mut stage = Stage {
        arguments,
        runner: &runner,
        ground,
        jobs,
        put: Vec::new(),
        deleted: 0,
        said: Said::default(),
    };
    let record = stage.carry_out(measured, planned, &mut output);
    let code = match record {
        Ok(Some(record)) => {
            keeper.add(&record);
            // Kept and shown before anything is taken away: that may take long, or be cut short.
            let reported = report(arguments, &record, &mut keeper, &mut output);
            stage.clean_up();
            reported?
        }
        Ok(None) => {
            stage.clean_up();
            runner.caught().map_or(exit::ERRORS, |signal| exit::interrupted(signal, false))
        }
        Err(error) => {
            stage.clean_up();
            return Err(error);
        }
    };
    Ok(code)
}

/// As it was given, or one that nobody else has.
fn prefix(arguments: &Arguments) -> String {
    match &arguments.prefix {
        Some(prefix) => prefix.trim_matches('/').to_owned(),
        None => {
            let drawn = u64::from(std::process::id()) << 32 | several::fresh_seed();
            format!("fathom-{drawn:x}")
        }
    }
}

/// Nothing that somebody else put is to be overwritten, and nothing is measured that is not there.
fn refuse_what_is_there(arguments: &Arguments, prefix: &str, is_there: Option<bool>) -> Result<()> {
    let bucket = &arguments.bucket;
    match (arguments.no_prepare, is_there) {
        (true, Some(false)) => Err(Refusal::target(format!(
            "--no-prepare: nothing is below {prefix}/ in the bucket '{bucket}'; let this call put \
             the objects, or name the prefix that an earlier one left"
        ))),
        (false, Some(true)) => Err(Refusal::target(format!(
            "--prefix={prefix}: objects are there already in the bucket '{bucket}', and would be \
             overwritten; name another prefix, or none"
        ))),
        (false, None) if arguments.prefix.is_some() => Err(Refusal::target(format!(
            "--prefix={prefix}: the bucket '{bucket}' may not be listed, so nobody knows what would \
             be overwritten; leave it out"
        ))),
        _ => Ok(()),
    }
}

/// A job, understood.
fn understood(job: &[String], runner: &Runner, arguments: &Arguments) -> Result<Invocation> {
    let machine = Machine::new(runner.machine());
    let mut invocation = job::parse(job, Dialect::Fathom, &machine)
        .map_err(|errors| Refusal::usage(errors.to_string()))?;
    invocation.with_serials = arguments.kept.common().with_serials;
    Ok(invocation)
}

/// A job as a call of its own.
fn call<'a>(runner: &'a Runner, job: &'a Invocation) -> Call<'a> {
    Call { dialect: Dialect::Fathom, runner, invocation: job, others: &[] }
}

/// The measurement with what is around it.
struct Stage<'a> {
    arguments: &'a Arguments,
    runner: &'a Runner,
    ground: Ground,
    jobs: Jobs<'a>,
    /// What is to be taken away.
    put: Vec<ObjectsPut>,
    /// How many objects measurements took away themselves.
    deleted: u64,
    /// What is true of both runs is said once.
    said: Said,
}

impl Stage<'_> {
    /// Puts what has to be there, and measures; `None`: a signal came, or an error, before there was
    /// anything to measure.
    fn carry_out(
        &mut self,
        measured: Invocation,
        planned: Prepared,
        output: &mut Output,
    ) -> Result<Option<RunRecord>> {
        let given = self.arguments;
        if given.work.needs_objects() && !given.no_prepare {
            say(&format!("fathom: putting {} objects below {}\n", given.objects(), self.jobs.base));
            let job = understood(&self.jobs.prepare(), self.runner, given)?;
            let prepared = self.runner.prepare(&job)?;
            let record = self.run(&job, prepared, output)?;
            if record.interrupted_by.is_some() {
                return Ok(None);
            }
            if exit::failed(&record) {
                say("fathom: error: the objects could not be put; nothing was measured\n");
                return Ok(None);
            }
        }
        say(&format!("fathom: {}\n", self.announced()));
        self.run(&measured, planned, output).map(Some)
    }

    /// What is measured, in a line.
    fn announced(&self) -> String {
        let given = self.arguments;
        let rate = given.rate.map_or(String::new(), |rate| format!(", {rate} a second"));
        format!(
            "{} below {}, {} in flight{rate}, for {} s",
            given.work.name(),
            self.jobs.base,
            given.concurrent(),
            given.duration.0.div_ceil(1_000_000_000)
        )
    }

    /// Makes a run and notes what it put.
    fn run(
        &mut self,
        job: &Invocation,
        prepared: Prepared,
        output: &mut Output,
    ) -> Result<RunRecord> {
        let call = call(self.runner, job);
        self.said.say(&call, &prepared.messages, output)?;
        let trigger = Trigger::default();
        let record = self.runner.measure(prepared, job, |under_way| {
            let mut console = Console::new(job, output, call.manner(), &trigger, None);
            follow(under_way, None, &mut console)
        })?;
        self.said.say(&call, &record.messages, output)?;
        self.put.extend(record.jobs.iter().filter_map(|job| job.objects.clone()));
        self.deleted += record.jobs.iter().map(|job| job.results.trim.ios).sum::<u64>();
        Ok(record)
    }

    /// Takes away what was put, or says where it is.
    fn clean_up(&mut self) {
        let put = std::mem::take(&mut self.put);
        let count: u64 = put.iter().map(|put| u64::from(put.to - put.from)).sum();
        // Which of them were deleted is not known, only how many: another request does no harm. What an
        // earlier call put may be among them.
        let count = match self.arguments.no_prepare {
            true => count,
            false => count.saturating_sub(self.deleted),
        };
        if count == 0 {
            return;
        }
        let base = &self.jobs.base;
        if self.arguments.no_cleanup {
            say(&format!("fathom: the objects are left below {base}\n"));
            return;
        }
        say(&format!(
            "fathom: deleting the {count} objects below {base}; a signal leaves the rest\n"
        ));
        // A signal that ended the run does not end this; the next one ends the program.
        let runner = self.runner;
        let is_interrupted = runner.caught().is_some();
        let removed = self.ground.remove(&put, || !is_interrupted && runner.caught().is_some());
        if removed.left > 0 {
            let why = removed.why.map_or(String::new(), |why| format!(": {why}"));
            // Where another call's objects are as well, this would take them along.
            let cure = match self.arguments.no_prepare {
                true => String::new(),
                false => format!("; `aws s3 rm --recursive s3:/{base}/` deletes them"),
            };
            say(&format!(
                "fathom: warning: {} objects below {base} may be left{why}{cure}\n",
                removed.left
            ));
        }
    }
}

/// Shows what was measured. The exit code.
fn report(
    arguments: &Arguments,
    record: &RunRecord,
    keeper: &mut crate::archive::Keeper,
    output: &mut Output,
) -> Result<u8> {
    let judged = judge::judge(record);
    keeper.judged(record, &judged);
    let conclusion = suite::objects::conclude(record, &judged);
    let set = RecordSet { runs: vec![record.clone()], ..several::set("s3", arguments.seed) };
    let kept = keeper.save(&set);
    let style = output.style();
    output.write(&match arguments.kept.json {
        true => report::json::suite::objects(&conclusion, &kept),
        false => {
            report::suite::objects(&conclusion, &style)
                + &report::verdict::text(&judged, &style)
                + &several::where_it_is(&kept)
        }
    })?;
    Ok(match exit::of(record, false) {
        0 if kept.is_lost => exit::ERRORS,
        code => code,
    })
}
