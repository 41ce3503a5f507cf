//! IOR's JSON.

use super::VERSION;
use super::command::{IorCommand, Phase};
use super::results::{Outcome, PhaseResult};
use super::summary::{Summary, summaries};
use super::text::{Banner, options};
use serde_json::{Map, Value, json};

/// All results. `finished`: the time.
pub fn json(call: &IorCommand, outcome: &Outcome, banner: &Banner, finished: &str) -> String {
    let rows = summaries(call, outcome);
    let options: Map<String, Value> =
        options(call).into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect();
    let results: Vec<Value> = outcome.phases.iter().map(|phase| result(call, phase)).collect();
    let mut test = json!({
        "TestID": 0,
        "StartTime": banner.began,
        "Path": banner.path,
        "Parameters": parameters(call),
        "Options": options,
        "Results": results,
        "max": best(&rows),
    });
    if let Some((size, used)) = banner.capacity {
        test["Capacity"] = crate::hpc::shown(size).into();
        test["Used Capacity"] = format!("{:.1}%", used as f64 * 100.0 / size.max(1) as f64).into();
    }
    let all = json!({
        "Version": format!("{VERSION}-fathom-{}", banner.version),
        "Began": banner.began,
        "Command line": banner.command,
        "Machine": banner.machine,
        "tests": [test],
        "summary": rows.iter().map(|row| summary(call, row)).collect::<Vec<Value>>(),
        "Finished": finished,
    });
    format!("{all:#}\n")
}

fn result(call: &IorCommand, result: &PhaseResult) -> Value {
    let measured = &result.measured;
    json!({
        "access": result.phase.name(),
        "bwMiB": result.bandwidth(),
        "blockKiB": call.block as f64 / 1024.0,
        "xferKiB": call.transfer as f64 / 1024.0,
        "iops": measured.iops(call.transfer),
        "latency": measured.latency(),
        "openTime": measured.open,
        "wrRdTime": measured.moving,
        "closeTime": measured.close,
        "totalTime": measured.total(),
    })
}

fn best(rows: &[Summary]) -> Value {
    let mut all = Map::new();
    for row in rows {
        let name = if row.phase == Phase::Write { "write" } else { "read" };
        let best = row.bandwidth.max;
        all.insert(format!("{name}MiB"), best.into());
        all.insert(format!("{name}MB"), (best * f64::from(1 << 20) / 1e6).into());
    }
    all.into()
}

fn parameters(call: &IorCommand) -> Value {
    let flag = |value: bool| u8::from(value);
    json!({
        "testID": 0,
        "refnum": call.reference,
        "api": call.api.name(),
        "deadlineForStonewall": call.deadline_s,
        "stoneWallingWearOut": u8::from(call.wear_out),
        "maxTimeDuration": call.minutes_max,
        "repetitions": call.repetitions,
        "multiFile": flag(call.multi_file),
        "interTestDelay": call.delay_s,
        "fsync": flag(call.fsync),
        "fsyncperwrite": flag(call.fsync_per_write),
        "useExistingTestFile": flag(call.use_existing),
        "uniqueDir": flag(call.unique_dir),
        "checkWrite": flag(call.check_write),
        "checkRead": flag(call.check_read),
        "keepFile": flag(call.keep),
        "keepFileWithError": flag(call.keep_with_error),
        "verbose": call.verbose,
        "randomOffset": call.random_offset,
        "filePerProc": flag(call.per_process),
        "reorderTasks": flag(call.reorder),
        "reorderTasksRandom": call.reorder_random,
        "reorderTasksRandomSeed": call.reorder_seed,
        "taskPerNodeOffset": call.task_offset,
        "writeFile": flag(call.write),
        "readFile": flag(call.read),
        "blockSize": call.block,
        "transferSize": call.transfer,
        "segmentCount": call.segments,
        "numTasks": call.tasks,
        "tasksPerNode": call.per_node(),
    })
}

fn summary(call: &IorCommand, row: &Summary) -> Value {
    json!({
        "operation": row.phase.name(),
        "API": call.api.name(),
        "TestID": 0,
        "ReferenceNumber": call.reference,
        "segmentCount": call.segments,
        "blockSize": call.block,
        "transferSize": call.transfer,
        "numTasks": call.tasks,
        "tasksPerNode": call.per_node(),
        "repetitions": call.repetitions,
        "filePerProc": u8::from(call.per_process),
        "reorderTasks": u8::from(call.reorder),
        "taskPerNodeOffset": call.task_offset,
        "reorderTasksRandom": call.reorder_random,
        "reorderTasksRandomSeed": call.reorder_seed,
        "bwMaxMIB": row.bandwidth.max,
        "bwMinMIB": row.bandwidth.min,
        "bwMeanMIB": row.bandwidth.mean,
        "bwStdMIB": row.bandwidth.deviation,
        "OPsMax": row.operations.max,
        "OPsMin": row.operations.min,
        "OPsMean": row.operations.mean,
        "OPsSD": row.operations.deviation,
        "MeanTime": row.seconds,
        "StoneWallTime": row.stonewall.map(|(seconds, _)| seconds),
        "StoneWallbwMeanMIB": row.stonewall.map(|(seconds, mebibytes)| mebibytes / seconds),
        "xsizeMiB": row.bytes / f64::from(1 << 20),
    })
}

#[cfg(test)]
mod tests {
    use super::super::results::tests::run;
    use super::*;

    #[test]
    fn the_keys_are_iors() {
        let mut outcome = Outcome::default();
        outcome.add(&run("write", "0"));
        let call = IorCommand { tasks: 2, block: 64 << 20, ..IorCommand::default() };
        let text = json(&call, &outcome, &Banner::default(), "now");
        let all: Value = serde_json::from_str(&text).unwrap();
        let test = &all["tests"][0];
        assert_eq!(test["Results"][0]["bwMiB"], 25.6);
        assert_eq!(test["Results"][0]["wrRdTime"], 4.0);
        assert_eq!(test["max"]["writeMiB"], 25.6);
        assert_eq!(test["Options"]["tasks"], "2");
        assert_eq!(all["summary"][0]["OPsMean"], 102.4);
        assert_eq!(all["summary"][0]["MeanTime"], 5.0);
        assert_eq!(all["Finished"], "now");
    }
}
