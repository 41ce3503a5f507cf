//! Tables with a row for each file size and record size and a column for each operation, and the
//! same figures as sheets for spreadsheets.

use super::conclusion::Figure;
use super::operation::Operation;

/// Width of the first column, the file size, and of the second, the record size.
const SIZES: (usize, usize) = (16, 8);

/// The two lines above the columns.
pub(super) fn head(columns: &[Operation]) -> String {
    let line = |index: usize, kb: &str, record: &str| {
        let mut line = format!("{kb:>0$}{record:>1$}", SIZES.0, SIZES.1);
        for kind in columns.iter().map(|column| column.kind()) {
            line += &format!("{:>1$}", kind.heads[index], kind.width);
        }
        line.trim_end().to_owned() + "\n"
    };
    line(0, "", "") + &line(1, "kB", "reclen")
}

/// The row of one file size and record size, each figure as `show` has it, blank where there is none.
pub(super) fn row(
    columns: &[Operation],
    sizes: (u64, u64),
    figures: &[Figure],
    show: impl Fn(&Figure) -> String,
) -> String {
    let mut out = format!("{:>2$}{:>3$}", sizes.0, sizes.1, SIZES.0, SIZES.1);
    for column in columns {
        let text = at(figures, *column, sizes).map(&show).unwrap_or_default();
        // A figure too long for its column keeps its blank: fields are told apart by it.
        out += &format!(" {:>1$}", text, column.kind().width - 1);
    }
    out.trim_end().to_owned() + "\n"
}

/// File size and record size of each row, in the order they came.
pub(super) fn rows(figures: &[Figure]) -> Vec<(u64, u64)> {
    let mut rows: Vec<(u64, u64)> = figures.iter().map(Figure::sizes).collect();
    rows.dedup();
    rows
}

fn at(figures: &[Figure], operation: Operation, sizes: (u64, u64)) -> Option<&Figure> {
    figures.iter().find(|figure| figure.operation == operation && figure.sizes() == sizes)
}

/// A block of a spreadsheet.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// What stands above it.
    pub title: String,
    /// What its columns are of: record sizes in kB, or numbers of processes.
    pub columns: Vec<u64>,
    /// What each row is of, and its figures; `None` where none was measured.
    pub rows: Vec<(String, Vec<Option<f64>>)>,
}

/// A sheet for each operation: record sizes to the right, file sizes down.
pub(super) fn sheets(
    columns: &[Operation],
    figures: &[Figure],
    value: impl Fn(&Figure) -> f64,
) -> Vec<Sheet> {
    let mut sizes: Vec<u64> = figures.iter().map(|figure| figure.size_kb).collect();
    sizes.dedup();
    let mut records: Vec<u64> = figures.iter().map(|figure| figure.record_kb).collect();
    records.sort_unstable();
    records.dedup();
    let sheet = |operation: &Operation| {
        let figure = |size: u64, record: u64| at(figures, *operation, (size, record)).map(&value);
        let row = |size: &u64| {
            let row = records.iter().map(|record| figure(*size, *record)).collect();
            (size.to_string(), row)
        };
        Sheet {
            title: operation.kind().sheet.to_owned(),
            columns: records.clone(),
            rows: sizes.iter().map(row).collect(),
        }
    };
    columns.iter().map(sheet).collect()
}

/// The sheets as text. A pair that was not measured is 0 before others of its row that were, as a
/// chart over the grid needs it.
pub(super) fn sheet_text(sheets: &[Sheet], decimals: usize) -> String {
    let mut out = String::new();
    for sheet in sheets {
        let columns: String =
            sheet.columns.iter().map(|column| format!(" \"{column}\" ")).collect();
        out += &format!("\n\"{}\"\n       {columns}\n", sheet.title);
        for (name, figures) in &sheet.rows {
            let known = figures.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
            let show = |figure: &Option<f64>| format!(" {:.decimals$} ", figure.unwrap_or(0.0));
            let figures: String = figures[..known].iter().map(show).collect();
            out += &format!("\"{name}\"  {figures}\n");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::source::Source;
    use super::*;

    fn figure(operation: Operation, row: (u64, u64), kb: f64) -> Figure {
        Figure {
            operation,
            size_kb: row.0,
            record_kb: row.1,
            processes: None,
            bytes_per_second: kb * 1024.0,
            ops_per_second: kb / row.1 as f64,
            latency_ns: None,
            cpu: 0.0,
            source: Source::Storage,
            each: Vec::new(),
        }
    }

    fn kb(figure: &Figure) -> String {
        format!("{:.0}", figure.bytes_per_second / 1024.0)
    }

    #[test]
    fn columns_stand_where_scripts_look_for_them() {
        let all = Operation::columns(false, false);
        let values = [
            3681.0, 2741.0, 13927.0, 13913.0, 11647.0, 2436.0, 17172.0, 35960.0, 16189.0, 271512.0,
            637599.0, 1252212.0, 1321294.0,
        ];
        let figures: Vec<Figure> =
            all.iter().zip(values).map(|(op, v)| figure(*op, (102_400, 4), v)).collect();
        assert_eq!(
            head(&all) + &row(&all, (102_400, 4), &figures, kb),
            "                                                              random    random     bkwd    record    stride\n\
             \x20             kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read   fwrite frewrite    fread  freread\n\
             \x20         102400       4     3681     2741    13927    13913   11647      2436    17172     35960     16189   271512   637599  1252212  1321294\n"
        );
        let more = head(&Operation::columns(true, false));
        assert!(more.ends_with("  freread  pwrite repwrite   pread  repread\n"), "{more}");
        assert_eq!(Operation::columns(true, true).len(), 21);
    }

    #[test]
    fn what_is_missing_or_long_keeps_the_fields_where_they_are() {
        let figures = [
            figure(Operation::Write, (64, 4), 1.0),
            figure(Operation::RandomRead, (64, 4), 123_456_789.0),
            figure(Operation::Write, (64, 8), 2.0),
        ];
        let columns = [Operation::Write, Operation::Read, Operation::RandomRead];
        let text = |sizes| row(&columns, sizes, &figures, kb);
        assert_eq!(rows(&figures), [(64, 4), (64, 8)]);
        assert_eq!(text((64, 4)), "              64       4        1          123456789\n");
        assert_eq!(text((64, 8)), "              64       8        2\n");
    }

    #[test]
    fn sheets_have_record_sizes_across_and_file_sizes_down() {
        let figures = [
            figure(Operation::Write, (64, 4), 10.0),
            figure(Operation::Write, (64, 8), 20.0),
            figure(Operation::Write, (128, 8), 30.0),
            figure(Operation::Write, (128, 16), 40.0),
        ];
        let kb = |figure: &Figure| figure.bytes_per_second / 1024.0;
        let sheets = sheets(&[Operation::Write], &figures, kb);
        assert_eq!(
            sheet_text(&sheets, 0),
            "\n\"Writer report\"\n        \"4\"  \"8\"  \"16\" \n\
             \"64\"   10  20 \n\"128\"   0  30  40 \n"
        );
    }
}
