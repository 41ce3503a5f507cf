//! Arithmetic in parentheses: `(64 * 1024)`, `(1g - 4k)`, `(2 ^ 10)`.

/// Nesting beyond this is refused, so that a hostile file cannot exhaust the stack.
const DEPTH_MAX: u32 = 64;

/// If `text` begins with a parenthesis: its value, and what stands behind the closing one. `unit`
/// says what a suffix multiplies by.
pub(super) fn leading(
    text: &str,
    unit: impl Fn(&str) -> Option<i128>,
) -> Result<Option<(i128, &str)>, String> {
    if !text.starts_with('(') {
        return Ok(None);
    }
    let mut parser = Parser { text, rest: text, unit: &unit, depth: 0 };
    let number = parser.atom()?;
    Ok(Some((number, parser.rest.trim())))
}

struct Parser<'a, 'u> {
    text: &'a str,
    rest: &'a str,
    unit: &'u dyn Fn(&str) -> Option<i128>,
    depth: u32,
}

impl Parser<'_, '_> {
    fn fail(&self, what: &str) -> String {
        format!("{what} in the expression '{}'", self.text)
    }

    /// The next operator, if it is one of these.
    fn take(&mut self, operators: &str) -> Option<char> {
        self.rest = self.rest.trim_start();
        let found = self.rest.chars().next().filter(|c| operators.contains(*c))?;
        self.rest = &self.rest[1..];
        Some(found)
    }

    fn sum(&mut self) -> Result<i128, String> {
        let mut left = self.product()?;
        while let Some(operator) = self.take("+-") {
            let right = self.product()?;
            let result =
                if operator == '+' { left.checked_add(right) } else { left.checked_sub(right) };
            left = result.ok_or_else(|| self.fail("overflow"))?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<i128, String> {
        let mut left = self.signed()?;
        while let Some(operator) = self.take("*/%") {
            let right = self.signed()?;
            if right == 0 && operator != '*' {
                return Err(self.fail("division by zero"));
            }
            let result = match operator {
                '*' => left.checked_mul(right),
                '/' => left.checked_div(right),
                _ => left.checked_rem(right),
            };
            left = result.ok_or_else(|| self.fail("overflow"))?;
        }
        Ok(left)
    }

    fn signed(&mut self) -> Result<i128, String> {
        match self.take("-") {
            Some(_) => self.deeper(Self::signed).map(|number| -number),
            None => self.power(),
        }
    }

    fn power(&mut self) -> Result<i128, String> {
        let base = self.atom()?;
        if self.take("^").is_none() {
            return Ok(base);
        }
        let exponent = self.deeper(Self::signed)?;
        u32::try_from(exponent)
            .ok()
            .and_then(|exponent| base.checked_pow(exponent))
            .ok_or_else(|| self.fail("an exponent out of range"))
    }

    fn atom(&mut self) -> Result<i128, String> {
        if self.take("(").is_some() {
            let number = self.deeper(Self::sum)?;
            return match self.take(")") {
                Some(_) => Ok(number),
                None => Err(self.fail("expected ')' or an operator")),
            };
        }
        let hex = self.rest.strip_prefix("0x").or_else(|| self.rest.strip_prefix("0X"));
        let (digits, radix) = match hex {
            Some(hex) => (hex, 16),
            None => (self.rest, 10),
        };
        let length = digits.bytes().take_while(|b| (*b as char).is_digit(radix)).count();
        let number = i128::from_str_radix(&digits[..length], radix)
            .map_err(|_| self.fail("expected a number or '('"))?;
        self.rest = &digits[length..];
        let letters = self.rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (suffix, rest) = self.rest.split_at(letters);
        self.rest = rest;
        (self.unit)(suffix)
            .and_then(|factor| number.checked_mul(factor))
            .ok_or_else(|| self.fail(&format!("unknown unit '{suffix}'")))
    }

    fn deeper(&mut self, parse: fn(&mut Self) -> Result<i128, String>) -> Result<i128, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.fail("too deep nesting"));
        }
        let result = parse(self);
        self.depth -= 1;
        result
    }
}
