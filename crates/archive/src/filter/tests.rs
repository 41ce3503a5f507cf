use super::*;

const NOW: Now = Now { unix_ms: 1_800_000_000_000, utc_offset_seconds: 3600 };

fn conditions(text: &str) -> Vec<Condition> {
    Filter::parse(text, NOW).unwrap().conditions
}

fn error(text: &str) -> String {
    Filter::parse(text, NOW).unwrap_err().to_string()
}

#[test]
fn words_with_operators_are_conditions_and_other_words_are_searched() {
    let parsed = conditions("host=web*,db1 rw!=read iops>100k p99<=1.5ms \"two words\" bs=4096");
    let matches = |subject, patterns: &[&str], not| Condition::Is {
        subject,
        patterns: patterns.iter().map(ToString::to_string).collect(),
        not,
    };
    let figure = |measure: &str, operator, limit| Condition::Figure {
        measure: measure.into(),
        operator,
        limit,
    };
    assert_eq!(
        parsed,
        [
            matches(Subject::Column("host"), &["web*", "db1"], false),
            matches(Subject::Fact("rw"), &["read"], true),
            figure("iops", Operator::Greater, 100_000.0),
            figure("p99", Operator::LessOrEqual, 1_500_000.0),
            Condition::Text("two words".into()),
            matches(Subject::Fact("bs"), &["4k"], false),
        ]
    );
    assert_eq!(
        conditions("read.bw>=2GiB/s"),
        [figure("read.bandwidth", Operator::GreaterOrEqual, 2_147_483_648.0)]
    );
    assert!(conditions("").is_empty() && Filter::parse("sort=iops", NOW).unwrap().matches_all());
}

#[test]
fn quoted_values_may_contain_blanks() {
    let model = Condition::Is {
        subject: Subject::Fact("model"),
        patterns: vec!["Fast SSD".into()],
        not: false,
    };
    assert_eq!(conditions("model=\"Fast SSD\""), [model]);
    assert_eq!(conditions("/mnt/x=y"), [Condition::Text("/mnt/x=y".into())]);
    assert_eq!(conditions("\"text=a=b c\""), [Condition::Text("a=b c".into())]);
    assert!(error("model=\"Fast").ends_with("is not closed"));
}

#[test]
fn times_are_local_and_a_date_is_a_whole_day() {
    let start_or_end_ms = |text: &str| match &conditions(text)[..] {
        [Condition::Column { column: "started_ms", limit, .. }] => *limit,
        other => panic!("{other:?}"),
    };
    assert_eq!(start_or_end_ms("since=7d"), 1_800_000_000_000.0 - 7.0 * 86_400e3);
    assert_eq!(start_or_end_ms("since=2w"), 1_800_000_000_000.0 - 14.0 * 86_400e3);
    // 2026-11-01T00:00+01:00, and the beginning of the next day.
    assert_eq!(start_or_end_ms("since=2026-11-01"), 1_793_487_600_000.0);
    assert_eq!(start_or_end_ms("until=2026-11-01"), 1_793_487_600_000.0 + 86_400e3);
    assert_eq!(
        start_or_end_ms("until=2026-11-01T12:30"),
        1_793_487_600_000.0 + 12.0 * 3600e3 + 31.0 * 60e3
    );
    assert_eq!(start_or_end_ms("since=today") - start_or_end_ms("since=yesterday"), 86_400e3);
    assert_eq!(
        conditions("duration>90s"),
        [Condition::Column {
            column: "(ended_ms - started_ms)",
            operator: Operator::Greater,
            limit: 90_000.0
        }]
    );
}

#[test]
fn order_and_limits_are_read() {
    let filter = Filter::parse("sort=-p99.9 limit=20 offset=40", NOW).unwrap();
    assert_eq!(filter.sort, Sort { column: "p99_9_ns", descending: true });
    assert_eq!((filter.limit, filter.offset), (Some(20), 40));
    assert_eq!(Filter::all().sort, Sort { column: "started_ms", descending: true });
}

#[test]
fn errors_name_the_word_and_what_was_expected() {
    for (text, expected) in [
        ("hots=web1", "'hots=web1': runs have no 'hots': did you mean host?"),
        ("iosp>5k", "runs have no 'iosp': did you mean iops?"),
        ("foo=bar", "runs have no 'foo': there are host"),
        ("host>web1", "host is a word"),
        ("iops>fast", "a number such as 5000 or 100k was expected"),
        ("p99<1", "a time with its unit was expected"),
        ("p99<1MB", "a time with its unit"),
        ("since=someday", "a time such as 7d"),
        ("since>7d", "a time is given with '='"),
        ("sort=colour", "lists are sorted by time, iops"),
        ("limit=-1", "a whole number was expected"),
        ("limit=99999999999999999999", "a whole number was expected"),
        ("interrupted=maybe", "interrupted=yes"),
        ("p99.9999<1ms", "runs have no 'p99.9999'"),
    ] {
        assert!(error(text).contains(expected), "{text}: {}", error(text));
    }
}

#[test]
fn user_input_never_becomes_sql() {
    let filter = Filter::parse("host=x';DROP job=%_\\* '; p99>1ns", NOW).unwrap();
    let clause = filter.clause();
    assert!(!clause.sql.contains("DROP") && !clause.sql.contains("%_"), "{}", clause.sql);
    let placeholders = clause.sql.matches('?').count();
    assert_eq!(placeholders, clause.values.len());
    assert!(clause.values.contains(&rusqlite::types::Value::Text("\\%\\_\\\\%".into())));
}
