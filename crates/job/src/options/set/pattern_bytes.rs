//! The bytes of `buffer_pattern` and `verify_pattern`.

use crate::model::BlockPattern;
use std::fs::File;
use std::io::Read;

/// Maximum size of a pattern file, in bytes.
const FILE_MAX: u64 = 16 << 20;

const EXPECTED: &str = "\"text\", 'path', 0xHEX or a decimal number, one after the other";

/// Size of an offset within a pattern, in bytes.
const OFFSET_SIZE: usize = 8;

/// Parses a sequence of strings, files, hexadecimal and decimal numbers.
pub(super) fn parse(text: &str) -> Result<Vec<u8>, String> {
    let pattern = parse_with(text, false)?;
    Ok(pattern.bytes)
}

/// As [`parse`], and accepts `%o` for the offset of the block.
pub(super) fn parse_block(text: &str) -> Result<BlockPattern, String> {
    parse_with(text, true)
}

fn parse_with(text: &str, with_offsets: bool) -> Result<BlockPattern, String> {
    let (mut bytes, mut offsets) = (Vec::new(), Vec::new());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        rest = match first {
            '"' => quoted(rest, '"', &mut |string| {
                bytes.extend_from_slice(string.as_bytes());
                Ok(())
            })?,
            '\'' => quoted(rest, '\'', &mut |path| {
                bytes.extend(file(path)?);
                Ok(())
            })?,
            _ if rest.starts_with("0x") || rest.starts_with("0X") => {
                hexadecimal(&rest[2..], &mut bytes)?
            }
            '0'..='9' | '-' | '+' | ' ' | '\t'..='\r' => decimal(rest, &mut bytes)?,
            '%' if with_offsets && rest.starts_with("%o") => {
                offsets.push(bytes.len());
                bytes.extend([0; OFFSET_SIZE]);
                &rest[2..]
            }
            _ if with_offsets => return Err(format!("expected {EXPECTED}, or %o, got '{rest}'")),
            _ => return Err(format!("expected {EXPECTED}, got '{rest}'")),
        };
    }
    match bytes.is_empty() {
        true => Err(format!("the pattern '{text}' is empty")),
        false => Ok(BlockPattern { bytes, offsets }),
    }
}

fn quoted<'a>(
    rest: &'a str,
    quote: char,
    handle: &mut dyn FnMut(&str) -> Result<(), String>,
) -> Result<&'a str, String> {
    let (inside, after) = rest[1..]
        .split_once(quote)
        .ok_or_else(|| format!("the closing {quote} is missing in '{rest}'"))?;
    handle(inside)?;
    Ok(after)
}

fn file(path: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(FILE_MAX + 1).read_to_end(&mut bytes))
        .map_err(|error| format!("cannot read the pattern file '{path}': {error}"))?;
    match bytes.len() as u64 {
        0 => Err(format!("the pattern file '{path}' is empty")),
        1..=FILE_MAX => Ok(bytes),
        _ => Err(format!("the pattern file '{path}' is longer than 16 MiB")),
    }
}

/// Parses digits in the order written. An odd number of digits is padded with a zero in front.
fn hexadecimal<'a>(rest: &'a str, bytes: &mut Vec<u8>) -> Result<&'a str, String> {
    let (digits, after) = digits(rest, u8::is_ascii_hexdigit);
    if digits.is_empty() {
        return Err(format!("expected hexadecimal digits behind 0x, got '{rest}'"));
    }
    let padded = if digits.len() % 2 == 0 { String::new() } else { "0".into() } + digits;
    for at in (0..padded.len()).step_by(2) {
        let byte = u8::from_str_radix(&padded[at..at + 2], 16);
        bytes.push(byte.map_err(|error| error.to_string())?);
    }
    Ok(after)
}

/// Parses a decimal number, which is stored least significant byte first. Numbers from 0 take as few
/// bytes as possible; negative numbers take four. As in fio, blanks and a sign may precede it.
fn decimal<'a>(rest: &'a str, bytes: &mut Vec<u8>) -> Result<&'a str, String> {
    let text = rest.trim_start_matches([' ', '\t', '\n', '\x0b', '\x0c', '\r']);
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (_, after) = digits(unsigned, u8::is_ascii_digit);
    let token = &text[..text.len() - after.len()];
    let number: i32 = token
        .parse()
        .map_err(|_| format!("expected a decimal number of at most 32 bits, got '{rest}'"))?;
    let little_endian = number.to_le_bytes();
    let needed = match number {
        ..0 => 4,
        _ => little_endian.iter().rposition(|byte| *byte != 0).map_or(1, |last| last + 1),
    };
    bytes.extend_from_slice(&little_endian[..needed]);
    Ok(after)
}

/// Splits the leading digits off. The `0` of a `0x` that follows belongs to the next number.
fn digits(text: &str, is_digit: impl Fn(&u8) -> bool) -> (&str, &str) {
    let length = text.bytes().take_while(|byte| is_digit(byte)).count();
    let (digits, after) = text.split_at(length);
    let ends_in_prefix = digits.ends_with('0') && after.starts_with(['x', 'X']);
    text.split_at(length - usize::from(ends_in_prefix))
}
