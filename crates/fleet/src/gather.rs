//! Rank 0 gathers the records of all.

use crate::lead::{HASTE, Lead, Rank};
use crate::message::Message;
use crate::part::{Gather, GroupTime, Part};
use crate::state::Sum;
use crate::windows::{RanAt, common};
use record::{Fleet, Nanos, RankState};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// The longest that parts may take if no signal came.
const PARTS_MAX: Duration = Duration::from_secs(60);

impl Lead<'_> {
    /// Adds up the results of all ranks that have ended.
    pub fn gather(&mut self) -> Result<Sum, String> {
        let begin = Instant::now();
        let is_hasty = self.shared.stop.load(std::sync::atomic::Ordering::Relaxed) != 0;
        let gather = self.request(is_hasty);
        let mut part = self.own_part(&gather);
        let limit = Duration::from_nanos(gather.limit);
        let wanted = self.wanted(&gather);
        if is_hasty {
            // A rank that is gone may be anywhere in the tree: each is asked by itself.
            self.ask_each(&mut part, &gather, &wanted, limit)?;
        } else {
            for rank in &wanted {
                let gather = self.for_rank(&gather, *rank);
                self.send(*rank, &Message::Gather(Box::new(gather)))?;
            }
            self.receive(&mut part, &wanted, limit)?;
            let missing = missing(&part, &wanted);
            self.ask_each(&mut part, &gather, &missing, limit)?;
        }
        for rank in missing(&part, &wanted) {
            self.ranks[rank].lost.get_or_insert("its results did not arrive".into());
        }
        self.costs.merge = Nanos(begin.elapsed().as_nanos() as u64);
        Ok(self.complete(part, gather))
    }

    fn wanted(&self, gather: &Gather) -> Vec<usize> {
        (1..self.ranks.len()).filter(|rank| !gather.without.contains(&(*rank as u32))).collect()
    }

    /// The request, with the windows that the times of all ranks make.
    fn request(&self, is_hasty: bool) -> Gather {
        let without = |rank: &usize| {
            let rank = &self.ranks[*rank];
            !rank.takes_part || rank.lost.is_some() || rank.has_refused() || rank.ended.is_none()
        };
        let now = self.exchange.now();
        let origin = self.own.as_ref().map(|own| own.origin);
        let earliest = || {
            let groups = self.ranks.iter().filter_map(|rank| Some((rank, rank.ended.as_ref()?)));
            let at = |rank: &Rank, t: &GroupTime| rank.clock.to_lead(t.started);
            groups.flat_map(|(rank, t)| t.iter().filter_map(move |t| at(rank, t))).min()
        };
        // Without an own run the axis begins with the first rank.
        let origin = origin.or_else(earliest).unwrap_or(now);
        let mut ran = Vec::new();
        for rank in self.ranks.iter().filter(|rank| rank.lost.is_none()) {
            // A rank whose clock is not known is in no window.
            let at = |own| Some(rank.clock.to_lead(own)?.saturating_sub(origin));
            ran.extend(rank.ended.iter().flatten().filter_map(|time| {
                let (started, ended) = (at(time.started)?, at(time.ended)?);
                Some(RanAt { group: time.group, started, ended })
            }));
        }
        let limit = if is_hasty { HASTE } else { self.settings.timeout.min(PARTS_MAX) };
        Gather {
            // Rank 0 is the root, whether it ran or not.
            without: (1..self.ranks.len()).filter(without).map(|rank| rank as u32).collect(),
            windows: common(&ran),
            clock: self.ranks[0].clock,
            origin,
            limit: limit.as_nanos() as u64,
        }
    }

    fn for_rank(&self, gather: &Gather, rank: usize) -> Gather {
        Gather { clock: self.ranks[rank].clock, ..gather.clone() }
    }

    fn own_part(&self, gather: &Gather) -> Part {
        self.own.as_ref().map(|own| own.part(0, gather)).unwrap_or_default()
    }

    /// Receives parts until all wanted ranks are in, or the time is over.
    fn receive(
        &mut self,
        part: &mut Part,
        wanted: &[usize],
        limit: Duration,
    ) -> Result<(), String> {
        let begin = Instant::now();
        while !missing(part, wanted).is_empty() && begin.elapsed() < limit && !self.is_pressed() {
            self.turn()?;
            self.parts.drain(..).for_each(|other| part.add(other));
        }
        Ok(())
    }

    /// Asks ranks for their own parts.
    fn ask_each(
        &mut self,
        part: &mut Part,
        gather: &Gather,
        ranks: &[usize],
        limit: Duration,
    ) -> Result<(), String> {
        for rank in ranks {
            let gather = self.for_rank(gather, *rank);
            self.send(*rank, &Message::Resend(Box::new(gather)))?;
        }
        self.receive(part, ranks, limit)
    }

    /// The rows of all ranks that take part, with what rank 0 knows of each.
    fn complete(&self, part: Part, gather: Gather) -> Sum {
        let (numbers, mut rows): (Vec<u32>, Vec<_>) = self
            .ranks
            .iter()
            .zip(0..)
            .filter(|(rank, _)| rank.takes_part)
            .enumerate()
            .map(|(place, (rank, number))| (number, rank.row(place)))
            .unzip();
        for told in part.ranks {
            let Ok(place) = numbers.binary_search(&told.rank) else { continue };
            let row = &mut rows[place];
            row.state = RankState::Ran;
            (row.why, row.exit_code) = (told.why, told.exit_code);
            row.groups = told.groups;
            (row.verdicts, row.findings) = (told.verdicts, told.findings);
        }
        let fleet = Fleet {
            library: self.exchange.library(),
            ranks: rows,
            windows: gather.windows,
            costs: self.costs,
        };
        let mut jobs = part.jobs;
        jobs.sort_by_key(|job| (job.job, job.clone));
        Sum { fleet, jobs }
    }
}

/// The wanted ranks that are not in a part.
fn missing(part: &Part, wanted: &[usize]) -> Vec<usize> {
    let here: BTreeSet<usize> = part.ranks.iter().map(|row| row.rank as usize).collect();
    wanted.iter().copied().filter(|rank| !here.contains(rank)).collect()
}
