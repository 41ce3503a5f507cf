use crate::support::*;
use job::{Engine, Job, ReadWrite, Secret, StoreKind, Tls};
use plan::{Access, BlockPlan, Prepare, ProblemKind::*};
use record::{Bytes, Facts, Severity};

/// Writes 64 MiB in objects of 5 MiB to a bucket.
fn s3() -> Job {
    let mut job = on("/bucket1/testobj", ReadWrite::Write, 5 * MIB);
    job.target.size = bytes(64 * MIB);
    job.queue.engine = Engine::Http;
    job.queue.direct = true;
    let http = &mut job.queue.options.http;
    http.kind = StoreKind::S3;
    http.hosts = "127.0.0.1:9000, store.example".into();
    http.key = Some(Secret("key".into()));
    http.key_id = Some("name".into());
    job
}

#[test]
fn objects_are_looked_for_nowhere_on_this_machine() {
    assert_eq!(plan::targets(&[s3()]), []);
    let plan = plan(&[s3()], &Facts::default());
    let worker = &plan.workers[0];
    assert_eq!(worker.files[0].path, "/bucket1/testobj");
    assert_eq!(worker.files[0].prepare, Prepare::Nothing);
    assert_eq!(worker.pattern.blocks.write, BlockPlan::Fixed(5 * MIB));
    assert_eq!((plan.disks.len(), worker.queue.depth), (0, 1));
    let store = worker.objects.as_ref().expect("it has a store");
    let hosts = [("127.0.0.1".to_owned(), 9000), ("store.example".to_owned(), 80)];
    assert_eq!(store.endpoints, hosts);
    assert_eq!(store.storage_class.as_deref(), Some("STANDARD"));
    assert!(matches!(&store.access, Access::Signed { region, .. } if region == "us-east-1"));
    assert_eq!(worker.workload().medium, record::Medium::Objects);
    assert!(!format!("{:?}", worker.workload()).contains("key"));
}

#[test]
fn depth_is_kept_in_flight() {
    let mut job = s3();
    job.queue.iodepth = Some(32);
    assert_eq!(plan(&[job.clone()], &machine()).workers[0].queue.depth, 32);
    job.queue.iodepth = Some(65_536);
    one_problem(&[job], &machine(), Usage, "iodepth", "a depth of 65536");
}

#[test]
fn reading_lays_nothing_out_but_needs_a_size() {
    let mut job = s3();
    job.pattern.rw = ReadWrite::RandRead;
    assert_eq!(plan(&[job.clone()], &machine()).workers[0].files[0].prepare, Prepare::Nothing);
    job.target.size = None;
    one_problem(&[job], &machine(), Usage, "size", "no size is given");
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let refused = |option: &str, what: &str, change: fn(&mut Job)| {
        let mut job = s3();
        change(&mut job);
        one_problem(&[job], &machine(), Usage, option, what);
    };
    refused("http_s3_key", "without its key", |job| job.queue.options.http.key = None);
    refused("http_s3_keyid", "without its name", |job| job.queue.options.http.key_id = None);
    refused("http_s3_region", "need a region", |job| job.queue.options.http.region = "".into());
    refused("http_swift_auth_token", "needs a token", |job| {
        job.queue.options.http.kind = StoreKind::Swift;
    });
    refused("http_s3_sse_customer_key", "a key of 5 bytes", |job| {
        let http = &mut job.queue.options.http;
        (http.customer_key, http.tls) = (Some(Secret("short".into())), Tls::Verified);
    });
    refused("http_host", "'http://a' is no host", |job| {
        job.queue.options.http.hosts = "http://a".into();
    });
    refused("http_s3_keyid", "a control character", |job| {
        job.queue.options.http.key_id = Some("a\r\nHost: b".into());
    });
    refused("http_timeout", "no time", |job| job.queue.options.http.timeout.0 = 0);
    refused("filename", "it is a URL", |job| {
        job.target.filenames = vec!["http".into(), "//host/bucket/object".into()];
    });
    refused("io_submit_mode", "offload", |job| job.queue.offload = true);
    refused("fsync", "no file", |job| job.syncing.fsync = 1);
}

#[test]
fn nobody_in_particular_may_ask_too() {
    let mut job = s3();
    let http = &mut job.queue.options.http;
    (http.key, http.key_id) = (None, None);
    let plan = plan(&[job], &machine());
    let store = plan.workers[0].objects.as_ref().expect("it has a store");
    assert_eq!(store.access, Access::Anonymous);
    let noted = |m: &record::Message| m.severity == Severity::Note && m.text.contains("anonymous");
    assert!(plan.messages.iter().any(noted));
}

#[test]
fn an_object_of_a_whole_file_is_changed_as_a_whole_only() {
    let mut job = s3();
    job.queue.options.http.ranges = true;
    one_problem(&[job.clone()], &machine(), Usage, "http_object_mode", "as a whole");
    job.pattern.rw = ReadWrite::RandRead;
    plan(&[job.clone()], &machine());
    job.pattern.rw = ReadWrite::Write;
    block_size(&mut job, 64 * MIB);
    plan(&[job.clone()], &machine());
    job.target.offset = Some(job::Size::Bytes(Bytes(MIB)));
    one_problem(&[job], &machine(), Usage, "http_object_mode", "from byte 1048576 on");
}
