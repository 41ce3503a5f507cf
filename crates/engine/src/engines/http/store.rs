//! Turns the plan of an object store into the client's description of it.

use objects::{Access, Addressing, CustomerKey, Endpoint, Hashing, Protocol, Security, Store};
use plan::{Objects, Payload, StoreKind, Tls};
use std::time::Duration;

/// The store of a worker's objects, for the client.
pub fn store(planned: &Objects) -> Store {
    let endpoints = planned.endpoints.iter();
    let customer_key = planned.customer_key.as_ref();
    Store {
        protocol: match planned.kind {
            StoreKind::S3 => Protocol::S3,
            StoreKind::Swift => Protocol::Swift,
            StoreKind::WebDav => Protocol::WebDav,
        },
        endpoints: endpoints
            .map(|(host, port)| Endpoint { host: host.clone(), port: *port })
            .collect(),
        security: match planned.tls {
            Tls::Off => Security::Plain,
            Tls::Verified => Security::Verified,
            Tls::Insecure => Security::Insecure,
        },
        authorities: planned.ca_file.as_ref().map(Into::into),
        access: access(&planned.access),
        addressing: if planned.virtual_host { Addressing::VirtualHost } else { Addressing::Path },
        hashing: match planned.payload {
            Payload::Auto => Hashing::Plain,
            Payload::Signed => Hashing::Always,
            Payload::Unsigned => Hashing::Never,
        },
        storage_class: planned.storage_class.clone(),
        customer_key: customer_key.map(|(algorithm, key)| CustomerKey {
            algorithm: algorithm.clone(),
            key: key.0.clone().into_bytes(),
        }),
        timeout: Duration::from_nanos(planned.timeout.0),
        retries: planned.retries,
        verbose: planned.verbose,
    }
}

fn access(planned: &plan::Access) -> Access {
    match planned {
        plan::Access::Anonymous => Access::Anonymous,
        plan::Access::Basic { user, password } => {
            Access::Basic { user: user.clone(), password: password.0.clone() }
        }
        plan::Access::Token(token) => Access::Token(token.0.clone()),
        plan::Access::Signed { key_id, key, token, region } => Access::Signed {
            key_id: key_id.clone(),
            key: key.0.clone(),
            token: token.as_ref().map(|token| token.0.clone()),
            region: region.clone(),
        },
    }
}

/// What the signature of a request covers, as in records.
pub(super) fn content(store: &Store) -> &'static str {
    match &store.access {
        _ if store.hashes_content() => "signed",
        Access::Signed { .. } => "unsigned",
        Access::Anonymous | Access::Basic { .. } | Access::Token(_) => "none",
    }
}

/// How connections are protected, as in records.
pub(super) fn tls(store: &Store) -> &'static str {
    match store.security {
        Security::Plain => "off",
        Security::Verified => "verified",
        Security::Insecure => "insecure",
    }
}
