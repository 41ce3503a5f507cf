//! The progress of a suite: on a terminal a line that is redrawn, and lines of text anywhere.

use crate::output::write_stderr;
use report::style::Style;
use std::io::IsTerminal;
use std::time::Instant;
use suite::Expected;

/// Width of the bar in characters.
const BAR: usize = 20;
/// The most characters of the whole line.
const WIDTH: usize = 79;

/// The progress line.
pub struct Progress {
    is_shown: bool,
    /// Whether the line is on the terminal now.
    is_drawn: bool,
    /// Characters of a line that does not wrap on this terminal.
    width: usize,
    part: &'static str,
    step: String,
    expected: Expected,
    began: Instant,
}

impl Progress {
    /// A progress line, shown if `is_allowed` and standard error is a terminal.
    pub fn new(is_allowed: bool) -> Progress {
        Progress {
            is_shown: is_allowed && std::io::stderr().is_terminal(),
            is_drawn: false,
            width: width(),
            part: "",
            step: String::new(),
            expected: Expected::default(),
            began: Instant::now(),
        }
    }

    /// Starts a part of the suite: its line stays above the progress line.
    pub fn part(&mut self, text: &'static str) {
        if self.is_shown && self.part != text {
            self.print(&Style { width: self.width, ..Style::default() }.wrap(text, 0));
            self.part = text;
        }
    }

    /// Starts a step with the expected time of the suite.
    pub fn begin(&mut self, step: &str, expected: Expected) {
        (self.step, self.expected, self.began) = (step.into(), expected, Instant::now());
        self.draw();
    }

    /// Draws the line.
    pub fn draw(&mut self) {
        if self.is_shown {
            let passed = self.began.elapsed().as_nanos() as u64;
            // ECMA-48: carriage return, the line, then EL, erase to the end of the line.
            let line = line(&self.step, self.expected, passed);
            let line: String = line.chars().take(self.width).collect();
            write_stderr(&format!("\r{line}\x1b[K"));
            self.is_drawn = true;
        }
    }

    /// Prints a line of text.
    pub fn print(&mut self, text: &str) {
        self.end();
        write_stderr(&format!("{text}\n"));
    }

    /// Erases the progress line.
    pub fn end(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            write_stderr("\r\x1b[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

/// One character less than the terminal has columns.
fn width() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stderr());
    let columns = size.map_or(0, |size| usize::from(size.ws_col));
    if columns == 0 { WIDTH } else { WIDTH.min(columns - 1) }
}

fn line(step: &str, expected: Expected, passed_ns: u64) -> String {
    let left = expected.left.0.saturating_sub(passed_ns);
    let share = 1.0 - left as f64 / expected.whole.0.max(1) as f64;
    let full = (share.clamp(0.0, 1.0) * BAR as f64) as usize;
    let seconds = left.div_ceil(1_000_000_000);
    let line = format!(
        "[{}{}] {:3.0} %  {}:{:02} left  {step}",
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
    fn a_line_shows_progress_and_never_wraps() {
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
