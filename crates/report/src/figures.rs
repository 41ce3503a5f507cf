//! Figures and their intervals, in the units that [`judge`] gives them in.

use record::human::{self, Unit};
use suite::Estimated;

/// Bytes a second in one MiB/s, for columns with "MiB/s" above them.
pub(crate) const MEBIBYTE: f64 = 1_048_576.0;
/// Plain numbers without prefixes.
pub(crate) const PLAIN: &[Unit] = human::COUNTS.split_at(1).0;

/// The units for figures that [`judge`] gives in this unit.
pub(crate) fn units(unit: &str) -> &'static [Unit] {
    match unit {
        "ns" => human::TIMES,
        "bytes/s" => human::RATES,
        "percent" => &[Unit { size: 1.0, name: "%" }],
        _ => human::COUNTS,
    }
}

/// A figure with its unit: "104 µs", "71.8 MiB/s", "0.25 %", "12.3 k".
pub(crate) fn in_unit(value: f64, unit: &str) -> String {
    human::in_units(value, units(unit))
}

/// A number for a column of MiB/s.
pub(crate) fn mebibytes(bytes_per_second: f64) -> String {
    human::digits(bytes_per_second / MEBIBYTE, 3)
}

/// A bandwidth and its interval in MiB/s.
pub(crate) fn in_mebibytes(rate: Estimated) -> Estimated {
    let interval = rate.interval.map(|(low, high)| (low / MEBIBYTE, high / MEBIBYTE));
    Estimated { value: rate.value / MEBIBYTE, interval }
}

/// An interval as a column shows it below its figure, in the unit of the figure: "0.98-1.07". Ends
/// with too many digits are cut: "<0.01-2300", "912->9999". An interval that is cut at both ends
/// begins at 0, which is as true and shorter.
pub(crate) fn interval(estimated: &Estimated, units: &[Unit]) -> String {
    let Some((low, high)) = estimated.interval else { return String::new() };
    let unit = human::best_unit(estimated.value, units);
    let end = |value: f64| match value / unit.size {
        v if v >= MOST => format!(">{MOST:.0}"),
        v if v > 0.0 && v < LEAST => format!("<{LEAST}"),
        v => human::digits(v, 3),
    };
    match (end(low), end(high)) {
        (low, high) if low.starts_with('<') && high.starts_with('>') => format!("0-{high}"),
        (low, high) => format!("{low}-{high}"),
    }
}

/// A time with its interval, for a sentence: "1.71 ms (1.6-1.85)"; "850 µs (65.5 µs-301 s)" where the
/// unit of the figure does not suit both ends.
pub(crate) fn time_with_interval(time: &Estimated) -> String {
    let value = human::time(time.value);
    let Some((low, high)) = time.interval else { return value };
    let unit = human::best_unit(time.value, human::TIMES);
    let suits = |ns: f64| ns == 0.0 || (LEAST..MOST).contains(&(ns / unit.size));
    match suits(low) && suits(high) {
        true => format!("{value} ({})", interval(time, human::TIMES)),
        false => format!("{value} ({}-{})", human::time(low), human::time(high)),
    }
}

/// Ends of intervals within these are shown with their digits.
const LEAST: f64 = 0.01;
const MOST: f64 = 9999.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn estimated(value: f64, low: f64, high: f64) -> Estimated {
        Estimated { value, interval: Some((low, high)) }
    }

    #[test]
    fn an_interval_has_the_unit_of_its_figure() {
        let times = |value, low, high| interval(&estimated(value, low, high), human::TIMES);
        assert_eq!(times(1.02e6, 0.981e6, 1.07e6), "0.981-1.07");
        assert_eq!(times(950e3, 912e3, 2_300e3), "912-2300");
        assert_eq!(times(640.0, 600.0, 700.0), "600-700");
        assert_eq!(times(0.5, 0.0, 700.0), "0-700");
        assert_eq!(interval(&Estimated::default(), human::TIMES), "");
        assert_eq!(interval(&estimated(1e5, 98_200.0, 103_400.0), human::COUNTS), "98.2-103");
        assert_eq!(interval(&estimated(17_300.0, 0.0, 47_700.0), human::COUNTS), "0-47.7");
        assert_eq!(interval(&estimated(17_300.0, 1e-9, 1e12), human::COUNTS), "0->9999");
    }

    #[test]
    fn ends_far_from_their_figure_are_cut_in_columns_and_have_units_in_sentences() {
        let known = [
            (estimated(850e3, 65.5e3, 301_080_475e3), "65.5->9999", "850 µs (65.5 µs-301 s)"),
            (estimated(850e3, 3.0, 2_300e3), "<0.01-2300", "850 µs (3 ns-2.3 ms)"),
            (estimated(198e3, 9.0, 886_148_023_233e3), "0->9999", "198 µs (9 ns-886148 s)"),
            (estimated(850e3, 0.0, 2_300e3), "0-2300", "850 µs (0-2300)"),
            (estimated(950e3, 912e3, 2_300e3), "912-2300", "950 µs (912-2300)"),
        ];
        for (estimated, column, sentence) in known {
            assert_eq!(interval(&estimated, human::TIMES), column);
            assert_eq!(time_with_interval(&estimated), sentence);
        }
        assert_eq!(time_with_interval(&Estimated { value: 5e3, interval: None }), "5 µs");
    }
}
