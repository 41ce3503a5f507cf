//! `fathom s3`: an S3 store measured as its users use it.

mod access;
mod arguments;
mod ground;
mod jobs;
mod size;

pub use arguments::Arguments;

use crate::commands::run::console::Console;
use crate::commands::run::request::{RunRequest, ShownMessages};
use crate::exit;
use crate::output::{Output, say};
use crate::suites::{self};
use access::Access;
use anyhow::Result;
use ground::Ground;
use job::{Dialect, Invocation};
use jobs::Jobs;
use record::{ObjectsPut, RecordSet, RunRecord};
use runner::Refusal;
use runner::inputs::Machine;
use runner::{Execution, PlannedRun, RunArchive, Runner};

/// Measures and reports.
pub fn main(arguments: &Arguments) -> Result<u8> {
    arguments.check()?;
    let access = Access::of(arguments)?;
    let mut archive = arguments.kept.archive_of_one("s3")?;
    let mut output = Output::open(arguments.output.as_deref())?;
    engine::prepare_clock();
    let runner = Runner::new(false);
    let prefix = prefix(arguments);
    let base = format!("/{}/{prefix}", arguments.bucket);
    let jobs = Jobs { arguments, access: &access, base };
    let measured = understood(&jobs.measure(), &runner, arguments)?;
    request(&runner, &measured).check().map_err(Refusal::usage)?;
    let planned = runner.plan(&measured)?;
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
        shown: ShownMessages::default(),
    };
    let execution = stage.prepare_and_measure(&measured, planned, &mut archive, &mut output);
    let code = match execution {
        Ok(Some(execution)) => {
            // Kept and shown before anything is taken away: that may take long, or be cut short.
            let reported = report(arguments, &execution, &mut archive, &mut output);
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
            let drawn = u64::from(std::process::id()) << 32 | runner::fresh_seed();
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
    invocation.with_serials = arguments.kept.suite_options().with_serials;
    Ok(invocation)
}

/// A job as a run request of its own.
fn request<'a>(runner: &'a Runner, job: &'a Invocation) -> RunRequest<'a> {
    RunRequest { dialect: Dialect::Fathom, runner, invocation: job, others: &[] }
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
    shown: ShownMessages,
}

impl Stage<'_> {
    /// Puts what has to be there, and measures; `None`: a signal came, or an error, before there was
    /// anything to measure.
    fn prepare_and_measure(
        &mut self,
        measured: &Invocation,
        planned: PlannedRun,
        archive: &mut RunArchive,
        output: &mut Output,
    ) -> Result<Option<Execution>> {
        let given = self.arguments;
        if given.work.needs_objects() && !given.no_prepare {
            say(&format!("fathom: putting {} objects below {}\n", given.objects(), self.jobs.base));
            let job = understood(&self.jobs.prepare(), self.runner, given)?;
            let record = self.put_objects(&job, output)?;
            if record.interrupted_by.is_some() {
                return Ok(None);
            }
            if exit::failed(&record) {
                say("fathom: error: the objects could not be put; nothing was measured\n");
                return Ok(None);
            }
        }
        say(&format!("fathom: {}\n", self.announced()));
        let request = request(self.runner, measured);
        self.shown.show(&request, &planned.messages, output)?;
        let mut console = Console::new(&request, measured, output);
        let execution = self.runner.execute(planned, measured, archive, &mut console)?;
        self.shown.show(&request, &execution.record.messages, output)?;
        self.note_objects(&execution.record);
        Ok(Some(execution))
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

    /// Puts the objects that the measurement needs. This run is not archived.
    fn put_objects(&mut self, job: &Invocation, output: &mut Output) -> Result<RunRecord> {
        let request = request(self.runner, job);
        let planned = self.runner.plan(job)?;
        self.shown.show(&request, &planned.messages, output)?;
        let mut console = Console::new(&request, job, output);
        let record = self.runner.measure(planned, job, &mut console)?;
        self.shown.show(&request, &record.messages, output)?;
        self.note_objects(&record);
        Ok(record)
    }

    /// Notes which objects a run put and how many it deleted.
    fn note_objects(&mut self, record: &RunRecord) {
        self.put.extend(record.jobs.iter().filter_map(|job| job.objects.clone()));
        self.deleted += record.jobs.iter().map(|job| job.results.trim.ios).sum::<u64>();
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
    execution: &Execution,
    archive: &mut RunArchive,
    output: &mut Output,
) -> Result<u8> {
    let Execution { record, judged } = execution;
    let conclusion = suite::objects::conclude(record, judged);
    let set = RecordSet { runs: vec![record.clone()], ..runner::empty_set("s3", arguments.seed) };
    let kept = suites::save(archive, &set);
    let style = output.style();
    output.write(&match arguments.kept.json {
        true => report::json::suite::objects(&conclusion, &kept),
        false => {
            report::suite::objects(&conclusion, &style)
                + &report::verdict::text(judged, &style)
                + &suites::footer(&kept)
        }
    })?;
    Ok(match exit::of(record, false) {
        0 if kept.is_lost => exit::ERRORS,
        code => code,
    })
}
