//! Keys, region and endpoint from the environment and shared profiles, so that no secret needs to
//! be in a command line or a job.

mod context;
mod profiles;

pub use context::{ProcessContext, SourcedValue, ThisProcess};

use context::set;
use profiles::{Profiles, Setting};

/// An access key. All its parts come from one source, because parts of different sources do not
/// match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    /// Its id.
    pub id: SourcedValue,
    /// The secret.
    pub secret: SourcedValue,
    /// The token of the session it belongs to.
    pub token: Option<SourcedValue>,
}

/// The values that were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Credentials {
    /// The access key.
    pub keys: Option<Keys>,
    /// The region to sign for.
    pub region: Option<SourcedValue>,
    /// The endpoint, in the syntax of [`crate::endpoints::endpoints`].
    pub endpoint: Option<SourcedValue>,
}

impl Credentials {
    /// Searches in the order of AWS's tools: variables (`AWS_ACCESS_KEY_ID`,
    /// `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`; `AWS_REGION`, `AWS_DEFAULT_REGION`;
    /// `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`), then the profile in the credentials file
    /// (`AWS_SHARED_CREDENTIALS_FILE`, `~/.aws/credentials`), then the profile in the config file
    /// (`AWS_CONFIG_FILE`, `~/.aws/config`). The keys of a given `profile` take precedence over
    /// variables. Without `profile`, `AWS_PROFILE` or "default" is used. The error names the
    /// variable, or file and line, what was expected and what to do.
    pub fn find(
        context: &dyn ProcessContext,
        profile: Option<&str>,
    ) -> Result<Credentials, String> {
        let chosen = profile.map(str::to_owned).or_else(|| set(context, "AWS_PROFILE"));
        let profiles = Profiles::read(context)?;
        let settings = profiles.settings(chosen.as_deref().unwrap_or("default"));
        if let Some(name) = chosen.as_ref().filter(|_| !settings.exist()) {
            return Err(unknown(name, profile.is_some(), &profiles));
        }
        let variables = if profile.is_none() { keys_of_variables(context)? } else { None };
        let keys = match variables {
            Some(keys) => Some(keys),
            None => settings.keys(chosen.is_some())?,
        };
        let variable = |names: [&str; 2]| names.iter().find_map(|name| found(context, name));
        Ok(Credentials {
            keys,
            region: variable(["AWS_REGION", "AWS_DEFAULT_REGION"])
                .or_else(|| settings.found("region")),
            endpoint: variable(["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"])
                .or_else(|| settings.endpoint()),
        })
    }

    /// Keys and endpoint of an alias in the format of MinIO's client:
    /// `MC_HOST_alias=https://ID:SECRET@host:port`, or with `:TOKEN` after the secret. `None`: the
    /// variable is not set.
    pub fn of_alias(
        context: &dyn ProcessContext,
        alias: &str,
    ) -> Result<Option<Credentials>, String> {
        let name = format!("MC_HOST_{alias}");
        let Some(value) = set(context, &name) else { return Ok(None) };
        let from = format!("the variable {name}");
        let wrong = || format!("{from}: expected https://ID:SECRET@host:port");
        let (scheme, rest) = value.split_once("://").ok_or_else(wrong)?;
        let found = |value: &str| SourcedValue { value: value.to_owned(), from: from.clone() };
        let Some((keys, host)) = rest.rsplit_once('@') else {
            // An alias without keys is for anonymous access.
            let endpoint = Some(found(&value));
            return Ok(Some(Credentials { endpoint, ..Credentials::default() }));
        };
        let (id, secret) = keys.split_once(':').ok_or_else(wrong)?;
        let (secret, token) = match secret.split_once(':') {
            Some((secret, token)) => (secret, Some(found(token))),
            None => (secret, None),
        };
        if id.is_empty() || secret.is_empty() {
            return Err(wrong());
        }
        let keys = Keys { id: found(id), secret: found(secret), token };
        let endpoint = Some(found(&format!("{scheme}://{host}")));
        Ok(Some(Credentials { keys: Some(keys), region: None, endpoint }))
    }
}

fn found(context: &dyn ProcessContext, name: &str) -> Option<SourcedValue> {
    let value = set(context, name)?;
    Some(SourcedValue { value, from: format!("the variable {name}") })
}

fn keys_of_variables(context: &dyn ProcessContext) -> Result<Option<Keys>, String> {
    const NAMES: [&str; 2] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];
    match NAMES.map(|name| found(context, name)) {
        [None, None] => Ok(None),
        [Some(id), Some(secret)] => {
            Ok(Some(Keys { id, secret, token: found(context, "AWS_SESSION_TOKEN") }))
        }
        [id, _] => {
            let (there, missing) = if id.is_some() { (0, 1) } else { (1, 0) };
            Err(format!(
                "the variable {} is set and {} is not: expected both; set it, or unset the other",
                NAMES[there], NAMES[missing]
            ))
        }
    }
}

fn unknown(name: &str, asked: bool, profiles: &Profiles) -> String {
    let from = if asked { "" } else { ", which AWS_PROFILE names" };
    let files: Vec<_> = profiles.paths().map(|path| path.display().to_string()).collect();
    let files = match files.is_empty() {
        true => "there is no credentials or config file, and no HOME to look in".to_owned(),
        false => format!("neither is it in {}", files.join(" nor in ")),
    };
    let known = match profiles.names().join(", ") {
        known if known.is_empty() => "there are none".to_owned(),
        known => format!("there are: {known}"),
    };
    let name = name.escape_debug();
    format!("no profile '{name}'{from}: {files}; {known}")
}

/// The settings of one profile in both files.
struct Settings<'a> {
    profiles: &'a Profiles,
    name: String,
}

impl Profiles {
    fn settings(&self, name: &str) -> Settings<'_> {
        Settings { profiles: self, name: name.to_owned() }
    }
}

impl Settings<'_> {
    fn exist(&self) -> bool {
        self.profiles.has(&self.name)
    }

    fn found(&self, key: &str) -> Option<SourcedValue> {
        self.profiles.in_files().find_map(|file| file.setting(&self.name, key).map(Setting::found))
    }

    /// Id, secret and token from the first file that has one of them.
    fn keys(&self, chosen: bool) -> Result<Option<Keys>, String> {
        for file in self.profiles.in_files() {
            let setting = |key| file.setting(&self.name, key);
            match (setting("aws_access_key_id"), setting("aws_secret_access_key")) {
                (None, None) => {}
                (Some(id), Some(secret)) => {
                    let token = setting("aws_session_token").map(Setting::found);
                    return Ok(Some(Keys { id: id.found(), secret: secret.found(), token }));
                }
                (Some(there), None) => return Err(self.half(there, "aws_secret_access_key")),
                (None, Some(there)) => return Err(self.half(there, "aws_access_key_id")),
            }
        }
        // If no profile was named, profiles of other kinds are ignored.
        const ELSEWHERE: [&str; 6] = [
            "credential_process",
            "role_arn",
            "source_profile",
            "sso_session",
            "sso_start_url",
            "web_identity_token_file",
        ];
        let mut elsewhere = ELSEWHERE.iter().filter_map(|key| Some((*key, self.found(key)?)));
        match elsewhere.next().filter(|_| chosen) {
            Some((key, SourcedValue { from, .. })) => Err(format!(
                "{from}: profile '{}' has its keys by {key}, which is not followed here: expected \
                 aws_access_key_id and aws_secret_access_key; `aws configure export-credentials \
                 --format env` makes variables of it",
                self.name
            )),
            None => Ok(None),
        }
    }

    fn half(&self, there: &Setting, missing: &str) -> String {
        format!(
            "{}: profile '{}' says this and no {missing}: expected both; add it",
            there.place(),
            self.name
        )
    }

    /// Its endpoint for S3, that of its services section, or its endpoint for all services.
    fn endpoint(&self) -> Option<SourcedValue> {
        let of_services = || {
            let services = self.found("services")?.value;
            self.profiles
                .in_files()
                .find_map(|file| file.service(&services, "s3.endpoint_url").map(Setting::found))
        };
        self.found("s3.endpoint_url").or_else(of_services).or_else(|| self.found("endpoint_url"))
    }
}

#[cfg(test)]
mod tests;
