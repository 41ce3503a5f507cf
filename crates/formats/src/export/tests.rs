use super::*;
use crate::testing;
use parquet_reader::{FileReader, SerializedFileReader};
use record::Cell;

use ::parquet::file::reader as parquet_reader;

fn run() -> RunRecord {
    let mut run = testing::rated();
    run.jobs[0].name = "a \"b\", c".into();
    run.cell = Some(Cell { name: "4k".into(), round: 2, ..Cell::default() });
    run.jobs[0].intervals[1].ios.read = 0;
    run
}

fn named(record: &RunRecord) -> [Named<'_>; 1] {
    [Named { name: "7f3a", record }]
}

fn values<'a>(table: &'a Table, name: &str) -> &'a Values {
    &table.columns.iter().find(|column| column.name == name).unwrap().values
}

#[test]
fn an_interval_is_a_row_for_each_direction() {
    let run = run();
    let table = intervals(&named(&run));
    assert_eq!(table.rows(), 8, "four intervals, reads and writes");
    let csv = table.csv();
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("run,started_unix_ms,cell,round,job,worker,direction,start_s,"));
    assert_eq!(
        lines[1],
        "7f3a,1795215226864,4k,2,\"a \"\"b\"\", c\",1,read,0,0.5,500,2048000,250,1024000,0,0,0"
    );
    assert!(lines[2].ends_with(",read,0.5,0.5,0,2048000,0,1024000,,,0"), "{}", lines[2]);
}

#[test]
fn a_percentile_is_a_row_for_each_latency() {
    let run = run();
    let table = percentiles(&named(&run));
    let (Values::Text(directions), Values::Text(kinds)) =
        (values(&table, "direction"), values(&table, "latency"))
    else {
        panic!("texts")
    };
    let responses = kinds.iter().zip(directions).filter(|(kind, _)| *kind == "response");
    assert!(responses.clone().count() > 17 && responses.into_iter().all(|(_, d)| d == "read"));
    let csv = table.csv();
    let row = csv.lines().find(|line| line.contains(",write,completion,99,")).unwrap();
    let all = run.jobs[0].results.write.latency.clat.as_ref().unwrap();
    let (low, high) = percentile_interval(all, 99.0).unwrap();
    let p99 = all.percentile(99.0);
    assert!(row.ends_with(&format!(",99,{p99},{low},{high},2000")), "{row}");
    let rare = csv.lines().find(|line| line.contains(",write,completion,99.999,")).unwrap();
    assert!(rare.ends_with(",,,2000"), "too few values for an interval: {rare}");
}

#[test]
fn requests_and_connections_have_percentiles() {
    let run = testing::objects();
    let csv = percentiles(&named(&run)).csv();
    let line = |part: &str| csv.lines().find(|line| line.contains(part)).unwrap_or_default();
    let first_byte = line(",objects,GET,first byte,50,");
    assert!(first_byte.ends_with(",900") && first_byte.split(',').count() == 12, "{csv}");
    assert!(line(",objects,GET,whole,100,").contains(",9000000,"), "{csv}");
    assert!(line(",objects,connection,connect,50,").ends_with(",8"), "{csv}");
    assert!(!csv.contains(",TLS,") && !csv.contains(",sync,"), "{csv}");
}

#[test]
fn parquet_reads_back_as_it_was() {
    let run = run();
    for table in [intervals(&named(&run)), percentiles(&named(&run))] {
        let mut bytes = Vec::new();
        table.parquet(&mut bytes).unwrap();
        let reader = SerializedFileReader::new(bytes::of(bytes)).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), table.rows());
        for (index, row) in rows.iter().enumerate() {
            for (column, (name, field)) in table.columns.iter().zip(row.get_column_iter()) {
                assert_eq!(column.name, name);
                use ::parquet::record::Field;
                let expected = match &column.values {
                    Values::Text(values) => Field::Str(values[index].clone()),
                    Values::Whole(values) => {
                        values[index].map_or(Field::Null, |value| Field::Long(value as i64))
                    }
                    Values::Real(values) => values[index].map_or(Field::Null, Field::Double),
                };
                assert_eq!(*field, expected, "{name}, row {index}");
            }
        }
    }
}

/// What the reader takes bytes as.
mod bytes {
    pub(super) fn of(bytes: Vec<u8>) -> std::fs::File {
        use std::io::{Seek, Write};
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        file.rewind().unwrap();
        file
    }
}

#[test]
fn nothing_is_a_table_without_rows() {
    let empty = RunRecord::default();
    for table in [intervals(&named(&empty)), percentiles(&named(&empty)), intervals(&[])] {
        assert_eq!((table.rows(), table.csv().lines().count()), (0, 1));
        let mut bytes = Vec::new();
        table.parquet(&mut bytes).unwrap();
        assert!(bytes.starts_with(b"PAR1"));
    }
}
