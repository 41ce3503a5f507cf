//! Just enough reading of Rust text for the checks: which part of it is code, which is tests.

/// `text` with comments and the insides of string and character literals turned into spaces, line
/// breaks kept, so that what is searched for in the result is code and line numbers still hold.
pub fn code_only(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut after_word = false;
    while let Some(first) = rest.chars().next() {
        // An identifier that ends in r or b does not begin a literal: `for"` is not raw.
        let blank = if after_word { plain_literal_length(rest) } else { literal_length(rest) };
        match blank.or_else(|| comment_length(rest)) {
            Some(length) => {
                let (gone, left) = rest.split_at(length);
                out.extend(gone.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
                rest = left;
                after_word = false;
            }
            None => {
                out.push(first);
                rest = &rest[first.len_utf8()..];
                after_word = is_word(first);
            }
        }
    }
    out
}

/// The code before the block `#[cfg(test)] mod tests { … }` that ends a file; all of it when there
/// is none.
pub fn without_tests(text: &str) -> &str {
    let Some(start) = text
        .match_indices("#[cfg(test)]\n")
        .map(|(at, _)| at)
        .find(|&at| (at == 0 || text[..at].ends_with('\n')) && opens_tests(&text[at..]))
    else {
        return text;
    };
    let block = &text[start..];
    // Formatted code closes a block of the top level at the margin.
    match block.find("\n}") {
        Some(end) if block[end + 2..].trim().is_empty() => &text[..start],
        _ => text,
    }
}

fn opens_tests(block: &str) -> bool {
    block
        .lines()
        .skip(1)
        .find(|line| !line.starts_with("#["))
        .map(|line| line.trim_start_matches("pub(crate) ").trim_start_matches("pub "))
        .is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'))
}

/// Numbers (from 1) of the lines of `code` that hold `wanted`, not as part of a longer word.
pub fn lines_with(code: &str, wanted: &str) -> Vec<usize> {
    let begins = wanted.chars().next().is_some_and(is_word);
    let ends = wanted.chars().next_back().is_some_and(is_word);
    code.lines()
        .enumerate()
        .filter(|(_, line)| {
            line.match_indices(wanted).any(|(at, _)| {
                let before = line[..at].chars().next_back().is_some_and(is_word);
                let after = line[at + wanted.len()..].chars().next().is_some_and(is_word);
                !(begins && before || ends && after)
            })
        })
        .map(|(index, _)| index + 1)
        .collect()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Length in bytes of the comment `rest` begins with.
fn comment_length(rest: &str) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if !rest.starts_with("/*") {
        return None;
    }
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        if here.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return Some(at);
            }
        } else {
            at += 1;
        }
    }
    Some(rest.len())
}

/// Length in bytes of the literal `rest` begins with, prefixes (`b`, `c`, `r`) included.
fn literal_length(rest: &str) -> Option<usize> {
    for prefix in ["br", "cr", "r"] {
        if let Some(length) = rest.strip_prefix(prefix).and_then(raw_length) {
            return Some(prefix.len() + length);
        }
    }
    for prefix in ["b", "c"] {
        if let Some(length) = rest.strip_prefix(prefix).and_then(plain_literal_length) {
            return Some(prefix.len() + length);
        }
    }
    plain_literal_length(rest)
}

fn raw_length(rest: &str) -> Option<usize> {
    let hashes = rest.bytes().take_while(|&b| b == b'#').count();
    let inside = rest[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let end = inside.find(&close).map_or(inside.len(), |at| at + close.len());
    Some(hashes + 1 + end)
}

fn plain_literal_length(rest: &str) -> Option<usize> {
    match rest.as_bytes().first()? {
        b'"' => Some(quoted_length(rest, b'"')),
        // A lifetime has no closing quote after its first character.
        b'\'' => {
            let mut chars = rest[1..].chars();
            let first = chars.next()?;
            (first == '\\' || chars.next() == Some('\'')).then(|| quoted_length(rest, b'\''))
        }
        _ => None,
    }
}

fn quoted_length(rest: &str, quote: u8) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked_and_lines_kept() {
        let text = "let a = \"unsafe // x\"; // unsafe\n/* unsafe\n /* unsafe */ */ b('\"', 'c', \
                    r#\"un\"safe\"#, b'\\'', &'static x)";
        let code = code_only(text);
        assert!(!code.contains("unsafe") && !code.contains("safe"), "{code}");
        assert_eq!(code.lines().count(), 3);
        assert!(code.contains("let a =") && code.contains("&'static x)"), "{code}");
        assert_eq!(code.len(), text.len());
    }

    #[test]
    fn an_open_literal_ends_with_the_text() {
        for text in ["\"abc", "r#\"abc\"", "/* abc", "'\\", "b\"", "\"\\"] {
            assert!(code_only(text).trim().is_empty(), "{text}");
        }
    }

    #[test]
    fn letters_outside_ascii_keep_their_place() {
        assert_eq!(code_only("é /* é */ ß 'é' \"…\" x"), "é         ß         x");
    }

    #[test]
    fn a_word_ending_in_r_is_no_raw_prefix() {
        assert_eq!(code_only("for\"a\\\"b\" x"), "for       x");
    }

    #[test]
    fn words_are_whole() {
        let code = "unsafe {\nunsafe_op();\nan_unsafe\nx(unsafe)\nArc<Mutex<u8>>";
        assert_eq!(lines_with(code, "unsafe"), [1, 4]);
        assert_eq!(lines_with(code, "Mutex"), [5]);
    }

    #[test]
    fn only_a_last_test_block_is_cut() {
        let code = "fn a() {}\n\n";
        let block = "#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\n";
        assert_eq!(without_tests(&format!("{code}{block}")), code);
        let middle = format!("{block}\n{code}");
        assert_eq!(without_tests(&middle), middle);
        let other_file = format!("{code}#[cfg(test)]\nmod tests;\n");
        assert_eq!(without_tests(&other_file), other_file);
        let helper = "#[cfg(test)]\nfn only_for_tests() {}\n\n";
        let both = format!("{helper}{block}");
        assert_eq!(without_tests(&both), helper);
    }
}
