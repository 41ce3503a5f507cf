//! Figures in words, for the sentences of the checks.

/// Bytes: "512 B", "4.0 KiB", "1.5 GiB".
pub fn size(bytes: f64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let (mut value, mut unit) = (bytes, 0);
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{value:.0} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

/// Nanoseconds: "850 ns", "12 µs", "1.5 ms", "20 s".
pub fn time(ns: f64) -> String {
    const UNITS: [&str; 4] = ["ns", "µs", "ms", "s"];
    let (mut value, mut unit) = (ns, 0);
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let decimals = usize::from(unit > 0 && value < 9.95);
    format!("{value:.decimals$} {}", UNITS[unit])
}

/// A share as percent: "0.4 %", "12 %".
pub fn percent(share: f64) -> String {
    let decimals = usize::from(share.abs() < 0.0995);
    format!("{:.decimals$} %", share * 100.0)
}

/// A count or rate: "999", "12.3 k", "1.20 M".
pub fn number(value: f64) -> String {
    match value.abs() {
        small if small < 999.5 => format!("{value:.0}"),
        thousands if thousands < 999_500.0 => format!("{:.1} k", value / 1e3),
        _ => format!("{:.2} M", value / 1e6),
    }
}

/// A percentile's name: "p99.9".
pub fn percentile(percentile: f64) -> String {
    format!("p{percentile}")
}

/// "a", "a and b", "a, b and c".
pub fn list<T: AsRef<str>>(items: &[T]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// "1 worker", "2 workers".
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_the_unit_that_fits_them() {
        assert_eq!([0.0, 512.0, 4096.0, 1.5e9].map(size), ["0 B", "512 B", "4.0 KiB", "1.4 GiB"]);
        assert_eq!(
            [850.0, 999.7, 1540.0, 12_300.0, 1.5e6, 2e10].map(time),
            ["850 ns", "1.0 µs", "1.5 µs", "12 µs", "1.5 ms", "20 s"]
        );
        assert_eq!([0.004, 0.12, 1.0].map(percent), ["0.4 %", "12 %", "100 %"]);
        assert_eq!([12.0, 12_340.0, 1.2e6].map(number), ["12", "12.3 k", "1.20 M"]);
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!((count(1, "worker"), count(2, "CPU")), ("1 worker".into(), "2 CPUs".into()));
        assert_eq!([99.0, 99.9].map(percentile), ["p99", "p99.9"]);
    }
}
