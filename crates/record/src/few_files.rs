//! Records of jobs with very many files, kept small.

use crate::{JobRecord, RunRecord};
use std::collections::HashSet;

impl JobRecord {
    /// Keeps the first `most` files. Returns the others.
    pub fn keep_files(&mut self, most: usize) -> Vec<String> {
        self.workload.regions.truncate(most);
        let kept = most.min(self.workload.files.len());
        let others = self.workload.files.split_off(kept);
        self.workload.files.shrink_to_fit();
        others
    }
}

impl RunRecord {
    /// Keeps the first `most` files of each job, and forgets facts about those that no job keeps: a run of a
    /// million files would take a gigabyte. The options say how many files there were.
    pub fn keep_files(&mut self, most: usize) {
        let mut others: HashSet<String> =
            self.jobs.iter_mut().flat_map(|job| job.keep_files(most)).collect();
        for file in self.jobs.iter().flat_map(|job| &job.workload.files) {
            others.remove(file);
        }
        self.facts.targets.retain(|path, _| !others.contains(path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TargetFacts;

    #[test]
    fn the_first_files_of_each_job_are_kept_with_their_facts() {
        let job = |files: &[&str]| {
            let mut job = JobRecord::default();
            job.workload.files = files.iter().map(|file| (*file).to_owned()).collect();
            job
        };
        let jobs = vec![job(&["a", "b", "c"]), job(&["c"]), job(&["d", "e", "b"])];
        let mut run = RunRecord { jobs, ..RunRecord::default() };
        for path in ["/", "a", "b", "c", "d", "e"] {
            run.facts.targets.insert(path.into(), TargetFacts::default());
        }
        run.keep_files(2);
        let files: Vec<usize> = run.jobs.iter().map(|job| job.workload.files.len()).collect();
        assert_eq!(files, [2, 1, 2]);
        assert!(run.facts.targets.keys().eq(["/", "a", "b", "c", "d", "e"]));
        run.keep_files(1);
        assert!(run.facts.targets.keys().eq(["/", "a", "c", "d"]), "{:?}", run.facts.targets);
    }
}
