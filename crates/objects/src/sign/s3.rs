//! Requests of S3.

use super::body::{Body, ask_for_range, part};
use super::encode::push_encoded_path;
use super::spelling::{Spelling, printable};
use crate::endpoints::is_address;
use crate::{Action, Addressing, CustomerKey, Endpoint, Failure, Request, Security, Store};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use md5::{Digest, Md5};
use std::fmt::Write;

/// The parameters that all requests to a store share.
pub struct S3 {
    addressing: Addressing,
    /// Whether a certificate has to cover the bucket's name.
    encrypted: bool,
    /// Region of new buckets; `None`: the store decides.
    region: Option<String>,
    storage_class: Option<String>,
    /// Cipher, key and the key's MD5, as in their headers.
    customer_key: Option<[String; 3]>,
}

impl S3 {
    /// Parameters of a store whose buckets are in `region`.
    pub fn new(store: &Store, region: Option<&str>) -> Result<S3, Failure> {
        if let Some(class) = &store.storage_class {
            printable("the storage class", class)?;
        }
        // This region is S3's default, and S3 refuses requests that name it.
        let region = region.filter(|region| !matches!(*region, "" | "us-east-1"));
        Ok(S3 {
            addressing: store.addressing,
            encrypted: store.security != Security::Plain,
            region: region.map(Into::into),
            storage_class: store.storage_class.clone(),
            customer_key: store.customer_key.as_ref().map(customer_key).transpose()?,
        })
    }

    /// Writes a request without its signature. Returns its body.
    pub fn spell(
        &self,
        endpoint: &Endpoint,
        host: &str,
        request: &Request<'_>,
        content: usize,
        to: &mut Spelling,
    ) -> Result<Body, Failure> {
        let (bucket, key) = parts(request.path)?;
        let of_bucket =
            matches!(request.action, Action::List { .. } | Action::MakeBucket | Action::HeadBucket);
        let is_name = !is_address(&endpoint.host);
        let by_host = self.bucket_in_host(endpoint, request).is_some();
        // If the host name begins with the bucket, the path is only the key.
        let of_host = !by_host && is_name && endpoint.host.contains('.') && path_is_one(request);
        if !of_bucket && key.is_empty() && !of_host {
            return Err(Failure::Refused(format!(
                "'{}' names no object: expected /bucket/key",
                request.path.escape_debug()
            )));
        }
        let _ = match by_host {
            true => write!(to.host, "{bucket}.{host}"),
            false => write!(to.host, "{host}"),
        };
        if !by_host {
            to.path.push('/');
            push_encoded_path(&mut to.path, bucket);
        }
        if (!of_bucket && !of_host) || by_host {
            to.path.push('/');
        }
        if !of_bucket {
            push_encoded_path(&mut to.path, key);
        }
        self.ask(request, key, content, to)
    }

    /// The bucket of a request, if it is part of the host name.
    pub fn bucket_in_host<'r>(
        &self,
        endpoint: &Endpoint,
        request: &Request<'r>,
    ) -> Option<&'r str> {
        let by_host = self.addressing == Addressing::VirtualHost && !is_address(&endpoint.host);
        let bucket = by_host.then(|| parts(request.path).ok())?.map(|(bucket, _)| bucket);
        bucket.filter(|bucket| is_host_name(bucket, self.encrypted))
    }

    /// Method, query, headers and body.
    fn ask(
        &self,
        request: &Request<'_>,
        key: &str,
        content: usize,
        to: &mut Spelling,
    ) -> Result<Body, Failure> {
        let (method, body) = match &request.action {
            Action::Put => ("PUT", Body::Content(part(0, request.length, content)?)),
            Action::Get { range } => {
                ask_for_range(*range, to)?;
                ("GET", Body::Nothing)
            }
            Action::Head | Action::HeadBucket => ("HEAD", Body::Nothing),
            Action::Delete => ("DELETE", Body::Nothing),
            Action::List { max_keys, continuation } => {
                if let Some(continuation) = continuation {
                    to.query("continuation-token", continuation);
                }
                to.query("encoding-type", "url");
                to.query("list-type", "2");
                to.query("max-keys", &max_keys.to_string());
                to.query("prefix", key);
                ("GET", Body::Nothing)
            }
            Action::BeginUpload => {
                to.query("uploads", "");
                ("POST", Body::Text(Vec::new()))
            }
            Action::PutPart { upload, number, from } => {
                to.query("partNumber", &number.to_string());
                to.query("uploadId", upload);
                ("PUT", Body::Content(part(*from, request.length, content)?))
            }
            Action::EndUpload { upload, tags } => {
                to.query("uploadId", upload);
                ("POST", Body::Text(end_of_upload(tags)))
            }
            Action::DropUpload { upload } => {
                to.query("uploadId", upload);
                ("DELETE", Body::Nothing)
            }
            Action::MakeBucket => ("PUT", Body::Text(self.new_bucket())),
        };
        to.method = method;
        self.add_headers(&request.action, to);
        Ok(body)
    }

    fn add_headers(&self, action: &Action, to: &mut Spelling) {
        let makes = matches!(action, Action::Put | Action::BeginUpload);
        if let Some(class) = self.storage_class.as_ref().filter(|_| makes) {
            to.header("x-amz-storage-class", class);
        }
        let reads = matches!(action, Action::Get { .. } | Action::Head | Action::PutPart { .. });
        let Some([cipher, key, md5]) = self.customer_key.as_ref().filter(|_| makes || reads) else {
            return;
        };
        to.header("x-amz-server-side-encryption-customer-algorithm", cipher);
        to.header("x-amz-server-side-encryption-customer-key", key);
        to.header("x-amz-server-side-encryption-customer-key-md5", md5);
    }

    fn new_bucket(&self) -> Vec<u8> {
        let Some(region) = &self.region else { return Vec::new() };
        format!(
            "<CreateBucketConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
             <LocationConstraint>{}</LocationConstraint></CreateBucketConfiguration>",
            escaped(region)
        )
        .into_bytes()
    }
}

/// Splits a path into bucket and key. The key is everything after the slash that ends the bucket.
fn parts(path: &str) -> Result<(&str, &str), Failure> {
    let inner = path.strip_prefix('/').unwrap_or_default();
    let (bucket, key) = inner.split_once('/').unwrap_or((inner, ""));
    match bucket {
        "" => Err(Failure::Refused(format!(
            "'{}' names no bucket: expected /bucket/key",
            path.escape_debug()
        ))),
        _ => Ok((bucket, key)),
    }
}

/// Whether the first slash of a path is its only one.
fn path_is_one(request: &Request<'_>) -> bool {
    !request.path.get(1..).unwrap_or_default().contains('/')
}

/// Whether a bucket can be part of a host name. A certificate for all buckets (`*.host`) does not
/// cover names with a dot.
fn is_host_name(bucket: &str, encrypted: bool) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    (3..=63).contains(&bucket.len())
        && bucket.split('.').all(label)
        && !is_address(bucket)
        && !(encrypted && bucket.contains('.'))
}

fn customer_key(key: &CustomerKey) -> Result<[String; 3], Failure> {
    printable("the cipher of the customer's key", &key.algorithm)?;
    let text = |bytes: &[u8]| BASE64_STANDARD.encode(bytes);
    Ok([key.algorithm.clone(), text(&key.key), text(&Md5::digest(&key.key))])
}

fn end_of_upload(tags: &[String]) -> Vec<u8> {
    let mut text =
        String::from("<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">");
    for (number, tag) in (1..).zip(tags) {
        let tag = escaped(tag);
        let _ = write!(text, "<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>");
    }
    text += "</CompleteMultipartUpload>";
    text.into_bytes()
}

/// Escapes `text` for XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
