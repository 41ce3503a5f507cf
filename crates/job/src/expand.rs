//! What stands for something else in a value: `${NAME}` of the environment, and the keywords
//! `$pagesize`, `$mb_memory` and `$ncpus`, with arithmetic on them.
//!
//! `$jobname`, `$jobnum` and `$filenum` are not touched: they mean something only once the files
//! of a job are named.

/// What the keywords stand for; the machine is read elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keywords {
    /// `$pagesize`: memory page, bytes.
    pub page_size: u64,
    /// `$mb_memory`: main memory, MiB.
    pub memory_mib: u64,
    /// `$ncpus`: CPUs online.
    pub cpus: u64,
}

impl Keywords {
    /// Replaces keywords. A value that held one and is an arithmetic expression then, such as
    /// `8*$mb_memory`, is calculated; division is of whole numbers.
    pub fn expand(&self, value: &str) -> String {
        let pairs =
            [("$pagesize", self.page_size), ("$mb_memory", self.memory_mib), ("$ncpus", self.cpus)];
        let mut replaced = value.to_string();
        for (name, number) in pairs {
            if replaced.contains(name) {
                replaced = replaced.replace(name, &number.to_string());
            }
        }
        if replaced == value {
            return replaced;
        }
        Expression::calculate(&replaced).unwrap_or(replaced)
    }
}

/// Replaces each `${NAME}` by what `lookup` gives for it; nothing where it gives nothing. A `${`
/// that is never closed stays as it is.
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

/// Billionths in one: decimals are kept exactly to nine places.
const ONE: i128 = 1_000_000_000;

/// A recursive descent over one expression; every result is in billionths.
struct Expression<'a> {
    text: &'a [u8],
    at: usize,
    depth: u32,
}

impl Expression<'_> {
    /// The result as text; `None` when the text is no expression, or the result no finite number.
    fn calculate(text: &str) -> Option<String> {
        if !text.contains(['+', '-', '*', '/', '%', '^', '(']) {
            return None;
        }
        let mut expression = Expression { text: text.as_bytes(), at: 0, depth: 0 };
        let result = expression.sum()?;
        if expression.peek().is_some() {
            return None;
        }
        let (whole, part) = (result / ONE, (result % ONE).unsigned_abs());
        if part == 0 {
            return Some(whole.to_string());
        }
        let sign = if result < 0 && whole == 0 { "-" } else { "" };
        let decimals = format!("{part:09}");
        Some(format!("{sign}{whole}.{}", decimals.trim_end_matches('0')))
    }

    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn sum(&mut self) -> Option<i128> {
        let mut left = self.product()?;
        while let Some(operator @ (b'+' | b'-')) = self.peek() {
            self.at += 1;
            let right = self.product()?;
            left = match operator {
                b'+' => left.checked_add(right)?,
                _ => left.checked_sub(right)?,
            };
        }
        Some(left)
    }

    fn product(&mut self) -> Option<i128> {
        let mut left = self.power()?;
        while let Some(operator @ (b'*' | b'/' | b'%')) = self.peek() {
            self.at += 1;
            let right = self.power()?;
            left = match operator {
                b'*' => left.checked_mul(right)? / ONE,
                b'/' => left.checked_div(right)?.checked_mul(ONE)?,
                _ => left.checked_rem(right)?,
            };
        }
        Some(left)
    }

    fn power(&mut self) -> Option<i128> {
        let base = self.atom()?;
        if self.peek() != Some(b'^') {
            return Some(base);
        }
        self.at += 1;
        self.deeper()?;
        let exponent = self.power()?;
        self.depth -= 1;
        let times = u32::try_from(exponent / ONE).ok().filter(|times| *times <= 1024)?;
        (0..times).try_fold(ONE, |product, _| Some(product.checked_mul(base)? / ONE))
    }

    fn atom(&mut self) -> Option<i128> {
        match self.peek()? {
            sign @ (b'-' | b'+') => {
                self.at += 1;
                self.deeper()?;
                let value = self.atom()?;
                self.depth -= 1;
                Some(if sign == b'-' { -value } else { value })
            }
            b'(' => {
                self.at += 1;
                self.deeper()?;
                let value = self.sum()?;
                self.depth -= 1;
                (self.peek()? == b')').then(|| self.at += 1)?;
                Some(value)
            }
            _ => self.number(),
        }
    }

    /// A long row of brackets must not overflow the stack.
    fn deeper(&mut self) -> Option<()> {
        self.depth += 1;
        (self.depth < 64).then_some(())
    }

    fn number(&mut self) -> Option<i128> {
        let from = self.at;
        while self.text.get(self.at).is_some_and(|c| c.is_ascii_digit() || *c == b'.') {
            self.at += 1;
        }
        let digits = std::str::from_utf8(&self.text[from..self.at]).ok()?;
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        if part.len() > 9 || part.contains('.') || (whole.is_empty() && part.is_empty()) {
            return None;
        }
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        let part: i128 = format!("{part:0<9}").parse().ok()?;
        whole.checked_mul(ONE)?.checked_add(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYWORDS: Keywords = Keywords { page_size: 4096, memory_mib: 24105, cpus: 2 };

    #[test]
    fn keywords_are_replaced_and_calculated() {
        // What Debian's fio 3.33 shows with --showcmd for the same values, where it takes them.
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
            ("2^$ncpus", "4"),
            ("$ncpus%2", "0"),
            ("a$pagesize.$ncpus", "a4096.2"),
            ("1.5*$pagesize", "6144"),
            ("$jobname.$jobnum", "$jobname.$jobnum"),
            ("8*1024", "8*1024"),
        ] {
            assert_eq!(KEYWORDS.expand(typed), expanded, "{typed}");
        }
    }

    #[test]
    fn text_that_is_no_expression_keeps_its_shape() {
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
        assert_eq!(KEYWORDS.expand("$ncpus^2^2^2^2^2"), "2^2^2^2^2^2");
        let digits = format!("{}*$ncpus", "9".repeat(60));
        assert_eq!(KEYWORDS.expand(&digits), digits.replace("$ncpus", "2"));
    }

    #[test]
    fn environment_fills_in_what_is_there() {
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
