//! The output during a call: each row or phase as soon as it is measured.

use super::conclusion::{Conclusion, Figure};
use super::{IozoneCommand, Mode, table, throughput};
use record::RunRecord;

/// A call in progress.
pub struct Live<'a> {
    call: &'a IozoneCommand,
    conclusion: Conclusion,
}

impl<'a> Live<'a> {
    /// A call before its first run.
    pub fn new(call: &'a IozoneCommand) -> Live<'a> {
        Live { call, conclusion: Conclusion::default() }
    }

    /// The text before the first run.
    pub fn head(&self) -> String {
        match self.call.mode {
            Mode::Throughput { .. } => String::new(),
            Mode::Single | Mode::Automatic => table::head(&self.call.columns()),
        }
    }

    /// Adds a run. Returns the text to print: a row, if it is complete or the last one.
    pub fn took(&mut self, run: &RunRecord) -> String {
        let before = self.conclusion.figures.len();
        self.conclusion.add(self.call, run);
        let last = self.conclusion.failure.is_some() || self.conclusion.interrupted_by.is_some();
        let figures = &self.conclusion.figures;
        let newest = figures.get(before);
        if let Mode::Throughput { .. } = self.call.mode {
            let above = before.checked_sub(1).and_then(|index| figures.get(index));
            let block = |figure| throughput::text(self.call, above, figure);
            return newest.map(block).unwrap_or_default();
        }
        let whole = |figure: &Figure| self.call.operations().last() == Some(&figure.operation);
        let row = match (newest, figures.last()) {
            (Some(figure), _) if whole(figure) || last => figure,
            (None, Some(figure)) if last && !whole(figure) => figure,
            _ => return String::new(),
        };
        let columns = self.call.columns();
        table::row(&columns, row.sizes(), figures, |figure| figure.shown(self.call.show.unit))
    }

    /// The conclusion from all runs.
    pub fn conclusion(self) -> Conclusion {
        self.conclusion
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Iozone, Request, RunContext, parse};
    use super::*;
    use record::JobRecord;
    use suite::Suite;

    /// The text printed after each run of a call. The run at index `signal` is interrupted.
    fn printed(line: &str, signal: Option<usize>) -> Vec<String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let Ok(Request::Run(call)) = parse(&words) else { panic!("{line}") };
        let mut suite = Iozone::new(&call, RunContext { cpus: 1, seed: 1 });
        let mut live = Live::new(&call);
        let mut texts = Vec::new();
        while let Some(step) = suite.next() {
            let mut job = JobRecord { name: step.cell.name.clone(), ..JobRecord::default() };
            job.results.write.ios = 1;
            let interrupted_by = signal.filter(|run| *run == texts.len()).map(|_| 2);
            let cell = Some(step.cell);
            let run = RunRecord { jobs: vec![job], cell, interrupted_by, ..RunRecord::default() };
            texts.push(live.took(&run));
            suite.completed(&run);
        }
        texts
    }

    #[test]
    fn a_row_appears_when_it_is_whole() {
        assert_eq!(
            printed("-i 0 -s 64 -s 128", None),
            [
                "",
                "              64       4        0        0\n",
                "",
                "             128       4        0        0\n"
            ]
        );
    }

    #[test]
    fn what_a_signal_leaves_of_a_row_is_shown() {
        assert_eq!(printed("-i 0 -s 64 -s 128", Some(0)), ["              64       4        0\n"]);
        assert_eq!(
            printed("-i 0 -s 64", Some(1))[1],
            "              64       4        0        0\n"
        );
    }

    #[test]
    fn a_phase_is_shown_when_it_was_measured() {
        let texts = printed("-i 0 -t 1 -s 64", None);
        assert!(texts[0].starts_with("\tThroughput test with 1 process\n"), "{}", texts[0]);
        assert!(
            texts[1].starts_with("\n\tChildren see throughput for  1 rewriters"),
            "{}",
            texts[1]
        );
    }
}
