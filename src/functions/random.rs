//! Random text, numbers and UUIDs, from the operating system's generator.

use base64::Engine as _;
use rand::{RngExt as _, seq::SliceRandom as _};
use tera::Value;

use super::{Call, Error, Family, Function, Native, Outcome, Param, limits};

const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &[u8] = b"0123456789";
/// The first letter or digit of each kind is as likely as any other: sprig draws from the two alphabets joined.
const ALPHANUMERIC: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

pub(super) const FUNCTIONS: &[Function] = &[
    count("randAlphaNum", alphanumeric, "Random letters and digits, this many."),
    count("randAlpha", letters, "Random letters, this many."),
    count("randNumeric", digits, "Random digits, this many."),
    count("randAscii", ascii, "Random printable ASCII characters, this many."),
    count("randBytes", bytes, "This many random bytes, in base64."),
    Function::new(
        "randInt",
        Family::Crypto,
        &[Param::Int, Param::Int],
        int,
        "A random number from the first to below the second.",
    )
    .stable(),
    Function::new(
        "shuffle",
        Family::Strings,
        &[Param::String],
        shuffle,
        "The characters of a text in random order.",
    )
    .stable(),
    Function::new("uuidv4", Family::Uuid, &[], uuid, "A random UUID.").stable(),
];

const fn count(name: &'static str, native: Native, summary: &'static str) -> Function {
    Function::new(name, Family::Crypto, &[Param::Int], native, summary).stable()
}

/// The asked-for length. sprig swallows the error of a negative one, and answers with nothing.
fn length(call: &Call<'_>) -> Result<usize, Error> {
    let length = usize::try_from(call.int(0)).unwrap_or(0);
    limits::check_text(call.scope, length)?;
    Ok(length)
}

fn drawn(call: &Call<'_>, alphabet: &[u8]) -> Outcome {
    let mut rng = rand::rng();
    let text: String =
        (0..length(call)?).map(|_| char::from(alphabet[rng.random_range(0..alphabet.len())])).collect();
    Ok(Value::from(text))
}

fn alphanumeric(call: &Call<'_>) -> Outcome {
    drawn(call, ALPHANUMERIC)
}

fn letters(call: &Call<'_>) -> Outcome {
    drawn(call, LETTERS)
}

fn digits(call: &Call<'_>) -> Outcome {
    drawn(call, DIGITS)
}

fn ascii(call: &Call<'_>) -> Outcome {
    let mut rng = rand::rng();
    let text: String = (0..length(call)?).map(|_| char::from(rng.random_range(b' '..=b'~'))).collect();
    Ok(Value::from(text))
}

fn bytes(call: &Call<'_>) -> Outcome {
    let mut bytes = vec![0; length(call)?];
    rand::rng().fill(bytes.as_mut_slice());
    Ok(Value::from(base64::engine::general_purpose::STANDARD.encode(bytes)))
}

fn int(call: &Call<'_>) -> Outcome {
    let (low, high) = (call.int(0), call.int(1));
    // Go's Intn panics with this text, which text/template makes the call's error.
    match high.checked_sub(low) {
        Some(span) if span > 0 => Ok(Value::from(low + rand::rng().random_range(0..span))),
        _ => Err(Error::new("invalid argument to Intn")),
    }
}

fn shuffle(call: &Call<'_>) -> Outcome {
    let mut runes: Vec<char> = call.text(0).chars().collect();
    runes.shuffle(&mut rand::rng());
    Ok(Value::from(runes.into_iter().collect::<String>()))
}

fn uuid(_: &Call<'_>) -> Outcome {
    Ok(Value::from(uuid::Uuid::new_v4().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Scope;

    fn run(native: Native, args: &[i64]) -> Outcome {
        let args: Vec<Value> = args.iter().map(|&n| Value::from(n)).collect();
        native(&Call { args: &args, scope: &Scope::default() })
    }

    #[test]
    fn texts_have_their_length_and_alphabet() {
        for (native, alphabet) in
            [(alphanumeric as Native, ALPHANUMERIC), (letters, LETTERS), (digits, DIGITS)]
        {
            let text = run(native, &[200]).unwrap();
            let text = text.as_str().unwrap();
            assert_eq!(text.len(), 200);
            assert!(text.bytes().all(|b| alphabet.contains(&b)), "{text}");
        }
        assert!(run(ascii, &[200]).unwrap().as_str().unwrap().bytes().all(|b| (b' '..=b'~').contains(&b)));
        assert_eq!(run(alphanumeric, &[-1]).unwrap().as_str(), Some(""));
        assert_eq!(run(bytes, &[3]).unwrap().as_str().unwrap().len(), 4);
        assert!(matches!(run(alphanumeric, &[i64::MAX]), Err(Error::Limit(_))));
    }

    #[test]
    fn numbers_are_in_their_range() {
        for _ in 0..100 {
            assert!((-2..3).contains(&run(int, &[-2, 3]).unwrap().as_i64().unwrap()));
        }
        for args in [[3, 3], [4, 3], [i64::MIN, i64::MAX]] {
            assert_eq!(run(int, &args), Err(Error::new("invalid argument to Intn")));
        }
    }

    #[test]
    fn a_uuid_is_one_of_version_4() {
        let text = run(uuid, &[]).unwrap();
        assert_eq!(text.as_str().unwrap().as_bytes()[14], b'4');
    }

    #[test]
    fn a_shuffled_text_keeps_its_characters() {
        let args = [Value::from("aäb")];
        let text = shuffle(&Call { args: &args, scope: &Scope::default() }).unwrap();
        let mut runes: Vec<char> = text.as_str().unwrap().chars().collect();
        runes.sort_unstable();
        assert_eq!(runes, ['a', 'b', 'ä']);
    }
}
