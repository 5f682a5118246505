//! DSA keys, which no certificate takes any more, but sprig makes.

use num_bigint::BigUint;

use super::{
    der::{self, Reader, tag},
    key::{TAGS, TRUNCATED},
};
use crate::functions::crypto;

/// The sizes of the primes p and q, in bits.
const P_BITS: u64 = 2048;
const Q_BITS: u64 = 256;

/// The numbers of a new key in DER, as sprig writes them: version, p, q, g, y, x.
pub(super) fn generate() -> Result<Vec<u8>, String> {
    let one = BigUint::from(1_u8);
    let (p, q) = primes()?;
    let exponent = (&p - &one) / &q;
    let g = (2_u32..)
        .map(|h| BigUint::from(h).modpow(&exponent, &p))
        .find(|g| *g != one)
        .ok_or("no generator")?;
    let x = loop {
        let x = random(Q_BITS)?;
        if x < q && x != BigUint::ZERO {
            break x;
        }
    };
    let y = g.modpow(&x, &p);
    let numbers = [BigUint::ZERO, p, q, g, y, x].map(|number| der::unsigned(&number.to_bytes_be()));
    Ok(der::sequence(&numbers.each_ref().map(Vec::as_slice)))
}

/// Whether the DER holds the numbers of a key.
pub(super) fn check(bytes: &[u8]) -> Result<(), String> {
    let numbers = Reader::new(bytes).enter(tag::SEQUENCE).map(|mut numbers| {
        let count = (0..6).take_while(|_| numbers.take(tag::INTEGER).is_some()).count();
        (count, numbers.is_empty())
    });
    match numbers {
        Some((6, true)) => Ok(()),
        Some((_, true)) => Err(TRUNCATED.to_owned()),
        _ => Err(TAGS.to_owned()),
    }
}

/// A random number below two to this power, a multiple of 8.
fn random(bits: u64) -> Result<BigUint, String> {
    let mut number = BigUint::ZERO;
    for _ in 0..bits / 256 {
        let part: [u8; 32] = crypto::random().map_err(|error| error.to_string())?;
        number = (number << 256) + BigUint::from_bytes_be(&part);
    }
    Ok(number)
}

/// Primes of which the second divides the first less one.
fn primes() -> Result<(BigUint, BigUint), String> {
    let one = BigUint::from(1_u8);
    loop {
        let mut q = random(Q_BITS)?;
        q.set_bit(0, true);
        q.set_bit(Q_BITS - 1, true);
        if !is_prime(&q)? {
            continue;
        }
        for _ in 0..4 * P_BITS {
            let mut p = random(P_BITS)?;
            p.set_bit(0, true);
            p.set_bit(P_BITS - 1, true);
            let rest = &p % (&q << 1);
            p = p - rest + &one;
            if p.bits() == P_BITS && is_prime(&p)? {
                return Ok((p, q));
            }
        }
    }
}

/// Whether an odd number is most likely prime: no small divisor, and Miller and Rabin's test with random bases.
fn is_prime(number: &BigUint) -> Result<bool, String> {
    const ROUNDS: usize = 24;
    let one = BigUint::from(1_u8);
    let small_divisor = (3_u32..2000)
        .step_by(2)
        .any(|divisor| number % divisor == BigUint::ZERO && *number != BigUint::from(divisor));
    if small_divisor {
        return Ok(false);
    }
    let less = number - &one;
    let twos = less.trailing_zeros().unwrap_or(0);
    let odd = &less >> twos;
    'rounds: for round in 0..ROUNDS {
        let base = if round == 0 { BigUint::from(2_u8) } else { random(256)? % number };
        let mut power = base.modpow(&odd, number);
        if power == one || power == less || power == BigUint::ZERO {
            continue;
        }
        for _ in 1..twos {
            power = &power * &power % number;
            if power == less {
                continue 'rounds;
            }
        }
        return Ok(false);
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_are_told_from_others() {
        // Two to 127 less one is prime; the number below is a product of two primes.
        let mersenne = (BigUint::from(1_u8) << 127) - 1_u8;
        assert!(is_prime(&mersenne).unwrap());
        let other = (BigUint::from(1_u8) << 61) - 1_u8;
        assert!(!is_prime(&(mersenne * other)).unwrap());
        assert!(
            is_prime(&BigUint::from(1999_u32)).unwrap()
                && !is_prime(&BigUint::from(1997_u32 * 1999)).unwrap()
        );
    }
}
