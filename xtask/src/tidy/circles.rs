//! No file of a crate needs a file that needs it: what two files share stands in a third one below
//! both. To declare a module or to export it again is not to need it.

use super::Finding;
use super::imports::Crate;
use crate::workspace;
use anyhow::Result;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Every circle of imports between files of one crate.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for directory in workspace::crates(root)? {
        let source = Crate::read(&directory.join("src"))?;
        for circle in circles(&source.needs()) {
            let files: Vec<&str> = circle.iter().filter_map(|&file| source.name(file)).collect();
            let place = directory.join("src").join(files[0]);
            let message = format!(
                "files need each other in a circle: {} → {}; move what they share below them",
                files.join(" → "),
                files[0]
            );
            let place = place.strip_prefix(root).map_or(PathBuf::new(), Path::to_path_buf);
            findings.push(Finding::new(place, 0, message));
        }
    }
    Ok(findings)
}

/// The shortest circle of each set of files that reach each other.
fn circles(needs: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = Vec::new();
    let mut seen = BTreeSet::new();
    for file in 0..needs.len() {
        if seen.contains(&file) {
            continue;
        }
        if let Some(circle) = shortest_back(needs, file) {
            let reached = reachable(needs, file);
            seen.extend(
                reached.into_iter().filter(|&other| reachable(needs, other).contains(&file)),
            );
            found.push(circle);
        }
    }
    found
}

fn reachable(needs: &[BTreeSet<usize>], from: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(file) = open.pop() {
        open.extend(needs[file].iter().filter(|&&next| found.insert(next)));
    }
    found
}

/// The shortest way from a file back to itself, by breadth-first search.
fn shortest_back(needs: &[BTreeSet<usize>], from: usize) -> Option<Vec<usize>> {
    let mut ways = std::collections::VecDeque::from([vec![from]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        let last = *way.last()?;
        for &next in &needs[last] {
            if next == from {
                return Some(way);
            }
            if seen.insert(next) {
                ways.push_back([&way[..], &[next]].concat());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::scratch;
    use super::*;

    const MANIFEST: (&str, &str) = ("crates/a/Cargo.toml", "");

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let root = scratch(&[&[MANIFEST], files].concat());
        check(root.path()).unwrap().iter().map(Finding::to_string).collect()
    }

    #[test]
    fn a_circle_is_found_with_its_files() {
        let found = found(&[
            ("crates/a/src/lib.rs", "mod b;\nmod c;\nmod d;\n"),
            ("crates/a/src/b.rs", "use crate::c::C;\npub struct B;\n"),
            ("crates/a/src/c.rs", "pub struct C;\nfn f() { crate::d::g() }\n"),
            ("crates/a/src/d.rs", "use super::{b::{B, self}};\npub fn g() {}\n"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/a/src/b.rs: "), "{found:?}");
        assert!(found[0].contains("b.rs → c.rs → d.rs → b.rs"), "{found:?}");
    }

    #[test]
    fn a_parent_and_its_child_may_not_need_each_other() {
        let found = found(&[
            ("crates/a/src/lib.rs", "mod b;\n"),
            ("crates/a/src/b.rs", "mod c;\npub struct B;\nfn f() { c::g() }\n"),
            ("crates/a/src/b/c.rs", "use super::B;\npub fn g() {}\n"),
        ]);
        assert!(found.len() == 1 && found[0].contains("b/c.rs → b.rs → b/c.rs"), "{found:?}");
    }

    #[test]
    fn declarations_exports_and_tests_are_no_needs() {
        let found = found(&[
            ("crates/a/src/lib.rs", "mod b;\nmod c;\npub use b::B;\npub use c::*;\n"),
            ("crates/a/src/b.rs", "use crate::C;\npub struct B;\n"),
            (
                "crates/a/src/c.rs",
                "pub struct C;\n#[cfg(test)]\npub mod tests {\n    use crate::B;\n}\n",
            ),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn a_static_lifetime_defines_nothing() {
        let found = found(&[
            (
                "crates/a/src/lib.rs",
                "mod b;\nmod c;\npub use c::C;\nfn f() -> &'static C { b::g() }\n",
            ),
            ("crates/a/src/b.rs", "use crate::C;\npub fn g() -> &'static C { todo() }\n"),
            ("crates/a/src/c.rs", "pub struct C;\n"),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }
}
