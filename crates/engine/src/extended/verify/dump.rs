//! `verify_dump`: bad blocks kept in files for a closer look.

use std::path::Path;

/// Writes what was received and, where it is known, what was expected, to files named as fio names
/// them: the file's name and the block's offset, in `directory` (the working directory if empty).
/// Says where they are, or why not.
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
    let mut said = String::new();
    for (kind, data) in kinds {
        let file = place(kind);
        let told = match std::fs::write(&file, data) {
            Ok(()) => format!("; {kind} data dumped as {}", file.display()),
            Err(error) => {
                format!("; {kind} data could not be dumped as {}: {error}", file.display())
            }
        };
        said.push_str(&told);
    }
    said
}
