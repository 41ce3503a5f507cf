//! The report of `fathom inspect`: one screen of text, or JSON.

use crate::style::{Style, Word};
use judge::Inspection;
use judge::inspect::{Mark, Row, Section};
use record::{Facts, Severity};
use serde_json::{Value, json};

/// The column of the text of a section, after its number and title.
const INDENT: usize = 15;

/// The inspection as text. No line is wider than `style.width`, which should be 40 at least.
pub fn text(inspection: &Inspection, style: Style) -> String {
    let mut out = head(inspection, style);
    for section in &inspection.sections {
        out += &self::section(section, style);
    }
    let notes = [("Unknown", &inspection.unknown), ("Root can see", &inspection.as_root)];
    for (title, texts) in notes {
        let words: Vec<Word> = texts.iter().map(|text| Word::plain(text)).collect();
        if !words.is_empty() {
            let lines = style.lines(&joined(words, ";"), style.width - INDENT);
            out += &titled(&format!(" {title}"), lines, style);
        }
    }
    out + &legend(style)
}

fn head(inspection: &Inspection, style: Style) -> String {
    let mut words = vec![Word::bold(&format!("{}:", inspection.target))];
    words.push(match inspection.stack.is_empty() {
        true => Word::plain("no filesystem or device that can be seen"),
        false => Word::plain(&inspection.stack.join(" > ")),
    });
    style.lines(&words, style.width).iter().map(|line| format!("{line}\n")).collect()
}

fn section(section: &Section, style: Style) -> String {
    let rows: Vec<Word> = grouped(&section.rows).iter().map(marked).collect();
    let mut text = style.lines(&joined(rows, " |"), style.width - INDENT);
    text.extend(style.lines(&[Word::plain(&section.means)], style.width - INDENT));
    let decide = style.lines(&[Word::bold(&section.decide)], style.width - INDENT - 3);
    let arrow = |(index, line): (usize, String)| match index {
        0 => format!("=> {line}"),
        _ => format!("   {line}"),
    };
    text.extend(decide.into_iter().enumerate().map(arrow));
    titled(&format!("{:2} {}", section.number, section.title), text, style)
}

/// A title with lines beside it.
fn titled(title: &str, lines: Vec<String>, style: Style) -> String {
    let mut out = String::new();
    for (index, line) in lines.iter().enumerate() {
        let margin = if index == 0 { title } else { "" };
        out += &style.bold(margin);
        out += &" ".repeat(INDENT.saturating_sub(margin.chars().count()).max(1));
        out += line;
        out.push('\n');
    }
    out
}

/// Joins rows with the same value into one.
fn grouped(rows: &[Row]) -> Vec<Row> {
    let mut grouped: Vec<Row> = Vec::new();
    for row in rows {
        match grouped.iter_mut().find(|known| known.value == row.value && known.mark == row.mark) {
            Some(known) => known.label += &format!(", {}", row.label),
            None => grouped.push(row.clone()),
        }
    }
    grouped
}

/// "vda: none", marked with "!" for a warning and "!!" for a problem.
fn marked(row: &Row) -> Word {
    let Row { label, value, mark } = row;
    match mark {
        Mark::Ok => Word::plain(&format!("{label}: {value}")),
        Mark::Look => Word::marked(Severity::Warning, &format!("! {label}: {value}")),
        Mark::Problem => Word::marked(Severity::Error, &format!("!! {label}: {value}")),
    }
}

fn legend(style: Style) -> String {
    let legend = [
        Word::dim("Marked:"),
        Word::marked(Severity::Warning, "!"),
        Word::dim("worth knowing before a figure is believed,"),
        Word::marked(Severity::Error, "!!"),
        Word::dim("makes figures wrong for most questions."),
    ];
    style.lines(&legend, style.width).iter().map(|line| format!("{line}\n")).collect()
}

/// A separator behind each but the last.
fn joined(mut words: Vec<Word>, separator: &str) -> Vec<Word> {
    if let Some((_, others)) = words.split_last_mut() {
        others.iter_mut().for_each(|word| word.text += separator);
    }
    words
}

/// The inspection as JSON, with all the facts it was made from under "facts".
pub fn json(inspection: &Inspection, facts: &Facts) -> String {
    let durability = &inspection.durability;
    let page = json!({
        "target": inspection.target,
        "stack": inspection.stack,
        "durability": {
            "class": durability.name(),
            "reason": inspection.durability_reason,
            "meaning": durability.meaning(),
            "keeps_completed": durability.keeps_completed(),
            "keeps_synced": durability.keeps_synced(),
        },
        "sections": inspection.sections.iter().map(section_json).collect::<Vec<_>>(),
        "unknown": inspection.unknown,
        "as_root": inspection.as_root,
        "facts": facts,
    });
    format!("{page:#}\n")
}

fn section_json(section: &Section) -> Value {
    let row =
        |row: &Row| json!({ "label": row.label, "value": row.value, "mark": row.mark.name() });
    json!({
        "number": section.number,
        "id": section.id,
        "title": section.title,
        "mark": section.mark().name(),
        "rows": section.rows.iter().map(row).collect::<Vec<_>>(),
        "means": section.means,
        "decide": section.decide,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use record::{FilesystemFacts, TargetFacts, TargetKind};

    /// A directory in memory, and a device that is not told.
    fn facts(path: &str) -> Facts {
        let filesystem = FilesystemFacts {
            kind: "tmpfs".into(),
            source: "tmpfs".into(),
            mount_point: path.into(),
            ..FilesystemFacts::default()
        };
        let target = TargetFacts {
            kind: TargetKind::Directory,
            canonical: path.into(),
            filesystem: Some(filesystem),
            ..TargetFacts::default()
        };
        let mut facts = Facts { unknown: vec!["one thing".into()], ..Facts::default() };
        facts.targets.insert(path.into(), target);
        facts
    }

    fn shown(path: &str, style: Style) -> String {
        text(&judge::inspect(&facts(path), path), style)
    }

    #[test]
    fn all_fourteen_are_there_with_their_marks() {
        let shown = shown("/dev/shm", Style::default());
        let begins = |number: u32| shown.contains(&format!("\n{number:2} "));
        assert!((1..=14).all(begins), "{shown}");
        assert!(shown.starts_with("/dev/shm: tmpfs\n"));
        assert!(shown.contains("!! durability: memory"), "{shown}");
        assert!(shown.contains(" Unknown       one thing\n"), "{shown}");
        assert!(!shown.contains("Root can see"), "{shown}");
        assert!(!shown.contains('\x1b'));
        let mut facts = facts("/dev/shm");
        facts.unknown = vec![format!("sda: {} ask it for its health", Facts::ROOT_ONLY)];
        let shown = text(&judge::inspect(&facts, "/dev/shm"), Style::default());
        assert!(shown.contains("\n Root can see  sda: only root may ask"), "{shown}");
        assert!(!shown.contains("Unknown"), "{shown}");
    }

    #[test]
    fn equal_rows_of_several_devices_are_joined() {
        let row =
            |label: &str, value: &str, mark| Row { label: label.into(), value: value.into(), mark };
        let rows = [
            row("sdb", "none", Mark::Ok),
            row("sdc", "bfq", Mark::Ok),
            row("sdd", "none", Mark::Ok),
            row("sde", "none", Mark::Look),
        ];
        let labels: Vec<String> = grouped(&rows).into_iter().map(|row| row.label).collect();
        assert_eq!(labels, ["sdb, sdd", "sdc", "sde"]);
    }

    #[test]
    fn colours_add_nothing_that_can_be_read() {
        let plain = shown("/dev/shm", Style::default());
        let coloured = shown("/dev/shm", Style { colour: true, width: 80 });
        let mut stripped = String::new();
        for (index, part) in coloured.split('\x1b').enumerate() {
            stripped += if index == 0 { part } else { &part[part.find('m').unwrap() + 1..] };
        }
        assert_ne!(coloured, plain);
        assert_eq!(stripped, plain);
    }

    #[test]
    fn json_holds_the_sections_and_the_facts() {
        let facts = facts("/dev/shm");
        let json = json(&judge::inspect(&facts, "/dev/shm"), &facts);
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["sections"].as_array().unwrap().len(), 14);
        assert_eq!(value["durability"]["class"], "memory");
        assert_eq!(value["durability"]["keeps_synced"], false);
        assert_eq!(value["sections"][4]["mark"], "problem");
        assert_eq!(value["facts"]["targets"]["/dev/shm"]["filesystem"]["kind"], "tmpfs");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_asked(path in "\\PC{0,200}", width in 40_usize..200) {
            let style = Style { colour: false, width };
            for line in shown(&path, style).lines() {
                prop_assert!(line.chars().count() <= width, "{line}");
            }
        }
    }
}
