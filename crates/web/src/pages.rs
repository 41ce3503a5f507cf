//! The pages.

pub mod compare;
pub mod live;
pub mod machine;
pub mod run;
pub mod runs;
pub mod shown;
pub mod start;
pub mod sweep;
pub mod trends;

use maud::{Markup, html};
use record::Severity;

/// Size of a curve in a line of text, in its own units.
const SPARK: (f64, f64) = (240.0, 44.0);

/// How grave something is, as a badge.
pub fn mark(severity: Severity) -> Markup {
    let name = match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    html! { span class={ "badge badge-" (name) } { (name) } }
}

/// A curve of the last values, from 0 up, with the last one in words.
pub fn spark(name: &str, values: &[f64], words: impl Fn(f64) -> String) -> Markup {
    let Some(last) = values.last() else { return html! {} };
    let most = values.iter().copied().fold(0.0, f64::max);
    let (width, height) = SPARK;
    let step = width / (values.len().max(2) - 1) as f64;
    // A line at the edge would be cut in half.
    let y = |value: f64| height - 2.0 - value / most.max(f64::MIN_POSITIVE) * (height - 4.0);
    let points: Vec<String> = values
        .iter()
        .enumerate()
        .map(|(index, value)| format!("{:.1},{:.1}", index as f64 * step, y(*value)))
        .collect();
    let (last, most) = (words(*last), words(most));
    html! {
        div.spark {
            span.muted { (name) } " " strong.number { (last.trim()) }
            svg viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) role="img"
                aria-label={ (name) ": now " (last.trim()) ", at most " (most.trim()) } {
                polyline points=(points.join(" ")) fill="none" stroke="currentColor"
                    stroke-width="2" stroke-linejoin="round" {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_begin_at_nothing_and_say_their_last_value() {
        let text = spark("IOPS", &[0.0, 10.0, 5.0], |value| format!("{value:.0}")).into_string();
        assert!(text.contains("0.0,42.0 120.0,2.0 240.0,22.0"), "{text}");
        assert!(text.contains("aria-label=\"IOPS: now 5, at most 10\""), "{text}");
        assert_eq!(spark("IOPS", &[], |_| String::new()).into_string(), "");
        assert!(spark("<b>", &[0.0], |_| "<i>".into()).into_string().contains("&lt;b&gt;"));
    }
}
