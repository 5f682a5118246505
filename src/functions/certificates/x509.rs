//! Certificates, in the form that Go's crypto/x509 gives those of sprig.

use std::net::IpAddr;

use sha2::{Digest as _, Sha256};

use super::{
    der::{self, Element, Reader, tag},
    key::Key,
};
use crate::functions::{crypto, dates};
use crate::value::time::Time;

const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const SUBJECT_KEY_ID: &[u8] = &[0x55, 0x1D, 0x0E];
const KEY_USAGE: &[u8] = &[0x55, 0x1D, 0x0F];
const SUBJECT_ALTERNATIVES: &[u8] = &[0x55, 0x1D, 0x11];
const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1D, 0x13];
const AUTHORITY_KEY_ID: &[u8] = &[0x55, 0x1D, 0x23];
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1D, 0x25];
const SERVER_AUTH: &[u8] = &[0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01];
const CLIENT_AUTH: &[u8] = &[0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02];

/// What a certificate is to say.
pub(super) struct Template<'a> {
    pub(super) common_name: &'a str,
    pub(super) addresses: Vec<IpAddr>,
    pub(super) names: Vec<String>,
    pub(super) days: i64,
    pub(super) is_authority: bool,
}

/// Who signs a certificate.
pub(super) enum Issuer<'a> {
    /// The key of the certificate itself.
    Own,
    /// Another certificate with its key.
    Authority(&'a Parsed, &'a Key),
}

/// The parts of a certificate that matter to what it signs.
pub(super) struct Parsed {
    subject: Vec<u8>,
    subject_key_id: Vec<u8>,
    /// The public key: the identifier of its algorithm, and its bits.
    public: (Vec<u8>, Vec<u8>),
}

/// Makes a certificate for a key, in DER.
pub(super) fn create(template: &Template<'_>, key: &Key, issuer: &Issuer<'_>) -> Result<Vec<u8>, String> {
    let signer = match issuer {
        Issuer::Own => key,
        Issuer::Authority(_, key) => key,
    };
    let algorithm = signer
        .signature_algorithm()
        .ok_or("x509: certificate private key does not implement crypto.Signer")?;
    let (key_algorithm, key_bits) =
        key.public().ok_or("x509: unsupported public key type: *dsa.PublicKey")?;
    let subject = name(template.common_name)?;
    let mut authority_key_id = &[][..];
    let issuer_name = match issuer {
        Issuer::Own => &subject,
        Issuer::Authority(parent, _) => {
            if parent.subject != subject {
                authority_key_id = &parent.subject_key_id;
            }
            if signer.public().as_ref() != Some(&parent.public) {
                return Err("x509: provided PrivateKey doesn't match parent's PublicKey".to_owned());
            }
            &parent.subject
        }
    };
    let extensions = extensions(template, &key_bits, authority_key_id)?;
    let serial: [u8; 16] = crypto::random().map_err(|error| error.to_string())?;
    let to_sign = der::sequence(&[
        // Version 3.
        &der::tlv(tag::explicit(0), &[&der::unsigned(&[2])]),
        &der::unsigned(&serial),
        &algorithm,
        issuer_name,
        &validity(template.days)?,
        &subject,
        &der::sequence(&[&key_algorithm, &der::bit_string(&key_bits)]),
        &der::tlv(tag::explicit(3), &[&extensions]),
    ]);
    let signature = signer.sign(&to_sign)?;
    Ok(der::sequence(&[&to_sign, &algorithm, &der::bit_string(&signature)]))
}

/// A distinguished name of a common name alone; empty where that is.
fn name(common_name: &str) -> Result<Vec<u8>, String> {
    if common_name.is_empty() {
        return Ok(der::sequence(&[]));
    }
    if common_name.contains(char::REPLACEMENT_CHARACTER) {
        return Err("asn1: string not valid UTF-8".to_owned());
    }
    let printable = |byte: u8| byte.is_ascii_alphanumeric() || b" '()+,-./:=?".contains(&byte);
    let tag = if common_name.bytes().all(printable) { tag::PRINTABLE_STRING } else { tag::UTF8_STRING };
    let value = der::tlv(tag, &[common_name.as_bytes()]);
    let attribute = der::sequence(&[&der::tlv(tag::OID, &[COMMON_NAME]), &value]);
    Ok(der::sequence(&[&der::tlv(tag::SET, &[&attribute])]))
}

/// From now on for so many days.
fn validity(days: i64) -> Result<Vec<u8>, String> {
    let now = dates::present();
    // Go multiplies in nanoseconds, which wrap around.
    let later = dates::later(&now, days.wrapping_mul(24 * 3600 * 1_000_000_000));
    Ok(der::sequence(&[&moment(&now)?, &moment(&later)?]))
}

fn moment(time: &Time) -> Result<Vec<u8>, String> {
    let utc = dates::utc(time.seconds);
    let year: i64 = dates::format(&utc, "2006").parse().unwrap_or(-1);
    Ok(match year {
        1950..2050 => der::tlv(tag::UTC_TIME, &[dates::format(&utc, "060102150405Z").as_bytes()]),
        0..=9999 => der::tlv(tag::GENERALIZED_TIME, &[dates::format(&utc, "20060102150405Z").as_bytes()]),
        _ => return Err("asn1: structure error: cannot represent time as GeneralizedTime".to_owned()),
    })
}

fn extension(oid: &[u8], critical: bool, value: &[u8]) -> Vec<u8> {
    let critical: &[u8] = if critical { &[tag::BOOLEAN, 1, 0xFF] } else { &[] };
    der::sequence(&[&der::tlv(tag::OID, &[oid]), critical, &der::tlv(tag::OCTET_STRING, &[value])])
}

fn extensions(template: &Template<'_>, key_bits: &[u8], authority_key_id: &[u8]) -> Result<Vec<u8>, String> {
    // Digital signature and key encipherment, and certificate signing for an authority.
    let usage: &[u8] = if template.is_authority { &[2, 0b1010_0100] } else { &[5, 0b1010_0000] };
    let purposes = der::sequence(&[&der::tlv(tag::OID, &[SERVER_AUTH]), &der::tlv(tag::OID, &[CLIENT_AUTH])]);
    let constraints: &[u8] = if template.is_authority { &[tag::BOOLEAN, 1, 0xFF] } else { &[] };
    let mut all = vec![
        extension(KEY_USAGE, true, &der::tlv(tag::BIT_STRING, &[usage])),
        extension(EXTENDED_KEY_USAGE, false, &purposes),
        extension(BASIC_CONSTRAINTS, true, &der::sequence(&[constraints])),
    ];
    if template.is_authority {
        // RFC 7093: the first 160 bits of SHA-256.
        let id = &Sha256::digest(key_bits)[..20];
        all.push(extension(SUBJECT_KEY_ID, false, &der::tlv(tag::OCTET_STRING, &[id])));
    }
    if !authority_key_id.is_empty() {
        let id = der::sequence(&[&der::tlv(tag::implicit(0), &[authority_key_id])]);
        all.push(extension(AUTHORITY_KEY_ID, false, &id));
    }
    if !template.names.is_empty() || !template.addresses.is_empty() {
        // Critical where there is no subject.
        all.push(extension(SUBJECT_ALTERNATIVES, template.common_name.is_empty(), &alternatives(template)?));
    }
    Ok(der::sequence(&all.iter().map(Vec::as_slice).collect::<Vec<_>>()))
}

fn alternatives(template: &Template<'_>) -> Result<Vec<u8>, String> {
    let mut all = Vec::new();
    for name in &template.names {
        if !name.is_ascii() {
            let quoted = crate::value::quote::quote(name.as_bytes());
            return Err(format!("x509: {quoted} cannot be encoded as an IA5String"));
        }
        all.push(der::tlv(tag::implicit(2), &[name.as_bytes()]));
    }
    for address in &template.addresses {
        all.push(match address.to_canonical() {
            IpAddr::V4(address) => der::tlv(tag::implicit(7), &[&address.octets()]),
            IpAddr::V6(address) => der::tlv(tag::implicit(7), &[&address.octets()]),
        });
    }
    Ok(der::sequence(&all.iter().map(Vec::as_slice).collect::<Vec<_>>()))
}

/// Reads a certificate, with Go's errors.
pub(super) fn parse(bytes: &[u8]) -> Result<Parsed, String> {
    let malformed = |what: &str| format!("x509: malformed {what}");
    let mut outer = Reader::new(bytes);
    let mut certificate = outer.enter(tag::SEQUENCE).ok_or_else(|| malformed("certificate"))?;
    if !outer.is_empty() {
        return Err("x509: trailing data".to_owned());
    }
    let mut inner = certificate.enter(tag::SEQUENCE).ok_or_else(|| malformed("tbs certificate"))?;
    if let Some(mut version) = inner.enter(tag::explicit(0)) {
        match version.take(tag::INTEGER).map(|version| version.content) {
            Some([0..=2]) => {}
            Some(_) => return Err("x509: invalid version".to_owned()),
            None => return Err(malformed("version")),
        }
    }
    let mut part = |tag: u8, what: &str| inner.take(tag).ok_or_else(|| malformed(what));
    part(tag::INTEGER, "serial number")?;
    part(tag::SEQUENCE, "signature algorithm identifier")?;
    part(tag::SEQUENCE, "issuer")?;
    part(tag::SEQUENCE, "validity")?;
    let subject = part(tag::SEQUENCE, "issuer")?.whole.to_vec();
    let mut key = Reader::new(part(tag::SEQUENCE, "spki")?.content);
    let key_algorithm =
        key.take(tag::SEQUENCE).ok_or_else(|| malformed("public key algorithm identifier"))?;
    let key_bits = key.take(tag::BIT_STRING).ok_or_else(|| malformed("subjectPublicKey"))?;
    let public = (key_algorithm.whole.to_vec(), key_bits.content.get(1..).unwrap_or_default().to_vec());
    // Identifiers that nobody uses.
    inner.take(tag::implicit(1));
    inner.take(tag::implicit(2));
    let mut subject_key_id = Vec::new();
    if let Some(mut extensions) = inner.enter(tag::explicit(3)) {
        let mut extensions = extensions.enter(tag::SEQUENCE).ok_or_else(|| malformed("extensions"))?;
        while !extensions.is_empty() {
            let extension = extensions.take(tag::SEQUENCE).ok_or_else(|| malformed("extension"))?;
            if let Some(id) = key_id(&extension).ok_or_else(|| malformed("extension"))? {
                subject_key_id = id;
            }
        }
    }
    certificate.take(tag::SEQUENCE).ok_or_else(|| malformed("signature algorithm identifier"))?;
    certificate.take(tag::BIT_STRING).ok_or_else(|| malformed("signature"))?;
    Ok(Parsed { subject, subject_key_id, public })
}

/// The subject's key identifier, if the extension is that; no answer for what is no extension.
fn key_id(extension: &Element<'_>) -> Option<Option<Vec<u8>>> {
    let mut parts = Reader::new(extension.content);
    let oid = parts.take(tag::OID)?.content;
    parts.take(tag::BOOLEAN);
    let value = parts.take(tag::OCTET_STRING)?.content;
    if oid != SUBJECT_KEY_ID {
        return Some(None);
    }
    Some(Some(Reader::new(value).take(tag::OCTET_STRING)?.content.to_vec()))
}
