//! Keys and certificates as sprig makes them, in the encodings that Go writes.

use std::{net::IpAddr, str::FromStr as _};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyUsagePurpose, PublicKeyData as _, RsaKeySize, SanType, SerialNumber, string::Ia5String,
};
use tera::Value;
use time::{Duration, OffsetDateTime};

use crate::value::{
    print::to_text,
    typed::{self, Type},
};

use super::{
    Call, Error, Family, Function, Native, Outcome, Param,
    keys::{self, Key},
};

/// The key size of the certificates that sprig makes a key for.
const KEY_SIZE: RsaKeySize = RsaKeySize::_2048;

const CA: &[Param] = &[Param::String, Param::Int];
const CA_WITH_KEY: &[Param] = &[Param::String, Param::Int, Param::String];
const SELF_SIGNED: &[Param] = &[Param::String, Param::List, Param::List, Param::Int];
const SELF_SIGNED_WITH_KEY: &[Param] = &[Param::String, Param::List, Param::List, Param::Int, Param::String];
const SIGNED: &[Param] = &[Param::String, Param::List, Param::List, Param::Int, Param::Certificate];
const SIGNED_WITH_KEY: &[Param] =
    &[Param::String, Param::List, Param::List, Param::Int, Param::Certificate, Param::String];

pub(super) const FUNCTIONS: &[Function] = &[
    made("genPrivateKey", &[Param::String], private_key, "A private key: rsa, dsa, ecdsa or ed25519."),
    made("genCA", CA, ca, "A certificate authority with a new key."),
    made("genCAWithKey", CA_WITH_KEY, ca_with_key, "A certificate authority with the key given."),
    made("genSelfSignedCert", SELF_SIGNED, self_signed, "A self-signed certificate with a new key."),
    made(
        "genSelfSignedCertWithKey",
        SELF_SIGNED_WITH_KEY,
        self_signed_with_key,
        "A self-signed certificate with the key given.",
    ),
    made("genSignedCert", SIGNED, signed, "A certificate with a new key, signed by an authority."),
    made(
        "genSignedCertWithKey",
        SIGNED_WITH_KEY,
        signed_with_key,
        "A certificate with the key given, signed by an authority.",
    ),
    Function::new(
        "buildCustomCert",
        Family::Certificates,
        &[Param::String, Param::String],
        custom,
        "A certificate and its key, each as PEM in base64, as the other functions answer them.",
    ),
];

const fn made(
    name: &'static str,
    params: &'static [Param],
    native: Native,
    summary: &'static str,
) -> Function {
    Function::new(name, Family::Certificates, params, native, summary).stable()
}

fn private_key(call: &Call<'_>) -> Outcome {
    // sprig answers with the error as the text.
    let text = match &*call.text(0) {
        "" | "rsa" => keys::rsa(RsaKeySize::_4096).map(|key| key.pem()),
        "dsa" => keys::dsa(),
        "ecdsa" => keys::ecdsa().map(|key| key.pem()),
        "ed25519" => keys::ed25519().map(|key| key.pem()),
        other => return Ok(Value::from(format!("Unknown type {other}"))),
    };
    Ok(Value::from(text.unwrap_or_else(|error| format!("failed to generate private key: {error}"))))
}

fn ca(call: &Call<'_>) -> Outcome {
    authority(call, &new_key()?)
}

fn ca_with_key(call: &Call<'_>) -> Outcome {
    authority(call, &given_key(call, 2)?)
}

fn authority(call: &Call<'_>, key: &Key) -> Outcome {
    let mut params = params(call, &Value::none(), &Value::none(), 1)?;
    params.key_usages.push(KeyUsagePurpose::KeyCertSign);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    answer(params.self_signed(&key.pair), key)
}

fn self_signed(call: &Call<'_>) -> Outcome {
    signed_by_itself(call, &new_key()?)
}

fn self_signed_with_key(call: &Call<'_>) -> Outcome {
    signed_by_itself(call, &given_key(call, 4)?)
}

fn signed_by_itself(call: &Call<'_>, key: &Key) -> Outcome {
    let params = params(call, call.arg(1), call.arg(2), 3)?;
    answer(params.self_signed(&key.pair), key)
}

fn signed(call: &Call<'_>) -> Outcome {
    signed_by_authority(call, &new_key()?)
}

fn signed_with_key(call: &Call<'_>) -> Outcome {
    signed_by_authority(call, &given_key(call, 5)?)
}

fn signed_by_authority(call: &Call<'_>, key: &Key) -> Outcome {
    let part = |name| typed::field(call.arg(4), name).and_then(Value::as_str).unwrap_or_default();
    let (label, der) =
        keys::decode_pem(part("Cert")).ok_or_else(|| Error::new("unable to decode certificate"))?;
    let certificate = parse_certificate(&der).map_err(|error| {
        Error::new(format!("error parsing certificate: decodedSignerCert.Bytes: {error}"))
    })?;
    let signer =
        Key::parse(part("Key")).map_err(|error| Error::new(format!("error parsing private key: {error}")))?;
    if certificate != signer.pair.subject_public_key_info() {
        return Err(Error::new(
            "error creating certificate: x509: provided PrivateKey doesn't match parent's PublicKey",
        ));
    }
    let params = params(call, call.arg(1), call.arg(2), 3)?;
    let pem = keys::encode_pem(&label, &der);
    let issuer = Issuer::from_ca_cert_pem(&pem, signer.pair)
        .map_err(|error| Error::new(format!("error creating certificate: {error}")))?;
    answer(params.signed_by(&key.pair, &issuer), key)
}

fn custom(call: &Call<'_>) -> Outcome {
    let decoded = |at: usize, what: &str| {
        STANDARD.decode(call.bytes(at)).map_err(|_| Error::new(format!("unable to decode base64 {what}")))
    };
    let certificate = decoded(0, "certificate")?;
    let key = decoded(1, "private key")?;
    let (certificate, key) = (String::from_utf8_lossy(&certificate), String::from_utf8_lossy(&key));
    let (_, der) =
        keys::decode_pem(&certificate).ok_or_else(|| Error::new("unable to decode certificate"))?;
    parse_certificate(&der)
        .map_err(|error| Error::new(format!("error parsing certificate: decodedCert.Bytes: {error}")))?;
    keys::check(&key).map_err(|error| Error::new(format!("error parsing private key: {error}")))?;
    Ok(certificate_value(&certificate, &key))
}

fn new_key() -> Result<Key, Error> {
    keys::rsa(KEY_SIZE).map_err(|error| Error::new(format!("error generating rsa key: {error}")))
}

fn given_key(call: &Call<'_>, at: usize) -> Result<Key, Error> {
    Key::parse(&call.text(at)).map_err(|error| Error::new(format!("parsing private key: {error}")))
}

/// The public key of a certificate, as its `SubjectPublicKeyInfo`.
fn parse_certificate(der: &[u8]) -> Result<Vec<u8>, String> {
    use x509_parser::prelude::FromDer as _;
    let (_, certificate) = x509_parser::certificate::X509Certificate::from_der(der)
        .map_err(|_| "x509: malformed certificate".to_owned())?;
    Ok(certificate.tbs_certificate.subject_pki.raw.to_vec())
}

/// What sprig puts into every certificate: a server's and a client's, valid from now for the days in the argument `days`.
fn params(call: &Call<'_>, ips: &Value, names: &Value, days: usize) -> Result<CertificateParams, Error> {
    let mut alternatives = Vec::new();
    // Go writes the names before the addresses.
    let addresses = strings(call, ips, "error parsing ip: ")?;
    for name in strings(call, names, "error processing alternate dns name: ")? {
        let name = Ia5String::try_from(name.as_str()).map_err(|_| {
            Error::new(format!(
                "error creating certificate: x509: {name:?} cannot be encoded as an IA5String"
            ))
        })?;
        alternatives.push(SanType::DnsName(name));
    }
    for address in addresses {
        let parsed = IpAddr::from_str(&address);
        alternatives.push(SanType::IpAddress(
            parsed.map_err(|_| Error::new(format!("error parsing ip: {address}")))?,
        ));
    }
    let mut serial = [0; 16];
    getrandom::fill(&mut serial).map_err(|error| Error::new(error.to_string()))?;
    let mut params = CertificateParams::default();
    params.serial_number = Some(SerialNumber::from_slice(&serial));
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, call.text(0).into_owned());
    params.not_before = OffsetDateTime::now_utc();
    params.not_after = params
        .not_before
        .checked_add(Duration::days(call.int(days).clamp(-3_000_000, 3_000_000)))
        .filter(|end| (1950..=9999).contains(&end.year()))
        .ok_or_else(|| Error::new("error creating certificate: cannot represent time as GeneralizedTime"))?;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    params.is_ca = IsCa::ExplicitNoCa;
    params.subject_alt_names = alternatives;
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}

fn strings(call: &Call<'_>, list: &Value, error: &str) -> Result<Vec<String>, Error> {
    let mut all = Vec::new();
    for item in typed::items(list).unwrap_or_default() {
        match item.as_str() {
            Some(text) => all.push(text.to_owned()),
            None => {
                return Err(Error::new(format!("{error}{} is not a string", to_text(call.scope, item)?)));
            }
        }
    }
    Ok(all)
}

fn answer(made: Result<rcgen::Certificate, rcgen::Error>, key: &Key) -> Outcome {
    let made = made.map_err(|error| Error::new(format!("error creating certificate: {error}")))?;
    Ok(certificate_value(&keys::encode_pem("CERTIFICATE", made.der()), &key.pem()))
}

fn certificate_value(certificate: &str, key: &str) -> Value {
    typed::make(Type::Certificate, [("Cert", Value::from(certificate)), ("Key", Value::from(key))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Scope;
    use x509_parser::{extensions::GeneralName, pem::parse_x509_pem};

    fn run(native: Native, args: &[Value]) -> Outcome {
        native(&Call { args, scope: &Scope::default() })
    }

    fn part(value: &Value, name: &str) -> String {
        typed::field(value, name).unwrap().as_str().unwrap().to_owned()
    }

    fn list(items: &[&str]) -> Value {
        Value::from(items.iter().map(|s| Value::from(*s)).collect::<Vec<_>>())
    }

    #[test]
    fn an_authority_signs_a_certificate_that_others_can_read() {
        let authority = run(ca, &[Value::from("my-ca"), Value::from(365i64)]).unwrap();
        let args = [
            Value::from("leaf"),
            list(&["10.0.0.1", "::1"]),
            list(&["a.example.com"]),
            Value::from(10i64),
            authority.clone(),
        ];
        let leaf = run(signed, &args).unwrap();
        let (_, ca_pem) = parse_x509_pem(part(&authority, "Cert").as_bytes()).unwrap();
        let ca = ca_pem.parse_x509().unwrap();
        let (_, leaf_pem) = parse_x509_pem(part(&leaf, "Cert").as_bytes()).unwrap();
        let cert = leaf_pem.parse_x509().unwrap();
        assert!(ca.is_ca() && !cert.is_ca());
        assert!(ca.key_usage().unwrap().unwrap().value.key_cert_sign());
        assert_eq!(cert.subject().to_string(), "CN=leaf");
        assert_eq!(cert.issuer().to_string(), "CN=my-ca");
        let validity = cert.validity();
        assert_eq!(validity.not_after.timestamp() - validity.not_before.timestamp(), 10 * 24 * 3600);
        let usage = cert.extended_key_usage().unwrap().unwrap().value;
        assert!(usage.server_auth && usage.client_auth);
        let names = &cert.subject_alternative_name().unwrap().unwrap().value.general_names;
        assert_eq!(names[0], GeneralName::DNSName("a.example.com"));
        assert_eq!(names[1], GeneralName::IPAddress(&[10, 0, 0, 1]));
        assert_eq!(names.len(), 3);
        assert!(part(&leaf, "Key").starts_with("-----BEGIN RSA PRIVATE KEY-----\n"));
    }

    #[test]
    fn a_key_that_is_given_is_used() {
        for kind in ["ecdsa", "ed25519"] {
            let key = run(private_key, &[Value::from(kind)]).unwrap();
            let cert = run(ca_with_key, &[Value::from("x"), Value::from(1i64), key.clone()]).unwrap();
            assert_eq!(part(&cert, "Key"), key.as_str().unwrap());
            let args = [STANDARD.encode(part(&cert, "Cert")), STANDARD.encode(part(&cert, "Key"))];
            let built = run(custom, &args.map(Value::from)).unwrap();
            assert_eq!(part(&built, "Cert"), part(&cert, "Cert"));
        }
    }

    #[test]
    fn what_cannot_be_made_is_refused() {
        let no = |native: Native, args: &[Value]| run(native, args).unwrap_err().to_string();
        let text = Value::from;
        let foreign = run(ca, &[text("b"), Value::from(1i64)]).unwrap();
        let own = run(ca, &[text("a"), Value::from(1i64)]).unwrap();
        let mixed = certificate_value(&part(&own, "Cert"), &part(&foreign, "Key"));
        let days = Value::from(1i64);
        insta::assert_debug_snapshot!([
            no(ca_with_key, &[text("a"), days.clone(), text("junk")]),
            no(ca_with_key, &[text("a"), days.clone(), text(&part(&own, "Cert"))]),
            no(self_signed, &[text("a"), list(&["1.2.3"]), Value::none(), days.clone()]),
            no(self_signed, &[text("a"), Value::none(), Value::from(vec![Value::from(1i64)]), days.clone()]),
            no(signed, &[text("a"), Value::none(), Value::none(), days.clone(), mixed]),
            no(signed, &[text("a"), Value::none(), Value::none(), days, certificate_value("", "")]),
            no(custom, &[text("%"), text("")]),
            no(custom, &[text(""), text("%")]),
            no(custom, &[text(""), text("")]),
            run(private_key, &[text("x")]).unwrap().to_string(),
        ]);
    }
}
