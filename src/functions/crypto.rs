//! Passwords and encryption.

use aes::{
    Aes256,
    cipher::{Array, BlockCipherDecrypt as _, BlockCipherEncrypt as _, KeyInit as _},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use tera::Value;

use super::{Call, Error, Family, Function, Native, Outcome, Param, encoding::decode_base64, text};
use crate::value::typed;

pub(super) const FUNCTIONS: &[Function] = &[
    function("bcrypt", &[Param::String], bcrypt_hash, "The bcrypt hash of a password.").stable(),
    function("htpasswd", TWO, htpasswd, "A line of an htpasswd file for a user and a password.").stable(),
    function(
        "derivePassword",
        DERIVE,
        derive_password,
        "A password out of a master password, as Master Password makes it.",
    ),
    function("encryptAES", TWO, encrypt, "Encrypts a text with AES-256-CBC, in base64.").stable(),
    function("decryptAES", TWO, decrypt, "Decrypts what `encryptAES` made."),
];

const TWO: &[Param] = &[Param::String, Param::String];
const DERIVE: &[Param] = &[Param::Uint32, Param::String, Param::String, Param::String, Param::String];

const fn function(
    name: &'static str,
    params: &'static [Param],
    native: Native,
    summary: &'static str,
) -> Function {
    Function::new(name, Family::Crypto, params, native, summary)
}

/// Bytes that nobody can foresee.
pub(super) fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| Error::new(format!("no random bytes: {error}")))?;
    Ok(bytes)
}

/// The hash, or sprig's words for why there is none.
fn hashed(password: &[u8]) -> Result<String, Error> {
    /// Go's default cost.
    const COST: u32 = 10;
    if password.len() > 72 {
        return Ok(
            "failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes".to_owned()
        );
    }
    let parts = bcrypt::hash_with_salt(password, COST, random()?)
        .map_err(|error| Error::new(format!("bcrypt: {error}")))?;
    Ok(parts.format_for_version(bcrypt::Version::TwoA))
}

fn bcrypt_hash(call: &Call<'_>) -> Outcome {
    Ok(Value::from(hashed(call.bytes(0))?))
}

fn htpasswd(call: &Call<'_>) -> Outcome {
    let user = call.bytes(0);
    if user.contains(&b':') {
        return Ok(typed::text([b"invalid username: ", user].concat()));
    }
    Ok(typed::text([user, b":", hashed(call.bytes(1))?.as_bytes()].concat()))
}

/// The forms of a kind of password, each letter of which stands for a set of characters.
fn password_forms(kind: &[u8]) -> Option<&'static [&'static str]> {
    Some(match kind {
        b"maximum" => &["anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno"],
        b"long" => &[
            "CvcvnoCvcvCvcv",
            "CvcvCvcvnoCvcv",
            "CvcvCvcvCvcvno",
            "CvccnoCvcvCvcv",
            "CvccCvcvnoCvcv",
            "CvccCvcvCvcvno",
            "CvcvnoCvccCvcv",
            "CvcvCvccnoCvcv",
            "CvcvCvccCvcvno",
            "CvcvnoCvcvCvcc",
            "CvcvCvcvnoCvcc",
            "CvcvCvcvCvccno",
            "CvccnoCvccCvcv",
            "CvccCvccnoCvcv",
            "CvccCvccCvcvno",
            "CvcvnoCvccCvcc",
            "CvcvCvccnoCvcc",
            "CvcvCvccCvccno",
            "CvccnoCvcvCvcc",
            "CvccCvcvnoCvcc",
            "CvccCvcvCvccno",
        ],
        b"medium" => &["CvcnoCvc", "CvcCvcno"],
        b"short" => &["Cvcn"],
        b"basic" => &["aaanaaan", "aannaaan", "aaannaaa"],
        b"pin" => &["nnnn"],
        _ => return None,
    })
}

/// The characters that a letter of a form stands for.
const fn password_characters(letter: u8) -> &'static [u8] {
    match letter {
        b'V' => b"AEIOU",
        b'C' => b"BCDFGHJKLMNPQRSTVWXYZ",
        b'v' => b"aeiou",
        b'c' => b"bcdfghjklmnpqrstvwxyz",
        b'A' => b"AEIOUBCDFGHJKLMNPQRSTVWXYZ",
        b'a' => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz",
        b'n' => b"0123456789",
        b'o' => b"@&%?,=[]_:-+*$#!'^~;()/.",
        _ => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()",
    }
}

/// The algorithm of Master Password.
fn derive_password(call: &Call<'_>) -> Outcome {
    const SEED: &[u8] = b"com.lyndir.masterpassword";
    let (kind, password, user, site) = (call.bytes(1), call.bytes(2), call.bytes(3), call.bytes(4));
    let Some(forms) = password_forms(kind) else {
        return Ok(typed::text([b"cannot find password template ", kind].concat()));
    };
    let counter = u32::try_from(call.int(0)).unwrap_or_default();
    let length = |text: &[u8]| u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes();
    let failed = |what: String| Error::new(format!("failed to derive password: {what}"));
    let parameters = scrypt::Params::new(15, 8, 2).map_err(|error| failed(error.to_string()))?;
    let mut key = [0; 64];
    let salt = [SEED, &length(user), user].concat();
    scrypt::scrypt(password, &salt, &parameters, &mut key).map_err(|error| failed(error.to_string()))?;
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).map_err(|error| failed(error.to_string()))?;
    for part in [SEED, &length(site), site, &counter.to_be_bytes()] {
        mac.update(part);
    }
    let seed = mac.finalize().into_bytes();
    let form = forms[usize::from(seed[0]) % forms.len()];
    let derived: String = form
        .bytes()
        .zip(&seed[1..])
        .map(|(letter, byte)| {
            let characters = password_characters(letter);
            char::from(characters[usize::from(*byte) % characters.len()])
        })
        .collect();
    Ok(Value::from(derived))
}

const BLOCK: usize = 16;

/// The cipher of a password: its bytes, cut or filled up with zeros.
fn cipher(password: &[u8]) -> Aes256 {
    let mut key = [0; 32];
    let length = password.len().min(32);
    key[..length].copy_from_slice(&password[..length]);
    Aes256::new(&Array::from(key))
}

fn encrypt(call: &Call<'_>) -> Outcome {
    let plain = call.bytes(1);
    if plain.is_empty() {
        return Ok(Value::from(""));
    }
    let cipher = cipher(call.bytes(0));
    let mut last: [u8; BLOCK] = random()?;
    let mut out = last.to_vec();
    // As many bytes as are missing, each of which is their number.
    let missing = BLOCK - plain.len() % BLOCK;
    let padded = [plain, &vec![u8::try_from(missing).unwrap_or_default(); missing]].concat();
    for block in padded.chunks_exact(BLOCK) {
        for (byte, plain) in last.iter_mut().zip(block) {
            *byte ^= plain;
        }
        let mut block = Array::from(last);
        cipher.encrypt_block(&mut block);
        last = block.into();
        out.extend_from_slice(&last);
    }
    Ok(Value::from(STANDARD.encode(out)))
}

/// What is not whole ends in the panics of Go's slices and ciphers.
fn decrypt(call: &Call<'_>) -> Outcome {
    let encoded = call.bytes(1);
    if encoded.is_empty() {
        return Ok(Value::from(""));
    }
    let bytes = decode_base64(encoded)?;
    // Go decodes into a slice that has room for as much as the text could hold.
    let capacity = encoded.len() / 4 * 3;
    if capacity < BLOCK {
        return Err(Error::new(format!(
            "runtime error: slice bounds out of range [:{BLOCK}] with capacity {capacity}"
        )));
    }
    if bytes.len() < BLOCK {
        return Err(Error::new(format!(
            "runtime error: slice bounds out of range [{BLOCK}:{}]",
            bytes.len()
        )));
    }
    let (vector, crypt) = bytes.split_at(BLOCK);
    if crypt.len() % BLOCK != 0 {
        return Err(Error::new("crypto/cipher: input not full blocks"));
    }
    let cipher = cipher(call.bytes(0));
    let mut out = Vec::with_capacity(crypt.len());
    let mut last = vector;
    for block in crypt.chunks_exact(BLOCK) {
        let mut plain = [0; BLOCK];
        plain.copy_from_slice(block);
        let mut plain = Array::from(plain);
        cipher.decrypt_block(&mut plain);
        out.extend(plain.iter().zip(last).map(|(plain, last)| plain ^ last));
        last = block;
    }
    let Some(&padding) = out.last() else { return Err(Error::new("runtime error: index out of range [-1]")) };
    match out.len().checked_sub(usize::from(padding)) {
        Some(length) => Ok(text::slice(&out[..length])),
        None => {
            let below = usize::from(padding) - out.len();
            Err(Error::new(format!("runtime error: slice bounds out of range [:-{below}]")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Scope;

    fn call(native: Native, args: &[Value]) -> Outcome {
        native(&Call { args, scope: &Scope::new() })
    }

    #[test]
    fn passwords_are_derived_as_by_master_password() {
        for (kind, derived) in [
            ("long", "ZedaFaxcZaso9*"),
            ("maximum", "pf4zS1LjCg&LjhsZ7T2~"),
            ("medium", "ZedJuz8$"),
            ("basic", "pIS54PLs"),
            ("short", "Zed5"),
            ("pin", "6685"),
            ("none", "cannot find password template none"),
        ] {
            let args = [
                Value::from(1_i64),
                Value::from(kind),
                Value::from("password"),
                Value::from("user"),
                Value::from("example.com"),
            ];
            assert_eq!(call(derive_password, &args).unwrap().as_str(), Some(derived));
        }
    }

    #[test]
    fn what_is_encrypted_is_decrypted() {
        for text in ["", "a", "exactly sixteen!", "a longer text than one block has"] {
            let crypt = call(encrypt, &[Value::from("secretkey"), Value::from(text)]).unwrap();
            let plain = call(decrypt, &[Value::from("secretkey"), crypt]).unwrap();
            assert_eq!(plain.as_str(), Some(text));
        }
        // The example of sprig's documentation.
        let crypt = "30tEfhuJSVRhpG97XCuWgz2okj7L8vQ1s6V9zVUPeDQ=";
        let plain = call(decrypt, &[Value::from("secretkey"), Value::from(crypt)]).unwrap();
        assert_eq!(plain.as_str(), Some("plaintext"));
    }

    #[test]
    fn hashes_are_those_of_bcrypt() {
        let hash = call(bcrypt_hash, &[Value::from("foo")]).unwrap();
        let hash = hash.as_str().unwrap();
        assert!(hash.starts_with("$2a$10$") && bcrypt::verify("foo", hash).unwrap(), "{hash}");
        let long = call(bcrypt_hash, &[Value::from("x".repeat(73))]).unwrap();
        assert_eq!(
            long.as_str(),
            Some("failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes")
        );
        let line = call(htpasswd, &[Value::from("me"), Value::from("foo")]).unwrap();
        assert!(bcrypt::verify("foo", line.as_str().unwrap().strip_prefix("me:").unwrap()).unwrap());
        let refused = call(htpasswd, &[Value::from("a:b"), Value::from("foo")]).unwrap();
        assert_eq!(refused.as_str(), Some("invalid username: a:b"));
    }
}
