//! JUnit's XML, as Jenkins, GitHub and GitLab read it.

/// A test case: something that passed or failed.
pub(crate) struct Case {
    /// Its class: the job.
    pub class: String,
    /// Its name: what was held against a limit.
    pub name: String,
    /// Whether it failed.
    pub is_failed: bool,
    /// One word for what came out.
    pub outcome: &'static str,
    /// What was found.
    pub found: String,
}

/// A suite "fathom" of these cases. `seconds` is how long the run took.
pub(crate) fn document(cases: &[Case], seconds: f64) -> String {
    let failures = cases.iter().filter(|case| case.is_failed).count();
    let counts = format!(
        "name=\"fathom\" tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\" \
         time=\"{seconds:.3}\"",
        cases.len()
    );
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out += &format!("<testsuites {counts}>\n  <testsuite {counts}>\n");
    out.extend(cases.iter().map(text));
    out + "  </testsuite>\n</testsuites>\n"
}

fn text(case: &Case) -> String {
    let (class, name) = (escaped(&case.class), escaped(&case.name));
    let (outcome, found) = (case.outcome, escaped(&case.found));
    let body = match case.is_failed {
        false => format!("<system-out>{outcome}: {found}</system-out>"),
        true => {
            format!("<failure type=\"{outcome}\" message=\"{found}\">{outcome}: {found}</failure>")
        }
    };
    format!("    <testcase classname=\"{class}\" name=\"{name}\">\n      {body}\n    </testcase>\n")
}

/// Text for XML 1.0; characters that it does not allow become "?".
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\t' | '\n' | '\r' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => out.push('?'),
            control if control < ' ' => out.push('?'),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_does_not_allow_is_replaced() {
        assert_eq!(escaped("a<b>&\"\u{1}\n\u{ffff}"), "a&lt;b&gt;&amp;&quot;? ?");
    }
}
