//! The names of directories, files and items.
//!
//! # Rules
//! - `DIR/test-dir.ITERATION-LOOP/mdtest_tree.0` holds `mdtest_tree.1` and so on, as many as `-b`, down
//!   to the depth of `-z`. With `-u` each task has a tree, `mdtest_tree.TASK.0`.
//! - The directory k has the directories k·b+1 to k·b+b.
//! - Items are named `file.mdtest.TASK.ITEM`; the directory k has the items from k·I on.

use super::MdtestCommand;
use super::runs::clip;
use std::ops::Range;

impl MdtestCommand {
    /// Directories of a tree; `None`: too many to count.
    pub(super) fn directories(&self) -> Option<u64> {
        let mut levels = (0..=self.depth).map(|level| self.branch.checked_pow(level));
        levels.try_fold(0_u64, |sum, level| sum.checked_add(level?))
    }

    /// Directories of a tree that hold items: a range of numbers.
    fn with_items(&self) -> std::ops::Range<u64> {
        let all = self.directories().unwrap_or_default();
        match self.leaves_only {
            true => all - self.branch.pow(self.depth)..all,
            false => 0..all,
        }
    }

    /// Items of each task in each directory that holds items.
    pub(super) fn items_per_directory(&self) -> u64 {
        let directories = self.with_items();
        match self.per_directory {
            0 => self.items / (directories.end - directories.start).max(1),
            given => given,
        }
    }

    /// Test directories of an iteration.
    pub(super) fn loops(&self) -> u64 {
        match (self.items, self.per_directory) {
            (0, _) | (_, 0) => 1,
            (items, each) => items / each,
        }
    }

    /// Items of each task.
    pub fn items_per_task(&self) -> u64 {
        let directories = self.with_items();
        self.items_per_directory()
            .saturating_mul(directories.end - directories.start)
            .saturating_mul(self.loops())
    }

    /// The test directories of an iteration, each once.
    pub fn test_directories(&self, iteration: u32) -> Vec<String> {
        let tops = self.directory.split('@');
        tops.flat_map(|top| (0..self.loops()).map(move |turn| test_directory(top, iteration, turn)))
            .collect()
    }

    /// The directories of the tree that a task creates, from the top down.
    pub(super) fn tree(&self, task: u32, iteration: u32) -> Vec<String> {
        let directories = self.directories().unwrap_or_default();
        let of_loop = |turn| {
            (0..directories).map(move |number| self.directory(task, iteration, turn, number))
        };
        (0..self.loops()).flat_map(of_loop).collect()
    }

    fn directory(&self, task: u32, iteration: u32, turn: u64, number: u64) -> String {
        let tops: Vec<&str> = self.directory.split('@').collect();
        let top = tops[task as usize % tops.len()];
        let name = |number: u64| match self.unique {
            true => format!("/mdtest_tree.{task}.{number}"),
            false => format!("/mdtest_tree.{number}"),
        };
        let (mut path, mut at) = (name(number), number);
        while at > 0 {
            at = (at - 1) / self.branch;
            path.insert_str(0, &name(at));
        }
        test_directory(top, iteration, turn) + &path
    }

    /// The last items of the last task, which an earlier call must have created.
    pub fn last_items(&self, iteration: u32) -> Vec<String> {
        let task = self.tasks - 1;
        let files = if self.made > 0 { 0..self.made } else { 0..u64::MAX };
        let kinds =
            [("dir", !self.files_only, 0..u64::MAX), ("file", !self.directories_only, files)];
        let of_kind = |(kind, is_used, range): (&str, bool, Range<u64>)| {
            let groups = clip(self.groups(task, iteration), range);
            let (directory, first, count) = groups.last().filter(|_| is_used)?;
            Some(format!("{directory}/{kind}.mdtest.{task}.{}", first + count - 1))
        };
        kinds.into_iter().filter_map(of_kind).collect()
    }

    /// The items of a task: groups in one directory each, with the number of the first item and how
    /// many they are.
    pub(super) fn groups(&self, task: u32, iteration: u32) -> Vec<(String, u64, u64)> {
        let each = self.items_per_directory();
        let of_loop = |turn| {
            let group =
                move |number| (self.directory(task, iteration, turn, number), number * each, each);
            self.with_items().map(group)
        };
        (0..self.loops()).flat_map(of_loop).collect()
    }
}

fn test_directory(top: &str, iteration: u32, turn: u64) -> String {
    format!("{}/test-dir.{iteration}-{turn}", top.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_branches_down_to_its_depth() {
        let call = MdtestCommand { items: 14, depth: 2, branch: 2, ..MdtestCommand::default() };
        assert_eq!(call.directories(), Some(7));
        let tree = call.tree(0, 3);
        let root = "./out/test-dir.3-0/mdtest_tree.0";
        assert_eq!(tree[0], root);
        assert_eq!(tree[2], format!("{root}/mdtest_tree.2"));
        assert_eq!(tree[6], format!("{root}/mdtest_tree.2/mdtest_tree.6"));
        let groups = call.groups(0, 3);
        assert_eq!(groups.len(), 7);
        assert_eq!(groups[6], (tree[6].clone(), 12, 2));
        assert_eq!(call.items_per_task(), 14);
        let last = format!("{}/dir.mdtest.0.13", tree[6]);
        assert_eq!(call.last_items(3), [last.clone(), last.replace("dir.md", "file.md")]);
        let leaves = MdtestCommand { leaves_only: true, ..call };
        assert_eq!(leaves.groups(0, 3).len(), 4);
        assert_eq!((leaves.items_per_directory(), leaves.items_per_task()), (3, 12));
        let line = MdtestCommand { depth: 3, branch: 1, ..leaves };
        assert_eq!((line.directories(), line.with_items()), (Some(4), 3..4));
    }

    #[test]
    fn each_task_has_a_tree_with_u_and_test_directories_are_dealt_out() {
        let call = MdtestCommand {
            directory: "a@b/".into(),
            items: 6,
            per_directory: 2,
            unique: true,
            ..MdtestCommand::default()
        };
        assert_eq!(call.loops(), 3);
        assert_eq!(call.tree(1, 0)[2], "b/test-dir.0-2/mdtest_tree.1.0");
        assert_eq!(call.test_directories(0).len(), 6);
        assert_eq!(call.items_per_task(), 6);
    }
}
