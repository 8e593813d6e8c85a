//! A server that was approved with its TLS key is spoken to only under that key: before anything is sent, a token least of
//! all.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

use contract::Digest;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use rustls_platform_verifier::Verifier;
use webpki::EndEntityCert;

/// The digests of the keys that were approved; while there is none, any will do.
pub(crate) type Keys = Arc<RwLock<BTreeSet<Digest>>>;

/// The digest of a certificate's key (its `SubjectPublicKeyInfo`, RFC 7469 §2.4).
pub(crate) fn key_of(certificate: &[u8]) -> Option<Digest> {
    let certificate = CertificateDer::from(certificate);
    let certificate = EndEntityCert::try_from(&certificate).ok()?;
    Some(Digest::of(&certificate.subject_public_key_info()))
}

/// What TLS is spoken with: as this system trusts, and under `keys`.
pub(crate) fn config(keys: Keys) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let system = Verifier::new(Arc::clone(&provider))?;
    let pinned = Pinned { system, keys };
    Ok(ClientConfig::builder_with_provider(Arc::<CryptoProvider>::clone(&provider))
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(pinned))
        .with_no_client_auth())
}

/// As the system verifies, and then the key.
#[derive(Debug)]
struct Pinned {
    system: Verifier,
    keys: Keys,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verified = self.system.verify_server_cert(certificate, intermediates, name, ocsp, now)?;
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        if keys.is_empty() || key_of(certificate).is_some_and(|key| keys.contains(&key)) {
            return Ok(verified);
        }
        Err(rustls::Error::General("the server's key is not the one that was approved".to_owned()))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.system.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.system.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.system.supported_verify_schemes()
    }
}
