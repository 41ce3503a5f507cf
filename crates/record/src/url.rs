//! Addresses of servers, as they are shown and kept.

/// The text with the password of a URL in it removed: that of "scheme://user:password@host" (RFC 3986,
/// section 3.2.1), and that of a parameter "password=…", as libpq has it.
pub fn without_password(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = match authority.rsplit_once('@') {
        Some((login, host)) => format!("{}@{host}", login.split(':').next().unwrap_or_default()),
        None => authority.to_owned(),
    };
    let Some((path, parameters)) = path.split_once('?') else {
        return format!("{scheme}://{host}{path}");
    };
    let is_kept = |word: &&str| !word.starts_with("password=");
    let kept: Vec<&str> = parameters.split('&').filter(is_kept).collect();
    let question = if kept.is_empty() { "" } else { "?" };
    format!("{scheme}://{host}{path}{question}{}", kept.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_shown() {
        let cases = [
            ("postgres://me:s%3Acret@db:5433/runs", "postgres://me@db:5433/runs"),
            ("postgres://db/runs?password=x&sslmode=disable", "postgres://db/runs?sslmode=disable"),
            ("postgresql://me@db", "postgresql://me@db"),
            ("postgres:///runs?host=/run/a@b", "postgres:///runs?host=/run/a@b"),
            ("--archive=postgres://me:s@cret@db:5432/runs", "--archive=postgres://me@db:5432/runs"),
            ("mysql://me:secret@db/shop", "mysql://me@db/shop"),
            ("postgres://me@db/a:b@c", "postgres://me@db/a:b@c"),
            ("http://db:8080/", "http://db:8080/"),
            ("http://db/?a=1&&b", "http://db/?a=1&&b"),
            ("http://db/?password=x", "http://db/"),
            ("a:b@c", "a:b@c"),
        ];
        for (address, without) in cases {
            assert_eq!(without_password(address), without);
        }
    }
}
