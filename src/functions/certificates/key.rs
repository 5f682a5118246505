//! Private keys: making, reading, writing and signing with them.

use aws_lc_rs::{
    encoding::AsBigEndian as _,
    encoding::AsDer as _,
    rand::SystemRandom,
    rsa::KeySize,
    signature::{
        ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P384_SHA384_ASN1_SIGNING, ECDSA_P521_SHA512_ASN1_SIGNING,
        EcdsaKeyPair, EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
    },
};

use super::{
    der::{self, Reader, tag},
    dsa, pem,
};

const RSA: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01];
const RSA_SHA256: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0B];
const EC: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01];
const ED25519: &[u8] = &[0x2B, 0x65, 0x70];

/// A curve of ECDSA, with the hash that Go signs with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Curve {
    P256,
    P384,
    P521,
}

impl Curve {
    const ALL: [Self; 3] = [Self::P256, Self::P384, Self::P521];

    const fn oid(self) -> &'static [u8] {
        match self {
            Self::P256 => &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07],
            Self::P384 => &[0x2B, 0x81, 0x04, 0x00, 0x22],
            Self::P521 => &[0x2B, 0x81, 0x04, 0x00, 0x23],
        }
    }

    const fn signature_oid(self) -> &'static [u8] {
        match self {
            Self::P256 => &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02],
            Self::P384 => &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x03],
            Self::P521 => &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x04],
        }
    }

    fn algorithm(self) -> &'static EcdsaSigningAlgorithm {
        match self {
            Self::P256 => &ECDSA_P256_SHA256_ASN1_SIGNING,
            Self::P384 => &ECDSA_P384_SHA384_ASN1_SIGNING,
            Self::P521 => &ECDSA_P521_SHA512_ASN1_SIGNING,
        }
    }
}

/// A private key.
pub(super) enum Key {
    /// With its PKCS #1.
    Rsa(RsaKeyPair, Vec<u8>),
    Ec(EcdsaKeyPair, Curve),
    /// With its seed.
    Ed25519(Ed25519KeyPair, Vec<u8>),
    /// The DER of all its numbers.
    Dsa(Vec<u8>),
}

fn failed<E>(_: E) -> String {
    "the cryptographic library failed".to_owned()
}

/// The identifier of an algorithm, with its parameters in DER.
fn algorithm(oid: &[u8], parameters: &[u8]) -> Vec<u8> {
    der::sequence(&[&der::tlv(tag::OID, &[oid]), parameters])
}

/// Errors of Go's encoding/asn1.
pub(super) const TRUNCATED: &str = "asn1: syntax error: sequence truncated";
pub(super) const TAGS: &str = "asn1: structure error: tags don't match";

const NULL: &[u8] = &[tag::NULL, 0];

impl Key {
    pub(super) fn generate_rsa(size: KeySize) -> Result<Self, String> {
        let pair = RsaKeyPair::generate(size).map_err(failed)?;
        let pkcs8 = pair.as_der().map_err(failed)?;
        Self::from_pkcs8(pkcs8.as_ref())
    }

    pub(super) fn generate_ec() -> Result<Self, String> {
        let pair = EcdsaKeyPair::generate(Curve::P256.algorithm()).map_err(failed)?;
        Ok(Self::Ec(pair, Curve::P256))
    }

    pub(super) fn generate_ed25519() -> Result<Self, String> {
        let pair = Ed25519KeyPair::generate().map_err(failed)?;
        let seed = pair.seed().map_err(failed)?.as_be_bytes().map_err(failed)?.as_ref().to_vec();
        Ok(Self::Ed25519(pair, seed))
    }

    pub(super) fn generate_dsa() -> Result<Self, String> {
        dsa::generate().map(Self::Dsa)
    }

    /// Reads a key in PEM, with sprig's errors.
    pub(super) fn from_pem(text: &[u8]) -> Result<Self, String> {
        let block = pem::decode(text).ok_or("no PEM data in input")?;
        if block.kind == "PRIVATE KEY" {
            return Self::from_pkcs8(&block.bytes)
                .map_err(|error| format!("decoding PEM as PKCS#8: {error}"));
        }
        let Some(kind) = block.kind.strip_suffix(" PRIVATE KEY") else {
            return Err(format!("no private key data in PEM block of type {}", block.kind));
        };
        let reason = |error| format!("parsing {kind} private key from PEM: {error}");
        match kind {
            "RSA" => Self::from_pkcs1(&block.bytes).map_err(reason),
            "EC" => Self::from_sec1(&block.bytes, None).map_err(reason),
            "DSA" => dsa::check(&block.bytes).map(|()| Self::Dsa(block.bytes)).map_err(reason),
            _ => Err(format!("invalid private key type {}", block.kind)),
        }
    }

    fn from_pkcs1(bytes: &[u8]) -> Result<Self, String> {
        let mut numbers = Reader::new(bytes).enter(tag::SEQUENCE).ok_or(TAGS)?;
        if (0..9).any(|_| numbers.take(tag::INTEGER).is_none()) {
            return Err(if numbers.is_empty() { TRUNCATED } else { TAGS }.to_owned());
        }
        let pair = RsaKeyPair::from_der(bytes)
            .map_err(|error| format!("x509: failed to parse private key: {error}"))?;
        Ok(Self::Rsa(pair, bytes.to_vec()))
    }

    /// An EC key, which may leave it to what is around it to name its curve.
    fn from_sec1(bytes: &[u8], curve: Option<Curve>) -> Result<Self, String> {
        let malformed = || format!("x509: failed to parse EC private key: {TAGS}");
        let mut key = Reader::new(bytes).enter(tag::SEQUENCE).ok_or_else(malformed)?;
        if key.is_empty() {
            return Err(format!("x509: failed to parse EC private key: {TRUNCATED}"));
        }
        key.take(tag::INTEGER).ok_or_else(malformed)?;
        key.take(tag::OCTET_STRING).ok_or_else(malformed)?;
        let own = match key.enter(tag::explicit(0)) {
            Some(mut parameters) => {
                let oid = parameters.take(tag::OID).ok_or_else(malformed)?.content;
                let known = Curve::ALL.into_iter().find(|curve| curve.oid() == oid);
                Some(known.ok_or("x509: unknown elliptic curve")?)
            }
            None => None,
        };
        let curve = curve.or(own).ok_or("x509: unknown elliptic curve")?;
        let pair = EcdsaKeyPair::from_private_key_der(curve.algorithm(), bytes)
            .map_err(|error| format!("x509: failed to parse EC private key: {error}"))?;
        Ok(Self::Ec(pair, curve))
    }

    fn from_pkcs8(bytes: &[u8]) -> Result<Self, String> {
        let malformed = || TAGS.to_owned();
        let mut key = Reader::new(bytes).enter(tag::SEQUENCE).ok_or_else(malformed)?;
        if key.is_empty() {
            return Err(TRUNCATED.to_owned());
        }
        key.take(tag::INTEGER).ok_or_else(malformed)?;
        let mut algorithm = key.enter(tag::SEQUENCE).ok_or_else(malformed)?;
        let oid = algorithm.take(tag::OID).ok_or_else(malformed)?.content;
        let private = key.take(tag::OCTET_STRING).ok_or_else(malformed)?.content;
        match oid {
            RSA => Self::from_pkcs1(private),
            EC => {
                let named = algorithm.take(tag::OID).map(|oid| oid.content);
                let curve = Curve::ALL.into_iter().find(|curve| Some(curve.oid()) == named);
                Self::from_sec1(private, curve)
            }
            ED25519 => {
                let seed = Reader::new(private).take(tag::OCTET_STRING).ok_or_else(malformed)?.content;
                let pair = Ed25519KeyPair::from_seed_unchecked(seed)
                    .map_err(|_| "x509: invalid Ed25519 private key".to_owned())?;
                Ok(Self::Ed25519(pair, seed.to_vec()))
            }
            _ => Err("x509: PKCS#8 wrapping contained private key with unknown algorithm".to_owned()),
        }
    }

    /// The key in PEM, in the form that Go has for its kind.
    pub(super) fn to_pem(&self) -> Result<String, String> {
        Ok(match self {
            Self::Rsa(_, pkcs1) => pem::encode("RSA PRIVATE KEY", pkcs1),
            Self::Dsa(numbers) => pem::encode("DSA PRIVATE KEY", numbers),
            Self::Ec(pair, curve) => {
                let scalar = pair.private_key().as_be_bytes().map_err(failed)?;
                let sec1 = der::sequence(&[
                    &der::unsigned(&[1]),
                    &der::tlv(tag::OCTET_STRING, &[scalar.as_ref()]),
                    &der::tlv(tag::explicit(0), &[&der::tlv(tag::OID, &[curve.oid()])]),
                    &der::tlv(tag::explicit(1), &[&der::bit_string(pair.public_key().as_ref())]),
                ]);
                pem::encode("EC PRIVATE KEY", &sec1)
            }
            Self::Ed25519(_, seed) => {
                let pkcs8 = der::sequence(&[
                    &der::unsigned(&[]),
                    &algorithm(ED25519, &[]),
                    &der::tlv(tag::OCTET_STRING, &[&der::tlv(tag::OCTET_STRING, &[seed])]),
                ]);
                pem::encode("PRIVATE KEY", &pkcs8)
            }
        })
    }

    /// The public key: the identifier of its algorithm, and its bits. None for DSA, which x509 does not write.
    pub(super) fn public(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        match self {
            Self::Rsa(pair, _) => Some((algorithm(RSA, NULL), pair.public_key().as_ref().to_vec())),
            Self::Ec(pair, curve) => {
                let parameters = der::tlv(tag::OID, &[curve.oid()]);
                Some((algorithm(EC, &parameters), pair.public_key().as_ref().to_vec()))
            }
            Self::Ed25519(pair, _) => Some((algorithm(ED25519, &[]), pair.public_key().as_ref().to_vec())),
            Self::Dsa(_) => None,
        }
    }

    /// The identifier of the algorithm that the key signs with. None for DSA, which x509 does not sign with.
    pub(super) fn signature_algorithm(&self) -> Option<Vec<u8>> {
        match self {
            Self::Rsa(..) => Some(algorithm(RSA_SHA256, NULL)),
            Self::Ec(_, curve) => Some(algorithm(curve.signature_oid(), &[])),
            Self::Ed25519(..) => Some(algorithm(ED25519, &[])),
            Self::Dsa(_) => None,
        }
    }

    pub(super) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, String> {
        let random = SystemRandom::new();
        match self {
            Self::Rsa(pair, _) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).map_err(failed)?;
                Ok(signature)
            }
            Self::Ec(pair, _) => Ok(pair.sign(&random, message).map_err(failed)?.as_ref().to_vec()),
            Self::Ed25519(pair, _) => Ok(pair.sign(message).as_ref().to_vec()),
            Self::Dsa(_) => Err("x509: certificate private key does not implement crypto.Signer".to_owned()),
        }
    }
}
