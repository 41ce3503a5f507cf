//! Intervals between samples of the machine.

use crate::log::Entry;
use crate::{Rates, Stack};
use record::{ApplicationSample, Sample};

/// Computes intervals from the entries of a log or of a watched machine.
#[derive(Debug, Default)]
pub struct Intervals {
    stack: Stack,
    previous: Option<Sample>,
}

/// The time between two samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// Wall clock at its end, in milliseconds since 1970 UTC.
    pub unix_ms: u64,
    /// The rates in it.
    pub rates: Rates,
}

impl Intervals {
    /// The interval that an entry ends. The first sample ends none, nor does one without time since
    /// the previous.
    pub fn push(&mut self, entry: Entry) -> Option<Interval> {
        match entry {
            Entry::Watch(_) => {
                *self = Intervals::default();
                None
            }
            Entry::Stack(devices) => {
                self.stack = devices.stack();
                None
            }
            Entry::Sample(look) => {
                let before = self.previous.as_ref();
                let rates = before.and_then(|before| Rates::between(before, &look.sample));
                self.previous = Some(look.sample);
                rates.map(|rates| Interval { unix_ms: look.unix_ms, rates })
            }
        }
    }

    /// The watched application up to now, and the time since the watch began, in seconds.
    pub fn application(&self) -> Option<(&ApplicationSample, f64)> {
        let last = self.previous.as_ref()?;
        Some((last.application.as_ref()?, last.at.seconds()))
    }

    /// The devices watched now.
    pub fn stack(&self) -> &Stack {
        &self.stack
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{Devices, Start, TimedSample};
    use record::{DeviceFacts, Nanos};

    fn look(seconds: u64) -> Entry {
        let at = Nanos(seconds * Nanos::SECOND.0);
        let sample = Sample { at, ..Sample::default() };
        Entry::Sample(Box::new(TimedSample { unix_ms: seconds * 1000, sample }))
    }

    #[test]
    fn an_interval_needs_two_looks_of_one_watching() {
        let mut intervals = Intervals::default();
        let mut seconds = |entry| intervals.push(entry).map(|interval| interval.rates.seconds);
        assert_eq!(seconds(Entry::Watch(Start::default())), None);
        assert_eq!(seconds(look(1)), None);
        assert_eq!(seconds(look(3)), Some(2.0));
        assert_eq!(seconds(look(3)), None);
        assert_eq!(seconds(Entry::Watch(Start::default())), None);
        assert_eq!(seconds(look(9)), None, "another watching, with another origin of time");
        assert_eq!(seconds(look(10)), Some(1.0));
    }

    #[test]
    fn the_devices_may_change_while_time_goes_on() {
        let mut intervals = Intervals::default();
        intervals.push(look(1));
        let device = DeviceFacts { name: "sda".into(), ..DeviceFacts::default() };
        let devices = [("sda".to_owned(), device)].into();
        intervals.push(Entry::Stack(Devices { tops: None, devices }));
        assert_eq!(intervals.stack().rows[0].name, "sda");
        assert!(intervals.push(look(2)).is_some());
    }
}
