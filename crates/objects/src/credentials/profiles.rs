//! The files with shared profiles.

use super::context::{ProcessContext, SourcedValue, at_home, set};
use std::io;
use std::path::{Path, PathBuf};

/// The credentials file and the config file, in this order, if they exist.
pub struct Profiles {
    files: Vec<File>,
    /// The paths of both files.
    looked: Vec<PathBuf>,
}

/// One file: its settings in the order of its lines.
pub struct File {
    sections: Vec<Section>,
}

struct Section {
    kind: Kind,
    name: String,
    settings: Vec<Setting>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Profile,
    Services,
    /// A section that is not used.
    Other,
}

/// A name, its value and their place. A nested setting is named "outer.inner".
pub struct Setting {
    key: String,
    value: String,
    path: PathBuf,
    line: usize,
}

impl Setting {
    /// Its value and source.
    pub fn found(&self) -> SourcedValue {
        SourcedValue { value: self.value.clone(), from: self.place() }
    }

    /// File and line.
    pub fn place(&self) -> String {
        format!("{}:{}", self.path.display(), self.line)
    }
}

impl Profiles {
    /// Reads both files. A missing file is no error.
    pub fn read(context: &dyn ProcessContext) -> Result<Profiles, String> {
        let places = [
            ("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials", false),
            ("AWS_CONFIG_FILE", "~/.aws/config", true),
        ];
        let mut profiles = Profiles { files: Vec::new(), looked: Vec::new() };
        for (variable, usual, is_config) in places {
            let path = set(context, variable).unwrap_or_else(|| usual.into());
            let Some(path) = at_home(context, &path) else { continue };
            match context.read(&path) {
                Ok(text) => profiles.files.push(parse(&path, &text, is_config)?),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    return Err(format!(
                        "{}: it cannot be read: {error}; make it readable, or name another with \
                         {variable}",
                        path.display()
                    ));
                }
            }
            profiles.looked.push(path);
        }
        Ok(profiles)
    }

    /// The files, in order of precedence.
    pub fn in_files(&self) -> impl Iterator<Item = &File> {
        self.files.iter()
    }

    /// The paths of both files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.looked.iter().map(PathBuf::as_path)
    }

    /// Whether one of the files has a profile of this name.
    pub fn has(&self, name: &str) -> bool {
        self.names().iter().any(|known| known == name)
    }

    /// The names of all profiles, without duplicates, sorted.
    pub fn names(&self) -> Vec<String> {
        let sections = self.files.iter().flat_map(|file| &file.sections);
        let mut names: Vec<_> = sections
            .filter(|section| section.kind == Kind::Profile)
            .map(|section| section.name.clone())
            .collect();
        names.sort();
        names.dedup();
        names
    }
}

impl File {
    /// A setting of a profile.
    pub fn setting(&self, profile: &str, key: &str) -> Option<&Setting> {
        self.find(Kind::Profile, profile, key)
    }

    /// A setting of a group of services.
    pub fn service(&self, services: &str, key: &str) -> Option<&Setting> {
        self.find(Kind::Services, services, key)
    }

    /// The last non-empty setting: later lines override earlier ones.
    fn find(&self, kind: Kind, name: &str, key: &str) -> Option<&Setting> {
        let sections =
            self.sections.iter().filter(|section| section.kind == kind && section.name == name);
        let mut settings = sections.flat_map(|section| &section.settings).rev();
        settings.find(|setting| setting.key == key && !setting.value.is_empty())
    }
}

/// Parses a file. The section of a profile is called "profile NAME" in a config file, and "NAME" in
/// a credentials file.
fn parse(path: &Path, text: &[u8], is_config: bool) -> Result<File, String> {
    let at = |line: usize, what: &str| format!("{}:{line}: {what}", path.display());
    let mut file = File { sections: Vec::new() };
    // The setting without a value to which the indented lines belong.
    let mut outer: Option<String> = None;
    for (number, line) in (1..).zip(text.split(|byte| *byte == b'\n')) {
        let line = std::str::from_utf8(line)
            .map_err(|_| at(number, "it is no UTF-8: expected text; save it as UTF-8"))?;
        let inner = line.starts_with([' ', '\t']);
        let line = without_comment(line.trim_start_matches('\u{feff}')).trim();
        if line.is_empty() {
            continue;
        }
        if !inner && line.starts_with('[') {
            let name = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            let name = name.ok_or_else(|| {
                at(number, "expected a closing bracket: [default], [profile NAME]; add it")
            })?;
            file.sections.push(section(name.trim(), is_config));
            outer = None;
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            return Err(at(
                number,
                "expected [section], name = value, or a comment behind #; correct the line",
            ));
        };
        let Some(section) = file.sections.last_mut() else {
            return Err(at(number, "expected [section] first: put [default] above it"));
        };
        let key = key.trim().to_ascii_lowercase();
        let value = value.trim().to_owned();
        let key = match outer.as_ref().filter(|_| inner) {
            Some(outer) => format!("{outer}.{key}"),
            None => {
                outer = value.is_empty().then(|| key.clone());
                key
            }
        };
        section.settings.push(Setting { key, value, path: path.into(), line: number });
    }
    Ok(file)
}

/// Removes a comment: a whole line, or the text after ` #` or ` ;`.
fn without_comment(line: &str) -> &str {
    if line.trim_start().starts_with(['#', ';']) {
        return "";
    }
    let ends = [" #", " ;", "\t#", "\t;"];
    let end = ends.iter().filter_map(|mark| line.find(mark)).min();
    &line[..end.unwrap_or(line.len())]
}

fn section(name: &str, is_config: bool) -> Section {
    let (kind, name) = match name.split_once(char::is_whitespace) {
        Some(("profile", name)) if is_config => (Kind::Profile, name),
        Some(("services", name)) if is_config => (Kind::Services, name),
        None if name == "default" => (Kind::Profile, name),
        _ if is_config => (Kind::Other, name),
        _ => (Kind::Profile, name),
    };
    let name = name.trim();
    let quoted = |quote| name.strip_prefix(quote)?.strip_suffix(quote);
    let name = quoted('"').or_else(|| quoted('\'')).unwrap_or(name);
    Section { kind, name: name.to_owned(), settings: Vec::new() }
}
