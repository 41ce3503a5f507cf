//! Units of the figures of a picture.

use record::human::{self, Unit as Scaled};

/// What the figures of a picture are given in.
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

impl Unit {
    fn sizes(self) -> &'static [Scaled] {
        match self {
            Unit::PerSecond => human::EVENT_RATES,
            Unit::BytesPerSecond => human::RATES,
            Unit::Nanoseconds => human::TIMES,
            Unit::Percent => &[Scaled { size: 1.0, name: "%" }],
            Unit::Ios => &[Scaled { size: 1.0, name: "I/Os" }],
            Unit::Bytes => human::SIZES,
        }
    }

    /// The unit in which figures are given.
    pub(crate) fn base(self) -> &'static str {
        match self {
            Unit::PerSecond => "1/s",
            Unit::BytesPerSecond => "B/s",
            Unit::Nanoseconds => "ns",
            Unit::Percent => "%",
            Unit::Ios => "I/Os",
            Unit::Bytes => "B",
        }
    }

    /// Each tick of a long axis can have its own unit: all have short names, and go by 1000.
    pub(crate) fn can_be_mixed(self) -> bool {
        self == Unit::Nanoseconds
    }

    /// A round figure in the largest unit of which it is at least one.
    pub(crate) fn round(self, value: f64) -> String {
        let unit = human::best_unit(value, self.sizes());
        format!("{} {}", round(&unit, value), unit.name)
    }

    /// The unit for an axis that ends at `largest`: the largest of which that is at least two.
    pub(crate) fn for_axis(self, largest: f64) -> Scaled {
        human::best_unit(largest / 2.0, self.sizes())
    }
}

/// A round figure in as few digits as it has, without the unit.
pub(crate) fn round(unit: &Scaled, value: f64) -> String {
    unit.number(value, 6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_ends_above_two_of_its_unit() {
        let known = [
            (Unit::PerSecond, 123_456.0, "123 k/s"),
            (Unit::PerSecond, 950.0, "950 1/s"),
            (Unit::BytesPerSecond, 1.5 * 1048576.0 * 1024.0, "1536 MiB/s"),
            (Unit::BytesPerSecond, 3.0 * 1048576.0, "3 MiB/s"),
            (Unit::Nanoseconds, 2_500_000.0, "2.5 ms"),
            (Unit::Nanoseconds, 0.0, "0 ns"),
        ];
        for (unit, value, text) in known {
            assert_eq!(unit.for_axis(value).text(value), text);
        }
        let ms = Unit::Nanoseconds.for_axis(5e6);
        assert_eq!((ms.number(1234.0, 3).as_str(), round(&ms, 2.5e6).as_str()), ("0.00123", "2.5"));
        assert_eq!(round(&ms, 1e7), "10");
        let two = [(0.53, "0.53"), (0.0533, "0.053"), (1.0, "1"), (12.3, "12"), (123.4, "123")];
        for (value, text) in two {
            assert_eq!(ms.number(value * 1e6, 2), text);
        }
    }
}
