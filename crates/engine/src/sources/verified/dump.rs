//! `verify_dump`: writes bad blocks to files.

use std::path::Path;

/// Writes the received and, if it is known, the expected data to files in `directory`. Their names are
/// those of fio: the name of the file and the offset of the block. Returns the text for the message.
pub(super) fn write(
    directory: &str,
    path: &str,
    offset: u64,
    received: &[u8],
    expected: Option<&[u8]>,
) -> String {
    let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
    let place = |kind: &str| Path::new(directory).join(format!("{name}.{offset}.{kind}"));
    let kinds = match expected {
        Some(expected) => vec![("received", received), ("expected", expected)],
        None => vec![("hdr_fail", received)],
    };
    let mut text = String::new();
    for (kind, data) in kinds {
        let file = place(kind);
        text += &match std::fs::write(&file, data) {
            Ok(()) => format!("; {kind} data dumped as {}", file.display()),
            Err(error) => {
                format!("; {kind} data could not be dumped as {}: {error}", file.display())
            }
        };
    }
    text
}
