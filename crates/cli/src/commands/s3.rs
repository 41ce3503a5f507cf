//! `fathom s3`: measures an S3 object store.

mod access;
mod arguments;
mod bucket_fixture;
mod jobs;
mod size;

pub use arguments::Arguments;

use crate::commands::run::console::Console;
use crate::commands::run::request::{RunRequest, ShownMessages};
use crate::output::{Output, write_stderr};
use crate::{exit, ranks, suites};
use access::Access;
use anyhow::Result;
use bucket_fixture::BucketFixture;
use job::{Dialect, Invocation};
use jobs::Jobs;
use judge::Judged;
use record::{ObjectsPut, RecordSet, RunRecord};
use runner::{PlannedRun, Refusal, RunArchive, Runner};

/// Puts objects, measures, reports, and deletes the objects.
pub fn main(arguments: &Arguments) -> Result<u8> {
    engine::prepare_clock();
    let runner = Runner::new(false);
    ranks::with_ranks(&runner, || measure(arguments, &runner))
}

fn measure(arguments: &Arguments, runner: &Runner) -> Result<u8> {
    arguments.check()?;
    let access = Access::from_arguments(arguments)?;
    let mut archive = arguments.kept.archive_of_one("s3")?;
    let mut output = Output::open(arguments.output.as_deref())?;
    let prefix = prefix(arguments);
    let base = format!("/{}/{prefix}", arguments.bucket);
    let ranks = runner.team().map_or(1, <[String]>::len);
    let jobs = Jobs { arguments, access: &access, base, ranks };
    let mut measured = parse(&jobs.measure(), runner, arguments)?;
    measured.cpu_profile = arguments.cpu_profile;
    request(runner, &measured).check().map_err(Refusal::usage)?;
    let planned = runner.plan(&measured)?;
    let store = planned.plan.workers.first().and_then(|worker| worker.objects.as_ref());
    let Some(store) = store.map(engine::object_store) else {
        return Err(Refusal::usage("the job has no object store"));
    };
    let bucket = BucketFixture::new(store, &arguments.bucket);
    check_prefix(arguments, &prefix, bucket.check(&prefix, arguments.make_bucket)?)?;
    // From here on a signal must not skip the deletion of the objects.
    runner.signals()?;
    let mut measurement = Measurement {
        arguments,
        runner,
        bucket,
        jobs,
        put: Vec::new(),
        deleted: 0,
        shown: ShownMessages::default(),
    };
    let execution = measurement.prepare_and_measure(&measured, planned, &mut archive, &mut output);
    let code = match execution {
        Ok(Some(execution)) => {
            // Saved and shown before the deletion, which may take long or be cut short.
            let reported = report(arguments, &execution, &mut archive, &mut output);
            measurement.clean_up();
            reported?
        }
        Ok(None) => {
            measurement.clean_up();
            runner.caught().map_or(exit::ERRORS, |signal| exit::interrupted(signal, false))
        }
        Err(error) => {
            measurement.clean_up();
            return Err(error);
        }
    };
    Ok(code)
}

/// The prefix of --prefix, or a unique one.
fn prefix(arguments: &Arguments) -> String {
    match &arguments.prefix {
        Some(prefix) => prefix.trim_matches('/').to_owned(),
        None => {
            let drawn = u64::from(std::process::id()) << 32 | runner::fresh_seed();
            format!("fathom-{drawn:x}")
        }
    }
}

/// Refuses to overwrite existing objects, and to measure missing ones. `has_objects` is `None` if the
/// bucket may not be listed.
fn check_prefix(arguments: &Arguments, prefix: &str, has_objects: Option<bool>) -> Result<()> {
    let bucket = &arguments.bucket;
    match (arguments.no_prepare, has_objects) {
        (true, Some(false)) => Err(Refusal::target(format!(
            "--no-prepare: no object is below {prefix}/ in the bucket '{bucket}'; leave the option \
             out, or name the prefix of objects that an earlier call left"
        ))),
        (false, Some(true)) => Err(Refusal::target(format!(
            "--prefix={prefix}: the bucket '{bucket}' already has objects there, which would be \
             overwritten; name another prefix, or none"
        ))),
        (false, None) if arguments.prefix.is_some() => Err(Refusal::target(format!(
            "--prefix={prefix}: the bucket '{bucket}' may not be listed, so objects might be \
             overwritten; leave the option out"
        ))),
        _ => Ok(()),
    }
}

/// Parses the options of a job.
fn parse(job: &[String], runner: &Runner, arguments: &Arguments) -> Result<Invocation> {
    let machine = ranks::machine(runner);
    let mut invocation = job::parse(job, Dialect::Fathom, &machine)
        .map_err(|errors| Refusal::usage(errors.to_string()))?;
    let options = arguments.kept.suite_options();
    (invocation.with_serials, invocation.why) = (options.with_serials, options.why);
    Ok(invocation)
}

/// A run request for one job.
fn request<'a>(runner: &'a Runner, job: &'a Invocation) -> RunRequest<'a> {
    RunRequest { dialect: Dialect::Fathom, runner, invocation: job, others: &[] }
}

/// The measurement, with the objects that it puts and deletes.
struct Measurement<'a> {
    arguments: &'a Arguments,
    runner: &'a Runner,
    bucket: BucketFixture,
    jobs: Jobs<'a>,
    /// Objects to delete at the end.
    put: Vec<ObjectsPut>,
    /// Number of objects that the runs deleted.
    deleted: u64,
    shown: ShownMessages,
}

impl Measurement<'_> {
    /// Puts the objects that the measurement needs, and measures. `None` if the objects could not be
    /// put, or a signal came before the measurement.
    fn prepare_and_measure(
        &mut self,
        measured: &Invocation,
        planned: PlannedRun,
        archive: &mut RunArchive,
        output: &mut Output,
    ) -> Result<Option<(RunRecord, Judged)>> {
        let arguments = self.arguments;
        if arguments.work.needs_objects() && !arguments.no_prepare {
            let count = arguments.objects() * self.jobs.ranks as u64;
            write_stderr(&format!("fathom: putting {count} objects below {}\n", self.jobs.base));
            let job = parse(&self.jobs.prepare(), self.runner, arguments)?;
            // This run is not archived.
            let (record, _) = self.run(&job, self.runner.plan(&job)?, None, output)?;
            if record.interrupted_by.is_some() {
                return Ok(None);
            }
            if exit::failed(&record) {
                write_stderr("fathom: error: the objects could not be put; nothing was measured\n");
                return Ok(None);
            }
        }
        write_stderr(&format!("fathom: {}\n", self.description()));
        let (record, judged) = self.run(measured, planned, Some(archive), output)?;
        Ok(judged.map(|judged| (record, judged)))
    }

    /// One line about the measurement.
    fn description(&self) -> String {
        let arguments = self.arguments;
        let rate = arguments.rate.map_or(String::new(), |rate| format!(", {rate} per second"));
        let ranks = match self.jobs.ranks {
            1 => String::new(),
            ranks => format!(" on each of {ranks} ranks"),
        };
        format!(
            "{} below {}, {} in flight{rate}{ranks}, for {} s",
            arguments.work.name(),
            self.jobs.base,
            arguments.concurrent(),
            arguments.duration.0.div_ceil(1_000_000_000)
        )
    }

    /// Makes a run, archives and judges it if there is an archive, and notes which objects it put and how
    /// many it deleted.
    fn run(
        &mut self,
        job: &Invocation,
        planned: PlannedRun,
        archive: Option<&mut RunArchive>,
        output: &mut Output,
    ) -> Result<(RunRecord, Option<Judged>)> {
        let request = request(self.runner, job);
        self.shown.show(&request, &planned.messages, output)?;
        let mut console = Console::new(&request, job, output);
        let record = self.runner.execute(planned, job, &mut console)?;
        let judged = archive.map(|archive| archive.add_and_judge(&record));
        self.shown.show(&request, &record.messages, output)?;
        let put =
            record.jobs.iter().flat_map(|job| job.objects.iter().chain(&job.objects_of_others));
        self.put.extend(put.cloned());
        self.deleted += record.jobs.iter().map(|job| job.results.trim.ios).sum::<u64>();
        Ok((record, judged))
    }

    /// Deletes the objects, or prints where they are.
    fn clean_up(&mut self) {
        let put = std::mem::take(&mut self.put);
        let count: u64 = put.iter().map(|put| u64::from(put.to - put.from)).sum();
        // Which objects the runs deleted is not known, only how many. Deleting one again does no harm.
        // With --no-prepare, deleted objects may be those of an earlier call.
        let count = match self.arguments.no_prepare {
            true => count,
            false => count.saturating_sub(self.deleted),
        };
        if count == 0 {
            return;
        }
        let base = &self.jobs.base;
        if self.arguments.no_cleanup {
            write_stderr(&format!("fathom: the objects are left below {base}\n"));
            return;
        }
        write_stderr(&format!(
            "fathom: deleting the {count} objects below {base}; a signal stops this\n"
        ));
        // A signal that ended the run does not stop the deletion; a second one ends the program.
        let runner = self.runner;
        let is_interrupted = runner.caught().is_some();
        let removed = self.bucket.delete(&put, || !is_interrupted && runner.caught().is_some());
        if removed.left > 0 {
            let why = removed.first_error.map_or(String::new(), |why| format!(": {why}"));
            // Not with objects of other calls there: the command would delete them too.
            let cure = match self.arguments.no_prepare {
                true => String::new(),
                false => format!("; `aws s3 rm --recursive s3:/{base}/` deletes them"),
            };
            write_stderr(&format!(
                "fathom: warning: {} objects below {base} may not have been deleted{why}{cure}\n",
                removed.left
            ));
        }
    }
}

/// Saves the record and prints the report. Returns the exit code.
fn report(
    arguments: &Arguments,
    (record, judged): &(RunRecord, Judged),
    archive: &mut RunArchive,
    output: &mut Output,
) -> Result<u8> {
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
    Ok(match exit::of_run(record, false) {
        0 if kept.is_lost => exit::ERRORS,
        code => code,
    })
}
