//! Endpoints and credentials of the store, from options, the environment and profiles.

use super::arguments::Arguments;
use anyhow::Result;
use objects::credentials::{Credentials, Keys, ProcessContext, ThisProcess};
use objects::{Endpoint, Security};
use runner::Refusal;

/// The region of signatures if none is given.
const DEFAULT_REGION: &str = "us-east-1";

/// Endpoints and credentials of the store.
pub struct Access {
    endpoints: Vec<Endpoint>,
    security: Security,
    region: String,
    /// `None`: requests are not signed.
    key: Option<AccessKey>,
}

struct AccessKey {
    id: String,
    secret: String,
    token: Option<String>,
}

impl Access {
    /// Takes options first, then the environment, then shared profiles.
    ///
    /// # Errors
    /// What is missing or wrong, and its source.
    pub fn from_arguments(arguments: &Arguments) -> Result<Access> {
        Access::resolve(arguments, &ThisProcess).map_err(Refusal::usage)
    }

    fn resolve(arguments: &Arguments, context: &dyn ProcessContext) -> Result<Access, String> {
        let found = Credentials::find(context, arguments.profile.as_deref())?;
        let region = arguments.region.clone().or(found.region.map(|region| region.value));
        let otherwise = match (arguments.insecure, arguments.tls || arguments.ca_file.is_some()) {
            (true, _) => Security::Insecure,
            (false, true) => Security::Verified,
            (false, false) => Security::Plain,
        };
        let (text, from) = match (&arguments.endpoint, found.endpoint, &region) {
            (Some(endpoint), _, _) => (endpoint.clone(), "--endpoint".to_owned()),
            (None, Some(found), _) => (found.value, found.from),
            (None, None, Some(region)) => {
                (format!("https://s3.{region}.amazonaws.com"), "the region".to_owned())
            }
            (None, None, None) => {
                return Err(
                    "no endpoint is given; give --endpoint=HOST:PORT, set AWS_ENDPOINT_URL, \
                            or give --region for AWS"
                        .into(),
                );
            }
        };
        let (endpoints, security) = objects::endpoints::endpoints(&text, otherwise)
            .map_err(|why| format!("{from}: {why}"))?;
        if security == Security::Plain && otherwise != Security::Plain {
            return Err(format!(
                "{from}: http:// contradicts --tls, --insecure and --ca-file; use https://, or leave \
                 them out"
            ));
        }
        let key = match (&arguments.access_key, found.keys) {
            _ if arguments.anonymous => None,
            (Some(id), _) => Some(AccessKey {
                id: id.clone(),
                secret: arguments.secret_key.clone().unwrap_or_default(),
                token: arguments.session_token.clone(),
            }),
            (None, Some(Keys { id, secret, token })) => Some(AccessKey {
                id: id.value,
                secret: secret.value,
                token: token.map(|token| token.value),
            }),
            (None, None) => {
                return Err("no access key is given; give --profile, set AWS_ACCESS_KEY_ID and \
                            AWS_SECRET_ACCESS_KEY, or use --anonymous"
                    .into());
            }
        };
        let region = region.unwrap_or_else(|| DEFAULT_REGION.into());
        Ok(Access { endpoints, security, region, key })
    }

    /// The job options for these endpoints and credentials.
    pub fn options(&self) -> Vec<String> {
        let hosts: Vec<String> = self.endpoints.iter().map(ToString::to_string).collect();
        let https = match self.security {
            Security::Plain => "off",
            Security::Verified => "on",
            Security::Insecure => "insecure",
        };
        let mut options = vec![
            format!("--http_host={}", hosts.join(",")),
            format!("--https={https}"),
            format!("--http_s3_region={}", self.region),
        ];
        if let Some(AccessKey { id, secret, token }) = &self.key {
            options.push(format!("--http_s3_keyid={id}"));
            options.push(format!("--http_s3_key={secret}"));
            options.extend(token.iter().map(|token| format!("--http_s3_security_token={token}")));
        }
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use std::io;
    use std::path::Path;

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        arguments: Arguments,
    }

    /// A process with these environment variables and no files.
    struct FakeProcess(&'static [(&'static str, &'static str)]);

    impl ProcessContext for FakeProcess {
        fn variable(&self, name: &str) -> Option<String> {
            self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        }

        fn read(&self, _: &Path) -> io::Result<Vec<u8>> {
            Err(io::ErrorKind::NotFound.into())
        }
    }

    const KEYS: [(&str, &str); 2] =
        [("AWS_ACCESS_KEY_ID", "id"), ("AWS_SECRET_ACCESS_KEY", "hidden")];

    fn options(
        typed: &str,
        context: &'static [(&'static str, &'static str)],
    ) -> Result<String, String> {
        let words = ["s3", "get", "--bucket=b"].into_iter().chain(typed.split_whitespace());
        let typed = Typed::try_parse_from(words).map_err(|error| error.to_string())?;
        Ok(Access::resolve(&typed.arguments, &FakeProcess(context))?.options().join(" "))
    }

    #[test]
    fn options_take_precedence_over_the_environment() {
        let typed = options("--host=[::1]:9000 --access-key=a --secret-key=b", &KEYS).unwrap();
        assert_eq!(
            typed,
            "--http_host=[::1]:9000 --https=off --http_s3_region=us-east-1 --http_s3_keyid=a \
             --http_s3_key=b"
        );
        let context = options("--endpoint=https://s{1...2}:1", &KEYS).unwrap();
        assert!(context.starts_with("--http_host=s1:1,s2:1 --https=on "), "{context}");
        assert!(context.ends_with("--http_s3_keyid=id --http_s3_key=hidden"), "{context}");
        let aws = options("--region=eu-north-1 --anonymous", &[]).unwrap();
        assert!(aws.starts_with("--http_host=s3.eu-north-1.amazonaws.com:443 --https=on"), "{aws}");
    }

    #[test]
    fn missing_and_contradictory_settings_are_named() {
        for (typed, words) in [
            ("", "no endpoint is given"),
            ("--endpoint=a:1", "no access key is given"),
            ("--endpoint=http://a:1 --insecure --anonymous", "http:// contradicts"),
            ("--endpoint=a:x --anonymous", "--endpoint: "),
        ] {
            let error = options(typed, &[]).unwrap_err();
            assert!(error.contains(words), "{typed}: {error}");
        }
    }
}
