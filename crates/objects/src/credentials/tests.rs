//! Sources of credentials, and errors about invalid files.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Default)]
struct FakeContext {
    variables: BTreeMap<String, String>,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl ProcessContext for FakeContext {
    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if path == Path::new("/locked") {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        self.files.get(path).cloned().ok_or(io::ErrorKind::NotFound.into())
    }
}

const CREDENTIALS: &str = "\u{feff}# made by hand
[default]
aws_access_key_id = ID0
aws_secret_access_key=S0/+=x   ; not this

[other]
aws_access_key_id=ID1
AWS_SECRET_ACCESS_KEY = S1
aws_session_token = T1
";

const CONFIG: &str = "[default]
region = eu-west-1
[profile other]\r
region = eu-north-1\r
services = mine
endpoint_url = http://all:1
s3 =
    max_concurrent_requests = 20
[profile 'two words']
aws_access_key_id = ID2
  aws_secret_access_key = S2
s3 =
  endpoint_url = http://own:3
[services mine]
ec2 =
  endpoint_url = http://ec2:9
s3 =
  endpoint_url = http://mine:2
[sso-session my]
sso_region = nowhere
[profile role]
role_arn = arn:aws:iam::1:role/x
source_profile = default
[other]
region = not-a-profile
";

fn context(variables: &[(&str, &str)], files: &[(&str, &str)]) -> FakeContext {
    let mut context = FakeContext::default();
    context.variables.insert("HOME".into(), "/home/me".into());
    for (name, value) in variables {
        context.variables.insert((*name).into(), (*value).into());
    }
    for (path, text) in files {
        context.files.insert((*path).into(), (*text).into());
    }
    context
}

fn usual(variables: &[(&str, &str)]) -> FakeContext {
    let files = [("/home/me/.aws/credentials", CREDENTIALS), ("/home/me/.aws/config", CONFIG)];
    context(variables, &files)
}

fn found(value: &str, from: &str) -> SourcedValue {
    SourcedValue { value: value.into(), from: from.into() }
}

fn wrong(context: &FakeContext, profile: Option<&str>) -> String {
    Credentials::find(context, profile).unwrap_err()
}

#[test]
fn profiles_say_keys_region_and_endpoint() {
    let default = Credentials::find(&usual(&[]), None).unwrap();
    let keys = default.keys.unwrap();
    assert_eq!(keys.id, found("ID0", "/home/me/.aws/credentials:3"));
    assert_eq!(keys.secret, found("S0/+=x", "/home/me/.aws/credentials:4"));
    assert_eq!(keys.token, None);
    assert_eq!(default.region, Some(found("eu-west-1", "/home/me/.aws/config:2")));
    assert_eq!(default.endpoint, None);

    for (variables, profile) in [(vec![], Some("other")), (vec![("AWS_PROFILE", "other")], None)] {
        let other = Credentials::find(&usual(&variables), profile).unwrap();
        let keys = other.keys.unwrap();
        assert_eq!((keys.id.value.as_str(), keys.secret.value.as_str()), ("ID1", "S1"));
        assert_eq!(keys.token.unwrap().value, "T1");
        assert_eq!(other.region.unwrap().value, "eu-north-1");
        assert_eq!(other.endpoint, Some(found("http://mine:2", "/home/me/.aws/config:18")));
    }
    let own = Credentials::find(&usual(&[]), Some("two words")).unwrap();
    assert_eq!(own.keys.unwrap().secret, found("S2", "/home/me/.aws/config:11"));
    assert_eq!(own.endpoint.unwrap().value, "http://own:3");
}

#[test]
fn variables_override_a_profile_that_was_not_requested() {
    let variables = [
        ("AWS_ACCESS_KEY_ID", "EID"),
        ("AWS_SECRET_ACCESS_KEY", " ES\n"),
        ("AWS_REGION", ""),
        ("AWS_DEFAULT_REGION", "us-west-2"),
        ("AWS_ENDPOINT_URL", "http://all"),
        ("AWS_ENDPOINT_URL_S3", "http://s3"),
    ];
    let from_all = Credentials::find(&usual(&variables), None).unwrap();
    let keys = from_all.keys.unwrap();
    assert_eq!(keys.id, found("EID", "the variable AWS_ACCESS_KEY_ID"));
    assert_eq!((keys.secret.value.as_str(), keys.token), ("ES", None));
    assert_eq!(from_all.region, Some(found("us-west-2", "the variable AWS_DEFAULT_REGION")));
    assert_eq!(from_all.endpoint, Some(found("http://s3", "the variable AWS_ENDPOINT_URL_S3")));

    let asked = Credentials::find(&usual(&variables), Some("other")).unwrap();
    assert_eq!(asked.keys.unwrap().id.value, "ID1");
    assert_eq!(asked.region.unwrap().value, "us-west-2");
}

#[test]
fn other_files_may_be_named() {
    let variables = [("AWS_SHARED_CREDENTIALS_FILE", "/c"), ("AWS_CONFIG_FILE", "~/x")];
    let files = [
        ("/c", "[default]\naws_access_key_id=A\naws_secret_access_key=B"),
        ("/home/me/x", "[profile default]\nregion=r1\nregion=r2"),
    ];
    let there = Credentials::find(&context(&variables, &files), None).unwrap();
    assert_eq!(there.keys.unwrap().id, found("A", "/c:2"));
    assert_eq!(there.region, Some(found("r2", "/home/me/x:3")));
}

#[test]
fn nothing_is_no_error() {
    assert_eq!(Credentials::find(&FakeContext::default(), None), Ok(Credentials::default()));
    let of_others = [("/home/me/.aws/config", "[default]\nsso_session = x\n")];
    assert_eq!(Credentials::find(&context(&[], &of_others), None), Ok(Credentials::default()));
}

#[test]
fn halves_are_errors() {
    let id = context(&[("AWS_ACCESS_KEY_ID", "x")], &[]);
    let why = wrong(&id, None);
    assert!(why.starts_with("the variable AWS_ACCESS_KEY_ID is set and AWS_SECRET_A"), "{why}");
    let secret = context(&[("AWS_SECRET_ACCESS_KEY", "hidden")], &[]);
    let why = wrong(&secret, None);
    assert!(why.contains("AWS_ACCESS_KEY_ID is not") && !why.contains("hidden"), "{why}");
    let file = [("/home/me/.aws/credentials", "[default]\n\naws_secret_access_key=hidden\n")];
    let why = wrong(&context(&[], &file), None);
    assert!(why.starts_with("/home/me/.aws/credentials:3: profile 'default'"), "{why}");
    assert!(why.contains("no aws_access_key_id") && !why.contains("hidden"), "{why}");
}

#[test]
fn profiles_that_are_not_there_or_get_their_keys_elsewhere_are_errors() {
    let why = wrong(&usual(&[]), Some("nope"));
    let expected = "no profile 'nope': neither is it in /home/me/.aws/credentials nor in \
                    /home/me/.aws/config; there are: default, other, role, two words";
    assert_eq!(why, expected);
    let why = wrong(&usual(&[("AWS_PROFILE", "nope")]), None);
    assert!(why.starts_with("no profile 'nope', which AWS_PROFILE names: "), "{why}");
    let why = wrong(&FakeContext::default(), Some("nope"));
    assert!(why.contains("no HOME to look in; there are none"), "{why}");
    let why = wrong(&usual(&[]), Some("role"));
    assert!(why.starts_with("/home/me/.aws/config:22: profile 'role' has its keys by role_arn"));
    assert!(why.contains("export-credentials"), "{why}");
}

#[test]
fn files_that_are_wrong_are_named_with_the_line() {
    let said = |text: &str| wrong(&context(&[], &[("/home/me/.aws/config", text)]), None);
    let at = |text: &str, line: u32, why: &str| {
        let said = said(text);
        assert!(said.starts_with(&format!("/home/me/.aws/config:{line}: ")), "{said}");
        assert!(said.contains(why), "{said}");
    };
    at("region = x", 1, "expected [section] first");
    at("[default]\nregion\n", 2, "name = value");
    at("# x\n[default\n", 2, "closing bracket");
    let mut binary = context(&[], &[]);
    binary.files.insert("/home/me/.aws/config".into(), b"[default]\n\xff=1\n".into());
    let why = wrong(&binary, None);
    assert!(why.starts_with("/home/me/.aws/config:2: it is no UTF-8"), "{why}");
    let locked = context(&[("AWS_CONFIG_FILE", "/locked")], &[]);
    let why = wrong(&locked, None);
    assert!(why.starts_with("/locked: it cannot be read: "), "{why}");
    assert!(why.contains("AWS_CONFIG_FILE"), "{why}");
}

#[test]
fn aliases_of_minios_client_are_read() {
    let of = |value: &str| Credentials::of_alias(&context(&[("MC_HOST_my", value)], &[]), "my");
    let both = of("https://ID:se/c@ret@h:9000").unwrap().unwrap();
    let keys = both.keys.unwrap();
    assert_eq!(keys.id, found("ID", "the variable MC_HOST_my"));
    assert_eq!((keys.secret.value.as_str(), keys.token), ("se/c@ret", None));
    assert_eq!(both.endpoint.unwrap().value, "https://h:9000");
    let token = of("http://ID:s:t:u@h").unwrap().unwrap().keys.unwrap().token;
    assert_eq!(token.unwrap().value, "t:u");
    let open = of("http://h:9000").unwrap().unwrap();
    assert_eq!((open.keys, open.endpoint.unwrap().value.as_str()), (None, "http://h:9000"));
    assert_eq!(Credentials::of_alias(&context(&[], &[]), "my"), Ok(None));
    for wrong in ["h:9000", "http://ID@h", "http://:s@h", "http://ID:@h"] {
        let why = of(wrong).unwrap_err();
        assert!(why.starts_with("the variable MC_HOST_my: expected https://ID"), "{why}");
    }
}

#[test]
fn secrets_are_not_shown() {
    let shown = format!("{:?}", Credentials::find(&usual(&[]), Some("other")).unwrap());
    assert!(!shown.contains("S1") && !shown.contains("T1"), "{shown}");
    assert!(shown.contains("/home/me/.aws/credentials:8"), "{shown}");
}

proptest! {
    #[test]
    fn any_file_is_taken(text in "(\\[|\\]|profile |default|=|#|\n|  |aws_access_key_id|\\PC)*") {
        let file = [("/home/me/.aws/config", text.as_str())];
        let _ = Credentials::find(&context(&[], &file), None);
        let file = [("/home/me/.aws/credentials", text.as_str())];
        let _ = Credentials::find(&context(&[], &file), Some("default"));
    }
}
