//! What carrying out another tool's command line has of its own; the rest is as for every suite.

use crate::error::exit_code;
use crate::output::{describe, say};
use anyhow::Result;
use compat::{Fault, Usage};
use host::TargetQuery;
use job::Invocation;
use plan::PlanError;
use record::{Facts, Message, RunRecord, Terminology};
use runner::Refusal;
use runner::Runner;

/// A mistake with its exit code.
pub fn refused(usage: Usage) -> anyhow::Error {
    match usage.fault {
        Fault::Line => Refusal::usage(usage.to_string()),
        Fault::Target => Refusal::target(usage.to_string()),
    }
}

/// Remarks of a front, before its run.
pub fn remark(tool: &str, notes: &[String]) {
    notes.iter().for_each(|note| say(&format!("fathom: note: {tool}: {note}\n")));
}

/// What is known of paths, each with whether it will be written.
pub fn survey(runner: &Runner, paths: &[(&str, bool)]) -> Facts {
    let query = |(path, will_write): &(&str, bool)| TargetQuery {
        path: (*path).to_owned(),
        will_write: *will_write,
    };
    let queries: Vec<TargetQuery> = paths.iter().map(query).collect();
    runner.host().survey(runner.machine().clone(), &queries)
}

/// What a front end says of its runs, in the terms of its tool.
pub struct Remarks {
    terminology: Terminology,
    told: Vec<Message>,
}

impl Remarks {
    /// None yet.
    pub fn new(terminology: Terminology) -> Remarks {
        Remarks { terminology, told: Vec::new() }
    }

    /// Plans a run before the first is made, and says what the user should know.
    ///
    /// # Errors
    /// What is wrong with it; nothing was touched.
    pub fn foresee(&mut self, runner: &Runner, invocation: &Invocation) -> Result<()> {
        let messages = runner.plan(invocation)?.messages;
        self.tell(messages);
        Ok(())
    }

    /// Says what came up during a run.
    pub fn of(&mut self, record: &RunRecord) {
        self.tell(record.messages.clone());
    }

    /// What is true of several runs is said once.
    fn tell(&mut self, messages: Vec<Message>) {
        for mut message in messages {
            if !self.told.contains(&message) {
                self.told.push(message.clone());
                message.text = message.text.in_terms(&self.terminology).into();
                say(&report::messages::lines("fathom", [&message]));
            }
        }
    }
}

/// Says what is wrong in the terms of the tool, and gives the exit code for it.
pub fn fail(terminology: &Terminology, error: &anyhow::Error) -> u8 {
    complaints(terminology, error).iter().for_each(|text| say(&format!("fathom: error: {text}\n")));
    exit_code(error)
}

/// What is wrong, in the terms of the tool, a sentence each.
pub fn complaints(terminology: &Terminology, error: &anyhow::Error) -> Vec<String> {
    let Some(PlanError { problems }) = error.downcast_ref() else {
        return vec![describe(error)];
    };
    let said = problems.iter().map(|problem| {
        let flag = terminology.flag(&problem.option);
        let (found, remedy) = (&problem.found, &problem.remedy);
        format!("{flag}: {}; {}", found.in_terms(terminology), remedy.in_terms(terminology))
    });
    said.collect()
}
