//! Base64, base32 and checksums.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use data_encoding::BASE32;
use sha1::Digest as _;
use tera::Value;

use super::{Call, Error, Family, Function, Native, Outcome, Param, limits};
use crate::value::typed;

pub(super) const FUNCTIONS: &[Function] = &[
    function("b64enc", base64_encode, "Base64 of a text."),
    function("b64dec", base64_decode, "The text of Base64, or the words of the error."),
    function("b32enc", base32_encode, "Base32 of a text."),
    function("b32dec", base32_decode, "The text of Base32, or the words of the error."),
    function("sha1sum", sha1sum, "SHA-1, in hexadecimal."),
    function("sha256sum", sha256sum, "SHA-256, in hexadecimal."),
    function("sha512sum", sha512sum, "SHA-512, in hexadecimal."),
    function("adler32sum", adler32sum, "Adler-32, in decimal."),
];

const fn function(name: &'static str, native: Native, summary: &'static str) -> Function {
    Function::new(name, Family::Encoding, &[Param::String], native, summary)
}

fn base64_encode(call: &Call<'_>) -> Outcome {
    Ok(Value::from(STANDARD.encode(call.bytes(0))))
}

fn base64_decode(call: &Call<'_>) -> Outcome {
    Ok(decode_base64(call.bytes(0)).map_or_else(|error| Value::from(error.to_string()), typed::text))
}

/// Go's decoding of standard Base64, which passes over line ends, and takes any bits after the last byte.
pub(crate) fn decode_base64(text: &[u8]) -> Result<Vec<u8>, Error> {
    if let Ok(bytes) = STANDARD.decode(text) {
        return Ok(bytes);
    }
    let corrupt = |at: usize| Error::new(format!("illegal base64 data at input byte {at}"));
    let is_line_end = |at: usize| matches!(text.get(at), Some(b'\r' | b'\n'));
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let mut at = 0;
    loop {
        let (mut bits, mut count) = (0_u32, 0);
        while count < 4 {
            let Some(&byte) = text.get(at) else {
                // Padding is missing: the error is where the group began.
                return if count == 0 { Ok(out) } else { Err(corrupt(at - count)) };
            };
            at += 1;
            match byte {
                b'\r' | b'\n' => continue,
                b'=' => {
                    if count < 2 {
                        return Err(corrupt(at - 1));
                    }
                    if count == 2 {
                        at += (at..).take_while(|at| is_line_end(*at)).count();
                        match text.get(at) {
                            None => return Err(corrupt(text.len())),
                            Some(b'=') => at += 1,
                            Some(_) => return Err(corrupt(at - 1)),
                        }
                    }
                    at += (at..).take_while(|at| is_line_end(*at)).count();
                    if at < text.len() {
                        return Err(corrupt(at));
                    }
                    let bytes = (bits << (24 - 6 * count)).to_be_bytes();
                    out.extend_from_slice(&bytes[1..count]);
                    return Ok(out);
                }
                _ => match base64_digit(byte) {
                    Some(digit) => bits = bits << 6 | u32::from(digit),
                    None => return Err(corrupt(at - 1)),
                },
            }
            count += 1;
        }
        out.extend_from_slice(&bits.to_be_bytes()[1..]);
    }
}

const fn base64_digit(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

/// Go's decoding of standard Base32, which passes over line ends.
fn decode_base32(text: &[u8]) -> Result<Vec<u8>, Error> {
    let text: Vec<u8> = text.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    let corrupt = |at: usize| Error::new(format!("illegal base32 data at input byte {at}"));
    let mut out = Vec::with_capacity(text.len() / 8 * 5);
    let mut at = 0;
    while at < text.len() {
        let (mut bits, mut count) = (0_u64, 0);
        while count < 8 {
            let Some(&byte) = text.get(at) else { return Err(corrupt(text.len() - count)) };
            at += 1;
            let rest = &text[at..];
            if byte == b'=' && count >= 2 && rest.len() < 8 {
                if rest.len() + count < 7 {
                    return Err(corrupt(text.len()));
                }
                if let Some(wrong) = rest.iter().take(7 - count).position(|byte| *byte != b'=') {
                    return Err(corrupt(at + wrong - 1));
                }
                if matches!(count, 3 | 6) {
                    return Err(corrupt(at - 1));
                }
                let bytes = (bits << (40 - 5 * count)).to_be_bytes();
                out.extend_from_slice(&bytes[3..3 + count * 5 / 8]);
                return Ok(out);
            }
            let digit = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'2'..=b'7' => byte - b'2' + 26,
                _ => return Err(corrupt(at - 1)),
            };
            bits = bits << 5 | u64::from(digit);
            count += 1;
        }
        out.extend_from_slice(&bits.to_be_bytes()[3..]);
    }
    Ok(out)
}

fn base32_encode(call: &Call<'_>) -> Outcome {
    let text = call.bytes(0);
    limits::check_text(call.scope, text.len() / 5 * 8)?;
    Ok(Value::from(BASE32.encode(text)))
}

fn base32_decode(call: &Call<'_>) -> Outcome {
    let decoded = decode_base32(call.bytes(0));
    Ok(decoded.map_or_else(|error| Value::from(error.to_string()), typed::text))
}

fn hex(bytes: &[u8]) -> Outcome {
    Ok(Value::from(data_encoding::HEXLOWER.encode(bytes)))
}

fn sha1sum(call: &Call<'_>) -> Outcome {
    hex(&sha1::Sha1::digest(call.bytes(0)))
}

fn sha256sum(call: &Call<'_>) -> Outcome {
    hex(&sha2::Sha256::digest(call.bytes(0)))
}

fn sha512sum(call: &Call<'_>) -> Outcome {
    hex(&sha2::Sha512::digest(call.bytes(0)))
}

fn adler32sum(call: &Call<'_>) -> Outcome {
    Ok(Value::from(adler2::adler32_slice(call.bytes(0)).to_string()))
}
