//! What `fathom s3` takes.

use super::size::{self, Sizes};
use crate::suites::{self};
use anyhow::Result;
use clap::{Args, ValueEnum};
use job::ObjectMix;
use record::{Bytes, Nanos};
use runner::Refusal;
use std::path::PathBuf;

/// Operations, as they are typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Work {
    /// Put new objects.
    Put,
    /// Fetch objects, or ranges of them.
    Get,
    /// Ask for their attributes (HEAD).
    Stat,
    /// List their keys.
    List,
    /// Delete each of them once.
    Delete,
    /// Get, stat, put and delete in shares (see --mix).
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

    /// As it is typed.
    pub fn name(self) -> &'static str {
        if self == Work::Multipart { "multipart" } else { self.set() }
    }

    /// Whether objects have to be there for it.
    pub fn needs_objects(self) -> bool {
        !matches!(self, Work::Put | Work::Multipart)
    }

    /// Size of objects where none is given, and how many there are.
    fn usual(self) -> (Bytes, u64) {
        match self {
            Work::Put => (Bytes(5 << 20), 0),
            Work::Multipart => (Bytes(100 << 20), 0),
            Work::Get | Work::Mixed => (Bytes(5 << 20), 500),
            Work::Stat | Work::List => (Bytes(1 << 10), 10_000),
            Work::Delete => (Bytes(1 << 10), 25_000),
        }
    }

    /// Operations in flight where nothing is said.
    fn usual_concurrency(self) -> u32 {
        if self == Work::Multipart { 4 } else { 20 }
    }
}

/// What stands above the options in the help.
const EXAMPLES: &str = "\
Examples:
  fathom s3 put --endpoint=http://127.0.0.1:9000 --bucket=bench
  fathom s3 get --endpoint=https://s3.example.com --bucket=bench --concurrent=64 --duration=60s";

/// What `fathom s3` takes.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub struct Arguments {
    /// What to measure.
    pub work: Work,
    /// Where the store is: HOST:PORT, http://HOST:PORT or https://HOST; several with commas between
    /// them or as host{1...8}:9000 are used in turn. Otherwise AWS_ENDPOINT_URL_S3 or
    /// AWS_ENDPOINT_URL, or AWS itself by the region.
    #[arg(long, alias = "host", value_name = "URL")]
    pub endpoint: Option<String>,
    /// The bucket; it has to be there.
    #[arg(long)]
    pub bucket: String,
    /// Make the bucket where it is not there; it stays.
    #[arg(long)]
    pub make_bucket: bool,
    /// What the names of all objects begin with; otherwise a name that nobody else has.
    #[arg(long)]
    pub prefix: Option<String>,
    /// Name of the key; otherwise AWS_ACCESS_KEY_ID or a profile's.
    #[arg(long, value_name = "ID")]
    pub access_key: Option<String>,
    /// The key; otherwise AWS_SECRET_ACCESS_KEY or a profile's, where nobody sees it.
    #[arg(long, value_name = "KEY", requires = "access_key")]
    pub secret_key: Option<String>,
    /// Token of a temporary key; otherwise AWS_SESSION_TOKEN or a profile's.
    #[arg(long, value_name = "TOKEN", requires = "access_key")]
    pub session_token: Option<String>,
    /// Ask without a key.
    #[arg(long, conflicts_with_all = ["access_key", "profile"])]
    pub anonymous: bool,
    /// The region; otherwise AWS_REGION, AWS_DEFAULT_REGION, a profile's, or us-east-1.
    #[arg(long)]
    pub region: Option<String>,
    /// The profile in ~/.aws/credentials and ~/.aws/config; otherwise AWS_PROFILE.
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Encrypt, where the endpoint does not say it.
    #[arg(long)]
    pub tls: bool,
    /// Encrypt, and accept any certificate.
    #[arg(long)]
    pub insecure: bool,
    /// PEM file with the certificates to trust instead of the system's.
    #[arg(long, value_name = "FILE")]
    pub ca_file: Option<String>,
    /// Sign only the head of a PUT; otherwise its content as well, except over TLS.
    #[arg(long)]
    pub unsigned_payload: bool,
    /// Name the bucket in the host (BUCKET.HOST), not in the path.
    #[arg(long)]
    pub virtual_host: bool,
    /// Storage class of what is put; otherwise STANDARD.
    #[arg(long, value_name = "CLASS")]
    pub storage_class: Option<String>,
    /// Key of 32 characters that the server encrypts with and forgets (SSE-C); most servers take it
    /// over TLS only.
    #[arg(long, value_name = "KEY")]
    pub sse_c_key: Option<String>,
    /// Repeat a request so often that failed in a way that may pass; repeats are counted.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub retries: u32,
    /// A request on which nothing moves for this long has failed.
    #[arg(long, value_name = "TIME", default_value = "30", value_parser = suites::time)]
    pub timeout: Nanos,
    /// Sizes of the objects: 5m, 4k-1m, or with shares in per cent 4k:50,1m:30,5m:20. [default: 5m;
    /// 1k for stat, list and delete; 100m for multipart]
    #[arg(long, alias = "obj.size", value_name = "SIZES", value_parser = size::sizes)]
    pub size: Option<Sizes>,
    /// Operations in flight, over all threads. [default: 20; 4 for multipart]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub concurrent: Option<u32>,
    /// Threads that share them.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: u32,
    /// Objects that are put before the measurement (not with put, multipart). [default: 500 for get
    /// and mixed, 10000 for stat and list, 25000 for delete]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub objects: Option<u64>,
    /// Length of the measurement; delete ends when all objects are deleted.
    #[arg(long, value_name = "TIME", default_value = "60", value_parser = suites::time)]
    pub duration: Nanos,
    /// Time before the measurement begins, with the same load.
    #[arg(long, value_name = "TIME", value_parser = suites::time)]
    pub ramp: Option<Nanos>,
    /// Begin so many operations a second, whatever becomes of those before (open loop); shows the
    /// response time, which counts from when each was due.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub rate: Option<u64>,
    /// Shares of get, stat, put and delete in mixed.
    #[arg(long, value_name = "G/S/P/D", default_value = "45/30/15/10", value_parser = mix)]
    pub mix: String,
    /// get: fetch ranges of this length, at random multiples of it, not whole objects.
    #[arg(long, value_name = "SIZE", value_parser = size::size)]
    pub range_size: Option<Bytes>,
    /// multipart: size of the parts. [default: 5m]
    #[arg(long, value_name = "SIZE", value_parser = size::size)]
    pub part_size: Option<Bytes>,
    /// multipart: parts of one object in flight. [default: 4]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub part_concurrent: Option<u32>,
    /// list: keys of one answer; a list goes on, answer by answer, until it has all. [default: 1000]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub max_keys: Option<u32>,
    /// Seed of sizes, content and order; the same seed repeats them.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Put no objects first: an earlier call with the same --prefix, --size, --objects, --threads,
    /// --seed and --no-cleanup has left them.
    #[arg(long, requires = "prefix")]
    pub no_prepare: bool,
    /// Leave the objects; otherwise those that this call put are deleted.
    #[arg(long, alias = "noclear")]
    pub no_cleanup: bool,
    /// Show what happens as a picture while it does, however short it is; on a terminal longer ones
    /// have it anyway.
    #[arg(long)]
    pub live: bool,
    /// Write the report to this file.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub kept: suites::OutputArguments,
}

/// Shares as the job takes them.
fn mix(text: &str) -> Result<String, String> {
    text.parse::<ObjectMix>().map(|_| text.to_owned())
}

impl Arguments {
    /// Sizes of the objects.
    pub fn sizes(&self) -> Sizes {
        self.size.clone().unwrap_or(Sizes::Fixed(self.work.usual().0))
    }

    /// How many objects there are before the measurement.
    pub fn objects(&self) -> u64 {
        self.objects.unwrap_or(self.work.usual().1)
    }

    /// Operations in flight.
    pub fn concurrent(&self) -> u32 {
        self.concurrent.unwrap_or(self.work.usual_concurrency())
    }

    /// Options that the work has no use for are mistakes.
    ///
    /// # Errors
    /// The option, and what to do.
    pub fn check(&self) -> Result<()> {
        let given = [
            ("--objects", self.objects.is_some(), self.work.needs_objects()),
            ("--no-prepare", self.no_prepare, self.work.needs_objects()),
            ("--range-size", self.range_size.is_some(), self.work == Work::Get),
            ("--part-size", self.part_size.is_some(), self.work == Work::Multipart),
            ("--part-concurrent", self.part_concurrent.is_some(), self.work == Work::Multipart),
            ("--max-keys", self.max_keys.is_some(), self.work == Work::List),
            ("--mix", self.mix != "45/30/15/10", self.work == Work::Mixed),
        ];
        for (option, is_given, fits) in given {
            if is_given && !fits {
                let name = self.work.name();
                return Err(Refusal::usage(format!("{option} is not for {name}; leave it out")));
            }
        }
        let (concurrent, threads) = (self.concurrent(), self.threads);
        if !concurrent.is_multiple_of(threads) {
            return Err(Refusal::usage(format!(
                "--concurrent={concurrent} cannot be shared by --threads={threads}; give a multiple"
            )));
        }
        if self.rate.is_some_and(|rate| !rate.is_multiple_of(u64::from(threads))) {
            let text = format!("--rate cannot be shared by --threads={threads}; give a multiple");
            return Err(Refusal::usage(text));
        }
        if self.access_key.is_some() != self.secret_key.is_some() {
            let text = "--access-key needs --secret-key; give both, or AWS_ACCESS_KEY_ID and \
                        AWS_SECRET_ACCESS_KEY";
            return Err(Refusal::usage(text));
        }
        if let Some(bytes) = self.sse_c_key.as_ref().map(String::len).filter(|bytes| *bytes != 32) {
            let text = format!("--sse-c-key: a key of {bytes} bytes; give 32 characters of ASCII");
            return Err(Refusal::usage(text));
        }
        self.check_names()
    }

    fn check_names(&self) -> Result<()> {
        if self.bucket.is_empty() || self.bucket.contains('/') {
            return Err(Refusal::usage(format!(
                "--bucket='{}' is no name of a bucket; what follows a slash goes to --prefix",
                self.bucket
            )));
        }
        let prefix = self.prefix.as_deref().map(|prefix| prefix.trim_matches('/'));
        match prefix {
            Some(prefix) if prefix.is_empty() || prefix.contains([':', '$', '\\']) => {
                Err(Refusal::usage(format!(
                    "--prefix='{prefix}' does not do; give at least one character, and neither \
                     ':', '$' nor '\\'"
                )))
            }
            _ => Ok(()),
        }
    }
}
