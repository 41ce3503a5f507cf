//! A temporary certificate authority, and certificates of servers that it signs.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// A temporary certificate authority. Clients trust it only if they are given its certificate.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    directory: TempDir,
}

/// A certificate with its key.
pub struct Identity {
    certificate: rcgen::Certificate,
    key: KeyPair,
}

impl Authority {
    /// The name in its certificate.
    pub const NAME: &str = "throwaway authority";

    /// Creates an authority.
    ///
    /// # Panics
    /// When no directory can be created for its certificate.
    #[track_caller]
    pub fn new() -> Authority {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, Authority::NAME);
        let key = KeyPair::generate().expect("a key");
        let own = params.self_signed(&key).expect("a certificate");
        let directory = testbed::scratch();
        std::fs::write(directory.path().join("ca.pem"), own.pem()).expect("a file");
        Authority { issuer: Issuer::new(params, key), directory }
    }

    /// The file of its certificate (PEM).
    pub fn file(&self) -> PathBuf {
        self.directory.path().join("ca.pem")
    }

    /// A certificate for hosts, which are names or addresses.
    pub fn identity(&self, hosts: &[&str]) -> Identity {
        self.signed(params(hosts))
    }

    /// A certificate that expired years ago.
    pub fn expired(&self, hosts: &[&str]) -> Identity {
        let mut params = params(hosts);
        params.not_before = date_time_ymd(2019, 1, 1);
        params.not_after = date_time_ymd(2020, 1, 1);
        self.signed(params)
    }

    fn signed(&self, params: CertificateParams) -> Identity {
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        Identity { certificate, key }
    }
}

impl Default for Authority {
    fn default() -> Authority {
        Authority::new()
    }
}

fn params(hosts: &[&str]) -> CertificateParams {
    let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    let name = hosts.first().cloned().unwrap_or_default();
    let mut params = CertificateParams::new(hosts).expect("hosts");
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

impl Identity {
    /// The configuration of a server in this process.
    pub fn config(&self) -> Arc<ServerConfig> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::try_from(self.key.serialize_der()).expect("a key");
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions that the provider knows")
            .with_no_client_auth()
            .with_single_cert(vec![self.certificate.der().clone()], key)
            .expect("a certificate with its key");
        Arc::new(config)
    }

    /// Writes the certificate and the key to files (PEM), for a server in another process.
    ///
    /// # Panics
    /// When the directory cannot be written to.
    #[track_caller]
    pub fn files(&self, directory: &Path) -> (PathBuf, PathBuf) {
        let (certificate, key) = (directory.join("cert.pem"), directory.join("key.pem"));
        std::fs::write(&certificate, self.certificate.pem()).expect("a file");
        std::fs::write(&key, self.key.serialize_pem()).expect("a file");
        (certificate, key)
    }
}
