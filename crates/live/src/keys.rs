//! Parses keys from the bytes of a terminal (ECMA-48 and xterm's control sequences).

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A printable character.
    Char(char),
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the first row.
    Home,
    /// To the last row.
    End,
    /// Escape.
    Escape,
    /// Ctrl with a letter.
    Control(char),
}

const ESCAPE: u8 = 0x1b;

/// The first key and its length in bytes; `None` for an unknown or incomplete key. The length is 0
/// only if there are no bytes.
pub(crate) fn first(bytes: &[u8]) -> (Option<Key>, usize) {
    match *bytes {
        [] => (None, 0),
        [ESCAPE, b'[', ..] => control_sequence(bytes),
        // Arrows, Home and End in application mode.
        [ESCAPE, b'O', letter, ..] => (by_letter(letter), 3),
        [ESCAPE] => (Some(Key::Escape), 1),
        // Alt with a key.
        [ESCAPE, _, ..] => (None, 2),
        [letter @ 1..=26, ..] => (Some(Key::Control(char::from(letter - 1 + b'a'))), 1),
        [letter @ b' '..=b'~', ..] => (Some(Key::Char(char::from(letter))), 1),
        [_, ..] => (None, 1),
    }
}

/// Whether the bytes end within a key.
pub(crate) fn is_cut_off(bytes: &[u8]) -> bool {
    match bytes {
        [ESCAPE] | [ESCAPE, b'O'] => true,
        [ESCAPE, b'[', rest @ ..] => !rest.iter().any(|byte| is_final(*byte)),
        _ => false,
    }
}

fn is_final(byte: u8) -> bool {
    (b'@'..=b'~').contains(&byte)
}

/// "ESC [ parameters letter".
fn control_sequence(bytes: &[u8]) -> (Option<Key>, usize) {
    let parameters = &bytes[2..];
    let Some(end) = parameters.iter().position(|byte| is_final(*byte)) else {
        return (None, bytes.len());
    };
    let key = match (parameters[end], &parameters[..end]) {
        (b'~', b"1" | b"7") => Some(Key::Home),
        (b'~', b"4" | b"8") => Some(Key::End),
        (b'~', b"5") => Some(Key::PageUp),
        (b'~', b"6") => Some(Key::PageDown),
        (letter, b"") => by_letter(letter),
        _ => None,
    };
    (key, end + 3)
}

fn by_letter(letter: u8) -> Option<Key> {
    match letter {
        b'A' => Some(Key::Up),
        b'B' => Some(Key::Down),
        b'H' => Some(Key::Home),
        b'F' => Some(Key::End),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut bytes: &[u8]) -> Vec<Key> {
        let mut keys = Vec::new();
        while !bytes.is_empty() {
            let (key, taken) = first(bytes);
            assert!((1..=bytes.len()).contains(&taken), "{bytes:?}");
            keys.extend(key);
            bytes = &bytes[taken..];
        }
        keys
    }

    #[test]
    fn keys_come_one_after_the_other() {
        assert_eq!(
            all(b"q\x1b[A\x1bOB\x03\x1a\x1b[5~\x1b[6~\x1b[H\x1b[4~ \x1b"),
            [
                Key::Char('q'),
                Key::Up,
                Key::Down,
                Key::Control('c'),
                Key::Control('z'),
                Key::PageUp,
                Key::PageDown,
                Key::Home,
                Key::End,
                Key::Char(' '),
                Key::Escape,
            ]
        );
    }

    #[test]
    fn unknown_keys_are_skipped_completely() {
        assert_eq!(
            all("é\x1b[1;5Cx\x1b[15~\x1bqy\x7f\0".as_bytes()),
            [Key::Char('x'), Key::Char('y')]
        );
        assert_eq!(all(b"\x1b[<0;3;4"), []);
    }

    #[test]
    fn a_key_may_come_in_pieces() {
        for cut in [&b"\x1b"[..], b"\x1bO", b"\x1b[", b"\x1b[5"] {
            assert!(is_cut_off(cut), "{cut:?}");
        }
        for whole in [&b""[..], b"q", b"\x1b[A", b"\x1bOA", b"\x1b[5~", b"\x1bx"] {
            assert!(!is_cut_off(whole), "{whole:?}");
        }
    }

    #[test]
    fn every_byte_sequence_is_consumed() {
        for one in 0..=255 {
            for two in [ESCAPE, b'[', b'O', b'~', b'A', 0, 200] {
                all(&[one, two, ESCAPE, b'[', two, one]);
            }
        }
    }
}
