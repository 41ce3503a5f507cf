//! Commands that make several runs, each on all ranks.

use super::mpi::{LAUNCHERS, all_ranks};
use crate::common::s3::{SECRET, below, recorded, requests, server};
use crate::common::{document, names};
use testbed::{alone, scratch};

#[test]
fn a_knee_is_that_of_all_ranks_and_each_removes_its_file() {
    let _alone = alone();
    for launcher in LAUNCHERS {
        let directory = scratch();
        let words = "knee --size=16m --depths=1,4 --repeat=2 --time=100ms --json --no-archive .";
        let words: Vec<&str> = words.split(' ').collect();
        let ran = all_ranks(launcher, 3, directory.path(), ":", &words).expect(0);
        let document = document(&ran);
        assert_eq!((&document["ranks"], &document["size_bytes"]), (&3.into(), &(16 << 20).into()));
        assert_eq!(document["curve"].as_array().map(Vec::len), Some(2), "{}", ran.out);
        let path = document["path"].as_str().unwrap();
        assert!(path.ends_with(".0.tmp"), "{path}");
        assert_eq!(names(directory.path()), Vec::<String>::new());
    }
}

#[test]
fn a_test_measures_all_ranks_and_keeps_their_files_if_asked() {
    let _alone = alone();
    let directory = scratch();
    let words = ["test", "--quick", "--size=16m", "--keep", "--no-archive", "."];
    let ran = all_ranks(LAUNCHERS[0], 2, directory.path(), ":", &words).expect(0);
    assert!(ran.out.contains("one file of 16 MiB on each of 2 ranks"), "{}", ran.out);
    let kept = names(directory.path());
    let ends: Vec<&str> = kept.iter().map(|name| &name[name.len() - 6..]).collect();
    assert_eq!(ends, [".0.tmp", ".1.tmp"]);
}

#[test]
fn an_object_store_is_measured_by_ranks_with_objects_of_their_own() {
    let _alone = alone();
    for launcher in LAUNCHERS {
        let (server, directory) = (server(), scratch());
        let key = format!(
            "export AWS_ACCESS_KEY_ID=minioadmin AWS_SECRET_ACCESS_KEY={SECRET} AWS_CONFIG_FILE=/dev/null"
        );
        let endpoint = format!("--endpoint={}", server.host());
        let s3 = |words: &str| {
            let words = format!("s3 {words} {endpoint} --bucket=bucket --no-archive");
            let words: Vec<&str> = words.split(' ').collect();
            all_ranks(launcher, 2, directory.path(), &key, &words)
        };
        let small = "--size=4k --concurrent=2 --duration=1 --record=r.json";
        let ran = s3(&format!("get {small} --objects=8 --prefix=kept --no-cleanup")).expect(0);
        assert!((ran.out.clone() + &ran.err).contains("putting 16 objects below /bucket/kept"));
        for rank in 0..2 {
            assert_eq!(below(&server, &format!("kept/{rank}/0/")).len(), 8);
        }
        let (sent, good) = requests(&recorded(directory.path()), "GET");
        // The prefix was listed as well.
        assert!(sent == good && server.count("GET", 200) > good && good > 16, "{sent} {good}");
        s3(&format!("put {small} --prefix=new")).expect(0);
        assert!(requests(&recorded(directory.path()), "PUT").1 > 4);
        assert_eq!(server.memory.keys("bucket").len(), 16, "what was put is taken away");
        let text = std::fs::read_to_string(directory.path().join("r.json")).unwrap();
        assert!(!format!("{text}{}{}", ran.out, ran.err).contains(SECRET), "the key is shown");
    }
}
