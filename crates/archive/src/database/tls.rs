//! TLS to a server: its certificate is verified by the system's authorities, or by those of a file.

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::path::Path;
use std::sync::Arc;
use tokio_postgres_rustls::MakeRustlsConnect;

/// The settings, with the authorities of a file (PEM) or of the system.
///
/// # Errors
/// The certificates cannot be read, or there are none.
pub fn settings(authorities: Option<&Path>) -> Result<MakeRustlsConnect, String> {
    let mut roots = RootCertStore::empty();
    match authorities {
        Some(path) => {
            let wrong = |what: String| format!("sslrootcert={}: {what}", path.display());
            let all =
                CertificateDer::pem_file_iter(path).map_err(|error| wrong(error.to_string()))?;
            for one in all {
                let one = one.map_err(|error| wrong(error.to_string()))?;
                roots.add(one).map_err(|error| wrong(error.to_string()))?;
            }
            if roots.is_empty() {
                return Err(wrong("it holds no certificate: expected PEM".into()));
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}
