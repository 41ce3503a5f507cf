//! Percent-encoding as Signature Version 4 requires it. Requests are sent as they are signed, so a
//! server cannot compute a different signature.

/// Appends `text`, encoded: everything except letters, digits and `-._~` becomes `%XX`, including
/// the slash.
pub fn push_encoded(out: &mut String, text: &str) {
    push(out, text, false);
}

/// Appends a path, encoded like [`push_encoded`] except for its slashes. It is not normalised:
/// `//`, `.` and `..` are part of a key.
pub fn push_encoded_path(out: &mut String, path: &str) {
    push(out, path, true);
}

fn push(out: &mut String, text: &str, slashes: bool) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let plain = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'.' | b'_' | b'~')
            || (slashes && byte == b'/')
    };
    if text.bytes().all(plain) {
        out.push_str(text);
        return;
    }
    for byte in text.bytes() {
        if plain(byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
}

/// Decodes `text`. A `%` without two hexadecimal digits is kept. With `plus`, `+` is a space, as in
/// a form.
pub fn decoded(text: &str, plus: bool) -> Vec<u8> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match (byte, digit(at), digit(at + 1)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 2;
            }
            (b'+', ..) if plus => out.push(b' '),
            _ => out.push(byte),
        }
    }
    out
}

/// Appends bytes as lower-case hexadecimal digits.
pub fn push_hex(out: &mut String, bytes: &[u8]) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.push(char::from(HEX[usize::from(byte >> 4)]));
        out.push(char::from(HEX[usize::from(byte & 15)]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path(text: &str) -> String {
        let mut out = String::new();
        push_encoded_path(&mut out, text);
        out
    }

    #[test]
    fn only_unreserved_characters_are_not_encoded() {
        assert_eq!(path("/bucket/a-b_c.d~e/F9"), "/bucket/a-b_c.d~e/F9");
        assert_eq!(path("/b/a b+c%d*e"), "/b/a%20b%2Bc%25d%2Ae");
        assert_eq!(path("/b/é€😀"), "/b/%C3%A9%E2%82%AC%F0%9F%98%80");
        assert_eq!(path("/b//x/./../y/"), "/b//x/./../y/");
        assert_eq!(path("/b/!'()$&,:;=@?#[]\n"), {
            "/b/%21%27%28%29%24%26%2C%3A%3B%3D%40%3F%23%5B%5D%0A"
        });
        let mut out = String::new();
        push_encoded(&mut out, "a/b");
        assert_eq!(out, "a%2Fb");
    }

    #[test]
    fn broken_escapes_stand_for_themselves() {
        assert_eq!(decoded("100%", false), b"100%");
        assert_eq!(decoded("%4", false), b"%4");
        assert_eq!(decoded("%zz%41", false), b"%zzA");
        assert_eq!(decoded("a+b%2Bc", true), b"a b+c");
        assert_eq!(decoded("a+b", false), b"a+b");
    }

    proptest! {
        #[test]
        fn what_is_sent_decodes_to_the_key(key in any::<String>()) {
            let sent = path(&key);
            prop_assert!(sent.bytes().all(|byte| byte.is_ascii_graphic()));
            prop_assert_eq!(decoded(&sent, false), key.as_bytes());
            let mut sent = String::new();
            push_encoded(&mut sent, &key);
            prop_assert!(!sent.contains(['/', '+', '&', '=', '?']));
            prop_assert_eq!(decoded(&sent, true), key.as_bytes());
        }
    }
}
