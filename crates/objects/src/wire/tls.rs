//! TLS: trusted certificates, and messages about those that are not.

use super::certificate;
use crate::{Failure, Security, Store};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme,
};
use std::fmt::Debug;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Most encrypted bytes that wait for the socket.
const UNSENT_MAX: usize = 256 << 10;

/// The TLS settings of a client.
#[derive(Clone, Debug)]
pub struct Tls {
    config: Arc<ClientConfig>,
    refused: Refused,
}

/// The reason why the last certificate was refused.
type Refused = Arc<Mutex<Option<String>>>;

impl Tls {
    /// The TLS settings of a store; `None`: no TLS. Reads the trusted certificates.
    ///
    /// # Errors
    /// The certificates cannot be read, or there are none.
    pub fn for_store(store: &Store) -> Result<Option<Tls>, Failure> {
        let provider = Arc::new(ring::default_provider());
        let refused = Refused::default();
        let verifier: Arc<dyn ServerCertVerifier> = match store.security {
            Security::Plain => return Ok(None),
            Security::Insecure => Arc::new(Anyone { provider: provider.clone() }),
            Security::Verified => {
                let (roots, named) = match &store.authorities {
                    Some(path) => roots_of_file(path)?,
                    None => (roots_of_system()?, Vec::new()),
                };
                let inner =
                    WebPkiServerVerifier::builder_with_provider(roots.into(), provider.clone())
                        .build()
                        .map_err(|error| Failure::Tls(error.to_string()))?;
                Arc::new(Trusted { inner, named, refused: refused.clone() })
            }
        };
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| Failure::Tls(error.to_string()))?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Some(Tls { config: config.into(), refused }))
    }

    /// A session with a host, before its handshake.
    ///
    /// # Errors
    /// The host name is not valid in a certificate.
    pub fn connection(&self, host: &str) -> Result<ClientConnection, Failure> {
        let name = ServerName::try_from(host.to_string()).map_err(|_| {
            Failure::Tls(format!("'{host}' is neither a host's name nor an address"))
        })?;
        let mut connection = ClientConnection::new(self.config.clone(), name)
            .map_err(|error| Failure::Tls(error.to_string()))?;
        connection.set_buffer_limit(Some(UNSENT_MAX));
        Ok(connection)
    }

    /// The failure for a TLS error, with the certificate's names if a certificate was refused.
    pub fn failure(&self, error: &Error) -> Failure {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner).take();
        Failure::Tls(match (error, refused) {
            (Error::InvalidCertificate(_), Some(text)) => text,
            (Error::InvalidMessage(_), _) => {
                format!("what answers does not speak TLS: is it plain HTTP? ({error})")
            }
            _ => error.to_string(),
        })
    }
}

/// Reads a file of certificates: authorities, and the certificates themselves.
fn roots_of_file(path: &Path) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), Failure> {
    let wrong = |what: String| Failure::Tls(format!("{}: {what}", path.display()));
    let (mut roots, mut named) = (RootCertStore::empty(), Vec::new());
    let all = CertificateDer::pem_file_iter(path).map_err(|error| wrong(error.to_string()))?;
    for one in all {
        let one = one.map_err(|error| wrong(error.to_string()))?;
        let names = certificate::names(&one);
        named.push(one.clone());
        roots.add(one).map_err(|error| wrong(format!("the certificate of {names}: {error}")))?;
    }
    if roots.is_empty() {
        return Err(wrong(
            "holds no certificate: expected PEM, '-----BEGIN CERTIFICATE-----'".into(),
        ));
    }
    Ok((roots, named))
}

fn roots_of_system() -> Result<RootCertStore, Failure> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    // Systems may have certificates that cannot be parsed; these are skipped.
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let why = found.errors.first().map(|error| format!(" ({error})")).unwrap_or_default();
        let what =
            "this system has no trusted certificates: install ca-certificates, or name a file";
        return Err(Failure::Tls(format!("{what}{why}")));
    }
    Ok(roots)
}

/// Trusts certificates signed by the authorities, and records why others are refused.
#[derive(Debug)]
struct Trusted {
    inner: Arc<WebPkiServerVerifier>,
    /// Certificates that the user named.
    named: Vec<CertificateDer<'static>>,
    refused: Refused,
}

impl Trusted {
    /// Self-signed certificates are mostly authorities, which webpki does not accept for servers.
    /// One that the user named is trusted anyway; its validity period has been checked before.
    fn is_named(&self, given: &CertificateDer<'_>, host: &ServerName<'_>, error: &Error) -> bool {
        let Error::InvalidCertificate(CertificateError::Other(other)) = error else { return false };
        format!("{:?}", other.0) == "CaUsedAsEndEntity"
            && self.named.iter().any(|named| named == given)
            && ParsedCertificate::try_from(given)
                .is_ok_and(|parsed| verify_server_name(&parsed, host).is_ok())
    }
}

impl ServerCertVerifier for Trusted {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let (inner, given) = (&self.inner, end_entity);
        let verified =
            inner.verify_server_cert(given, intermediates, server_name, ocsp_response, now);
        if verified.as_ref().is_err_and(|error| self.is_named(given, server_name, error)) {
            return Ok(ServerCertVerified::assertion());
        }
        if let Err(Error::InvalidCertificate(error)) = &verified {
            let host = server_name.to_str();
            let names = certificate::names(end_entity);
            let text =
                format!("the certificate of {host}, {names}, is not trusted: {}", reason(error));
            *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
        }
        verified
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}

fn reason(error: &CertificateError) -> String {
    match error {
        CertificateError::UnknownIssuer => {
            "none of the trusted authorities issued it; name its authority's file, or trust anyone"
                .into()
        }
        CertificateError::Expired => "it has expired".into(),
        CertificateError::ExpiredContext { not_after, .. } => {
            format!("it has expired, on {}", day(*not_after))
        }
        CertificateError::NotValidYet => "it is not valid yet".into(),
        CertificateError::NotValidYetContext { not_before, .. } => {
            format!("it is not valid before {}", day(*not_before))
        }
        error => error.to_string(),
    }
}

/// Trusts every certificate.
#[derive(Debug)]
struct Anyone {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// "2020-01-01", in UTC.
fn day(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    let time = chrono::DateTime::from_timestamp(seconds, 0);
    time.map_or("a day that no calendar has".into(), |time| time.format("%Y-%m-%d").to_string())
}
