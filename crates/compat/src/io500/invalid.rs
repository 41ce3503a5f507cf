//! What the rules ask of a result.

use super::command::{Io500Command, Phase, STONEWALL_MIN};
use super::results::{Outcome, Row, rows};

/// Whether a phase that writes lasted as long as the rules ask.
pub(super) fn is_long_enough(row: &Row) -> bool {
    !row.phase.writes() || row.seconds >= STONEWALL_MIN as f64
}

/// Why a result is invalid by the rules; empty: it is valid.
pub fn reasons(call: &Io500Command, outcome: &Outcome) -> Vec<String> {
    let rows = rows(outcome);
    let mut reasons = Vec::new();
    if call.stonewall_s != STONEWALL_MIN {
        let given = call.stonewall_s;
        reasons.push(format!("stonewall-time is {given} s; the rules have {STONEWALL_MIN} s"));
    }
    let short: Vec<&str> =
        rows.iter().filter(|row| !is_long_enough(row)).map(|row| row.phase.name()).collect();
    if !short.is_empty() {
        let names = short.join(", ");
        reasons.push(format!("phases that write lasted less than {STONEWALL_MIN} s: {names}"));
    }
    let missing: Vec<&str> = Phase::ALL
        .into_iter()
        .filter(|phase| rows.iter().all(|row| row.phase != *phase))
        .map(Phase::name)
        .collect();
    if !missing.is_empty() {
        reasons.push(format!("phases without a result: {}", missing.join(", ")));
    }
    let expected = outcome.expected(call);
    if let Some(found) = outcome.found.filter(|found| found.matching != expected) {
        let matching = found.matching;
        reasons.push(format!("find found {matching} files, and {expected} are there"));
    }
    let bad: u64 = outcome.ior.iter().map(|ior| ior.bad).sum();
    if bad > 0 {
        reasons.push(format!("data of {bad} transfers was wrong"));
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::super::results::tests::measured;
    use super::*;

    #[track_caller]
    fn has(call: &Io500Command, outcome: &Outcome, expected: &[&str]) {
        let found = reasons(call, outcome);
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.contains(expected), "{expected}: {found}");
        }
    }

    #[test]
    fn the_rules_make_a_result_invalid() {
        let call = Io500Command { tasks: 2, ..Io500Command::default() };
        let whole = measured(&call, 300);
        has(&call, &whole, &[]);
        has(
            &call,
            &measured(&call, 299),
            &["ior-easy-write, mdtest-easy-write, ior-hard-write, mdtest-"],
        );
        let short = Io500Command { stonewall_s: 301, ..call.clone() };
        has(&short, &measured(&short, 301), &["stonewall-time is 301 s"]);
        let less = Io500Command { without: vec![Phase::IorHardWrite], ..call.clone() };
        has(&less, &measured(&less, 300), &["without a result: ior-hard-write, ior-hard-read"]);
        let mut missed = whole.clone();
        missed.found.as_mut().unwrap().matching += 1;
        has(&call, &missed, &["find found 19 files, and 18 are there"]);
        let mut wrong = whole;
        wrong.ior[1].bad = 3;
        has(&call, &wrong, &["data of 3 transfers"]);
    }
}
