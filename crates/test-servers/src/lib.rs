//! Object stores for tests and benchmarks: S3 with real signatures, Swift, WebDAV, S3 once more by
//! somebody else, and a proxy that spoils answers. All of them listen on loopback, at ports of their
//! own, and are gone with the value, also when the test fails.

mod answering;
mod children;
mod lines;
mod memory;
mod moto;
mod proxy;
mod s3;
mod serving;
mod swift;
mod tls;

pub use answering::{Http, Listening};
pub use children::{Program, webdav};
pub use memory::Memory;
pub use moto::Moto;
pub use proxy::{Fault, Proxy, each, every_second, now_and_then};
pub use s3::{S3Options, S3Server};
pub use serving::Asked;
pub use swift::SwiftServer;
pub use tls::{Authority, Identity};
