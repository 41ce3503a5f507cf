//! Object stores: the http engine and `fathom s3`.

#[path = "../common/mod.rs"]
mod common;

mod figures;
mod http_errors;
mod http_robust;
mod http_stores;
mod s3;
mod s3_access;
mod s3_hosts;
mod s3_list;
mod s3_live;
