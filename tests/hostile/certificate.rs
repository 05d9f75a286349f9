//! Certificates for a test: self-signed, for `localhost`, written byte by byte.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};

const SEQUENCE: u8 = 0x30;
const ECDSA_WITH_SHA256: [u8; 10] = [6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2];
const EC_PUBLIC_KEY: [u8; 9] = [6, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];
const P256: [u8; 10] = [6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
const COMMON_NAME: [u8; 5] = [6, 3, 0x55, 4, 3];
const ALTERNATIVE_NAMES: [u8; 5] = [6, 3, 0x55, 0x1d, 0x11];

/// A certificate as DER.
pub(crate) type Der = Vec<u8>;

/// One element: its tag, its length, its content.
fn element(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let length = content.len();
    let mut bytes = vec![tag];
    match u8::try_from(length) {
        Ok(short) if short < 0x80 => bytes.push(short),
        Ok(long) => bytes.extend([0x81, long]),
        Err(_) => {
            bytes.push(0x82);
            bytes.extend(u16::try_from(length).unwrap().to_be_bytes());
        }
    }
    bytes.extend(content);
    bytes
}

/// Writes a new certificate and its key as PEM files. The certificate.
pub(crate) fn write(certificate: &Path, key: &Path, name: &str) -> Der {
    let chance = SystemRandom::new();
    let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
    let private = EcdsaKeyPair::generate_pkcs8(algorithm, &chance).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(algorithm, private.as_ref(), &chance).unwrap();

    let signed_by = element(SEQUENCE, &[&ECDSA_WITH_SHA256]);
    let name = element(12, &[name.as_bytes()]);
    let name = element(SEQUENCE, &[&COMMON_NAME, &name]);
    let name = element(SEQUENCE, &[&element(0x31, &[&name])]);
    let dates = [&b"200101000000Z"[..], b"491231235959Z"].map(|date| element(23, &[date]));
    let public = element(SEQUENCE, &[&EC_PUBLIC_KEY, &P256]);
    let bits = element(3, &[&[0], pair.public_key().as_ref()]);
    let hosts = element(SEQUENCE, &[&element(0x82, &[b"localhost"])]);
    let hosts = element(4, &[&hosts]);
    let hosts = element(SEQUENCE, &[&ALTERNATIVE_NAMES, &hosts]);
    let body = element(
        SEQUENCE,
        &[
            &element(0xa0, &[&[2, 1, 2]]),
            &[2, 1, 1],
            &signed_by,
            &name,
            &element(SEQUENCE, &[&dates[0], &dates[1]]),
            &name,
            &element(SEQUENCE, &[&public, &bits]),
            &element(0xa3, &[&element(SEQUENCE, &[&hosts])]),
        ],
    );
    let signature = pair.sign(&chance, &body).unwrap();
    let signature = element(3, &[&[0], signature.as_ref()]);
    let der = element(SEQUENCE, &[&body, &signed_by, &signature]);
    for (path, label, bytes) in [
        (certificate, "CERTIFICATE", der.as_slice()),
        (key, "PRIVATE KEY", private.as_ref()),
    ] {
        let text = STANDARD.encode(bytes);
        let pem = format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n");
        std::fs::write(path, pem).unwrap();
    }
    der
}
