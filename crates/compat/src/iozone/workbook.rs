//! The figures as a file that spreadsheets open: Excel's binary format in its second version (BIFF2),
//! which is one sheet of cells with text or a number.
//!
//! Format: Microsoft's description of BIFF, as in "OpenOffice.org's Documentation of the Microsoft
//! Excel File Format": records of a type, a length and data, all numbers little-endian.

use super::table::Sheet;

/// Record types, and the version and type of document that the first record names.
const BEGIN: u16 = 0x0009;
const NUMBER: u16 = 0x0003;
const LABEL: u16 = 0x0004;
const END: u16 = 0x000a;
const VERSION: u16 = 0x0002;
const WORKSHEET: u16 = 0x0010;
/// Letters of a label.
const LABEL_MAX: usize = 255;

/// A file with the command line on top and the sheets below each other.
pub fn workbook(command: &str, sheets: &[Sheet]) -> Vec<u8> {
    let mut file = File { bytes: Vec::new(), row: 0 };
    file.record(BEGIN, &[VERSION.to_le_bytes(), WORKSHEET.to_le_bytes()].concat());
    file.label(0, command);
    for sheet in sheets {
        file.row += 2;
        file.label(0, &sheet.title);
        file.row += 1;
        for (column, record) in sheet.columns.iter().enumerate() {
            file.number(column + 1, *record as f64);
        }
        for (name, figures) in &sheet.rows {
            file.row += 1;
            match name.parse() {
                Ok(size) => file.number(0, size),
                Err(_) => file.label(0, name),
            }
            let known = figures.iter().enumerate().filter_map(|(at, f)| Some((at, (*f)?)));
            known.for_each(|(column, figure)| file.number(column + 1, figure));
        }
    }
    file.record(END, &[]);
    file.bytes
}

struct File {
    bytes: Vec<u8>,
    row: u16,
}

impl File {
    fn record(&mut self, kind: u16, data: &[u8]) {
        self.bytes.extend(kind.to_le_bytes());
        self.bytes.extend((data.len() as u16).to_le_bytes());
        self.bytes.extend(data);
    }

    /// Row, column, and three bytes of attributes, which are none.
    fn place(&self, column: usize) -> Vec<u8> {
        let [row, column] = [self.row, column as u16].map(u16::to_le_bytes);
        [&row[..], &column[..], &[0; 3]].concat()
    }

    fn number(&mut self, column: usize, number: f64) {
        let data = [self.place(column), number.to_le_bytes().to_vec()].concat();
        self.record(NUMBER, &data);
    }

    /// Letters beyond ASCII depend on a code page in this format.
    fn label(&mut self, column: usize, text: &str) {
        let ascii = text.chars().map(|letter| if letter.is_ascii() { letter as u8 } else { b'?' });
        let letters: Vec<u8> = ascii.take(LABEL_MAX).collect();
        let data = [self.place(column), vec![letters.len() as u8], letters].concat();
        self.record(LABEL, &data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_where_they_belong() {
        let sheet = Sheet {
            title: "Writer".into(),
            columns: vec![4],
            rows: vec![("64".into(), vec![Some(1.5)]), ("128".into(), vec![None])],
        };
        let bytes = workbook("é", &[sheet]);
        let expected: Vec<&[u8]> = vec![
            &[9, 0, 4, 0, 2, 0, 0x10, 0],
            &[4, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 1, b'?'],
            &[4, 0, 14, 0, 2, 0, 0, 0, 0, 0, 0, 6, b'W', b'r', b'i', b't', b'e', b'r'],
            &[3, 0, 15, 0, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0x40],
            &[3, 0, 15, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x40],
            &[3, 0, 15, 0, 4, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f],
            &[3, 0, 15, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x60, 0x40],
            &[10, 0, 0, 0],
        ];
        assert_eq!(bytes, expected.concat());
    }

    #[test]
    fn long_command_lines_are_cut() {
        let bytes = workbook(&"x".repeat(300), &[]);
        assert_eq!(bytes.len(), 8 + 4 + 8 + 255 + 4);
    }
}
