//! Which file of a crate needs which: paths that begin with `crate`, `super`, `self`, a child module
//! or an imported module, followed through re-exports to the file that defines the item.

use crate::rust_text::{code_only, without_tests};
use crate::workspace;
use anyhow::Result;
use std::collections::BTreeSet;
use std::path::Path;

/// The files of a crate.
pub struct Crate {
    files: Vec<File>,
}

struct File {
    /// Below `src`, such as "b/c.rs".
    name: String,
    /// Its module, such as ["b", "c"].
    module: Vec<String>,
    imports: Vec<Import>,
    /// Paths in its code that may lead to another file.
    paths: Vec<Vec<String>>,
    /// Items it defines.
    items: BTreeSet<String>,
}

/// A name that `use` brings into a module.
struct Import {
    /// The name, or "*".
    name: String,
    path: Vec<String>,
    is_exported: bool,
}

/// Re-exports that lead to each other end here.
const DEPTH_MAX: usize = 16;

impl Crate {
    /// Reads the files below a crate's `src`; tests are left out.
    pub fn read(src: &Path) -> Result<Crate> {
        let sources = workspace::sources(src, &["rs"])?;
        let files = sources.into_iter().filter_map(|source| {
            let name = source.path.to_string_lossy().into_owned();
            let mut module: Vec<String> =
                name.strip_suffix(".rs")?.split('/').map(String::from).collect();
            let is_test = |part: &String| part == "tests" || part.ends_with("_tests");
            if module.iter().any(is_test) {
                return None;
            }
            if matches!(module.last()?.as_str(), "lib" | "main" | "mod") {
                module.pop();
            }
            let code = code_only(without_tests(&source.text));
            Some(File::new(name, module, &tokens(&code)))
        });
        Ok(Crate { files: files.collect() })
    }

    /// Name of a file below `src`.
    pub fn name(&self, file: usize) -> Option<&str> {
        self.files.get(file).map(|file| file.name.as_str())
    }

    /// For each file the files it needs.
    pub fn needs(&self) -> Vec<BTreeSet<usize>> {
        let needs = |at: usize| {
            let file = &self.files[at];
            let imports = file.imports.iter().filter(|import| !import.is_exported);
            // A module that is imported is needed where something of it is named.
            let imports = imports.filter_map(|import| self.definition(at, &import.path, 0, false));
            let paths = file.paths.iter().filter_map(|path| self.definition(at, path, 0, true));
            imports.chain(paths).filter(|&other| other != at).collect()
        };
        (0..self.files.len()).map(needs).collect()
    }

    fn file_of(&self, module: &[String]) -> Option<usize> {
        self.files.iter().position(|file| file.module == module)
    }

    /// The file that defines what a path in the file `at` names. Nothing for what is of another
    /// crate, and for a module as such.
    fn definition(&self, at: usize, path: &[String], depth: usize, follow: bool) -> Option<usize> {
        let (first, mut rest) = path.split_first()?;
        let here = &self.files[at].module;
        let mut module = match first.as_str() {
            "crate" => Vec::new(),
            "self" => here.clone(),
            "super" => here[..here.len().checked_sub(1)?].to_vec(),
            name => {
                let child = [&here[..], &[name.to_owned()]].concat();
                if self.file_of(&child).is_some() {
                    child
                } else if follow && depth < DEPTH_MAX {
                    let import = self.files[at].imports.iter().find(|i| i.name == *name)?;
                    let path = [&import.path[..], rest].concat();
                    return self.definition(at, &path, depth + 1, false);
                } else {
                    return None;
                }
            }
        };
        while let Some((name, after)) = rest.split_first() {
            match name.as_str() {
                "super" => _ = module.pop()?,
                "self" => {}
                name => {
                    module.push(name.to_owned());
                    if self.file_of(&module).is_none() {
                        module.pop();
                        break;
                    }
                }
            }
            rest = after;
        }
        self.item(self.file_of(&module)?, rest, depth)
    }

    /// The file that defines an item which the file `at` defines or imports.
    fn item(&self, at: usize, path: &[String], depth: usize) -> Option<usize> {
        let (name, rest) = path.split_first()?;
        let file = &self.files[at];
        if name == "*" || file.items.contains(name) || depth >= DEPTH_MAX {
            return Some(at);
        }
        if let Some(import) = file.imports.iter().find(|import| import.name == *name) {
            let path = [&import.path[..], rest].concat();
            return self.definition(at, &path, depth + 1, false);
        }
        let globs = file.imports.iter().filter(|import| import.name == "*");
        let mut found = globs.filter_map(|import| {
            let through = [&import.path[..import.path.len() - 1], path].concat();
            let there = self.definition(at, &through, depth + 1, false)?;
            self.files[there].items.contains(name).then_some(there)
        });
        found.next().or(Some(at))
    }
}

impl File {
    fn new(name: String, module: Vec<String>, tokens: &[&str]) -> File {
        let (mut imports, mut paths, mut items) = (Vec::new(), Vec::new(), BTreeSet::new());
        let mut at = 0;
        while at < tokens.len() {
            let before = if at == 0 { "" } else { tokens[at - 1] };
            let next = tokens.get(at + 1).copied().unwrap_or_default();
            match tokens[at] {
                "use" if next != "<" => {
                    let is_exported = matches!(before, "pub" | ")");
                    at += 1;
                    use_tree(tokens, &mut at, &mut Vec::new(), &mut |name, path| {
                        imports.push(Import { name, path, is_exported });
                    });
                }
                // The lifetime 'static defines nothing.
                "static" if before == "'" => {}
                "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "union" => {
                    items.insert(next.to_owned());
                }
                "macro_rules" => _ = items.insert(tokens.get(at + 2).unwrap_or(&"").to_string()),
                word if is_word(word) && next == "::" && before != "::" => {
                    let mut path = vec![word.to_owned()];
                    while tokens.get(at + 1) == Some(&"::")
                        && tokens.get(at + 2).is_some_and(|word| is_word(word))
                    {
                        at += 2;
                        path.push(tokens[at].to_owned());
                    }
                    paths.push(path);
                }
                _ => {}
            }
            at += 1;
        }
        File { name, module, imports, paths, items }
    }
}

/// Hands every name of a use declaration from `tokens[at]` on to `found`, with its path. Leaves `at`
/// behind the tree.
fn use_tree(
    tokens: &[&str],
    at: &mut usize,
    prefix: &mut Vec<String>,
    found: &mut impl FnMut(String, Vec<String>),
) {
    let depth = prefix.len();
    while let Some(&token) = tokens.get(*at) {
        match token {
            "::" => {}
            "{" => {
                *at += 1;
                while tokens.get(*at).is_some_and(|&token| token != "}") {
                    use_tree(tokens, at, prefix, found);
                    *at += usize::from(tokens.get(*at) == Some(&","));
                }
                *at += 1;
                prefix.truncate(depth);
                return;
            }
            "," | ";" | "}" => break,
            "as" => {
                *at += 1;
                let alias = tokens.get(*at).copied().unwrap_or_default();
                found(alias.to_owned(), prefix.clone());
                prefix.truncate(depth);
                *at += 1;
                return;
            }
            "self" if !prefix.is_empty() => {}
            word => prefix.push(word.to_owned()),
        }
        *at += 1;
    }
    if let Some(name) = prefix.last().cloned() {
        found(name, prefix.clone());
    }
    prefix.truncate(depth);
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Words, "::" and single other characters.
fn tokens(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("::") {
            2
        } else {
            match rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len()) {
                0 => first.len_utf8(),
                length => length,
            }
        };
        found.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    found
}
