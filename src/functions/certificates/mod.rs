//! Keys and certificates: real ones, in the form that Go writes.

mod der;
mod dsa;
mod key;
mod pem;
mod x509;

use std::net::IpAddr;

use aws_lc_rs::rsa::KeySize;
use tera::Value;

use super::{Call, Error, Family, Function, Native, Outcome, Param, encoding::decode_base64, text};
use crate::value::typed::{self, Type};
use key::Key;
use x509::{Issuer, Template};

pub(super) const FUNCTIONS: &[Function] = &[
    function(
        "genPrivateKey",
        &[Param::String],
        private_key,
        "A private key: `rsa`, `ecdsa`, `ed25519` or `dsa`.",
    )
    .stable(),
    function(
        "genCA",
        &[Param::String, Param::Int],
        authority,
        "A certificate authority for a name and so many days.",
    )
    .stable(),
    function(
        "genCAWithKey",
        &[Param::String, Param::Int, Param::String],
        authority,
        "As `genCA`, with a key.",
    )
    .stable(),
    function(
        "genSelfSignedCert",
        SELF_SIGNED,
        self_signed,
        "A certificate for a name, addresses, further names and so many days.",
    )
    .stable(),
    function(
        "genSelfSignedCertWithKey",
        SELF_SIGNED_WITH_KEY,
        self_signed,
        "As `genSelfSignedCert`, with a key.",
    )
    .stable(),
    function("genSignedCert", SIGNED, signed, "A certificate that an authority signs.").stable(),
    function("genSignedCertWithKey", SIGNED_WITH_KEY, signed, "As `genSignedCert`, with a key.").stable(),
    function(
        "buildCustomCert",
        &[Param::String, Param::String],
        custom,
        "A certificate and its key out of their base64.",
    ),
];

const SELF_SIGNED: &[Param] = &[Param::String, Param::List, Param::List, Param::Int];
const SELF_SIGNED_WITH_KEY: &[Param] = &[Param::String, Param::List, Param::List, Param::Int, Param::String];
const SIGNED: &[Param] = &[Param::String, Param::List, Param::List, Param::Int, Param::Certificate];
const SIGNED_WITH_KEY: &[Param] =
    &[Param::String, Param::List, Param::List, Param::Int, Param::Certificate, Param::String];

const fn function(
    name: &'static str,
    params: &'static [Param],
    native: Native,
    summary: &'static str,
) -> Function {
    Function::new(name, Family::Certificates, params, native, summary)
}

/// The value that templates have of a certificate with its key.
fn certificate(cert: &[u8], key: &[u8]) -> Value {
    typed::make(Type::Certificate, [("Cert", text::slice(cert)), ("Key", text::slice(key))])
}

fn private_key(call: &Call<'_>) -> Outcome {
    let kind = call.text(0);
    let key = match &*kind {
        "" | "rsa" => Key::generate_rsa(KeySize::Rsa4096),
        "dsa" => Key::generate_dsa(),
        "ecdsa" => Key::generate_ec(),
        "ed25519" => Key::generate_ed25519(),
        _ => return Ok(Value::from(format!("Unknown type {kind}"))),
    };
    let pem = key.and_then(|key| key.to_pem());
    Ok(Value::from(pem.unwrap_or_else(|error| format!("failed to generate private key: {error}"))))
}

/// The key that is given at this place, or a new one where none can be given.
fn key_of(call: &Call<'_>, at: usize) -> Result<Key, Error> {
    if at < call.args.len() {
        return Key::from_pem(call.bytes(at))
            .map_err(|error| Error::new(format!("parsing private key: {error}")));
    }
    Key::generate_rsa(KeySize::Rsa2048)
        .map_err(|error| Error::new(format!("error generating rsa key: {error}")))
}

/// The certificate that a template and a key make, with the key.
fn made(template: &Template<'_>, key: &Key, issuer: &Issuer<'_>) -> Outcome {
    let der = x509::create(template, key, issuer)
        .map_err(|error| Error::new(format!("error creating certificate: {error}")))?;
    let key = key.to_pem().map_err(|error| Error::new(format!("error pem-encoding key: {error}")))?;
    Ok(certificate(pem::encode("CERTIFICATE", &der).as_bytes(), key.as_bytes()))
}

fn authority(call: &Call<'_>) -> Outcome {
    let key = key_of(call, 2)?;
    let common_name = call.text(0);
    let template = Template {
        common_name: &common_name,
        addresses: Vec::new(),
        names: Vec::new(),
        days: call.int(1),
        is_authority: true,
    };
    made(&template, &key, &Issuer::Own)
}

/// The template of a certificate that is no authority, from the first four arguments.
fn template<'a>(call: &Call<'a>, common_name: &'a str) -> Result<Template<'a>, Error> {
    let mut addresses = Vec::new();
    for value in call.arg(1).as_array().unwrap_or_default() {
        let shown =
            || Ok::<_, Error>(String::from_utf8_lossy(&text::printed(call.scope, value)?).into_owned());
        let Some(text) = value.as_str() else {
            return Err(Error::new(format!("error parsing ip: {} is not a string", shown()?)));
        };
        let address: IpAddr = text.parse().map_err(|_| Error::new(format!("error parsing ip: {text}")))?;
        addresses.push(address);
    }
    let mut names = Vec::new();
    for value in call.arg(2).as_array().unwrap_or_default() {
        let Some(name) = value.as_str() else {
            let shown = String::from_utf8_lossy(&text::printed(call.scope, value)?).into_owned();
            return Err(Error::new(format!("error processing alternate dns name: {shown} is not a string")));
        };
        names.push(name.to_owned());
    }
    Ok(Template { common_name, addresses, names, days: call.int(3), is_authority: false })
}

fn self_signed(call: &Call<'_>) -> Outcome {
    let key = key_of(call, 4)?;
    let common_name = call.text(0);
    made(&template(call, &common_name)?, &key, &Issuer::Own)
}

fn signed(call: &Call<'_>) -> Outcome {
    let key = key_of(call, 5)?;
    let field = |name| typed::field(call.arg(4), name).and_then(typed::text_bytes).unwrap_or_default();
    let block = pem::decode(field("Cert")).ok_or_else(|| Error::new("unable to decode certificate"))?;
    let parent = x509::parse(&block.bytes).map_err(|error| {
        Error::new(format!("error parsing certificate: decodedSignerCert.Bytes: {error}"))
    })?;
    let signer = Key::from_pem(field("Key"))
        .map_err(|error| Error::new(format!("error parsing private key: {error}")))?;
    let common_name = call.text(0);
    made(&template(call, &common_name)?, &key, &Issuer::Authority(&parent, &signer))
}

fn custom(call: &Call<'_>) -> Outcome {
    let decoded = |at: usize, what: &str| {
        decode_base64(call.bytes(at)).map_err(|_| Error::new(format!("unable to decode base64 {what}")))
    };
    let (cert, key) = (decoded(0, "certificate")?, decoded(1, "private key")?);
    let block = pem::decode(&cert).ok_or_else(|| Error::new("unable to decode certificate"))?;
    x509::parse(&block.bytes)
        .map_err(|error| Error::new(format!("error parsing certificate: decodedCert.Bytes: {error}")))?;
    Key::from_pem(&key).map_err(|error| Error::new(format!("error parsing private key: {error}")))?;
    Ok(certificate(&cert, &key))
}
