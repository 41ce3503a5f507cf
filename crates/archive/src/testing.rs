//! Made-up runs for tests.

use crate::database::Database;
use crate::{Archive, Lineage, Location, RunId, Summary};
use record::{
    Bytes, DeviceFacts, Direction, FilesystemFacts, Histogram, Invocation, JobRecord, RunRecord,
    TargetFacts,
};

/// Start of a run of hour 0: 2026-11-01T00:00Z.
pub(crate) const START_MS: u64 = 1_793_491_200_000;
pub(crate) const HOUR_MS: u64 = 3_600_000;

/// A run of one job on "/mnt/data/NAME" that started `hour` hours after [`START_MS`].
pub(crate) fn record(name: &str, hour: u64) -> RunRecord {
    let mut job = JobRecord { name: name.into(), ..JobRecord::default() };
    let file = format!("/mnt/data/{name}");
    job.workload.rw = "randread".into();
    job.workload.ioengine = "io_uring".into();
    job.workload.iodepth = 32;
    job.workload.files = vec![file.clone()];
    job.workload.block_size.read = (Bytes(4096), Bytes(4096));
    job.ended = record::Nanos(1_000_000_000);
    job.elapsed = job.ended;
    let results = &mut job.results[Direction::Read];
    results.ios = 1000 * (hour + 1);
    results.ios_issued = results.ios;
    results.runtime = job.ended;
    results.bytes = Bytes(4096 * results.ios);
    let mut clat = Histogram::new();
    for n in 0..results.ios {
        clat.record(100_000 + n);
    }
    results.latency.clat = Some(clat);
    let mut run = RunRecord {
        schema: record::SCHEMA_VERSION,
        fathom_version: "0.1.0".into(),
        invocation: Invocation {
            arguments: vec!["fathom".into(), "run".into(), format!("{name}.fio")],
            started_unix_ms: START_MS + hour * HOUR_MS,
            ended_unix_ms: START_MS + hour * HOUR_MS + 1000,
            ..Invocation::default()
        },
        jobs: vec![job],
        ..RunRecord::default()
    };
    run.facts.hostname = "web1".into();
    run.facts.kernel = "6.12.0".into();
    let filesystem = FilesystemFacts { kind: "ext4".into(), ..FilesystemFacts::default() };
    let target = TargetFacts {
        device: Some("nvme0n1p1".into()),
        filesystem: Some(filesystem),
        ..TargetFacts::default()
    };
    run.facts.targets.insert(file, target);
    for (device, below, model) in
        [("nvme0n1p1", Some("nvme0n1"), None), ("nvme0n1", None, Some("Fast SSD 980  "))]
    {
        let facts = DeviceFacts {
            name: device.into(),
            below: below.into_iter().map(String::from).collect(),
            model: model.map(String::from),
            ..DeviceFacts::default()
        };
        run.facts.devices.insert(device.into(), facts);
    }
    run
}

/// A new archive in a temporary directory.
pub(crate) fn archive() -> (tempfile::TempDir, Archive) {
    let directory = testbed::scratch();
    let location = Location::explicit(directory.path().join("archive.db"));
    let archive = Archive::open(&location).unwrap();
    (directory, archive)
}

/// Adds a run that belongs to no set, with its summary.
pub(crate) fn add(archive: &mut Archive, record: &RunRecord) -> RunId {
    let id = archive.add(record, &Lineage::alone("run")).unwrap();
    archive.save_summary(&id, &Summary::new(record, &judge::judge(record))).unwrap();
    id
}

/// The connection to the file of an archive.
pub(crate) fn connection(archive: &Archive) -> &rusqlite::Connection {
    match &archive.database {
        Database::Sqlite(connection) => connection,
        Database::Postgres(_) => panic!("it is on a server"),
    }
}
