//! Numbers of variable length: seven bits a byte, the lowest first.

/// Appends a number.
pub(super) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a number that may be negative; small ones are short, whatever their sign.
pub(super) fn put_signed(out: &mut Vec<u8>, value: i64) {
    put(out, (value << 1 ^ value >> 63) as u64);
}

/// Appends a text with its length.
pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Takes numbers from the front of some bytes. What is not there is `None`.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    pub fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    pub fn signed(&mut self) -> Option<i64> {
        self.number().map(|value| (value >> 1) as i64 ^ -((value & 1) as i64))
    }

    pub fn number32(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    pub fn text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_return(value: u64, signed: i64, text: String) {
            let mut out = Vec::new();
            put(&mut out, value);
            put_signed(&mut out, signed);
            put_text(&mut out, &text);
            let mut bytes = Bytes(&out);
            prop_assert_eq!(bytes.number(), Some(value));
            prop_assert_eq!(bytes.signed(), Some(signed));
            prop_assert_eq!(bytes.text(), Some(text.as_str()));
            prop_assert_eq!(bytes.byte(), None);
        }
    }

    #[test]
    fn a_number_without_an_end_is_none() {
        assert_eq!(Bytes(&[0x80; 20]).number(), None);
        assert_eq!(Bytes(&[0x80; 2]).number(), None);
        assert_eq!(Bytes(&[5, b'a']).text(), None);
    }
}
