//! The code that used the CPUs: processes, their libraries and functions.

use crate::style::{Style, printable};
use record::{CodeUse, CpuProfile, human};
use std::collections::BTreeMap;

/// Libraries and functions below this share of their process are not shown.
const SHARE_MIN: f64 = 0.01;
/// Functions shown of each library.
const FUNCTIONS: usize = 8;
/// Width of the names.
const NAMES: usize = 62;

/// A table of the code of each process, and how much other programs ran. Ends with an empty line.
pub(crate) fn text(profile: &CpuProfile, style: &Style) -> String {
    let hz = f64::from(profile.hz.max(1));
    let line = |indent: usize, name: &str, samples: u64, of: u64| {
        let room = NAMES - indent;
        let mut name: String = printable(name).chars().take(room - 1).collect();
        name = format!("{:indent$}{name:<room$}", "");
        let share = human::percent(samples as f64 / of.max(1) as f64);
        format!("{name}{:>9.2}{share:>9}\n", samples as f64 / hz)
    };
    let head = format!("{:<NAMES$}{:>9}{:>9}", "CPU time by code", "seconds", "share");
    let mut out = style.bold(&head) + "\n";
    for (process, code) in by(&profile.code, |code| (code.pid, &code.process)) {
        let all = samples(&code);
        out += &line(0, &format!("{} (process {})", process.1, process.0), all, all);
        let shown = |code: &[&CodeUse]| samples(code) as f64 >= SHARE_MIN * all as f64;
        for (library, code) in by(code, |code| &*code.library) {
            if !shown(&code) {
                continue;
            }
            out += &line(2, library, samples(&code), all);
            let named = code.iter().filter(|code| shown(&[code]));
            for code in named.take(FUNCTIONS) {
                if let Some(function) = &code.function {
                    out += &line(4, function, code.samples, all);
                }
            }
        }
    }
    if profile.with_kernel {
        out += &format!("{:<NAMES$}{:>9.2}\n", "other programs", profile.others as f64 / hz);
    } else {
        out += &style.paragraph(
            "Only this program was sampled, without the kernel's code: more needs root or CAP_PERFMON.",
            0,
        );
    }
    if profile.lost > 0 {
        out += &style.paragraph(&format!("{} samples were lost.", profile.lost), 0);
    }
    out + "\n"
}

/// Groups by a key, the most frequent group first.
fn by<'a, K: Ord + Copy>(
    code: impl IntoIterator<Item = &'a CodeUse>,
    key: impl Fn(&'a CodeUse) -> K,
) -> Vec<(K, Vec<&'a CodeUse>)> {
    let mut groups: BTreeMap<K, Vec<&CodeUse>> = BTreeMap::new();
    for code in code {
        groups.entry(key(code)).or_default().push(code);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, code)| std::cmp::Reverse(samples(code)));
    groups
}

fn samples(code: &[&CodeUse]) -> u64 {
    code.iter().map(|code| code.samples).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_shown_below_its_library_and_process() {
        let code = |pid, library: &str, function: Option<&str>, samples| CodeUse {
            pid,
            process: if pid == 7 { "fathom" } else { "minio" }.into(),
            library: library.into(),
            function: function.map(str::to_owned),
            samples,
        };
        let profile = CpuProfile {
            hz: 100,
            lost: 0,
            others: 50,
            with_kernel: true,
            code: vec![
                code(7, "kernel", Some("copy_page"), 250),
                code(7, "fathom", Some("aes::encrypt"), 300),
                code(7, "fathom", None, 50),
                code(7, "libc.so.6", Some("memcpy"), 1),
                code(9, "libcrypto.so.3", Some("sha256"), 1000),
            ],
        };
        let text = text(&profile, &Style::default());
        let rows: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().collect()).collect();
        let expected = [
            "CPU time by code seconds share",
            "minio (process 9) 10.00 100 %",
            "libcrypto.so.3 10.00 100 %",
            "sha256 10.00 100 %",
            "fathom (process 7) 6.01 100 %",
            "fathom 3.50 58 %",
            "aes::encrypt 3.00 50 %",
            "kernel 2.50 42 %",
            "copy_page 2.50 42 %",
            "other programs 0.50",
            "",
        ];
        let rows: Vec<String> = rows.iter().map(|words| words.join(" ")).collect();
        assert_eq!(rows, expected);
    }
}
