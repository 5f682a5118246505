//! Private keys: made, read from PEM, and written as Go writes them.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use pkcs8::{
    ObjectIdentifier, PrivateKeyInfoRef,
    der::{Decode as _, Encode as _},
};
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ED25519, PKCS_RSA_SHA256, RsaKeySize};
use sec1::{EcParameters, EcPrivateKey};

const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");

/// A key that can sign, and its form as Go writes it.
pub(super) struct Key {
    pub(super) pair: KeyPair,
    label: String,
    der: Vec<u8>,
}

impl Key {
    /// Reads a PEM block of any of the types that sprig knows. A DSA key is refused: nothing here signs with one.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (label, der) = check(text)?;
        if label == "DSA PRIVATE KEY" {
            return Err("DSA keys cannot sign certificates".to_owned());
        }
        let pem = encode_pem(&label, &der);
        let pair = KeyPair::from_pem(&pem).map_err(|_| unreadable(&label))?;
        Ok(Self { pair, label, der })
    }

    fn new(pair: Result<KeyPair, rcgen::Error>) -> Result<Self, String> {
        let pair = pair.map_err(|error| error.to_string())?;
        let pkcs8 = pair.serialized_der();
        let info = PrivateKeyInfoRef::from_der(pkcs8).map_err(|error| error.to_string())?;
        let inner = info.private_key.as_bytes();
        let (label, der) = match info.algorithm.oid {
            RSA => ("RSA PRIVATE KEY", inner.to_vec()),
            EC => {
                // Go names the curve inside of the key as well.
                let mut key = EcPrivateKey::from_der(inner).map_err(|error| error.to_string())?;
                let curve = info.algorithm.parameters_oid().map_err(|error| error.to_string())?;
                key.parameters = Some(EcParameters::NamedCurve(curve));
                ("EC PRIVATE KEY", key.to_der().map_err(|error| error.to_string())?)
            }
            _ => {
                // Go writes version 1, which has no public key.
                let short = PrivateKeyInfoRef::new(info.algorithm, info.private_key);
                ("PRIVATE KEY", short.to_der().map_err(|error| error.to_string())?)
            }
        };
        Ok(Self { pair, label: label.to_owned(), der })
    }

    pub(super) fn pem(&self) -> String {
        encode_pem(&self.label, &self.der)
    }
}

pub(super) fn rsa(size: RsaKeySize) -> Result<Key, String> {
    Key::new(KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, size))
}

pub(super) fn ecdsa() -> Result<Key, String> {
    Key::new(KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256))
}

pub(super) fn ed25519() -> Result<Key, String> {
    Key::new(KeyPair::generate_for(&PKCS_ED25519))
}

/// A DSA key of 2048 and 256 bits as PEM, in the form of OpenSSL's traditional one.
pub(super) fn dsa() -> Result<String, String> {
    use dsa::{Components, KeySize, SigningKey};
    let mut rng = rand::rng();
    let components = Components::try_generate_from_rng_with_key_size(&mut rng, KeySize::DSA_2048_256);
    let components = components.map_err(|error| error.to_string())?;
    let key = SigningKey::try_generate_from_rng_with_components(&mut rng, components);
    let key = key.map_err(|error| error.to_string())?;
    let public = key.verifying_key();
    let parts = public.components();
    let body = [
        integer(&[0]),
        integer(&parts.p().to_be_bytes_trimmed_vartime()),
        integer(&parts.q().to_be_bytes_trimmed_vartime()),
        integer(&parts.g().to_be_bytes_trimmed_vartime()),
        integer(&public.y().to_be_bytes_trimmed_vartime()),
        integer(&key.x().to_be_bytes_trimmed_vartime()),
    ]
    .concat();
    Ok(encode_pem("DSA PRIVATE KEY", &tlv(0x30, &body)))
}

/// A DER integer from a big-endian magnitude.
fn integer(bytes: &[u8]) -> Vec<u8> {
    let start = bytes.iter().position(|&b| b != 0).unwrap_or(bytes.len().saturating_sub(1));
    let mut content = bytes[start..].to_vec();
    if content.first().is_none_or(|first| first & 0x80 != 0) {
        content.insert(0, 0);
    }
    tlv(2, &content)
}

fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    let length = content.len();
    match u8::try_from(length) {
        Ok(short) if short < 0x80 => out.push(short),
        _ => {
            let bytes = length.to_be_bytes();
            let bytes = &bytes[bytes.iter().position(|&b| b != 0).unwrap_or(0)..];
            out.push(0x80 | u8::try_from(bytes.len()).unwrap_or(8));
            out.extend_from_slice(bytes);
        }
    }
    out.extend_from_slice(content);
    out
}

/// Reads the PEM block of a private key, and refuses what is none. Gives its label and content.
pub(super) fn check(text: &str) -> Result<(String, Vec<u8>), String> {
    let (label, der) = decode_pem(text).ok_or("no PEM data in input")?;
    match label.strip_suffix("PRIVATE KEY").map(str::trim_end) {
        Some("" | "RSA" | "EC") => {
            let pem = encode_pem(&label, &der);
            KeyPair::from_pem(&pem).map_err(|_| unreadable(&label))?;
            Ok((label, der))
        }
        Some("DSA") => Ok((label, der)),
        Some(other) => Err(format!("invalid private key type {other}")),
        None => Err(format!("no private key data in PEM block of type {label}")),
    }
}

fn unreadable(label: &str) -> String {
    match label {
        "PRIVATE KEY" => "decoding PEM as PKCS#8: x509: failed to parse private key".to_owned(),
        "RSA PRIVATE KEY" => "parsing RSA private key from PEM: x509: failed to parse private key".to_owned(),
        _ => "parsing EC private key from PEM: x509: failed to parse EC private key".to_owned(),
    }
}

/// The label and the content of the first PEM block, without the headers it may have.
pub(super) fn decode_pem(text: &str) -> Option<(String, Vec<u8>)> {
    let start = text.find("-----BEGIN ")? + "-----BEGIN ".len();
    let (label, rest) = text[start..].split_once("-----")?;
    let body = &rest[..rest.find(&format!("-----END {label}-----"))?];
    let base64: String =
        body.lines().filter(|line| !line.contains(':')).flat_map(str::split_whitespace).collect();
    Some((label.to_owned(), STANDARD.decode(base64).ok()?))
}

/// A PEM block with lines of 64 characters, as Go writes it.
pub(super) fn encode_pem(label: &str, der: &[u8]) -> String {
    let body = STANDARD.encode(der);
    let mut text = format!("-----BEGIN {label}-----\n");
    for at in (0..body.len()).step_by(64) {
        text.push_str(&body[at..body.len().min(at + 64)]);
        text.push('\n');
    }
    text.push_str("-----END ");
    text.push_str(label);
    text.push_str("-----\n");
    text
}
