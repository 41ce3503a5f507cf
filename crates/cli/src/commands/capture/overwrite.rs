//! The file of a trace: another kind of file is not overwritten.

use anyhow::Result;
use runner::Refusal;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use trace::ftr;

/// Refuses to overwrite what is no trace.
pub fn check_output(path: &Path) -> Result<()> {
    let shown = path.display();
    let Ok(mut file) = File::open(path) else { return Ok(()) };
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err(Refusal::target(format!("--output: '{shown}' is no regular file")));
    }
    let mut first = [0; 8];
    let read = file.read(&mut first).unwrap_or(0);
    if read > 0 && !ftr::is_trace(&first[..read]) {
        let why = format!(
            "--output: '{shown}' holds something else than a trace: remove it, or name another"
        );
        return Err(Refusal::target(why));
    }
    Ok(())
}
