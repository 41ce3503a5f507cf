//! What docs/DISKSPD.md says of the flags, and what findings say to users of them.

use super::*;

/// The rows of the table in docs/DISKSPD.md: flags, what becomes of them, what they are here.
fn documented() -> Vec<(Vec<&'static str>, &'static str)> {
    let page = include_str!("../../../../../docs/DISKSPD.md");
    let rows = page.lines().filter(|line| line.starts_with("| `-"));
    let row = |line: &'static str| {
        let cells: Vec<&str> = line.split(" | ").collect();
        let flags = cells[0].split('`').skip(1).step_by(2).collect();
        (flags, cells[1])
    };
    rows.map(row).collect()
}

#[test]
fn the_page_tells_of_every_flag_what_becomes_of_it() {
    let values = [
        ("<size>", "64K"),
        ("<align>", "4K"),
        ("<percent>", "30"),
        ("<ms>", "500"),
        ("<file>", "p.xml"),
        ("<cpu>", "1"),
        ("<s>", "3"),
        ("<n>", "2"),
    ];
    let profile =
        b"<Profile><TimeSpans><TimeSpan><Targets><Target><Path>t</Path></Target></Targets>\
                    </TimeSpan></TimeSpans></Profile>";
    let read = |_: &str| Ok(profile.to_vec());
    let mut letters = std::collections::BTreeSet::new();
    for (flags, fate) in documented() {
        for flag in flags {
            let line = values.iter().fold(flag.to_owned(), |line, (name, v)| line.replace(name, v));
            let mut line = words(&line);
            letters.extend(line.iter().filter_map(|word| word.chars().nth(1)));
            if !flag.contains("<file>") || !flag.starts_with("-X") {
                line.push("t".into());
            }
            let parsed = DiskspdCommand::parse(&line, &ParseContext { read: &read, seed: 1 });
            match fate {
                "works" | "mapped" => assert!(parsed.is_ok(), "{flag}: {parsed:?}"),
                "refused" => assert!(parsed.is_err(), "{flag} is taken"),
                other => panic!("{flag}: '{other}'"),
            }
        }
    }
    letters.remove(&'?');
    let known: std::collections::BTreeSet<char> =
        flags::FLAGS.iter().map(|flag| flag.letter).collect();
    assert_eq!(letters, known, "flags with a row, and flags there are");
}
