//! The syntax of endpoints.

use crate::{Endpoint, Security};
use std::net::{IpAddr, Ipv6Addr};

/// Most endpoints of a store. A longer list is probably a mistake in its ellipses.
const ENDPOINTS_MAX: usize = 4096;

/// Parses a list of endpoints separated by commas: `host`, `host:port`, `[::1]:9000`, `http://…`,
/// `https://…`; `node{1...8}` stands for eight. A scheme selects encryption; entries without one
/// use `otherwise`. `https` leaves [`Security::Insecure`] as it is. The default ports are 80 and
/// 443. The error names the entry and what was expected.
pub fn endpoints(text: &str, otherwise: Security) -> Result<(Vec<Endpoint>, Security), String> {
    let mut found = Vec::new();
    let mut decided: Option<(Security, String)> = None;
    for entry in text.split(',') {
        let entry = entry.trim();
        for name in expanded(entry)? {
            let (endpoint, security) = endpoint(&name, otherwise)
                .map_err(|why| format!("endpoint '{}': {why}", name.escape_debug()))?;
            match &decided {
                Some((before, first)) if *before != security => {
                    return Err(format!(
                        "endpoints '{first}' and '{name}': one is encrypted and the other is not; \
                         expected the same for all"
                    ));
                }
                _ => decided = Some((security, name)),
            }
            found.push(endpoint);
            if found.len() > ENDPOINTS_MAX {
                return Err(format!("endpoints '{entry}': expected {ENDPOINTS_MAX} at most"));
            }
        }
    }
    Ok((found, decided.map_or(otherwise, |(security, _)| security)))
}

fn endpoint(text: &str, otherwise: Security) -> Result<(Endpoint, Security), String> {
    let (security, rest) = match text.split_once("://") {
        None => (otherwise, text),
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => (Security::Plain, rest),
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => match otherwise {
            Security::Insecure => (Security::Insecure, rest),
            Security::Plain | Security::Verified => (Security::Verified, rest),
        },
        Some((scheme, _)) => {
            return Err(format!("expected http:// or https://, not '{}'", scheme.escape_debug()));
        }
    };
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    if rest.contains(['/', '?', '#']) {
        return Err("expected nothing behind the host and port: a bucket or path is named \
                    elsewhere"
            .into());
    }
    if rest.contains('@') {
        return Err("expected no user or key in it: they have options of their own".into());
    }
    let (host, port) = split(rest)?;
    let port = match port {
        None if security == Security::Plain => 80,
        None => 443,
        Some(port) => port
            .parse()
            .ok()
            .filter(|number| *number > 0 && port.bytes().all(|byte| byte.is_ascii_digit()))
            .ok_or_else(|| {
                format!("expected a port from 1 to 65535, not '{}'", port.escape_debug())
            })?,
    };
    Ok((Endpoint { host: host.into(), port }, security))
}

/// Host and port. The host is a name or an address.
fn split(text: &str) -> Result<(&str, Option<&str>), String> {
    if let Some(inner) = text.strip_prefix('[') {
        let (host, rest) =
            inner.split_once(']').ok_or("expected a closing bracket, as in [::1]:9000")?;
        if host.parse::<Ipv6Addr>().is_err() {
            return Err("expected an IPv6 address between the brackets, as in [::1]:9000".into());
        }
        return match rest.strip_prefix(':') {
            Some(port) => Ok((host, Some(port))),
            None if rest.is_empty() => Ok((host, None)),
            None => Err("expected a colon and a port behind the bracket, as in [::1]:9000".into()),
        };
    }
    let (host, port) = match text.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (text, None),
    };
    if port.is_some_and(|port| port.contains(':')) {
        return Err(match text.parse::<Ipv6Addr>() {
            Ok(_) => format!("expected brackets around an IPv6 address: [{text}]"),
            Err(_) => "expected one colon, before the port".into(),
        });
    }
    let fits = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '.' | '_');
    match host.chars().find(|char| !fits(*char)) {
        _ if host.is_empty() => Err("expected a host's name or address".into()),
        Some(char) if char.is_ascii() => {
            Err(format!("expected a host's name or address, in which there is no {char:?}"))
        }
        Some(_) => Err("expected the host's name in its ASCII form (xn--…)".into()),
        // Longer names than 253 characters cannot be resolved.
        None if host.len() > 253 => Err("expected a host's name of 253 characters at most".into()),
        None => Ok((host, port)),
    }
}

/// Whether a host is an address rather than a name.
pub(crate) fn is_address(host: &str) -> bool {
    host.parse::<IpAddr>().is_ok()
}

/// Expands the ellipses of an entry: `a{1...3}` is `a1`, `a2`, `a3`; `{08...10}` keeps the zeros.
/// Several ellipses yield all combinations, in which the last one varies fastest.
fn expanded(entry: &str) -> Result<Vec<String>, String> {
    let wrong =
        |why: &str| format!("endpoint '{}': {why}, as in node{{1...8}}", entry.escape_debug());
    let mut names = vec![String::new()];
    let mut rest = entry;
    while let Some((before, inner)) = rest.split_once('{') {
        let (range, after) =
            inner.split_once('}').ok_or_else(|| wrong("expected a closing brace"))?;
        let numbers = range.split_once("...").and_then(|(first, last)| {
            let number = |text: &str| {
                let digits = text.bytes().all(|byte| byte.is_ascii_digit());
                text.parse::<u32>().ok().filter(|_| digits)
            };
            Some((number(first)?, number(last)?, first.len()))
        });
        let (first, last, digits) =
            numbers.ok_or_else(|| wrong("expected two numbers with three dots between them"))?;
        if first > last {
            return Err(wrong("expected the smaller number first"));
        }
        if names.len().saturating_mul((last - first) as usize + 1) > ENDPOINTS_MAX {
            return Err(wrong(&format!("expected {ENDPOINTS_MAX} endpoints at most")));
        }
        let width = if range.starts_with('0') { digits } else { 0 };
        names = names
            .iter()
            .flat_map(|name| {
                (first..=last).map(move |number| format!("{name}{before}{number:0width$}"))
            })
            .collect();
        rest = after;
    }
    Ok(names.into_iter().map(|name| name + rest).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> (Vec<String>, Security) {
        let (found, security) = endpoints(text, Security::Plain).unwrap();
        (found.iter().map(ToString::to_string).collect(), security)
    }

    fn wrong(text: &str) -> String {
        endpoints(text, Security::Plain).unwrap_err()
    }

    #[test]
    fn hosts_ports_and_schemes_are_read() {
        assert_eq!(read("h"), (vec!["h:80".into()], Security::Plain));
        assert_eq!(read("127.0.0.1:9000"), (vec!["127.0.0.1:9000".into()], Security::Plain));
        assert_eq!(read("[::1]:9000"), (vec!["[::1]:9000".into()], Security::Plain));
        assert_eq!(read("https://[fe80::1]/").0, ["[fe80::1]:443"]);
        assert_eq!(
            read("HTTPS://s3.eu_x.example"),
            (vec!["s3.eu_x.example:443".into()], { Security::Verified })
        );
        assert_eq!(read("a:1, b:2 ,http://c").0, ["a:1", "b:2", "c:80"]);
    }

    #[test]
    fn a_scheme_decides_and_insecure_stays() {
        let security = |text, otherwise| endpoints(text, otherwise).unwrap();
        let (found, chosen) = security("h", Security::Insecure);
        assert_eq!((found[0].port, chosen), (443, Security::Insecure));
        assert_eq!(security("https://h", Security::Insecure).1, Security::Insecure);
        assert_eq!(security("http://h", Security::Verified).1, Security::Plain);
        let mixed = wrong("http://a,https://b");
        assert!(mixed.contains("'http://a' and 'https://b'"), "{mixed}");
    }

    #[test]
    fn ellipses_stand_for_each() {
        assert_eq!(read("n{1...3}:9").0, ["n1:9", "n2:9", "n3:9"]);
        assert_eq!(read("n{08...10}").0, ["n08:80", "n09:80", "n10:80"]);
        assert_eq!(read("{1...2}.{1...2}.x").0, ["1.1.x:80", "1.2.x:80", "2.1.x:80", "2.2.x:80"]);
        assert_eq!(read("http://n{1...1}/").0, ["n1:80"]);
        assert!(wrong("n{1..3}").contains("three dots"), "{}", wrong("n{1..3}"));
        assert!(wrong("n{3...1}").contains("smaller number first"));
        assert!(wrong("n{1...3").contains("closing brace"));
        assert!(wrong("n{1...}").contains("two numbers"));
        assert!(wrong("n{0...4294967295}").contains("4096 endpoints"));
        assert!(wrong("{1...99}{1...99}").contains("4096 endpoints"));
        assert!(wrong("{+1...3}").contains("two numbers"));
    }

    #[test]
    fn slips_are_explained() {
        let expect = |text: &str, why: &str| {
            let said = wrong(text);
            assert!(said.contains(why) && said.starts_with("endpoint"), "{text}: {said}");
        };
        expect("", "a host's name or address");
        expect("a,,b", "a host's name or address");
        expect(":9000", "a host's name or address");
        expect("ftp://h", "not 'ftp'");
        expect("h:0", "from 1 to 65535, not '0'");
        expect("h:70000", "not '70000'");
        expect("h:+1", "not '+1'");
        expect("h:", "not ''");
        expect("::1", "[::1]");
        expect("a:1:2", "one colon");
        expect("[::1", "closing bracket");
        expect("[h]:1", "an IPv6 address");
        expect("[::1]9", "behind the bracket");
        expect("http://h/bucket", "nothing behind the host");
        expect("http://key:secret@h", "no user or key");
        expect("a b", "no ' '");
        expect("h\r\nx", "no '\\r'");
        expect("bücher", "xn--");
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in "([a-z0-9.,:{}\\[\\]/@ ]|\\.\\.\\.|http://|\\PC){0,30}") {
            if let Ok((found, _)) = endpoints(&text, Security::Plain) {
                for endpoint in found {
                    let again = endpoints(&endpoint.to_string(), Security::Plain);
                    prop_assert_eq!(again.unwrap().0, [endpoint]);
                }
            }
        }
    }
}
