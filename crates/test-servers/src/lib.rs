//! Object stores for tests and benchmarks: S3 with real signatures, Swift, WebDAV, another
//! implementation of S3, and a proxy that damages answers; a disk over NBD that lies about what it
//! stored; a server of PostgreSQL. All of them listen on free ports of loopback and stop when their
//! value is dropped, also when the test fails.

mod answering;
mod children;
mod lines;
mod lying_disk;
mod memory;
mod moto;
mod nbd;
mod postgres;
mod proxy;
mod s3;
mod serving;
mod swift;
mod tls;

pub use answering::{Http, Listening};
pub use children::{Program, webdav};
pub use lying_disk::{Lie, LyingDisk};
pub use memory::Memory;
pub use moto::Moto;
pub use nbd::{Nbd, NbdClient};
pub use postgres::Postgres;
pub use proxy::{Fault, Proxy, each, every_second, now_and_then};
pub use s3::{S3Options, S3Server};
pub use serving::Asked;
pub use swift::SwiftServer;
pub use tls::{Authority, Identity};
