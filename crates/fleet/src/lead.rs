//! Rank 0: it leads the others.

use crate::clocks;
use crate::exchange::{Exchange, drain, instant_of};
use crate::liveness::Liveness;
use crate::member::{BRISK, CALM, DRAIN_MAX, sign_interval};
use crate::message::{Enrolment, Hello, Message, Task};
use crate::part::{GroupTime, Part, TimedResult};
use crate::state::{Command, Event, Farewell, LAID_OUT, Orders, Settings, Shared};
use record::{ClockComparison, FleetCosts, Nanos, RankRecord, RankState};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::time::{Duration, Instant};

/// How long ranks may take to end after a signal, and their parts to arrive. Open MPI kills a second after
/// it.
pub(crate) const HASTE: Duration = Duration::from_millis(300);
/// From the last rank's word to the common start, so that all hear of it in time: this, and as much
/// again for each further 20 ranks, at most half a second.
const LEAD_TIME: Duration = Duration::from_millis(20);
const LEAD_TIME_MAX: Duration = Duration::from_millis(500);

/// What rank 0 knows of a rank.
pub(crate) struct Rank {
    pub liveness: Liveness,
    pub hello: Option<Hello>,
    /// Why it is lost.
    pub lost: Option<String>,
    /// Whether it takes part in this run. All that follows is about this run.
    pub takes_part: bool,
    pub enrolment: Option<Enrolment>,
    pub clock: ClockComparison,
    /// The last barrier that it reached.
    pub reached: u32,
    /// It may lay its files out only when others have done so.
    pub is_second: bool,
    pub began: bool,
    /// Processes of the other ranks on its machine.
    pub beside: Vec<u32>,
    pub ended: Option<Vec<GroupTime>>,
}

impl Rank {
    fn new(now: Instant) -> Rank {
        Rank {
            liveness: Liveness::new(now),
            hello: None,
            lost: None,
            takes_part: false,
            enrolment: None,
            clock: ClockComparison::default(),
            reached: 0,
            is_second: false,
            began: false,
            beside: Vec::new(),
            ended: None,
        }
    }

    /// Forgets the last run.
    fn begin_round(&mut self, takes_part: bool, now: Instant) {
        let (hello, lost) = (self.hello.take(), self.lost.take());
        *self = Rank { hello, lost, takes_part, ..Rank::new(now) };
    }

    fn meet(&mut self, hello: Hello) {
        if hello.protocol != crate::PROTOCOL {
            let why = format!("fathom {} does not fit that of rank 0", hello.version);
            self.lost.get_or_insert(why);
        }
        self.hello = Some(hello);
    }

    /// Whether it runs nothing.
    pub fn has_refused(&self) -> bool {
        self.enrolment.as_ref().is_some_and(|enrolment| enrolment.refusal.is_some())
    }

    /// Whether it runs, or is about to.
    pub fn is_active(&self) -> bool {
        self.takes_part && self.lost.is_none() && !self.has_refused() && self.ended.is_none()
    }

    /// What it says of itself, and what became of it. `place` is that among the ranks that take part.
    pub fn row(&self, place: usize) -> RankRecord {
        let known = self.enrolment.clone().unwrap_or_default();
        let hello = self.hello.clone().unwrap_or_default();
        let (state, why, exit_code) = match (&self.lost, known.refusal) {
            (Some(why), _) => (RankState::Lost, why.clone(), 1),
            (None, Some((why, code))) => (RankState::Refused, why, code),
            (None, None) => (RankState::Ran, String::new(), 0),
        };
        RankRecord {
            rank: place as u32,
            host: hello.host,
            kernel: known.kernel,
            version: hello.version,
            mounts: known.mounts,
            state,
            why,
            exit_code,
            clock: self.clock,
            ..RankRecord::default()
        }
    }
}

pub(crate) struct Lead<'a> {
    pub exchange: &'a mut dyn Exchange,
    pub settings: &'a Settings,
    pub shared: &'a Shared,
    pub commands: &'a Receiver<Command>,
    pub events: &'a Sender<Event>,
    pub ranks: Vec<Rank>,
    /// Messages that came while only answers to pings were looked for.
    pub waiting: Vec<(u32, Vec<u8>)>,
    /// Its own result.
    pub own: Option<TimedResult>,
    /// Parts of the sum that have come.
    pub parts: Vec<Part>,
    pub costs: FleetCosts,
    /// The number of the run; 0 before the first.
    round: u32,
    /// The run that is to begin.
    next: Option<Task>,
    begin: Instant,
    signed: Instant,
    released: u32,
    /// When the first rank ended. The others are waited for since then.
    waited_since: Option<Instant>,
    stopped: Option<Instant>,
    left: Option<u8>,
    is_running: bool,
}

impl<'a> Lead<'a> {
    pub fn new(
        exchange: &'a mut dyn Exchange,
        settings: &'a Settings,
        shared: &'a Shared,
        commands: &'a Receiver<Command>,
        events: &'a Sender<Event>,
        begin: Instant,
    ) -> Lead<'a> {
        let now = Instant::now();
        let mut ranks: Vec<Rank> = (0..exchange.size()).map(|_| Rank::new(now)).collect();
        ranks[0].hello = Some(Hello::from(&settings.host));
        Lead {
            exchange,
            settings,
            shared,
            commands,
            events,
            ranks,
            waiting: Vec::new(),
            own: None,
            parts: Vec::new(),
            costs: FleetCosts::default(),
            round: 0,
            next: None,
            begin,
            signed: now,
            released: 0,
            waited_since: None,
            stopped: None,
            left: None,
            is_running: false,
        }
    }

    /// Leads the ranks from their first word to goodbye.
    pub fn run(mut self) -> Result<Farewell, String> {
        while !self.ranks.iter().all(|rank| rank.hello.is_some() || rank.lost.is_some()) {
            self.turn()?;
        }
        let host = |rank: &Rank| match (&rank.hello, &rank.lost) {
            (Some(hello), None) => hello.host.clone(),
            _ => String::new(),
        };
        let _ = self.events.send(Event::Assembled(self.ranks.iter().map(host).collect()));
        while self.left.is_none() {
            match self.next.take() {
                Some(task) => self.lead_round(task)?,
                None => self.turn()?,
            }
        }
        self.part_from_all()
    }

    /// Leads one run, from the task to the sum.
    fn lead_round(&mut self, task: Task) -> Result<(), String> {
        self.begin_round(task)?;
        let has_enrolled = |rank: &Rank| rank.enrolment.is_some() || rank.lost.is_some();
        while !self.taking_part().all(has_enrolled) && self.left.is_none() {
            self.turn()?;
        }
        self.costs.join = Nanos(self.begin.elapsed().as_nanos() as u64);
        if self.ranks.iter().any(Rank::is_active) {
            self.compare_clocks(false)?;
            self.choose_turns();
            self.find_beside();
            if self.ranks[0].has_refused() {
                let _ = self.events.send(Event::Orders(Orders::Watch));
            }
            while self.ranks.iter().any(Rank::is_active) {
                self.begin_turns()?;
                self.release()?;
                self.turn()?;
            }
            if self.stopped.is_none() {
                self.compare_clocks(true)?;
            }
            let sum = self.gather()?;
            let _ = self.events.send(Event::Sum(Box::new(sum)));
        } else {
            let rows = self.taking_part().enumerate().map(|(place, rank)| rank.row(place));
            let _ = self.events.send(Event::Orders(Orders::Dismissed(rows.collect())));
        }
        Ok(())
    }

    /// The ranks that take part in this run, in order.
    fn taking_part(&self) -> impl Iterator<Item = &Rank> {
        self.ranks.iter().filter(|rank| rank.takes_part)
    }

    /// Forgets the last run, and tells the ranks of the next one.
    fn begin_round(&mut self, task: Task) -> Result<(), String> {
        let now = Instant::now();
        self.round += 1;
        // The first run begins with the start of MPI.
        self.begin = if self.round == 1 { self.begin } else { now };
        for (number, rank) in self.ranks.iter_mut().enumerate() {
            rank.begin_round(task.ranks.binary_search(&(number as u32)).is_ok(), now);
        }
        (self.own, self.waited_since) = (None, None);
        (self.costs, self.released, self.is_running) = (FleetCosts::default(), 0, false);
        self.parts.clear();
        self.shared.reset();
        for number in 1..self.ranks.len() {
            let assignment = task.assignment(number as u32);
            if let Some(assignment) = assignment.filter(|_| self.ranks[number].lost.is_none()) {
                self.send(number, &Message::Task(assignment))?;
            }
        }
        Ok(())
    }

    /// Says goodbye.
    fn part_from_all(mut self) -> Result<Farewell, String> {
        let are_all_here = self.ranks.iter().all(|rank| rank.lost.is_none());
        let others = (1..self.ranks.len()).filter(|rank| self.ranks[*rank].lost.is_none());
        for rank in others.collect::<Vec<_>>() {
            self.send(rank, &Message::Bye(are_all_here))?;
        }
        let limit = if are_all_here { DRAIN_MAX } else { HASTE };
        drain(self.exchange, limit);
        Ok(match (are_all_here, self.left.take()) {
            (true, _) => Farewell::Together,
            (false, code) => Farewell::Abort(code.unwrap_or(1)),
        })
    }

    pub fn send(&mut self, rank: usize, message: &Message) -> Result<(), String> {
        self.exchange.send(rank as u32, message.to_bytes(self.round))
    }

    /// Handles what has come, then waits a little.
    pub fn turn(&mut self) -> Result<(), String> {
        for (from, message) in self.incoming()? {
            self.handle(from, message);
        }
        self.obey();
        self.sign()?;
        self.look_for_lost();
        self.pass_signal_on()?;
        std::thread::sleep(if self.is_running { CALM } else { BRISK });
        Ok(())
    }

    /// The messages that have come. One that cannot be read makes its rank lost.
    pub fn incoming(&mut self) -> Result<Vec<(usize, Message)>, String> {
        let mut all = std::mem::take(&mut self.waiting);
        while let Some(message) = self.exchange.receive()? {
            all.push(message);
        }
        let mut messages = Vec::new();
        for (from, bytes) in all {
            let Some(rank) = self.ranks.get_mut(from as usize) else { continue };
            rank.liveness.hear(Instant::now());
            match Message::of_bytes(&bytes) {
                Ok((_, Message::Hello(hello))) => rank.meet(hello),
                Ok((round, message)) if round == self.round => {
                    messages.push((from as usize, message));
                }
                Ok(_) => {}
                Err(why) => rank.lost = Some(format!("its message cannot be read: {why}")),
            }
        }
        Ok(messages)
    }

    pub fn handle(&mut self, from: usize, message: Message) {
        let (now, rank) = (Instant::now(), &mut self.ranks[from]);
        match message {
            Message::Enrolled(enrolment) => rank.enrolment = Some(*enrolment),
            Message::Reached(barrier) => rank.reached = barrier,
            Message::Progress(progress) => return rank.liveness.progress(progress, now),
            Message::Ended(times) => {
                rank.ended = Some(times);
                self.waited_since.get_or_insert(now);
            }
            Message::Part(part) => self.parts.push(*part),
            _ => return,
        }
        let rank = &mut self.ranks[from];
        rank.liveness.advance(now);
    }

    /// What this rank itself does, as the others say it by messages.
    pub fn obey(&mut self) {
        loop {
            match self.commands.try_recv() {
                Ok(Command::Task(task)) => {
                    // What follows it belongs to the next run.
                    self.next = Some(task);
                    return;
                }
                Ok(Command::Enrol(enrolment)) => self.handle(0, Message::Enrolled(enrolment)),
                Ok(Command::Reached(barrier)) => self.handle(0, Message::Reached(barrier)),
                Ok(Command::Ended(result)) => {
                    self.own = result.map(|result| TimedResult::new(result, self.exchange));
                    let times = self.own.as_ref().map(TimedResult::group_times);
                    self.handle(0, Message::Ended(times.unwrap_or_default()));
                }
                Ok(Command::Leave(code)) => self.left = Some(code),
                Err(TryRecvError::Disconnected) => {
                    self.left.get_or_insert(1);
                    self.ranks[0].ended.get_or_insert_default();
                    return;
                }
                Err(TryRecvError::Empty) => return,
            }
        }
    }

    /// A sign of life, to all.
    fn sign(&mut self) -> Result<(), String> {
        if self.signed.elapsed() < sign_interval(self.settings) {
            return Ok(());
        }
        self.signed = Instant::now();
        let progress = self.shared.progress.load(Ordering::Relaxed);
        self.ranks[0].liveness.hear(self.signed);
        self.ranks[0].liveness.progress(progress, self.signed);
        for rank in 1..self.ranks.len() {
            if self.ranks[rank].lost.is_none() {
                self.send(rank, &Message::Alive)?;
            }
        }
        Ok(())
    }

    /// Whether a signal came so long ago that no rank is waited for any more.
    pub fn is_pressed(&self) -> bool {
        self.stopped.is_some_and(|at| at.elapsed() > HASTE)
    }

    fn look_for_lost(&mut self) {
        let now = Instant::now();
        let (limit, stopped) = (self.settings.timeout, self.stopped);
        let is_pressed = self.is_pressed();
        for rank in self.ranks.iter_mut().skip(1).filter(|rank| rank.lost.is_none()) {
            let waited = self.waited_since.filter(|_| rank.takes_part && rank.ended.is_none());
            rank.lost = rank.liveness.objection(now, limit, waited);
            if is_pressed && rank.is_active() {
                rank.lost = Some(
                    "it did not answer when a signal ended the measurement: it died, or it hangs"
                        .into(),
                );
            }
        }
        // This rank's I/O may hang as that of any other. The run is then left behind.
        let own = &mut self.ranks[0];
        if let (true, Some(waited)) = (own.is_active(), self.waited_since) {
            let others_ended = stopped.is_some_and(|at| at.elapsed() > limit);
            own.liveness.hear(now);
            own.lost = own.liveness.objection(now, limit, Some(waited));
            if others_ended {
                own.lost.get_or_insert("its I/O does not end".into());
            }
            self.shared.is_abandoned.store(own.lost.is_some(), Ordering::Relaxed);
        }
    }

    /// The signal that came here ends the run of all ranks.
    fn pass_signal_on(&mut self) -> Result<(), String> {
        let signal = self.shared.stop.load(Ordering::Relaxed);
        if signal == 0 || self.stopped.is_some() {
            return Ok(());
        }
        self.stopped = Some(Instant::now());
        for rank in 1..self.ranks.len() {
            if self.ranks[rank].lost.is_none() {
                self.send(rank, &Message::Stop(signal))?;
            }
        }
        Ok(())
    }

    /// Compares the clocks of all hosts with this one's. Ranks with one clock share the result. A rank that
    /// does not answer is asked once more after all others.
    fn compare_clocks(&mut self, is_after: bool) -> Result<(), String> {
        let begin = Instant::now();
        let own = self.ranks[0].enrolment.as_ref().map(|own| own.clock.clone()).unwrap_or_default();
        let mut known = BTreeMap::new();
        for rank in (0..self.ranks.len()).chain(0..self.ranks.len()) {
            let Some(enrolment) = &self.ranks[rank].enrolment else { continue };
            let clock = enrolment.clock.clone();
            if self.ranks[rank].lost.is_some() {
                continue;
            }
            if rank == 0 || (clock == own && !clock.is_empty()) {
                self.ranks[rank].clock.same = true;
                continue;
            }
            let comparison = &self.ranks[rank].clock;
            if (if is_after { comparison.after } else { comparison.before }).is_some() {
                continue;
            }
            let offset = match known.get(&clock) {
                Some(offset) if !clock.is_empty() => *offset,
                _ => clocks::compare(self.exchange, rank as u32, self.round, &mut self.waiting)?,
            };
            if offset.is_some() {
                known.insert(clock, offset);
            }
            let comparison = &mut self.ranks[rank].clock;
            *(if is_after { &mut comparison.after } else { &mut comparison.before }) = offset;
        }
        self.costs.clocks += Nanos(begin.elapsed().as_nanos() as u64);
        Ok(())
    }

    /// Of ranks with a file of the same name, only the one with the largest region lays it out first:
    /// it may be one file. The others begin when it is there.
    fn choose_turns(&mut self) {
        let mut first: BTreeMap<u64, (u64, usize)> = BTreeMap::new();
        let active = || self.ranks.iter().enumerate().filter(|(_, rank)| rank.is_active());
        for (number, rank) in active() {
            for (path, end) in rank.enrolment.iter().flat_map(|enrolment| &enrolment.files) {
                let largest = first.entry(*path).or_insert((*end, number));
                if *end > largest.0 {
                    *largest = (*end, number);
                }
            }
        }
        for (number, rank) in self.ranks.iter_mut().enumerate() {
            let files = rank.enrolment.iter().flat_map(|enrolment| &enrolment.files);
            let mut others =
                files.filter(|(path, _)| first.get(path).is_none_or(|f| f.1 != number));
            rank.is_second = others.next().is_some();
        }
        // Nobody waits where all would.
        if self.ranks.iter().all(|rank| rank.is_second || !rank.is_active()) {
            self.ranks.iter_mut().for_each(|rank| rank.is_second = false);
        }
    }

    /// Finds which ranks are on one machine.
    fn find_beside(&mut self) {
        let mut machines: BTreeMap<String, Vec<(usize, u32)>> = BTreeMap::new();
        for (number, rank) in self.ranks.iter().enumerate().filter(|(_, rank)| rank.is_active()) {
            let Some(enrolment) = &rank.enrolment else { continue };
            if !enrolment.process_space.is_empty() {
                let here = machines.entry(enrolment.process_space.clone()).or_default();
                here.push((number, enrolment.process));
            }
        }
        for here in machines.values() {
            for (number, _) in here {
                let others = here.iter().filter(|(other, _)| other != number);
                self.ranks[*number].beside = others.map(|(_, process)| *process).collect();
            }
        }
    }

    /// Lets ranks begin to lay out.
    fn begin_turns(&mut self) -> Result<(), String> {
        let first_done = self
            .ranks
            .iter()
            .filter(|rank| !rank.is_second)
            .all(|rank| rank.reached > 0 || !rank.is_active());
        for number in 0..self.ranks.len() {
            let rank = &mut self.ranks[number];
            if rank.began || !rank.is_active() || (rank.is_second && !first_done) {
                continue;
            }
            rank.began = true;
            rank.liveness.advance(Instant::now());
            let beside = std::mem::take(&mut rank.beside);
            match number {
                0 => drop(self.events.send(Event::Orders(Orders::Run(beside)))),
                _ => self.send(number, &Message::Begin(beside))?,
            }
        }
        Ok(())
    }

    /// Lets ranks on once all wait: up to the earliest barrier that one of them waits for.
    fn release(&mut self) -> Result<(), String> {
        let reached = self.ranks.iter().filter(|rank| rank.is_active()).map(|rank| rank.reached);
        let Some(next) = reached.min().filter(|earliest| *earliest > self.released) else {
            return Ok(());
        };
        self.released = next;
        // Workers start at the barriers after the layout.
        let lead_time = (LEAD_TIME * (1 + self.ranks.len() as u32 / 20)).min(LEAD_TIME_MAX);
        let at = (next > LAID_OUT).then(|| self.exchange.now() + lead_time.as_nanos() as u64);
        for number in 1..self.ranks.len() {
            let rank = &self.ranks[number];
            if !rank.is_active() {
                continue;
            }
            // A rank whose clock is not known starts at once.
            let own = match (rank.clock.same, rank.clock.before) {
                (true, _) => at,
                (false, before) => {
                    at.zip(before).map(|(at, before)| at.saturating_add_signed(before.ahead))
                }
            };
            self.send(number, &Message::Release(next, own))?;
        }
        let instant = at.map(|at| instant_of(self.exchange, at));
        self.shared.release(next, instant);
        self.is_running = at.is_some();
        if at.is_some() && self.costs.start.0 == 0 {
            self.costs.start = Nanos(lead_time.as_nanos() as u64);
        }
        Ok(())
    }
}
