//! The directory of the journals.

use crate::Error;
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// The environment variable that names another directory for journals.
pub const STATE_VARIABLE: &str = "FATHOM_STATE_DIR";

/// The directory of the journals: $FATHOM_STATE_DIR, or fathom/machine in the user's state
/// directory (XDG Base Directory Specification: $XDG_STATE_HOME, ~/.local/state).
///
/// # Errors
/// None of the three variables is set.
pub fn state_directory() -> Result<PathBuf, Error> {
    directory(&|name| env::var_os(name)).ok_or_else(|| {
        Error::refused(format!(
            "{STATE_VARIABLE}, XDG_STATE_HOME and HOME are all unset or relative, so there is no \
             directory for the journal of changes: set one of them"
        ))
    })
}

fn directory(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let own =
        || absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
    absolute(STATE_VARIABLE).or_else(|| Some(own()?.join("fathom/machine")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn found(variables: &[(&str, &str)]) -> Option<PathBuf> {
        let value = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| v.into());
        directory(&value)
    }

    #[test]
    fn the_nearest_variable_that_holds_an_absolute_path_decides() {
        let home = ("HOME", "/root");
        let xdg = ("XDG_STATE_HOME", "/x");
        let all = [home, xdg, (STATE_VARIABLE, "/s")];
        assert_eq!(found(&all).as_deref(), Some(Path::new("/s")));
        assert_eq!(found(&all[..2]).as_deref(), Some(Path::new("/x/fathom/machine")));
        let relative = [home, ("XDG_STATE_HOME", "x")];
        let expected = Path::new("/root/.local/state/fathom/machine");
        assert_eq!(found(&relative).as_deref(), Some(expected));
        assert_eq!(found(&[("HOME", "")]), None);
    }
}
