//! The bytes of `buffer_pattern` and `verify_pattern`.

use crate::model::BlockPattern;
use std::fs::File;
use std::io::Read;

/// More of a file than this makes no pattern.
const FILE_MAX: u64 = 16 << 20;

const EXPECTED: &str =
    "\"text\", 'path', 0xHEX or a decimal number, one after the other without spaces";

/// Bytes that an offset takes.
const OFFSET_SIZE: usize = 8;

/// Reads a sequence of strings, files, hexadecimal and decimal numbers.
pub(super) fn parse(text: &str) -> Result<Vec<u8>, String> {
    let pattern = read(text, false)?;
    Ok(pattern.bytes)
}

/// The same with `%o` for the offset of the block.
pub(super) fn parse_block(text: &str) -> Result<BlockPattern, String> {
    read(text, true)
}

fn read(text: &str, with_offsets: bool) -> Result<BlockPattern, String> {
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
            '0'..='9' | '-' => decimal(rest, &mut bytes)?,
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
    take: &mut dyn FnMut(&str) -> Result<(), String>,
) -> Result<&'a str, String> {
    let (inside, after) = rest[1..]
        .split_once(quote)
        .ok_or_else(|| format!("the closing {quote} is missing in '{rest}'"))?;
    take(inside)?;
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

/// Digits in the order written; an odd number of them gets a zero in front.
fn hexadecimal<'a>(rest: &'a str, bytes: &mut Vec<u8>) -> Result<&'a str, String> {
    let length = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
    if length == 0 {
        return Err(format!("expected hexadecimal digits behind 0x, got '{rest}'"));
    }
    let padded = if length % 2 == 0 { String::new() } else { "0".into() } + &rest[..length];
    for at in (0..padded.len()).step_by(2) {
        let byte = u8::from_str_radix(&padded[at..at + 2], 16);
        bytes.push(byte.map_err(|error| error.to_string())?);
    }
    Ok(&rest[length..])
}

/// Least significant byte first; positive numbers take no more bytes than they need, negative ones
/// four.
fn decimal<'a>(rest: &'a str, bytes: &mut Vec<u8>) -> Result<&'a str, String> {
    let sign = usize::from(rest.starts_with('-'));
    let length = sign + rest[sign..].bytes().take_while(u8::is_ascii_digit).count();
    let number: i32 = rest[..length].parse().map_err(|_| {
        format!("expected a decimal number of at most 32 bits, got '{}'", &rest[..length.max(1)])
    })?;
    let all = number.to_le_bytes();
    let needed = match number {
        ..0 => 4,
        _ => all.iter().rposition(|byte| *byte != 0).map_or(1, |last| last + 1),
    };
    bytes.extend_from_slice(&all[..needed]);
    Ok(&rest[length..])
}
