//! Passwords and encryption, as sprig has them.

use aes::{
    Aes256, Block,
    cipher::{BlockCipherDecrypt as _, BlockCipherEncrypt as _, KeyInit as _},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use tera::Value;

use super::{Call, Error, Family, Function, Outcome, Param, text};

/// What Go's bcrypt hashes at the most.
const BCRYPT_LIMIT: usize = 72;
/// Go's `bcrypt.DefaultCost`.
const BCRYPT_COST: u32 = 10;
const BLOCK: usize = 16;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("bcrypt", Family::Crypto, &[Param::String], bcrypt, "The bcrypt hash of a password.")
        .stable(),
    Function::new(
        "htpasswd",
        Family::Crypto,
        &[Param::String, Param::String],
        htpasswd,
        "A line of an htpasswd file: user and password, hashed with bcrypt.",
    )
    .stable(),
    Function::new(
        "derivePassword",
        Family::Crypto,
        &[Param::Uint32, Param::String, Param::String, Param::String, Param::String],
        derive_password,
        "The password of a site after the Master Password algorithm: counter, kind, password, user, site.",
    ),
    Function::new(
        "encryptAES",
        Family::Crypto,
        &[Param::String, Param::String],
        encrypt_aes,
        "A text encrypted with AES-256 in CBC mode, in base64.",
    )
    .stable(),
    Function::new(
        "decryptAES",
        Family::Crypto,
        &[Param::String, Param::String],
        decrypt_aes,
        "What `encryptAES` encrypted.",
    ),
];

fn hashed(password: &[u8]) -> String {
    if password.len() > BCRYPT_LIMIT {
        return "failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes".to_owned();
    }
    let mut salt = [0; 16];
    let hash = getrandom::fill(&mut salt).map_err(|error| error.to_string()).and_then(|()| {
        ::bcrypt::hash_with_salt(password, BCRYPT_COST, salt).map_err(|error| error.to_string())
    });
    match hash {
        // Go writes the version that the first implementation had; it is the same hash.
        Ok(hash) => hash.format_for_version(::bcrypt::Version::TwoA),
        Err(error) => format!("failed to encrypt string with bcrypt: {error}"),
    }
}

fn bcrypt(call: &Call<'_>) -> Outcome {
    Ok(Value::from(hashed(call.bytes(0))))
}

fn htpasswd(call: &Call<'_>) -> Outcome {
    let user = call.bytes(0);
    if user.contains(&b':') {
        return Ok(text::value([b"invalid username: ", user].concat().into()));
    }
    let hash = hashed(call.bytes(1));
    Ok(text::value([user, b":", hash.as_bytes()].concat().into()))
}

/// The templates of a kind of password: each letter stands for a set of characters.
fn templates(kind: &[u8]) -> Option<&'static [&'static str]> {
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

fn characters(class: u8) -> &'static [u8] {
    match class {
        b'V' => b"AEIOU",
        b'C' => b"BCDFGHJKLMNPQRSTVWXYZ",
        b'v' => b"aeiou",
        b'c' => b"bcdfghjklmnpqrstvwxyz",
        b'a' => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz",
        b'n' => b"0123456789",
        b'o' => b"@&%?,=[]_:-+*$#!'^~;()/.",
        _ => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()",
    }
}

/// The Master Password algorithm: a key of the password and the user, by which the site and the counter are signed.
fn derive_password(call: &Call<'_>) -> Outcome {
    const SEED: &[u8] = b"com.lyndir.masterpassword";
    let kind = call.bytes(1);
    let Some(templates) = templates(kind) else {
        return Ok(text::value([b"cannot find password template ", kind].concat().into()));
    };
    let counter = u32::try_from(call.int(0)).unwrap_or_default();
    let (password, user, site) = (call.bytes(2), call.bytes(3), call.bytes(4));
    let length = |text: &[u8]| u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes();
    let failed = |error: &dyn std::fmt::Display| Error::new(format!("failed to derive password: {error}"));

    let params = scrypt::Params::new(15, 8, 2).map_err(|error| failed(&error))?;
    let mut key = [0; 64];
    let salt = [SEED, &length(user), user].concat();
    scrypt::scrypt(password, &salt, &params, &mut key).map_err(|error| failed(&error))?;

    let mut mac = Hmac::<Sha256>::new_from_slice(&key).map_err(|error| failed(&error))?;
    mac.update(&[SEED, &length(site), site, &counter.to_be_bytes()].concat());
    let seed = mac.finalize().into_bytes();
    let template = templates[usize::from(seed[0]) % templates.len()];
    let derived: String = template
        .bytes()
        .zip(&seed[1..])
        .map(|(class, &byte)| {
            let set = characters(class);
            char::from(set[usize::from(byte) % set.len()])
        })
        .collect();
    Ok(Value::from(derived))
}

/// AES-256 with the password as the key, cut or filled with zeros.
fn cipher(password: &[u8]) -> Aes256 {
    let mut key = [0; 32];
    let used = password.len().min(key.len());
    key[..used].copy_from_slice(&password[..used]);
    Aes256::new(&key.into())
}

fn encrypt_aes(call: &Call<'_>) -> Outcome {
    let plain = call.bytes(1);
    if plain.is_empty() {
        return Ok(Value::from(""));
    }
    let cipher = cipher(call.bytes(0));
    let mut last = [0; BLOCK];
    getrandom::fill(&mut last).map_err(|error| Error::new(error.to_string()))?;
    let mut out = last.to_vec();
    let padding = BLOCK - plain.len() % BLOCK;
    let mut content = plain.to_vec();
    content.resize(plain.len() + padding, u8::try_from(padding).unwrap_or_default());
    for chunk in content.chunks_exact(BLOCK) {
        for (byte, plain) in last.iter_mut().zip(chunk) {
            *byte ^= plain;
        }
        let mut block = Block::from(last);
        cipher.encrypt_block(&mut block);
        last = block.into();
        out.extend_from_slice(&last);
    }
    Ok(Value::from(STANDARD.encode(out)))
}

fn decrypt_aes(call: &Call<'_>) -> Outcome {
    let coded = call.bytes(1);
    if coded.is_empty() {
        return Ok(Value::from(""));
    }
    let bytes = super::encoding::decode_base64(coded)?;
    // What Go panics with becomes the call's error.
    let Some((iv, content)) = bytes.split_at_checked(BLOCK) else {
        return Err(Error::new(format!(
            "runtime error: slice bounds out of range [:16] with capacity {}",
            bytes.len()
        )));
    };
    if content.len() % BLOCK != 0 {
        return Err(Error::new("crypto/cipher: input not full blocks"));
    }
    let cipher = cipher(call.bytes(0));
    let mut last = iv;
    let mut out = Vec::with_capacity(content.len());
    for chunk in content.chunks_exact(BLOCK) {
        let Ok(array) = <[u8; BLOCK]>::try_from(chunk) else { continue };
        let mut block = Block::from(array);
        cipher.decrypt_block(&mut block);
        out.extend(block.iter().zip(last).map(|(byte, last)| byte ^ last));
        last = chunk;
    }
    let Some(&padding) = out.last() else {
        return Err(Error::new("runtime error: index out of range [-1]"));
    };
    match out.len().checked_sub(usize::from(padding)) {
        Some(end) => out.truncate(end),
        None => {
            let end = out.len().cast_signed() - isize::from(padding);
            return Err(Error::new(format!("runtime error: slice bounds out of range [:{end}]")));
        }
    }
    Ok(text::value(out.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{functions::Native, value::Scope};

    fn run(native: Native, args: &[Value]) -> Outcome {
        native(&Call { args, scope: &Scope::default() })
    }

    fn texts<const N: usize>(args: [&str; N]) -> [Value; N] {
        args.map(Value::from)
    }

    #[test]
    fn passwords_are_derived_as_by_sprig() {
        for (kind, expected) in [
            ("long", "ZedaFaxcZaso9*"),
            ("maximum", "pf4zS1LjCg&LjhsZ7T2~"),
            ("medium", "ZedJuz8$"),
            ("basic", "pIS54PLs"),
            ("short", "Zed5"),
            ("pin", "6685"),
            ("other", "cannot find password template other"),
        ] {
            let mut args = vec![Value::from(1i64)];
            args.extend(texts([kind, "password", "user", "example.com"]));
            let got = run(derive_password, &args).unwrap();
            assert_eq!(got.as_str(), Some(expected), "{kind}");
        }
    }

    #[test]
    fn a_hash_holds_for_its_password() {
        let line = run(htpasswd, &texts(["me", "secret"])).unwrap();
        let hash = line.as_str().unwrap().strip_prefix("me:").unwrap().to_owned();
        assert!(hash.starts_with("$2a$10$"), "{hash}");
        assert!(::bcrypt::verify("secret", &hash).unwrap());
        assert_eq!(run(htpasswd, &texts(["a:b", ""])).unwrap().as_str(), Some("invalid username: a:b"));
        assert!(
            run(bcrypt, &texts([&"x".repeat(73)])).unwrap().as_str().unwrap().ends_with("exceeds 72 bytes")
        );
    }

    #[test]
    fn what_was_encrypted_is_decrypted() {
        for plain in ["", "a", "exactly 16 bytes", "more than sixteen bytes"] {
            let coded = run(encrypt_aes, &texts(["key", plain])).unwrap();
            let back = run(decrypt_aes, &[Value::from("key"), coded]).unwrap();
            assert_eq!(back.as_str(), Some(plain));
        }
        // Made by sprig 3.3.
        let coded = "30tEfhuJSVRhpG97XCuWgz2okj7L8vQ1s6V9zVUPeDQ=";
        let back = run(decrypt_aes, &texts(["secretkey", coded])).unwrap();
        assert_eq!(back.as_str(), Some("plaintext"));
        assert!(run(decrypt_aes, &texts(["k", "AAAA"])).is_err());
        assert!(run(decrypt_aes, &texts(["k", "%"])).is_err());
    }
}
