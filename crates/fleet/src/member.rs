//! A rank other than 0.

use crate::exchange::{Exchange, drain, instant_of};
use crate::message::{Assignment, Hello, Message};
use crate::part::{Gather, Part, TimedResult};
use crate::state::{Command, Event, Farewell, Orders, Settings, Shared};
use crate::tree::Place;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::time::{Duration, Instant};

/// Time between two looks for messages while the run goes on; its I/O is not to be disturbed.
pub(crate) const CALM: Duration = Duration::from_millis(5);
/// The same at other times.
pub(crate) const BRISK: Duration = Duration::from_micros(500);
/// How long it looks without a pause after a ping, as others follow.
const ATTENTIVE: Duration = Duration::from_millis(3);
/// How long messages may take to leave at the end.
pub(crate) const DRAIN_MAX: Duration = Duration::from_secs(2);

/// The signal that a rank without rank 0 ends by.
const SIGTERM: i32 = 15;

/// Time between two signs of life.
pub(crate) fn sign_interval(settings: &Settings) -> Duration {
    (settings.timeout / 8).min(Duration::from_secs(1))
}

/// The sum that this rank makes of those below it in the tree.
struct Gathering {
    gather: Gather,
    part: Part,
    place: Place,
    until: Instant,
}

pub(crate) struct Member<'a> {
    exchange: &'a mut dyn Exchange,
    settings: &'a Settings,
    shared: &'a Shared,
    commands: &'a Receiver<Command>,
    events: &'a Sender<Event>,
    /// The number of the run it takes part in, or took part in last; 0 before the first.
    round: u32,
    heard: Instant,
    signed: Instant,
    attentive_until: Instant,
    result: Option<TimedResult>,
    gathering: Option<Gathering>,
    /// Parts that came before the request for this rank's.
    early: Vec<Part>,
    is_running: bool,
}

impl<'a> Member<'a> {
    pub fn new(
        exchange: &'a mut dyn Exchange,
        settings: &'a Settings,
        shared: &'a Shared,
        commands: &'a Receiver<Command>,
        events: &'a Sender<Event>,
    ) -> Member<'a> {
        let now = Instant::now();
        Member {
            exchange,
            settings,
            shared,
            commands,
            events,
            round: 0,
            heard: now,
            signed: now,
            attentive_until: now,
            result: None,
            gathering: None,
            early: Vec::new(),
            is_running: false,
        }
    }

    /// Serves until rank 0 says goodbye.
    ///
    /// # Errors
    /// When rank 0 is gone.
    pub fn run(mut self) -> Result<Farewell, String> {
        self.send(&Message::Hello(Hello::from(&self.settings.host)))?;
        loop {
            while let Some((from, bytes)) = self.exchange.receive()? {
                let Ok((round, message)) = Message::of_bytes(&bytes) else { continue };
                self.heard = if from == 0 { Instant::now() } else { self.heard };
                if round < self.round {
                    continue;
                }
                match message {
                    Message::Task(task) => self.begin_round(round, task),
                    Message::Bye(are_all_here) => {
                        drain(self.exchange, DRAIN_MAX);
                        return Ok(match are_all_here {
                            true => Farewell::Together,
                            false => Farewell::Alone,
                        });
                    }
                    message => self.handle(message)?,
                }
            }
            if !self.obey()? {
                return Ok(Farewell::Alone);
            }
            self.give_up_children()?;
            self.sign()?;
            if self.heard.elapsed() > self.settings.timeout {
                self.shared.stop(SIGTERM);
                return Err(format!(
                    "rank 0 was not heard of for {} s",
                    self.settings.timeout.as_secs()
                ));
            }
            match () {
                () if Instant::now() < self.attentive_until => std::thread::yield_now(),
                () if self.is_running => std::thread::sleep(CALM),
                () => std::thread::sleep(BRISK),
            }
        }
    }

    /// Forgets the last run, and hands the next one to the program.
    fn begin_round(&mut self, round: u32, task: Assignment) {
        (self.round, self.is_running) = (round, false);
        (self.result, self.gathering) = (None, None);
        self.early.clear();
        self.shared.reset();
        let _ = self.events.send(Event::Task(task));
    }

    fn send(&mut self, message: &Message) -> Result<(), String> {
        self.exchange.send(0, message.to_bytes(self.round))
    }

    fn handle(&mut self, message: Message) -> Result<(), String> {
        match message {
            Message::Ping(number) => {
                let now = self.exchange.now();
                self.attentive_until = Instant::now() + ATTENTIVE;
                self.send(&Message::Pong(number, now))?;
            }
            Message::Begin(beside) => drop(self.events.send(Event::Orders(Orders::Run(beside)))),
            Message::Release(barrier, at) => {
                self.is_running = at.is_some();
                let at = at.map(|at| instant_of(self.exchange, at));
                self.shared.release(barrier, at);
            }
            Message::Stop(signal) => self.shared.stop(signal),
            Message::Gather(gather) => self.begin_gathering(*gather)?,
            Message::Part(part) => match &mut self.gathering {
                Some(gathering) => {
                    gathering.part.add(*part);
                    self.pass_on(false)?;
                }
                None => self.early.push(*part),
            },
            Message::Resend(gather) => {
                if let Some(part) = self.own_part(&gather) {
                    self.send(&Message::Part(Box::new(part)))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Carries out what the program asks. Returns whether it is still there.
    fn obey(&mut self) -> Result<bool, String> {
        loop {
            match self.commands.try_recv() {
                Ok(Command::Enrol(enrolment)) => {
                    if enrolment.refusal.is_some() {
                        let _ = self.events.send(Event::Orders(Orders::Watch));
                    }
                    self.send(&Message::Enrolled(enrolment))?;
                }
                Ok(Command::Reached(barrier)) => self.send(&Message::Reached(barrier))?,
                Ok(Command::Ended(result)) => {
                    self.is_running = false;
                    self.result = result.map(|result| TimedResult::new(result, self.exchange));
                    let times = self.result.as_ref().map(TimedResult::group_times);
                    self.send(&Message::Ended(times.unwrap_or_default()))?;
                }
                Ok(Command::Task(_) | Command::Leave(_)) | Err(TryRecvError::Disconnected) => {
                    return Ok(false);
                }
                Err(TryRecvError::Empty) => return Ok(true),
            }
        }
    }

    /// A sign of life.
    fn sign(&mut self) -> Result<(), String> {
        if self.signed.elapsed() < sign_interval(self.settings) {
            return Ok(());
        }
        self.signed = Instant::now();
        let progress = self.shared.progress.load(Ordering::Relaxed);
        self.send(&Message::Progress(progress))
    }

    fn own_part(&self, gather: &Gather) -> Option<Part> {
        self.result.as_ref().map(|result| result.part(self.exchange.rank(), gather))
    }

    fn begin_gathering(&mut self, gather: Gather) -> Result<(), String> {
        let Some(mut part) = self.own_part(&gather) else { return Ok(()) };
        let (rank, size) = (self.exchange.rank(), self.exchange.size());
        let Some(place) = Place::of_rank(rank, size, &gather.without) else { return Ok(()) };
        self.early.drain(..).for_each(|early| part.add(early));
        // Those further down give up first, so that what they have still arrives.
        let depth = place.children.len() as u32 + 1;
        let all = u32::BITS - size.leading_zeros() + 1;
        let until = Instant::now() + Duration::from_nanos(gather.limit) * depth / all;
        self.gathering = Some(Gathering { gather, part, place, until });
        self.pass_on(false)
    }

    fn give_up_children(&mut self) -> Result<(), String> {
        let is_late =
            self.gathering.as_ref().is_some_and(|gathering| Instant::now() > gathering.until);
        if is_late { self.pass_on(true) } else { Ok(()) }
    }

    /// Sends the sum to the parent once all below have arrived, or `anyway`.
    fn pass_on(&mut self, anyway: bool) -> Result<(), String> {
        let is_complete = |gathering: &mut Gathering| {
            let has = |child: &u32| gathering.part.ranks.iter().any(|row| row.rank == *child);
            anyway || gathering.place.children.iter().all(has)
        };
        let Some(done) = self.gathering.take_if(is_complete) else { return Ok(()) };
        let parent = done.place.parent.unwrap_or(0);
        debug_assert!(!done.gather.without.contains(&parent));
        self.exchange.send(parent, Message::Part(Box::new(done.part)).to_bytes(self.round))
    }
}
