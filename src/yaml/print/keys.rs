//! The order of keys in printed maps: go-yaml's, which people find natural (`a2` before `a10`).

use std::{cmp::Ordering, sync::LazyLock};

use regex::Regex;

use super::super::resolve::Dialect;

// Go 1.26 knows the characters of Unicode 15.
static LETTER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[\pL&&\p{Age=15.0}]$").expect("a valid pattern"));
static DIGIT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[\p{Nd}&&\p{Age=15.0}]$").expect("a valid pattern"));

fn is_letter(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphabetic() } else { LETTER.is_match(c.encode_utf8(&mut [0; 4])) }
}

fn is_digit(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_digit() } else { DIGIT.is_match(c.encode_utf8(&mut [0; 4])) }
}

/// The digits that a text begins with, as a number that wraps around, and how many they are.
fn digits(text: &str, before: i64) -> (i64, usize) {
    text.chars().take_while(|c| is_digit(*c)).fold((before, 0), |(number, count), c| {
        let digit = i64::from(u32::from(c)) - i64::from(b'0');
        (number.wrapping_mul(10).wrapping_add(digit), count + 1)
    })
}

/// Compares two keys. This is no total order: some triples of odd keys go round in a circle.
pub(super) fn compare(a: &str, b: &str, dialect: Dialect) -> Ordering {
    let common = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    if common == a.len() || common == b.len() {
        return a.len().cmp(&b.len());
    }
    let mut common = common;
    while !a.is_char_boundary(common) || !b.is_char_boundary(common) {
        common -= 1;
    }
    let (Some(x), Some(y)) = (a[common..].chars().next(), b[common..].chars().next()) else {
        return a.len().cmp(&b.len());
    };
    match (is_letter(x), is_letter(y)) {
        (true, true) => return x.cmp(&y),
        (false, false) => {}
        (x_is_letter, _) => {
            let after_digit = dialect == Dialect::V3 && a[..common].chars().next_back().is_some_and(is_digit);
            return if x_is_letter == after_digit { Ordering::Less } else { Ordering::Greater };
        }
    }
    // A zero counts for more where digits that are not zeros come right before it.
    let before = if x == '0' || y == '0' {
        let preceding = a[..common].chars().rev().take_while(|c| is_digit(*c));
        i64::from(preceding.into_iter().any(|c| c != '0'))
    } else {
        0
    };
    let (x_number, x_count) = digits(&a[common..], before);
    let (y_number, y_count) = digits(&b[common..], before);
    x_number.cmp(&y_number).then(x_count.cmp(&y_count)).then(x.cmp(&y))
}

/// Sorts entries by their keys.
///
/// Where the order goes round in a circle, Go leaves what comes of it to the random order of its maps. Here the entries are put in the
/// order of their bytes first, so that the same keys always come out in the same order. The standard library's sorts may panic on such
/// an order; this one does not.
pub(super) fn sort<T: Copy>(entries: &mut [(&str, T)], dialect: Dialect) {
    entries.sort_unstable_by_key(|(key, _)| *key);
    merge_sort(entries, dialect);
}

fn merge_sort<T: Copy>(entries: &mut [(&str, T)], dialect: Dialect) {
    const SMALL: usize = 16;
    let is_less = |a: &(&str, T), b: &(&str, T)| compare(a.0, b.0, dialect) == Ordering::Less;
    if entries.len() > SMALL {
        let (left, right) = entries.split_at_mut(entries.len() / 2);
        merge_sort(left, dialect);
        merge_sort(right, dialect);
        if !is_less(&right[0], &left[left.len() - 1]) {
            // Mostly the order of the bytes is this order too.
            return;
        }
        let head = left.to_vec();
        let (mut from_head, mut from_tail) = (0, head.len());
        let mut to = 0;
        while from_head < head.len() {
            let take_tail = from_tail < entries.len() && is_less(&entries[from_tail], &head[from_head]);
            if take_tail {
                entries[to] = entries[from_tail];
                from_tail += 1;
            } else {
                entries[to] = head[from_head];
                from_head += 1;
            }
            to += 1;
        }
        return;
    }
    for i in 1..entries.len() {
        let entry = entries[i];
        let mut to = i;
        while to > 0 && is_less(&entry, &entries[to - 1]) {
            entries[to] = entries[to - 1];
            to -= 1;
        }
        entries[to] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// go-yaml's own test of its order.
    #[test]
    fn sorts_as_go_yaml_does() {
        let order = [
            "", "-", "~", "2", "3", "03", "a", "a01", "a1", "a2", "a10", "b", "b01", "b1", "d1", "d01",
            "d001", "d12", "e1", "e2", "e10",
        ];
        for pair in order.windows(2) {
            let wrong = matches!((pair[0], pair[1]), ("a01", "a1") | ("b01", "b1"));
            let expected = if wrong { Ordering::Greater } else { Ordering::Less };
            assert_eq!(compare(pair[0], pair[1], Dialect::V2), expected, "{pair:?}");
        }
    }

    #[test]
    fn letters_after_digits_differ_between_the_versions() {
        assert_eq!(compare("a1b", "a1-", Dialect::V2), Ordering::Greater);
        assert_eq!(compare("a1b", "a1-", Dialect::V3), Ordering::Less);
    }

    #[test]
    fn many_keys_are_sorted_stably() {
        let keys: Vec<String> = (0..100).map(|i| format!("k{}", (i * 37) % 100)).collect();
        let mut entries: Vec<(&str, usize)> = keys.iter().map(|k| (k.as_str(), 0)).collect();
        sort(&mut entries, Dialect::V2);
        let sorted: Vec<String> = (0..100).map(|i| format!("k{i}")).collect();
        assert_eq!(entries.iter().map(|e| e.0).collect::<Vec<_>>(), sorted);
    }

    #[test]
    fn keys_whose_order_goes_round_in_a_circle_always_come_out_the_same() {
        for pair in [("5", "05"), ("05", "0a"), ("0a", "5")] {
            assert_eq!(compare(pair.0, pair.1, Dialect::V2), Ordering::Less, "{pair:?}");
        }
        // Many of them, from which the standard library's sorts would notice.
        let keys: Vec<String> = (0..200)
            .map(|i| ["5", "05", "0a", "5a", "\"3", "55+"][i % 6].repeat(1 + i / 48) + &"0".repeat(i / 6 % 8))
            .collect();
        let sorted = |dialect, step: usize| {
            let mut entries: Vec<(&str, ())> =
                (0..keys.len()).map(|i| (keys[i * step % keys.len()].as_str(), ())).collect();
            sort(&mut entries, dialect);
            entries
        };
        for dialect in [Dialect::V2, Dialect::V3] {
            for step in [3, 7, 11, 199] {
                assert_eq!(sorted(dialect, step), sorted(dialect, 1));
            }
        }
    }
}
