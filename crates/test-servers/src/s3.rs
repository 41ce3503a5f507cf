//! An S3 server based on s3s over [`Memory`], with real signatures and further checks of Amazon.

use crate::answering::{Handler, Http, Listening, s3_error};
use crate::memory::Memory;
use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use hyper::{Request, Response};
use s3s::auth::SimpleAuth;
use s3s::host::{S3Host, VirtualHost};
use s3s::service::S3ServiceBuilder;
use s3s::{Body, S3Result};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Largest difference between clocks.
const MOST_SKEW: TimeDelta = TimeDelta::minutes(15);

/// Credentials and address of the server.
#[derive(Clone)]
pub struct S3Options {
    /// The id of the only key.
    pub key_id: String,
    /// The key; `None`: unsigned requests are accepted.
    pub key: Option<String>,
    /// The session token, if the key is temporary.
    pub token: Option<String>,
    /// The region of the server.
    pub region: String,
    /// Seconds by which its clock is ahead.
    pub clock_ahead: i64,
    /// Domain of the buckets' host names, without a port.
    pub domain: Option<String>,
    /// Address and encryption.
    pub listening: Listening,
}

impl Default for S3Options {
    /// The key used by the job that measures MinIO.
    fn default() -> S3Options {
        S3Options {
            key_id: "minioadmin".to_owned(),
            key: Some("minioadmin".to_owned()),
            token: None,
            region: "us-east-1".to_owned(),
            clock_ahead: 0,
            domain: None,
            listening: Listening::default(),
        }
    }
}

/// An S3 server on loopback. It stops when the value is dropped.
pub struct S3Server {
    http: Http,
    /// Its data.
    pub memory: Memory,
}

impl Deref for S3Server {
    type Target = Http;

    fn deref(&self) -> &Http {
        &self.http
    }
}

impl DerefMut for S3Server {
    fn deref_mut(&mut self) -> &mut Http {
        &mut self.http
    }
}

impl S3Server {
    /// Starts a server with the default key and these buckets.
    #[track_caller]
    pub fn start(buckets: &[&str]) -> S3Server {
        S3Server::with(S3Options::default(), buckets)
    }

    /// Starts a server with these options and buckets.
    #[track_caller]
    pub fn with(options: S3Options, buckets: &[&str]) -> S3Server {
        S3Server::over(options, Memory::with(buckets))
    }

    /// Starts a server over existing data.
    #[track_caller]
    pub fn over(options: S3Options, memory: Memory) -> S3Server {
        let mut builder = S3ServiceBuilder::new(memory.clone());
        if let Some(key) = &options.key {
            builder.set_auth(SimpleAuth::from_single(options.key_id.as_str(), key.as_str()));
        }
        if let Some(domain) = &options.domain {
            builder.set_host(Domain(domain.clone()));
        }
        let (service, listening) = (Arc::new(builder.build()), options.listening.clone());
        let options = Arc::new(options);
        let handler: Handler = Arc::new(move |request| {
            let (service, options) = (Arc::clone(&service), Arc::clone(&options));
            Box::pin(async move {
                if let Some(refusal) = refuse(&request, &options) {
                    return refusal;
                }
                let answer = service.call(request.map(Body::from)).await;
                answer.unwrap_or_else(|why| s3_error(500, "InternalError", &format!("{why}"), ""))
            })
        });
        S3Server { http: Http::start(listening, handler), memory }
    }
}

/// Buckets as host names below a domain, with any port.
struct Domain(String);

impl S3Host for Domain {
    fn parse_host_header<'a>(&'a self, host: &'a str) -> S3Result<VirtualHost<'a>> {
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        let above = name.strip_suffix(self.0.as_str());
        match above.map(|above| above.strip_suffix('.').unwrap_or(above)) {
            Some("") => Ok(VirtualHost::new(self.0.as_str())),
            Some(bucket) => Ok(VirtualHost::with_bucket(self.0.as_str(), bucket)),
            None => Err(s3s::s3_error!(InvalidRequest, "no host of this server")),
        }
    }
}

/// Refuses a correct signature of another key, session, region or time, as Amazon does.
fn refuse(request: &Request<Vec<u8>>, options: &S3Options) -> Option<Response<Body>> {
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let credential = header("authorization")?.split_once("Credential=")?.1.split(',').next()?;
    let mut scope = credential.split('/');
    let (key_id, _day, region) = (scope.next()?, scope.next()?, scope.next()?);
    if key_id != options.key_id {
        let message = "The AWS Access Key Id you provided does not exist in our records.";
        return Some(s3_error(403, "InvalidAccessKeyId", message, ""));
    }
    if region != options.region {
        let message = format!(
            "The authorization header is malformed; the region '{region}' is wrong; expecting '{}'",
            options.region
        );
        let more = format!("<Region>{}</Region>", options.region);
        return Some(s3_error(400, "AuthorizationHeaderMalformed", &message, &more));
    }
    if header("x-amz-security-token") != options.token.as_deref() {
        let message = "The provided token is malformed or otherwise invalid.";
        return Some(s3_error(400, "InvalidToken", message, ""));
    }
    let asked = NaiveDateTime::parse_from_str(header("x-amz-date")?, "%Y%m%dT%H%M%SZ").ok()?;
    skewed(asked.and_utc(), Utc::now() + TimeDelta::seconds(options.clock_ahead))
}

fn skewed(asked: DateTime<Utc>, now: DateTime<Utc>) -> Option<Response<Body>> {
    if (asked - now).abs() <= MOST_SKEW {
        return None;
    }
    let message = "The difference between the request time and the current time is too large.";
    let more = format!(
        "<RequestTime>{}</RequestTime><ServerTime>{}</ServerTime>\
         <MaxAllowedSkewMilliseconds>900000</MaxAllowedSkewMilliseconds>",
        asked.format("%Y%m%dT%H%M%SZ"),
        now.format("%Y-%m-%dT%H:%M:%SZ")
    );
    let mut answer = s3_error(403, "RequestTimeTooSkewed", message, &more);
    let date = now.format("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let date = hyper::header::HeaderValue::from_str(&date).expect("a date");
    answer.headers_mut().insert(hyper::header::DATE, date);
    Some(answer)
}
