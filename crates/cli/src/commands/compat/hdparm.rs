//! `fathom hdparm`, also when called as `hdparm`.

use super::remarks::{self, Remarks};
use crate::exit;
use crate::output::Output;
use crate::suites::{self, SuiteOptions};
use anyhow::Result;
use archive::Choice;
use compat::hdparm::{HELP, HdparmCommand, ONE_AT_A_TIME, TERMINOLOGY, Timing, heading};
use compat::{ReportFooter, Runs};
use job::Invocation;
use record::{Cell, Coordinate, Facts, RunRecord};
use report::style::Style;
use runner::{RunArchive, Runner};
use std::path::PathBuf;
use suite::{Step, Suite};

/// The dimension of a cell that holds the target.
const TARGET: &str = "target";

/// Times reads and reports.
pub fn main(arguments: &[String]) -> u8 {
    hdparm(arguments).unwrap_or_else(|error| remarks::fail(&TERMINOLOGY, &error))
}

fn hdparm(arguments: &[String]) -> Result<u8> {
    if arguments.iter().any(|argument| argument == "--help") {
        return Output::Stdout.write(HELP).map(|()| 0);
    }
    let call = HdparmCommand::parse(arguments).map_err(remarks::refused)?;
    let archive = RunArchive::for_set(Choice::from_options(None, false), "hdparm", 0);
    let mut archive = archive.with_record_file(call.record.as_ref().map(PathBuf::from));
    archive.check_record_file()?;
    engine::prepare_clock();
    let runner = Runner::new(false);
    let paths: Vec<(&str, bool)> = call.targets.iter().map(|path| (path.as_str(), false)).collect();
    let facts = remarks::survey(&runner, &paths);
    let runs = Runs::new(steps(&call, &facts)?);
    remarks::print_notes("hdparm", &call.notes);
    let options = SuiteOptions {
        quiet: true,
        terminology: TERMINOLOGY,
        no_progress: true,
        ..SuiteOptions::default()
    };
    let mut remarks = Remarks::new(TERMINOLOGY);
    for step in runs.left() {
        remarks.plan(&runner, &suites::invocation(step, &runner, &options)?)?;
    }
    let mut task = TimingTask {
        call: &call,
        options: &options,
        runs,
        remarks,
        shown_target: None,
        worst_code: 0,
    };
    let mut set = runner::empty_set("hdparm", 0);
    let end = suites::run_task(&mut task, &runner, &options, &mut set, &mut archive);
    if suites::save(&mut archive, &set).is_lost {
        task.worst_code = task.worst_code.max(exit::ERRORS);
    }
    Ok(end?.map_or(task.worst_code, |signal| suites::exit_code(Some(signal), false)))
}

/// The steps of all timings. All are made at once, so that an error in the last shows before the first.
fn steps(call: &HdparmCommand, facts: &Facts) -> Result<Vec<Step>> {
    let mut steps: Vec<Step> = Vec::new();
    for path in &call.targets {
        let target = facts.targets.get(path).cloned().unwrap_or_default();
        for timing in call.timings() {
            let arguments = call.arguments(timing, path, &target).map_err(remarks::refused)?;
            let name = timing.name();
            let before = steps.iter().filter(|step| step.cell.name == name).count();
            let at = vec![Coordinate { dimension: TARGET.into(), value: path.clone() }];
            let cell = Cell { name: name.into(), round: before as u32, at };
            let description = format!("{name} of {path}");
            steps.push(Step { cell, description, arguments, ..Step::default() });
        }
    }
    Ok(steps)
}

/// The timings. Each is printed as soon as it is done.
struct TimingTask<'a> {
    call: &'a HdparmCommand,
    options: &'a SuiteOptions,
    runs: Runs,
    remarks: Remarks,
    /// The target of the heading that was printed last.
    shown_target: Option<String>,
    /// The highest exit code.
    worst_code: u8,
}

impl runner::SuiteTask for TimingTask<'_> {
    fn suite(&mut self) -> &mut dyn Suite {
        &mut self.runs
    }

    fn invocation(&mut self, step: &Step, runner: &Runner) -> Result<Invocation> {
        let path = target(&step.cell);
        if self.shown_target.as_deref() != Some(path) {
            Output::Stdout.write(&heading(path))?;
            self.shown_target = Some(path.to_owned());
        }
        // Dirty pages of other programs must not be written back during the timing.
        rustix::fs::sync();
        suites::invocation(step, runner, self.options)
    }

    fn save(&mut self, record: &RunRecord) -> Result<()> {
        self.remarks.print_messages(record);
        self.worst_code = self.worst_code.max(exit::of_run(record, false));
        let Some(timing) = timing(record) else { return Ok(()) };
        let mut output = Output::Stdout;
        output.write(&self.call.line(timing, record))?;
        output.write(&footer(timing, record, &output.style()))
    }
}

/// The target of a cell.
fn target(cell: &Cell) -> &str {
    let mut at = cell.at.iter();
    at.find(|at| at.dimension == TARGET).map(|at| at.value.as_str()).unwrap_or_default()
}

/// The timing that a run measured.
fn timing(record: &RunRecord) -> Option<Timing> {
    let name = &record.cell.as_ref()?.name;
    [Timing::Cached, Timing::Device].into_iter().find(|timing| timing.name() == name)
}

/// The footer below a line of hdparm.
fn footer(timing: Timing, record: &RunRecord, style: &Style) -> String {
    let judged = judge::judge(record).in_terms(&TERMINOLOGY);
    let footer = ReportFooter { record, judged: &judged, written: None, style };
    let lines = footer.lines();
    let is_direct = record.jobs.first().is_some_and(|job| job.workload.direct);
    match timing {
        // -T measures memory on purpose, so this is not a finding.
        Timing::Cached if !is_direct && !lines.is_empty() => {
            lines
                + &footer.line("means", "how fast memory delivers cached data; no disk is involved")
        }
        Timing::Device if !lines.is_empty() && !is_rotational(record) => {
            let lines = lines + &footer.line("depth 1", ONE_AT_A_TIME);
            lines + &report::verdict::brief(&judged, style)
        }
        _ => lines + &report::verdict::brief(&judged, style),
    }
}

/// Whether all disks below the target are known to be rotational.
fn is_rotational(record: &RunRecord) -> bool {
    let path = record.cell.as_ref().map(target).unwrap_or_default();
    let stack = record.facts.stack_under(path);
    let mut devices = stack.into_iter().filter_map(|name| record.facts.devices.get(name));
    devices.all(|device| device.rotational == Some(true))
}
