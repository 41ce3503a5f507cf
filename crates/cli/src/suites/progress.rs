//! The line that shows how far a suite is, on a terminal; lines that say what it found, anywhere.

use crate::output::say;
use std::io::IsTerminal;
use std::time::Instant;
use suite::Expected;

/// Signs of the bar.
const BAR: usize = 20;
/// The whole line, so that it never wraps.
const WIDTH: usize = 79;

/// The line, redrawn in place.
pub struct Progress {
    shown: bool,
    drawn: bool,
    description: String,
    expected: Expected,
    began: Instant,
}

impl Progress {
    /// Shown where it is wanted and standard error is a terminal.
    pub fn new(wanted: bool) -> Progress {
        Progress {
            shown: wanted && std::io::stderr().is_terminal(),
            drawn: false,
            description: String::new(),
            expected: Expected::default(),
            began: Instant::now(),
        }
    }

    /// A step begins, with what is expected of the time from here on.
    pub fn begin(&mut self, description: &str, expected: Expected) {
        (self.description, self.expected, self.began) =
            (description.into(), expected, Instant::now());
        self.draw();
    }

    /// Shows how far it is now.
    pub fn draw(&mut self) {
        if self.shown {
            let passed = self.began.elapsed().as_nanos() as u64;
            // ECMA-48: carriage return, the line, then EL, erase to the end of the line.
            say(&format!("\r{}\x1b[K", line(&self.description, self.expected, passed)));
            self.drawn = true;
        }
    }

    /// Says something that stays.
    pub fn say(&mut self, text: &str) {
        self.end();
        say(&format!("{text}\n"));
    }

    /// Takes the line away.
    pub fn end(&mut self) {
        if std::mem::take(&mut self.drawn) {
            say("\r\x1b[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

fn line(description: &str, expected: Expected, passed_ns: u64) -> String {
    let left = expected.left.0.saturating_sub(passed_ns);
    let share = 1.0 - left as f64 / expected.whole.0.max(1) as f64;
    let full = (share.clamp(0.0, 1.0) * BAR as f64) as usize;
    let seconds = left.div_ceil(1_000_000_000);
    let line = format!(
        "[{}{}] {:3.0} %  {}:{:02} left  {description}",
        "#".repeat(full),
        ".".repeat(BAR - full),
        share.clamp(0.0, 1.0) * 100.0,
        seconds / 60,
        seconds % 60,
    );
    line.chars().take(WIDTH).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Nanos;

    #[test]
    fn a_line_says_how_far_it_is_and_never_wraps() {
        let expected = Expected { whole: Nanos(100_000_000_000), left: Nanos(75_000_000_000) };
        assert_eq!(
            line("filling", expected, 5_000_000_000),
            "[######..............]  30 %  1:10 left  filling"
        );
        assert!(line("late", expected, u64::MAX).contains("100 %  0:00 left"));
        assert_eq!(line(&"long ".repeat(40), expected, 0).chars().count(), WIDTH);
        assert!(line("nothing known", Expected::default(), 0).contains("0:00 left"));
    }
}
