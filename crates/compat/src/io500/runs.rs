//! The phases as runs of ior and mdtest.

use super::command::Phase;
use crate::ior::{self, Ior, IorCommand};
use crate::mdtest::{self, Mdtest, MdtestCommand};
use record::{Cell, Coordinate, Nanos, RunRecord};
use std::collections::VecDeque;
use suite::{Expected, Step, Suite, failure, run_duration};

/// The name of the parameter that tells the phases apart in records.
const PHASE: &str = "io500";

/// What a phase consists of. Tests are numbered: 0 is easy, 1 is hard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A run of IOR.
    Ior(usize, ior::Phase),
    /// A run of mdtest.
    Mdtest(usize, mdtest::Phase),
    /// The search, which is no run.
    Find,
}

impl Phase {
    /// Its parts that are known before it begins, in order.
    fn parts(self) -> Vec<Part> {
        use mdtest::Phase::{FileCreate, FileRead, FileRemove, FileStat, TreeCreate};
        let create = |test| vec![Part::Mdtest(test, TreeCreate), Part::Mdtest(test, FileCreate)];
        match self {
            Phase::IorEasyWrite => vec![Part::Ior(0, ior::Phase::Write)],
            Phase::MdtestEasyWrite => create(0),
            Phase::IorHardWrite => vec![Part::Ior(1, ior::Phase::Write)],
            Phase::MdtestHardWrite => create(1),
            Phase::Find => vec![Part::Find],
            Phase::IorEasyRead => vec![Part::Ior(0, ior::Phase::Read)],
            Phase::MdtestEasyStat => vec![Part::Mdtest(0, FileStat)],
            Phase::IorHardRead => vec![Part::Ior(1, ior::Phase::Read)],
            Phase::MdtestHardStat => vec![Part::Mdtest(1, FileStat)],
            Phase::MdtestEasyDelete => vec![Part::Mdtest(0, FileRemove)],
            Phase::MdtestHardRead => vec![Part::Mdtest(1, FileRead)],
            Phase::MdtestHardDelete => vec![Part::Mdtest(1, FileRemove)],
        }
    }
}

/// The runs of a call.
pub struct Io500 {
    ior: [Ior; 2],
    mdtest: [Mdtest; 2],
    left: VecDeque<(Phase, Part)>,
    /// Whether the part that comes next goes on with a phase.
    is_further: bool,
    each: Nanos,
    spent: Nanos,
}

impl Io500 {
    /// All runs of these phases.
    pub fn new(
        phases: &[Phase],
        ior: &[IorCommand; 2],
        mdtest: &[MdtestCommand; 2],
        seed: u64,
    ) -> Io500 {
        let parts = |phase: &Phase| {
            let phase = *phase;
            phase.parts().into_iter().map(move |part| (phase, part))
        };
        Io500 {
            ior: ior.each_ref().map(|call| Ior::new(call, seed)),
            mdtest: mdtest.each_ref().map(|call| Mdtest::new(call, seed)),
            left: phases.iter().flat_map(parts).collect(),
            is_further: false,
            each: Nanos(mdtest[0].stonewall_s.saturating_mul(1_000_000_000)),
            spent: Nanos::default(),
        }
    }

    /// Whether the search comes next. The caller carries it out, and says so with [`Io500::searched`].
    pub fn is_search_next(&self) -> bool {
        matches!(self.left.front(), Some((_, Part::Find)))
    }

    /// Goes on after the search.
    pub fn searched(&mut self) {
        self.left.pop_front();
    }

    /// Ends it before the next run.
    pub fn end(&mut self) {
        self.left.clear();
    }

    /// The phase that has begun and not ended, if there is one.
    pub fn within(&self) -> Option<Part> {
        self.left.front().filter(|_| self.is_further).map(|(_, part)| *part)
    }
}

impl Suite for Io500 {
    fn next(&mut self) -> Option<Step> {
        let (phase, part) = *self.left.front()?;
        let mut step = match part {
            Part::Ior(test, inner) => self.ior[test].step(0, inner),
            Part::Mdtest(test, inner) => self.mdtest[test].step(0, inner),
            Part::Find => return None,
        };
        let suffix = match part {
            Part::Ior(_, ior::Phase::WearOut) | Part::Mdtest(_, mdtest::Phase::WearOut) => {
                ", wear-out".to_owned()
            }
            Part::Mdtest(_, mdtest::Phase::TreeCreate) => ", tree".to_owned(),
            // A further run of mdtest has its number behind the name.
            _ => step.cell.name.split_once(',').map_or(String::new(), |(_, end)| format!(",{end}")),
        };
        step.cell.name = format!("{}{suffix}", phase.name());
        step.description.clone_from(&step.cell.name);
        step.cell.at.insert(0, Coordinate { dimension: PHASE.into(), value: phase.name().into() });
        step.duration = self.each;
        Some(step)
    }

    fn completed(&mut self, record: &RunRecord) -> Vec<String> {
        self.spent += run_duration(record);
        let Some((phase, part)) = self.left.pop_front() else { return Vec::new() };
        let next = match part {
            Part::Ior(test, inner) => {
                let is_uneven = self.ior[test].add_written(inner, record);
                is_uneven.then_some(Part::Ior(test, ior::Phase::WearOut))
            }
            Part::Mdtest(test, inner) => {
                let follows = self.mdtest[test].follows(inner, record);
                follows.map(|inner| Part::Mdtest(test, inner))
            }
            Part::Find => None,
        };
        self.is_further = next.is_some();
        if let Some(next) = next {
            self.left.push_front((phase, next));
        }
        if failure(record).is_some() || record.interrupted_by.is_some() {
            self.left.clear();
        }
        Vec::new()
    }

    fn expected(&self) -> Expected {
        Expected::from_steps(self.spent, self.left.iter().map(|_| self.each))
    }
}

/// The phase of a run, and which part of it the run is.
pub fn part_of(cell: &Cell) -> Option<(Phase, Part)> {
    let at = cell.at.iter().find(|coordinate| coordinate.dimension == PHASE)?;
    let phase = Phase::ALL.into_iter().find(|phase| phase.name() == at.value)?;
    let test = usize::from(phase.name().contains("-hard-"));
    let part = match phase.is_ior() {
        true => Part::Ior(test, ior::phase_of(cell)?.0),
        false => Part::Mdtest(test, mdtest::phase_of(cell)?.0),
    };
    Some((phase, part))
}
