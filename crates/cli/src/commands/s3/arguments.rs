//! The command line of `fathom s3`.

use super::size::{self, Sizes};
use crate::suites;
use anyhow::Result;
use clap::{Args, ValueEnum};
use job::ObjectMix;
use record::{Bytes, Nanos};
use runner::Refusal;
use std::path::PathBuf;

/// An operation to measure, as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Work {
    /// Put new objects.
    Put,
    /// Fetch objects, or ranges of them.
    Get,
    /// Fetch attributes of objects (HEAD).
    Stat,
    /// List keys.
    List,
    /// Delete objects, each once.
    Delete,
    /// Mix get, stat, put and delete (see --mix).
    Mixed,
    /// Put objects in parts (see --part-size).
    Multipart,
}

impl Work {
    /// The job's `object_set`.
    pub fn set(self) -> &'static str {
        match self {
            Work::Put | Work::Multipart => "put",
            Work::Get => "get",
            Work::Stat => "stat",
            Work::List => "list",
            Work::Delete => "delete",
            Work::Mixed => "mixed",
        }
    }

    /// The operation as typed.
    pub fn name(self) -> &'static str {
        if self == Work::Multipart { "multipart" } else { self.set() }
    }

    /// Whether it needs existing objects.
    pub fn needs_objects(self) -> bool {
        !matches!(self, Work::Put | Work::Multipart)
    }

    /// Default size and number of objects.
    fn default_objects(self) -> (Bytes, u64) {
        match self {
            Work::Put => (Bytes(5 << 20), 0),
            Work::Multipart => (Bytes(100 << 20), 0),
            Work::Get | Work::Mixed => (Bytes(5 << 20), 500),
            Work::Stat | Work::List => (Bytes(1 << 10), 10_000),
            Work::Delete => (Bytes(1 << 10), 25_000),
        }
    }

    /// Default number of operations in flight.
    fn default_concurrency(self) -> u32 {
        if self == Work::Multipart { 4 } else { 20 }
    }
}

/// The examples in the help, above the options.
const EXAMPLES: &str = "\
Examples:
  fathom s3 put --endpoint=http://127.0.0.1:9000 --bucket=bench
  fathom s3 get --endpoint=https://s3.example.com --bucket=bench --concurrent=64 --duration=60s";

/// Arguments of `fathom s3`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub struct Arguments {
    /// Operation to measure.
    pub work: Work,
    /// Endpoint of the store: HOST:PORT, http://HOST:PORT or https://HOST. Several, separated by
    /// commas or as host{1...8}:9000, are used in turn [default: AWS_ENDPOINT_URL_S3,
    /// AWS_ENDPOINT_URL, or AWS by the region].
    #[arg(long, alias = "host", value_name = "URL")]
    pub endpoint: Option<String>,
    /// Bucket; it must exist.
    #[arg(long)]
    pub bucket: String,
    /// Create the bucket if it does not exist, and leave it.
    #[arg(long)]
    pub make_bucket: bool,
    /// Prefix of the names of all objects [default: a unique name].
    #[arg(long)]
    pub prefix: Option<String>,
    /// Id of the access key [default: AWS_ACCESS_KEY_ID or the profile's].
    #[arg(long, value_name = "ID")]
    pub access_key: Option<String>,
    /// Secret of the access key. Other users can see it on a command line; prefer
    /// AWS_SECRET_ACCESS_KEY or a profile.
    #[arg(long, value_name = "KEY", requires = "access_key")]
    pub secret_key: Option<String>,
    /// Token of a temporary key [default: AWS_SESSION_TOKEN or the profile's].
    #[arg(long, value_name = "TOKEN", requires = "access_key")]
    pub session_token: Option<String>,
    /// Send requests without a key.
    #[arg(long, conflicts_with_all = ["access_key", "profile"])]
    pub anonymous: bool,
    /// Region [default: AWS_REGION, AWS_DEFAULT_REGION, the profile's, or us-east-1].
    #[arg(long)]
    pub region: Option<String>,
    /// Profile in ~/.aws/credentials and ~/.aws/config [default: AWS_PROFILE].
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Use TLS if the endpoint has no scheme.
    #[arg(long)]
    pub tls: bool,
    /// Use TLS and accept any certificate.
    #[arg(long)]
    pub insecure: bool,
    /// PEM file of certificates to trust instead of the system's.
    #[arg(long, value_name = "FILE")]
    pub ca_file: Option<String>,
    /// Sign only the headers of a PUT [default: without TLS, also the body].
    #[arg(long)]
    pub unsigned_payload: bool,
    /// Name the bucket in the host (BUCKET.HOST) instead of the path.
    #[arg(long)]
    pub virtual_host: bool,
    /// Storage class of new objects [default: STANDARD].
    #[arg(long, value_name = "CLASS")]
    pub storage_class: Option<String>,
    /// Key of 32 characters for encryption by the server (SSE-C); most servers require TLS for it.
    #[arg(long, value_name = "KEY")]
    pub sse_c_key: Option<String>,
    /// Repeats of a request after an error that may pass; they are counted.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub retries: u32,
    /// Time without any progress after which a request has failed.
    #[arg(long, value_name = "TIME", default_value = "30", value_parser = suites::time)]
    pub timeout: Nanos,
    /// Sizes of the objects: 5m, 4k-1m, or with shares in percent 4k:50,1m:30,5m:20 [default: 5m;
    /// 1k for stat, list and delete; 100m for multipart].
    #[arg(long, alias = "obj.size", value_name = "SIZES", value_parser = size::sizes)]
    pub size: Option<Sizes>,
    /// Operations in flight, over all threads [default: 20; 4 for multipart].
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub concurrent: Option<u32>,
    /// Threads that share the operations in flight.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: u32,
    /// Objects to put before the measurement (not for put, multipart) [default: 500 for get and
    /// mixed, 10000 for stat and list, 25000 for delete].
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub objects: Option<u64>,
    /// Length of the measurement; delete ends when all objects are deleted.
    #[arg(long, value_name = "TIME", default_value = "60", value_parser = suites::time)]
    pub duration: Nanos,
    /// Time before the measurement, with the same load.
    #[arg(long, value_name = "TIME", value_parser = suites::time)]
    pub ramp: Option<Nanos>,
    /// Start this number of operations per second, even if earlier ones are late (open loop). The
    /// response time counts from when each operation was due.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub rate: Option<u64>,
    /// mixed: shares of get, stat, put and delete in percent.
    #[arg(long, value_name = "G/S/P/D", default_value = "45/30/15/10", value_parser = mix)]
    pub mix: String,
    /// get: fetch ranges of this length, at random multiples of it, instead of whole objects.
    #[arg(long, value_name = "SIZE", value_parser = size::size)]
    pub range_size: Option<Bytes>,
    /// multipart: size of the parts [default: 5m].
    #[arg(long, value_name = "SIZE", value_parser = size::size)]
    pub part_size: Option<Bytes>,
    /// multipart: parts of one object in flight [default: 4].
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub part_concurrent: Option<u32>,
    /// list: keys per answer; a list requests answers until it has all keys [default: 1000].
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub max_keys: Option<u32>,
    /// Seed of sizes, contents and order.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Put no objects first; use those of an earlier call with --no-cleanup and the same --prefix,
    /// --size, --objects, --threads and --seed.
    #[arg(long, requires = "prefix")]
    pub no_prepare: bool,
    /// Do not delete the objects at the end.
    #[arg(long, alias = "noclear")]
    pub no_cleanup: bool,
    /// Sample which code uses the CPUs, of this program and of a server on this machine.
    #[arg(long)]
    pub cpu_profile: bool,
    /// Show the live view, also in a short run.
    #[arg(long)]
    pub live: bool,
    /// Write the report to this file.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub kept: suites::OutputArguments,
}

/// Checks the shares of --mix.
fn mix(text: &str) -> Result<String, String> {
    text.parse::<ObjectMix>().map(|_| text.to_owned())
}

impl Arguments {
    /// Sizes of the objects.
    pub fn sizes(&self) -> Sizes {
        self.size.clone().unwrap_or(Sizes::Fixed(self.work.default_objects().0))
    }

    /// Number of objects before the measurement.
    pub fn objects(&self) -> u64 {
        self.objects.unwrap_or(self.work.default_objects().1)
    }

    /// Operations in flight.
    pub fn concurrent(&self) -> u32 {
        self.concurrent.unwrap_or(self.work.default_concurrency())
    }

    /// Refuses options that the operation does not use.
    ///
    /// # Errors
    /// The option, and what to do.
    pub fn check(&self) -> Result<()> {
        let options = [
            ("--objects", self.objects.is_some(), self.work.needs_objects()),
            ("--no-prepare", self.no_prepare, self.work.needs_objects()),
            ("--range-size", self.range_size.is_some(), self.work == Work::Get),
            ("--part-size", self.part_size.is_some(), self.work == Work::Multipart),
            ("--part-concurrent", self.part_concurrent.is_some(), self.work == Work::Multipart),
            ("--max-keys", self.max_keys.is_some(), self.work == Work::List),
            ("--mix", self.mix != "45/30/15/10", self.work == Work::Mixed),
        ];
        for (option, is_given, fits) in options {
            if is_given && !fits {
                let name = self.work.name();
                return Err(Refusal::usage(format!(
                    "{option} does not apply to {name}; leave it out"
                )));
            }
        }
        let (concurrent, threads) = (self.concurrent(), self.threads);
        if !concurrent.is_multiple_of(threads) {
            return Err(Refusal::usage(format!(
                "--concurrent={concurrent} is not a multiple of --threads={threads}; give a multiple"
            )));
        }
        if self.rate.is_some_and(|rate| !rate.is_multiple_of(u64::from(threads))) {
            let text = format!("--rate is not a multiple of --threads={threads}; give a multiple");
            return Err(Refusal::usage(text));
        }
        if self.access_key.is_some() != self.secret_key.is_some() {
            let text = "--access-key needs --secret-key; give both, or AWS_ACCESS_KEY_ID and \
                        AWS_SECRET_ACCESS_KEY";
            return Err(Refusal::usage(text));
        }
        if let Some(bytes) = self.sse_c_key.as_ref().map(String::len).filter(|bytes| *bytes != 32) {
            let text = format!("--sse-c-key: the key has {bytes} bytes; give 32 ASCII characters");
            return Err(Refusal::usage(text));
        }
        self.check_names()
    }

    fn check_names(&self) -> Result<()> {
        if self.bucket.is_empty() || self.bucket.contains('/') {
            return Err(Refusal::usage(format!(
                "--bucket='{}' is not the name of a bucket; give the part after a slash as --prefix",
                self.bucket
            )));
        }
        let prefix = self.prefix.as_deref().map(|prefix| prefix.trim_matches('/'));
        match prefix {
            Some(prefix) if prefix.is_empty() || prefix.contains([':', '$', '\\']) => {
                Err(Refusal::usage(format!(
                    "--prefix='{prefix}' cannot be used; give at least one character, without ':', \
                     '$' and '\\'"
                )))
            }
            _ => Ok(()),
        }
    }
}
