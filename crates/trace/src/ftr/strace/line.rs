//! One line of strace: who, when, and the call with its arguments and result.

/// The time at the beginning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Time {
    /// Since 1970 (-ttt), in nanoseconds.
    Unix(u64),
    /// Since midnight (-t, -tt).
    OfDay(u64),
    /// Since the line before (-r).
    Since(u64),
}

/// A line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// The thread; `None` if strace followed none but the first.
    pub thread: Option<u32>,
    pub time: Option<Time>,
    pub rest: &'a str,
}

/// What a line says behind thread and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind<'a> {
    /// `name(arguments) = result`, from the name on.
    Call(&'a str),
    /// `name(arguments <unfinished ...>`, without the mark.
    Unfinished(&'a str),
    /// `<... name resumed>rest`: the rest.
    Resumed(&'a str),
    /// The thread ended.
    Exited,
    /// Signals, messages of strace, output of the program.
    Other,
}

/// Splits thread and time off.
pub(super) fn line(text: &str) -> Line<'_> {
    let mut rest = text.trim_start();
    let mut thread = None;
    if let Some(inner) = rest.strip_prefix("[pid")
        && let Some((number, behind)) = inner.split_once(']')
    {
        thread = number.trim().parse().ok();
        rest = behind.trim_start();
    } else if let Some((word, behind)) = rest.split_once(' ')
        && let Ok(number) = word.parse()
    {
        thread = Some(number);
        rest = behind.trim_start();
    }
    let mut time = None;
    if let Some((word, behind)) = rest.split_once(' ')
        && let Some(found) = parse_time(word)
    {
        time = Some(found);
        rest = behind.trim_start();
    }
    // With -r and -t, both times are there; the first is enough. Then -tt may follow in brackets.
    Line { thread, time, rest }
}

fn parse_time(word: &str) -> Option<Time> {
    let (whole, fraction) = word.split_once('.').unwrap_or((word, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(fraction) || fraction.len() > 9 {
        return None;
    }
    let nanoseconds: u64 = format!("{fraction:0<9}").parse().ok()?;
    let in_total = |seconds: u64| seconds.checked_mul(1_000_000_000)?.checked_add(nanoseconds);
    if whole.contains(':') {
        let mut parts = whole.split(':').map(|part| part.parse::<u64>().ok().filter(|n| *n < 100));
        let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
        return parts
            .next()
            .is_none()
            .then_some(())
            .and_then(|()| in_total((hours * 60 + minutes) * 60 + seconds))
            .map(Time::OfDay);
    }
    if !is_number(whole) || whole.is_empty() || !word.contains('.') {
        // -ttt without a fraction is -t -t -t of old versions; a number alone may be anything.
        return None;
    }
    let seconds: u64 = whole.parse().ok()?;
    // A line that came three years after the one before is not known.
    let time = in_total(seconds)?;
    Some(if seconds >= 100_000_000 { Time::Unix(time) } else { Time::Since(time) })
}

/// What the rest of a line says.
pub(super) fn line_kind(rest: &str) -> LineKind<'_> {
    if let Some(inner) = rest.strip_prefix("<... ") {
        return match inner.split_once(" resumed>") {
            Some((_, behind)) => LineKind::Resumed(behind),
            None => LineKind::Other,
        };
    }
    if rest.starts_with("+++ ") {
        return LineKind::Exited;
    }
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let name = rest.bytes().take_while(|byte| is_name(*byte)).count();
    if name == 0 || rest.as_bytes().get(name) != Some(&b'(') {
        return LineKind::Other;
    }
    match rest.trim_end().strip_suffix("<unfinished ...>") {
        Some(begun) => LineKind::Unfinished(begun.trim_end()),
        None => LineKind::Call(rest),
    }
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call<'a> {
    pub name: &'a str,
    pub arguments: Vec<&'a str>,
    /// Its result as it is printed: a number, or "-1 ENOENT".
    pub result: Option<i64>,
    /// The result with what follows it, for the path of a new descriptor.
    pub answer: &'a str,
    /// Its time (-T), in nanoseconds.
    pub duration_ns: Option<u64>,
}

/// Parses `name(arguments) = result <time>`; `None` if it is no such text.
pub(super) fn call(text: &str) -> Option<Call<'_>> {
    let (name, inner) = text.split_once('(')?;
    let (arguments, behind) = arguments(inner)?;
    let answer = behind.trim_start().strip_prefix('=')?.trim();
    let mut duration_ns = None;
    let mut shown = answer;
    if let Some((before, time)) = answer.strip_suffix('>').and_then(|text| text.rsplit_once('<'))
        && let Some(Time::Since(time)) = parse_time(time)
    {
        duration_ns = Some(time);
        shown = before.trim_end();
    }
    Some(Call { name, arguments, result: result(shown), answer: shown, duration_ns })
}

/// The arguments up to the closing bracket, and what follows that.
fn arguments(text: &str) -> Option<(Vec<&str>, &str)> {
    let bytes = text.as_bytes();
    let mut all = Vec::new();
    let (mut begin, mut at, mut depth) = (0, 0, 0_u32);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_text(bytes, at)?,
            // A path behind a descriptor: 3</tmp/x>, or 0</dev/pts/1<char 136:1>>.
            b'<' if at > 0 && (bytes[at - 1].is_ascii_digit() || bytes[at - 1] == b'D') => {
                at = end_of_path(bytes, at)?;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' if depth == 0 => {
                let last = text.get(begin..at)?.trim();
                if !last.is_empty() || !all.is_empty() {
                    all.push(last);
                }
                return Some((all, text.get(at + 1..)?));
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                all.push(text.get(begin..at)?.trim());
                begin = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The place of the quote that ends a text.
fn end_of_text(bytes: &[u8], begin: usize) -> Option<usize> {
    let mut at = begin + 1;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at),
            _ => at += 1,
        }
    }
}

/// The place of the bracket that ends a path, which may hold another pair.
fn end_of_path(bytes: &[u8], begin: usize) -> Option<usize> {
    let mut depth = 0_u32;
    for (at, byte) in bytes.iter().enumerate().skip(begin) {
        match byte {
            b'<' => depth += 1,
            b'>' if bytes[at - 1] == b'-' => {}
            b'>' if depth == 1 => return Some(at),
            b'>' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn result(text: &str) -> Option<i64> {
    let mut words = text.split_ascii_whitespace();
    let first = words.next()?;
    let number = first.split('<').next()?;
    if number == "-1"
        && let Some(name) = words.next()
    {
        return Some(-ERRORS.iter().find(|(known, _)| *known == name).map_or(5, |(_, n)| *n));
    }
    match number.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => number.parse().ok(),
    }
}

/// Numbers of errors that calls on files return; another one counts as EIO.
const ERRORS: &[(&str, i64)] = &[
    ("EPERM", 1),
    ("ENOENT", 2),
    ("EINTR", 4),
    ("EIO", 5),
    ("ENXIO", 6),
    ("EBADF", 9),
    ("EAGAIN", 11),
    ("ENOMEM", 12),
    ("EACCES", 13),
    ("EFAULT", 14),
    ("EBUSY", 16),
    ("EEXIST", 17),
    ("EXDEV", 18),
    ("ENODEV", 19),
    ("ENOTDIR", 20),
    ("EISDIR", 21),
    ("EINVAL", 22),
    ("ENFILE", 23),
    ("EMFILE", 24),
    ("ENOTTY", 25),
    ("ETXTBSY", 26),
    ("EFBIG", 27),
    ("ENOSPC", 28),
    ("ESPIPE", 29),
    ("EROFS", 30),
    ("EMLINK", 31),
    ("EPIPE", 32),
    ("ENAMETOOLONG", 36),
    ("ENOSYS", 38),
    ("ENOTEMPTY", 39),
    ("ELOOP", 40),
    ("EOVERFLOW", 75),
    ("EOPNOTSUPP", 95),
    ("ESTALE", 116),
    ("EDQUOT", 122),
    ("ERESTARTSYS", 4),
    ("ERESTARTNOINTR", 4),
    ("ERESTARTNOHAND", 4),
    ("ERESTART_RESTARTBLOCK", 4),
];

/// The number and the path of a descriptor: `3</tmp/x>` or `3`. AT_FDCWD has no number.
pub(super) fn descriptor(text: &str) -> (Option<i32>, Option<&str>) {
    match text.split_once('<') {
        Some((number, path)) => {
            let end = path.rfind('>').unwrap_or(path.len());
            (number.parse().ok(), Some(&path[..end]))
        }
        None => (text.parse().ok(), None),
    }
}

/// A text in quotes, with its escapes resolved.
pub(super) fn unquoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?;
    let inner = &inner[..inner.rfind('"')?];
    let (mut out, mut rest) = (Vec::new(), inner.as_bytes());
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'\\' {
            out.push(*first);
            continue;
        }
        let digits = tail.iter().take(3).take_while(|byte| (b'0'..b'8').contains(*byte)).count();
        if digits > 0 {
            let value =
                tail[..digits].iter().fold(0_u32, |sum, digit| sum * 8 + u32::from(digit - b'0'));
            out.push(value as u8);
            rest = &tail[digits..];
        } else if let [escape, behind @ ..] = tail {
            out.push(match escape {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                b'v' => 11,
                b'f' => 12,
                other => *other,
            });
            rest = behind;
        }
    }
    Some(String::from_utf8_lossy(&out).into_owned())
}

/// A number: decimal, hexadecimal or octal, or shifted (`1<<20`); `None` for others.
pub(super) fn number(text: &str) -> Option<u64> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok();
    }
    text.parse().ok().or_else(|| text.parse::<i64>().ok().map(|number| number as u64))
}

/// The number behind each `name=` in a text.
pub(super) fn fields<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(name)
        .skip(1)
        .filter_map(|rest| rest.strip_prefix('=')?.split([',', '}', ']']).next().map(str::trim))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_and_time_are_split_off() {
        let all = |text| {
            let Line { thread, time, rest } = line(text);
            (thread, time, rest)
        };
        let unix = Some(Time::Unix(1_795_433_129_859_317_000));
        assert_eq!(all("26410 1795433129.859317 sync() = 0"), (Some(26410), unix, "sync() = 0"));
        let since = Some(Time::Since(15_000));
        assert_eq!(all("[pid 26563]      0.000015 close(3"), (Some(26563), since, "close(3"));
        let day = Some(Time::OfDay(41_131_549_168_000));
        assert_eq!(all("11:25:31.549168 close(3"), (None, day, "close(3"));
        assert_eq!(all("3443  11:25:31 close(3").1, Some(Time::OfDay(41_131_000_000_000)));
        assert_eq!(all("close(3) = 0"), (None, None, "close(3) = 0"));
        assert_eq!(all("     0.003628 close(3)").1, Some(Time::Since(3_628_000)));
    }

    #[test]
    fn a_call_is_taken_apart() {
        let text = r#"write(3</tmp/a, b) = 1>, "x) = \"1, y"..., 4096) = 4096 <0.000471>"#;
        let found = call(text).unwrap();
        assert_eq!(found.name, "write");
        assert_eq!(found.arguments, ["3</tmp/a, b) = 1>", r#""x) = \"1, y"..."#, "4096"]);
        assert_eq!((found.result, found.duration_ns), (Some(4096), Some(471_000)));
        assert_eq!(descriptor(found.arguments[0]), (Some(3), Some("/tmp/a, b) = 1")));
        let failed =
            call(r#"openat(AT_FDCWD</tmp>, "x", O_RDONLY) = -1 ENOSPC (No space)"#).unwrap();
        assert_eq!((failed.result, failed.duration_ns), (Some(-28), None));
        assert_eq!(descriptor(failed.arguments[0]), (None, Some("/tmp")));
        let opened =
            call("openat(3, \"x\", O_RDONLY) = 5</dev/null<char 1:3>> <0.000009>").unwrap();
        assert_eq!((opened.result, opened.duration_ns), (Some(5), Some(9_000)));
        assert_eq!(descriptor(opened.answer).1, Some("/dev/null<char 1:3>"));
        assert_eq!(call("sync() = 0").unwrap().arguments, [""; 0]);
        assert_eq!(call("exit_group(0) = ?").unwrap().result, None);
        for no in ["write(3, \"abc", "write(3, \"abc\", 3)", "x", "", "a() b"] {
            assert_eq!(call(no), None, "{no}");
        }
    }

    #[test]
    fn the_rest_of_a_line_is_told_apart() {
        assert_eq!(line_kind("read(3,  <unfinished ...>"), LineKind::Unfinished("read(3,"));
        assert_eq!(
            line_kind("<... read resumed>\"\", 4096) = 0"),
            LineKind::Resumed("\"\", 4096) = 0")
        );
        assert_eq!(line_kind("+++ exited with 0 +++"), LineKind::Exited);
        for other in ["--- SIGCHLD {} ---", "strace: Process 9 attached", "hello", "<... x", "(a)"]
        {
            assert_eq!(line_kind(other), LineKind::Other, "{other}");
        }
    }

    #[test]
    fn texts_and_fields_are_read() {
        assert_eq!(unquoted(r#""a\"b\\\n\101""#).unwrap(), "a\"b\\\nA");
        assert_eq!(unquoted(r#""a"..."#).unwrap(), "a");
        assert_eq!(unquoted("NULL"), None);
        let vector = r#"[{iov_base="aa", iov_len=2}, {iov_base="bbb", iov_len=3}]"#;
        assert_eq!(fields(vector, "iov_len").collect::<Vec<_>>(), ["2", "3"]);
        assert_eq!((number("0x10"), number("-1"), number("O_X")), (Some(16), Some(u64::MAX), None));
    }
}
