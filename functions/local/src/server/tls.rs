//! TLS: the certificate and its key from files, read again when they change.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use clap::Args;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use super::signal::Stop;
use crate::exit::Exit;
use crate::failure::Failure;

/// Pause between two looks at the files.
const LOOK: Duration = Duration::from_secs(2);

/// Files of the certificate.
#[derive(Debug, Args)]
pub(crate) struct TlsArgs {
    /// Serve HTTPS with this certificate: a PEM file with its chain. The server reloads it when the file changes
    #[arg(
        long,
        value_name = "FILE",
        env = "DORMOUSE_TLS_CERT",
        requires = "tls_key"
    )]
    tls_cert: Option<PathBuf>,
    /// Private key of the certificate, a PEM file
    #[arg(
        long,
        value_name = "FILE",
        env = "DORMOUSE_TLS_KEY",
        requires = "tls_cert"
    )]
    tls_key: Option<PathBuf>,
}

impl TlsArgs {
    /// The certificate, if one was named.
    pub(crate) fn read(&self) -> Result<Option<Tls>, Failure> {
        match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => Tls::open(certificate, key).map(Some),
            (None, _) | (_, None) => Ok(None),
        }
    }
}

/// A certificate that connections are encrypted with. Clones see the same, and its replacement.
#[derive(Clone)]
pub(crate) struct Tls(Arc<Inner>);

struct Inner {
    certificate: PathBuf,
    key: PathBuf,
    current: RwLock<Settings>,
}

/// Settings of new connections.
#[derive(Clone)]
struct Settings {
    all: Arc<ServerConfig>,
    /// For a connection that is for one request.
    http1_only: Arc<ServerConfig>,
}

/// Content of the files.
#[derive(PartialEq, Eq)]
struct Pem {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl Tls {
    fn open(certificate: &Path, key: &Path) -> Result<Self, Failure> {
        let pem = Pem::read(certificate, key)?;
        Ok(Self(Arc::new(Inner {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
            current: RwLock::new(pem.settings(certificate)?),
        })))
    }

    /// Accepts one connection. `is_extra`: it is for one request.
    pub(super) fn acceptor(&self, is_extra: bool) -> TlsAcceptor {
        let current = self.0.current.read();
        let current = current.unwrap_or_else(PoisonError::into_inner);
        TlsAcceptor::from(match is_extra {
            true => Arc::clone(&current.http1_only),
            false => Arc::clone(&current.all),
        })
    }

    /// Takes a new certificate when the files change, for new connections. One that cannot be used changes nothing. Returns when
    /// it is to stop.
    pub(crate) async fn follow_files(self, mut stop: Stop) {
        let Inner {
            certificate, key, ..
        } = &*self.0;
        let mut seen = Pem::read(certificate, key).ok();
        loop {
            tokio::select! {
                _sender_gone = stop.wait_for(|stop| *stop) => return,
                () = tokio::time::sleep(LOOK) => {}
            }
            // Files that are being replaced may be away for a moment.
            let Ok(pem) = Pem::read(certificate, key) else {
                continue;
            };
            if seen.as_ref() == Some(&pem) {
                continue;
            }
            match pem.settings(certificate) {
                Ok(settings) => {
                    let current = self.0.current.write();
                    *current.unwrap_or_else(PoisonError::into_inner) = settings;
                    tracing::info!(certificate = %certificate.display(), "new connections use the new certificate");
                }
                Err(failure) => {
                    tracing::warn!(reason = %failure.message, "the new certificate cannot be used; the one before stays in use");
                }
            }
            seen = Some(pem);
        }
    }
}

impl Pem {
    fn read(certificate: &Path, key: &Path) -> Result<Self, Failure> {
        let read = |path: &Path| std::fs::read(path).map_err(|e| Failure::file(path, &e));
        Ok(Self {
            certificate: read(certificate)?,
            key: read(key)?,
        })
    }

    fn settings(&self, path: &Path) -> Result<Settings, Failure> {
        let wrong = |reason: String| {
            let message = format!("{} cannot be served with: {reason}", path.display());
            Failure::new(Exit::BadInput, "badCertificate", message).help(
                "--tls-cert takes a PEM file with the certificate and its chain, --tls-key the PEM file of its private key",
            )
        };
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&self.certificate).collect();
        let chain = chain.map_err(|e| wrong(e.to_string()))?;
        let key = PrivateKeyDer::from_pem_slice(&self.key).map_err(|e| wrong(e.to_string()))?;
        let provider = rustls::crypto::ring::default_provider();
        let config = ServerConfig::builder_with_provider(provider.into())
            .with_protocol_versions(rustls::DEFAULT_VERSIONS)
            .map_err(|e| wrong(e.to_string()))?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(|e| wrong(e.to_string()))?;
        let offering = |protocols: &[&[u8]]| {
            let mut config = config.clone();
            config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
            Arc::new(config)
        };
        Ok(Settings {
            all: offering(&[b"h2", b"http/1.1"]),
            http1_only: offering(&[b"http/1.1"]),
        })
    }
}
