//! A campaign: writes, cuts and checks until there were enough cuts. Its state is what the server keeps, so
//! it continues after a start of the machine.

use crate::protocol::Kept;
use crate::session::TargetIdentity;
use record::human::counted;

/// The next step of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Check the run whose writes ended.
    Check {
        /// Its number.
        run: u64,
        /// Cuts before it.
        cuts: u32,
    },
    /// There were enough cuts.
    Done {
        /// The last run.
        run: u64,
    },
    /// Write until the next cut.
    Write,
}

/// The next step on a target whose campaign ends after so many cuts.
pub fn next(kept: &[Kept], target: &TargetIdentity, cuts_wanted: u32) -> Next {
    let is_own = |kept: &&Kept| kept.host == target.host && kept.path == target.path;
    let own: Vec<&Kept> = kept.iter().filter(is_own).collect();
    let is_cut = |kept: &&&Kept| kept.checked.as_ref().is_some_and(|checked| checked.is_cut);
    let cuts = u32::try_from(own.iter().filter(is_cut).count()).unwrap_or(u32::MAX);
    match own.last() {
        Some(last) if last.checked.is_none() => Next::Check { run: last.run, cuts },
        Some(last) if cuts >= cuts_wanted => Next::Done { run: last.run },
        _ => Next::Write,
    }
}

/// A systemd unit that continues a campaign after each start of the machine. `command` is the program and
/// its arguments.
///
/// # Errors
/// The word of the command that a unit cannot hold.
pub fn systemd_unit(
    target: &str,
    directory: &str,
    command: &[String],
    cuts: u32,
) -> Result<String, String> {
    let words: Vec<String> = command.iter().map(|word| quoted(word)).collect::<Result<_, _>>()?;
    Ok(format!(
        "# Save as /etc/systemd/system/fathom-powercut.service, then:\n\
         #   systemctl enable --now fathom-powercut\n\
         # It continues after each start until there were {cuts}. Then:\n\
         #   systemctl disable fathom-powercut\n\
         [Unit]\n\
         Description=fathom powercut campaign of {target}\n\
         After=local-fs.target network-online.target\n\
         Wants=network-online.target\n\
         \n\
         [Service]\n\
         WorkingDirectory={directory}\n\
         ExecStart={command}\n\
         \n\
         [Install]\n\
         WantedBy=multi-user.target\n",
        cuts = counted(cuts as usize, "cut"),
        target = target.replace('%', "%%"),
        directory = directory.replace('%', "%%"),
        command = words.join(" "),
    ))
}

/// A word as systemd reads it in a command.
fn quoted(word: &str) -> Result<String, String> {
    if word.contains('\n') {
        return Err(format!("a unit cannot hold '{word}'; use plain text"));
    }
    let escaped = word.replace('\\', "\\\\").replace('"', "\\\"");
    Ok(format!("\"{}\"", escaped.replace('%', "%%").replace('$', "$$")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Checked;

    #[test]
    fn words_of_a_unit_are_quoted_for_systemd() {
        assert_eq!(quoted("--cut=echo b >/x").unwrap(), "\"--cut=echo b >/x\"");
        assert_eq!(quoted(r#"a "b" \ 5% $HOME"#).unwrap(), r#""a \"b\" \\ 5%% $$HOME""#);
        assert!(quoted("a\nb").is_err());
    }

    #[test]
    fn a_campaign_writes_checks_and_ends() {
        let target = TargetIdentity { host: "a".into(), path: "/x".into(), ..Default::default() };
        let kept = |run, host: &str, is_cut: Option<bool>| Kept {
            run,
            host: host.into(),
            path: "/x".into(),
            checked: is_cut.map(|is_cut| Checked { run, is_cut, ..Checked::default() }),
        };
        assert_eq!(next(&[kept(1, "b", None)], &target, 1), Next::Write);
        let begun = [kept(1, "a", Some(true)), kept(2, "a", Some(false)), kept(3, "a", None)];
        assert_eq!(next(&begun, &target, 1), Next::Check { run: 3, cuts: 1 });
        assert_eq!(next(&begun[..2], &target, 2), Next::Write);
        assert_eq!(next(&begun[..2], &target, 1), Next::Done { run: 2 });
    }
}
