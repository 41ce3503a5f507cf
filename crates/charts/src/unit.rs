//! Units of figures, and figures as text.

/// What figures are given in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Events a second.
    PerSecond,
    /// Bytes a second.
    BytesPerSecond,
    /// Nanoseconds.
    Nanoseconds,
    /// Hundredths.
    Percent,
    /// I/Os.
    Ios,
    /// Bytes.
    Bytes,
}

/// A unit that suits some figures: its size in the basic unit, and its name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scaled {
    pub size: f64,
    pub name: &'static str,
}

const RATES: [(f64, &str); 4] = [(1.0, "1/s"), (1e3, "k/s"), (1e6, "M/s"), (1e9, "G/s")];
const BANDWIDTHS: [(f64, &str); 5] = [
    (1.0, "B/s"),
    (1024.0, "KiB/s"),
    (1048576.0, "MiB/s"),
    (1073741824.0, "GiB/s"),
    (1099511627776.0, "TiB/s"),
];
const SIZES: [(f64, &str); 5] = [
    (1.0, "B"),
    (1024.0, "KiB"),
    (1048576.0, "MiB"),
    (1073741824.0, "GiB"),
    (1099511627776.0, "TiB"),
];
const TIMES: [(f64, &str); 4] = [(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")];

impl Unit {
    /// A figure with three digits, in the unit that suits it ("12.3 µs").
    pub fn text(self, value: f64) -> String {
        // Just below two of a unit, four digits are read as well as three.
        self.scaled(value).full(value)
    }

    fn sizes(self) -> &'static [(f64, &'static str)] {
        match self {
            Unit::PerSecond => &RATES,
            Unit::BytesPerSecond => &BANDWIDTHS,
            Unit::Nanoseconds => &TIMES,
            Unit::Percent => &[(1.0, "%")],
            Unit::Ios => &[(1.0, "I/Os")],
            Unit::Bytes => &SIZES,
        }
    }

    /// Each of its sizes has a name of its own, by which a lone figure is understood, and round
    /// figures stay round from one to the next.
    pub(crate) fn has_names_for_sizes(self) -> bool {
        self == Unit::Nanoseconds
    }

    /// A round figure in the largest unit that it holds once.
    pub(crate) fn round(self, value: f64) -> String {
        let all = self.sizes();
        let found = all.iter().rev().find(|(size, _)| value >= size * 0.999);
        let (size, name) = *found.unwrap_or(&all[0]);
        format!("{} {name}", Scaled { size, name }.round(value))
    }

    /// The unit in which figures up to this one have few digits: the largest that it holds twice.
    pub(crate) fn scaled(self, largest: f64) -> Scaled {
        let all = self.sizes();
        let found = all.iter().rev().find(|(size, _)| largest >= size * 2.0);
        let (size, name) = *found.unwrap_or(&all[0]);
        Scaled { size, name }
    }
}

impl Scaled {
    /// A figure with three significant digits, without the unit.
    pub(crate) fn text(&self, value: f64) -> String {
        self.digits(value, 3)
    }

    /// A figure with so many significant digits, two or three; those before the point are all there.
    pub(crate) fn digits(&self, value: f64, digits: i32) -> String {
        let value = value / self.size;
        let half = 0.5 * 10_f64.powi(-digits);
        let decimals = match value.abs() {
            0.0 => 0,
            v if v >= 100.0 * (1.0 - half) => 0,
            v if v >= 10.0 * (1.0 - half) => digits - 2,
            v if v >= 1.0 - half => digits - 1,
            v => (digits - 1 - v.log10().floor() as i32).clamp(digits - 1, 6),
        };
        format!("{value:.decimals$}", decimals = decimals as usize)
    }

    /// A figure with its unit.
    pub(crate) fn full(&self, value: f64) -> String {
        format!("{} {}", self.text(value), self.name)
    }

    /// A round figure in as few digits as it has, without the unit.
    pub(crate) fn round(&self, value: f64) -> String {
        let text = format!("{:.6}", value / self.size);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_in_a_unit_that_suits_them() {
        let known = [
            (Unit::PerSecond, 123_456.0, "123 k/s"),
            (Unit::PerSecond, 950.0, "950 1/s"),
            (Unit::BytesPerSecond, 1.5 * 1048576.0 * 1024.0, "1536 MiB/s"),
            (Unit::BytesPerSecond, 3.0 * 1048576.0, "3.00 MiB/s"),
            (Unit::Nanoseconds, 2_500_000.0, "2.50 ms"),
            (Unit::Nanoseconds, 0.0, "0 ns"),
        ];
        for (unit, value, text) in known {
            assert_eq!(unit.scaled(value).full(value), text);
        }
        let ms = Unit::Nanoseconds.scaled(5e6);
        assert_eq!((ms.text(1234.0).as_str(), ms.round(2.5e6).as_str()), ("0.00123", "2.5"));
        assert_eq!(ms.round(1e7), "10");
        let two = [(0.53, "0.53"), (0.0533, "0.053"), (1.0, "1.0"), (12.3, "12"), (123.4, "123")];
        for (value, text) in two {
            assert_eq!(ms.digits(value * 1e6, 2), text);
        }
    }
}
