//! Encrypted connections, and certificates that the client must refuse.

use super::framing::pattern;
use super::*;
use crate::{Addressing, Security};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, SanType};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::path::PathBuf;
use tempfile::NamedTempFile;

/// A certificate authority for one test.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new(name: &str) -> Authority {
        Authority::for_hosts(name, Vec::new())
    }

    /// An authority with a certificate that is also valid for `hosts`.
    fn for_hosts(name: &str, hosts: Vec<String>) -> Authority {
        let mut params = CertificateParams::new(hosts).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        Authority(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn file(&self) -> NamedTempFile {
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(self.0.pem().as_bytes()).unwrap();
        file
    }

    /// Configures a server that uses the authority's own certificate.
    fn as_server(&self) -> ServerConfig {
        server_config(self.0.der().to_vec(), self.0.key().serialize_der())
    }

    /// Configures a server with a new certificate for `host`, modified by `change`.
    fn issue(&self, host: &str, change: impl Fn(&mut CertificateParams)) -> ServerConfig {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![host.to_string()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, "storage box");
        change(&mut params);
        let certificate = params.signed_by(&key, &self.0).unwrap();
        server_config(certificate.der().to_vec(), key.serialize_der())
    }
}

fn server_config(certificate: Vec<u8>, key: Vec<u8>) -> ServerConfig {
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key));
    ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(certificate)], key)
        .unwrap()
}

/// A server that returns the content of the last PUT.
fn storing_server(config: ServerConfig) -> Server {
    let config = Arc::new(config);
    Server::new(move |_, stream| {
        let session = ServerConnection::new(config.clone()).unwrap();
        let mut stream = BufReader::new(StreamOwned::new(session, stream));
        let mut content = b"abc".to_vec();
        while let Some((head, body)) = request(&mut stream) {
            let answer = if head.starts_with("PUT") { ok(b"") } else { ok(&content) };
            if head.starts_with("PUT") {
                content = body;
            }
            if stream.get_mut().write_all(&answer).is_err() {
                return;
            }
        }
    })
}

fn encrypted(server: &Server, security: Security, authorities: Option<PathBuf>) -> Store {
    Store { security, authorities, ..server.store() }
}

/// The failure of a client that trusts the certificates in `file`.
fn tls_failure(config: ServerConfig, file: &NamedTempFile) -> String {
    let server = storing_server(config);
    let store = encrypted(&server, Security::Verified, Some(file.path().into()));
    match failure(run(&mut client(store, 1), &get(3), &mut Buffers::new(""))) {
        Failure::Tls(text) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn content_is_sent_and_received_over_tls() {
    let authority = Authority::new("Test CA");
    let file = authority.file();
    let server = storing_server(authority.issue("127.0.0.1", |_| {}));
    let store = encrypted(&server, Security::Verified, Some(file.path().into()));
    let mut client = client(store, 1);
    let length = 3_000_001;
    let mut buffers = Buffers::rooms(1, length);
    buffers.content = pattern(length);
    let outcome = run(&mut client, &put(length as u64), &mut buffers);
    let (begin, end) = outcome.stamps.tls.unwrap();
    assert!(outcome.stamps.connect.unwrap().1 <= begin && begin < end);
    assert_eq!(outcome.result.unwrap().moved, length as u64);
    for _ in 0..3 {
        let outcome = run(&mut client, &get(length as u64), &mut buffers);
        assert_eq!(outcome.stamps.tls, None);
        assert_eq!(outcome.result.unwrap().moved, length as u64);
        assert!(buffers.rooms.as_ref().unwrap()[0] == buffers.content);
        buffers.rooms.as_mut().unwrap()[0].fill(0);
    }
    assert_eq!(server.accepted(), 1);
}

/// A server that answers each request with the host name of the TLS handshake.
fn host_reporting_server(config: ServerConfig) -> Server {
    let config = Arc::new(config);
    Server::new(move |_, stream| {
        let session = ServerConnection::new(config.clone()).unwrap();
        let mut stream = BufReader::new(StreamOwned::new(session, stream));
        while request(&mut stream).is_some() {
            let name = stream.get_ref().conn.server_name().unwrap_or_default().to_owned();
            if stream.get_mut().write_all(&ok(name.as_bytes())).is_err() {
                return;
            }
        }
    })
}

#[test]
fn with_virtual_hosts_the_certificate_is_checked_for_the_host_of_the_bucket() {
    let authority = Authority::new("Test CA");
    let file = authority.file();
    let server = host_reporting_server(authority.issue("one.localhost", |params| {
        params.subject_alt_names.push(SanType::DnsName("two.localhost".try_into().unwrap()));
    }));
    let by_host = |addressing| Store {
        protocol: crate::Protocol::S3,
        addressing,
        endpoints: vec![endpoint("localhost", server.address)],
        ..encrypted(&server, Security::Verified, Some(file.path().into()))
    };
    let mut client = client(by_host(Addressing::VirtualHost), 1);
    let mut reported_host = |path, length| {
        let request = Request { action: Action::Get { range: None }, path, length };
        let mut buffers = Buffers::rooms(1, length as usize);
        run(&mut client, &request, &mut buffers).result.unwrap();
        String::from_utf8(buffers.rooms.unwrap().remove(0)).unwrap()
    };
    // A connection is reused for the same host, and for no other.
    for (path, name, connections) in [
        ("/one/key", "one.localhost", 1),
        ("/one/other", "one.localhost", 1),
        ("/two/key", "two.localhost", 2),
        ("/one/key", "one.localhost", 3),
    ] {
        assert_eq!(reported_host(path, name.len() as u64), name);
        assert_eq!(server.accepted(), connections, "{path}");
    }
    // The certificate is valid neither for the endpoint itself nor for a third bucket.
    for (addressing, path, name) in [
        (Addressing::Path, "/one/key", "certificate of localhost"),
        (Addressing::VirtualHost, "/three/key", "certificate of three.localhost"),
    ] {
        let mut client = super::client(by_host(addressing), 1);
        let request = Request { action: Action::Get { range: None }, path, length: 1 };
        match failure(run(&mut client, &request, &mut Buffers::new(""))) {
            Failure::Tls(text) => assert!(text.contains(name), "{text}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_error_describes_a_refused_certificate() {
    let (ours, other) = (Authority::new("Test CA"), Authority::new("Someone else"));
    let file = ours.file();
    let text = tls_failure(other.issue("127.0.0.1", |_| {}), &file);
    for part in ["127.0.0.1", "'storage box'", "issued by 'Someone else'", "authorities"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = tls_failure(ours.issue("elsewhere.example", |_| {}), &file);
    assert!(text.contains("127.0.0.1") && text.contains("elsewhere.example"), "{text}");
    let text = tls_failure(
        ours.issue("127.0.0.1", |params| {
            params.not_before = rcgen::date_time_ymd(2001, 1, 1);
            params.not_after = rcgen::date_time_ymd(2002, 1, 1);
        }),
        &file,
    );
    assert!(text.contains("expired"), "{text}");
}

/// `openssl req -x509` creates such certificates.
#[test]
fn a_self_signed_certificate_is_trusted_only_if_it_is_an_authority_and_for_its_host() {
    let own = Authority::for_hosts("storage box", vec!["127.0.0.1".into()]);
    let file = own.file();
    let server = storing_server(own.as_server());
    let store = encrypted(&server, Security::Verified, Some(file.path().into()));
    let outcome = run(&mut client(store, 1), &get(3), &mut Buffers::new(""));
    assert_eq!(outcome.result.unwrap().moved, 3);
    let text = tls_failure(own.as_server(), &Authority::new("Test CA").file());
    assert!(text.contains("'storage box', signed by itself"), "{text}");
    let elsewhere = Authority::for_hosts("storage box", vec!["elsewhere.example".into()]);
    let text = tls_failure(elsewhere.as_server(), &elsewhere.file());
    assert!(text.contains("127.0.0.1"), "{text}");
}

#[test]
fn insecure_accepts_any_certificate() {
    let server = storing_server(Authority::new("No one").issue("elsewhere.example", |_| {}));
    let store = encrypted(&server, Security::Insecure, None);
    let outcome = run(&mut client(store, 1), &get(3), &mut Buffers::new(""));
    assert_eq!(outcome.result.unwrap().moved, 3);
}

#[test]
fn plain_http_instead_of_tls_is_reported_on_either_side() {
    let server = Server::new(|_, mut stream| {
        let _ = stream.read(&mut [0; 1000]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        hold(stream);
    });
    let store = encrypted(&server, Security::Insecure, None);
    match failure(run(&mut client(store, 1), &get(3), &mut Buffers::new(""))) {
        Failure::Tls(text) => assert!(text.contains("plain HTTP"), "{text}"),
        other => panic!("{other:?}"),
    }
    let server = storing_server(Authority::new("No one").issue("127.0.0.1", |_| {}));
    match failing(&server, 3) {
        Failure::Garbage(text) => assert!(text.contains("https"), "{text}"),
        // The alert may be lost if the server closes the connection right after it.
        Failure::Broken(_) | Failure::Short { came: 0, .. } => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_silent_server_times_out_during_the_tls_handshake() {
    let server = Server::new(|_, stream| hold(stream));
    let mut store = encrypted(&server, Security::Insecure, None);
    store.timeout = Duration::from_millis(150);
    let mut client = client(store, 1);
    assert_eq!(failure(run(&mut client, &get(3), &mut Buffers::new(""))), Failure::Timeout);
    assert_eq!(client.connect(1, PATIENCE), Err(Failure::Timeout));
}

#[test]
fn the_error_names_a_file_without_certificates() {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(b"nothing of the kind").unwrap();
    for path in [file.path().to_path_buf(), PathBuf::from("/no/such/ca.pem")] {
        let server = Server::saying("");
        let store = encrypted(&server, Security::Verified, Some(path.clone()));
        match Client::open(Arc::new(store), 1, clock()) {
            Err(Failure::Tls(text)) => assert!(text.contains(path.to_str().unwrap()), "{text}"),
            other => panic!("{:?}", other.err()),
        }
    }
}
