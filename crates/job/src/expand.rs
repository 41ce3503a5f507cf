//! Replaces variables of the environment (`${NAME}`) and the keywords `$pagesize`, `$mb_memory`,
//! `$ncpus`, `$rank`, `$ranks` and `$host` in values, and evaluates arithmetic with them.
//!
//! `$jobname`, `$jobnum` and `$filenum` are left as they are: they are replaced when the files of a
//! job are named.

use crate::value::{self, Units};

/// The values of the keywords.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keywords {
    /// `$pagesize`: memory page, bytes.
    pub page_size: u64,
    /// `$mb_memory`: main memory, MiB.
    pub memory_mib: u64,
    /// `$ncpus`: CPUs online.
    pub cpus: u64,
    /// The place among several ranks; `None`: the keywords for it are left as they are.
    pub place: Option<RankPlace>,
}

/// The place of this process among those that an MPI launcher started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankPlace {
    /// `$rank`: its number, from 0.
    pub rank: u32,
    /// `$ranks`: how many there are.
    pub ranks: u32,
    /// `$host`: the name of its host.
    pub host: String,
}

impl Keywords {
    /// Replaces keywords. If the result is an arithmetic expression, such as `8*$mb_memory`, it is
    /// evaluated with whole numbers. As in fio, `%`, `^` and brackets alone do not make an
    /// expression.
    pub fn expand(&self, value: &str) -> String {
        let pairs =
            [("$pagesize", self.page_size), ("$mb_memory", self.memory_mib), ("$ncpus", self.cpus)];
        let pairs = pairs.map(|(name, number)| (name, number.to_string()));
        // "$ranks" first: it begins with "$rank".
        let place = self.place.iter().flat_map(|place| {
            let numbers = [("$ranks", place.ranks), ("$rank", place.rank)];
            let numbers = numbers.map(|(name, number)| (name, number.to_string()));
            numbers.into_iter().chain([("$host", place.host.clone())])
        });
        let mut replaced = value.to_string();
        for (name, text) in pairs.into_iter().chain(place) {
            if replaced.contains(name) {
                replaced = replaced.replace(name, &text);
            }
        }
        if replaced == value {
            return replaced;
        }
        calculate(&replaced).unwrap_or(replaced)
    }
}

/// Replaces each `${NAME}` by the result of `lookup`, or by nothing if there is none. A `${` that
/// is not closed stays.
pub fn environment(value: &str, lookup: &dyn Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(value.len());
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, tail)) = after.split_once('}') else { break };
        out.push_str(before);
        out.push_str(&lookup(name).unwrap_or_default());
        rest = tail;
    }
    out.push_str(rest);
    out
}

/// The result of an expression; `None` if the text is not an expression or the result is out of
/// range.
fn calculate(text: &str) -> Option<String> {
    if !text.contains(['+', '-', '*', '/']) {
        return None;
    }
    let number = value::whole_number(&format!("({text})"), Units::default()).ok()?;
    Some(number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYWORDS: Keywords =
        Keywords { page_size: 4096, memory_mib: 24105, cpus: 2, place: None };

    #[test]
    fn keywords_are_replaced_and_calculated() {
        // fio shows the same for the values that it accepts (tests/oracle.rs).
        for (typed, expanded) in [
            ("$pagesize", "4096"),
            ("8*$pagesize", "32768"),
            ("(8*$pagesize)", "32768"),
            ("$ncpus*4", "8"),
            ("2*$mb_memory", "48210"),
            ("$mb_memoryk", "24105k"),
            ("$pagesize,$pagesize", "4096,4096"),
            ("$pagesize/3", "1365"),
            ("$pagesize-4", "4092"),
            ("($ncpus+1)*2", "6"),
            ("2^$ncpus", "2^2"),
            ("2^$ncpus+0", "4"),
            ("$ncpus%2", "2%2"),
            ("$ncpus%2+1", "1"),
            ("a$pagesize.$ncpus", "a4096.2"),
            ("4k*$ncpus", "8192"),
            ("$jobname.$jobnum", "$jobname.$jobnum"),
            ("8*1024", "8*1024"),
        ] {
            assert_eq!(KEYWORDS.expand(typed), expanded, "{typed}");
        }
    }

    #[test]
    fn text_that_is_no_expression_is_unchanged() {
        for (typed, expanded) in [
            ("/tmp/$ncpus", "/tmp/2"),
            ("a-$pagesize", "a-4096"),
            ("$pagesize/50:8k/50", "4096/50:8k/50"),
            ("$ncpus/0", "2/0"),
            ("x$ncpus*", "x2*"),
        ] {
            assert_eq!(KEYWORDS.expand(typed), expanded, "{typed}");
        }
    }

    #[test]
    fn deep_or_huge_expressions_are_left_alone() {
        let deep = format!("{}$ncpus", "(".repeat(100_000));
        assert_eq!(KEYWORDS.expand(&deep), deep.replace("$ncpus", "2"));
        assert_eq!(KEYWORDS.expand("$ncpus^2^2^2^2^2*1"), "2^2^2^2^2^2*1");
        let digits = format!("{}*$ncpus", "9".repeat(60));
        assert_eq!(KEYWORDS.expand(&digits), digits.replace("$ncpus", "2"));
    }

    #[test]
    fn set_environment_variables_are_expanded() {
        let lookup = |name: &str| (name == "FOO").then(|| "4k".to_string());
        for (typed, expanded) in [
            ("${FOO}", "4k"),
            ("/tmp/${FOO}x${NOPE}y", "/tmp/4kxy"),
            ("a\\${FOO}b", "a\\4kb"),
            ("$FOO ${ FOO} ${FOO", "$FOO  ${FOO"),
            ("}${", "}${"),
        ] {
            assert_eq!(environment(typed, &lookup), expanded, "{typed}");
        }
    }
}
