//! What was measured, and what was not.

use super::goals;
use super::score::Outcome;
use anyhow::{Result, bail};
use std::sync::atomic::{AtomicBool, Ordering};

/// A draw is made so often before it counts as not measured.
const ATTEMPTS_MAX: u32 = 20;

/// What came of all draws that were made.
#[derive(Default)]
pub struct Results {
    pub outcomes: Vec<Outcome>,
    pub not_measured: Vec<NotMeasured>,
    /// Runs that other programs disturbed and that were made again.
    pub disturbed: u32,
}

/// A draw without an outcome.
pub struct NotMeasured {
    pub situation: &'static str,
    pub draw: u32,
    pub why: String,
}

impl Results {
    /// Fails when a goal is missed, or when a draw was not measured.
    pub fn verify(&self) -> Result<()> {
        let goals = goals::goals(&self.outcomes);
        let missed = goals.iter().filter(|goal| !goal.is_met);
        let mut wrong: Vec<String> = missed
            .map(|goal| format!("{}: {:.1} %, not {}", goal.name, goal.value, goal.aim))
            .collect();
        if !self.not_measured.is_empty() {
            wrong.push(format!("{} draws were not measured", self.not_measured.len()));
        }
        if !wrong.is_empty() {
            bail!("goals missed: {}", wrong.join("; "));
        }
        Ok(())
    }
}

/// One attempt at a draw.
pub struct Attempt<T> {
    pub outcome: T,
    /// The outcome in words.
    pub line: String,
    /// What disturbed it.
    pub disturbance: Option<String>,
}

/// Makes a draw again while other programs disturb it. Gives the outcome, or why there is none; `None`
/// after an interrupt, which ends the program of the draw as well.
pub fn until_quiet<T>(
    interrupted: &AtomicBool,
    disturbed: &mut u32,
    mut attempt: impl FnMut() -> Result<Attempt<T>>,
) -> Option<Result<T, String>> {
    let mut last = String::new();
    for _ in 0..ATTEMPTS_MAX {
        if interrupted.load(Ordering::Relaxed) {
            return None;
        }
        let attempt = attempt();
        if interrupted.load(Ordering::Relaxed) {
            return None;
        }
        match attempt {
            Err(error) => return Some(Err(format!("{error:#}"))),
            Ok(Attempt { outcome, disturbance: None, .. }) => return Some(Ok(outcome)),
            Ok(Attempt { line, disturbance: Some(disturbance), .. }) => {
                eprintln!("      again, {disturbance}: {line}");
                last = disturbance;
            }
        }
        *disturbed += 1;
    }
    Some(Err(format!("{ATTEMPTS_MAX} attempts were disturbed, the last because {last}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(number: u32, disturbance: Option<&str>) -> Result<Attempt<u32>> {
        let disturbance = disturbance.map(String::from);
        Ok(Attempt { outcome: number, line: String::new(), disturbance })
    }

    #[test]
    fn a_disturbed_draw_is_made_again_and_named_when_it_stays_disturbed() {
        let (quiet, mut disturbed, mut made) = (AtomicBool::new(false), 0, 0);
        let third = until_quiet(&quiet, &mut disturbed, || {
            made += 1;
            attempt(made, (made < 3).then_some("busy"))
        });
        assert_eq!((third, disturbed), (Some(Ok(3)), 2));
        let never = until_quiet(&quiet, &mut disturbed, || attempt(0, Some("busy")));
        assert_eq!(disturbed, 2 + ATTEMPTS_MAX);
        assert!(never.unwrap().unwrap_err().ends_with("the last because busy"));
        let fails =
            until_quiet(&quiet, &mut disturbed, || -> Result<Attempt<u32>> { bail!("no loop") });
        assert_eq!(fails, Some(Err("no loop".into())));
    }

    #[test]
    fn the_outcome_of_an_interrupted_run_does_not_count() {
        let (interrupted, mut disturbed) = (AtomicBool::new(false), 0);
        let cut = until_quiet(&interrupted, &mut disturbed, || {
            interrupted.store(true, Ordering::Relaxed);
            attempt(1, None)
        });
        assert_eq!(cut, None);
    }

    #[test]
    fn goals_that_are_missed_and_draws_without_an_outcome_are_failures() {
        let right = || Outcome { limit: "CPU".into(), right: &["CPU"], ..Outcome::default() };
        let all_right = Results { outcomes: vec![right()], ..Results::default() };
        assert!(all_right.verify().is_ok());
        let wrong = Outcome { limit: "device".into(), ..right() };
        let results = Results { outcomes: vec![right(), wrong], ..Results::default() };
        assert!(results.verify().unwrap_err().to_string().contains("right: 50.0 %, not ≥ 97 %"));
        let why = "busy".to_owned();
        let not_measured = vec![NotMeasured { situation: "zram", draw: 0, why }];
        let results = Results { outcomes: vec![right()], not_measured, disturbed: 0 };
        assert!(results.verify().unwrap_err().to_string().contains("1 draws were not measured"));
    }
}
