//! Go's comparisons: text/template's `eq`, `ne`, `lt`, `le`, `gt`, `ge`, and reflect's `DeepEqual`.

use std::{cmp::Ordering, collections::HashSet};

use tera::{Value, value::ValueKind};

use super::{Error, MAX_DEPTH, Scope, kind, print, printf, typed};

/// What text/template compares by, its `basicKind`. Values of different kinds do not compare, except for the integers.
enum Basic<'v> {
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Complex(f64, f64),
    Text(&'v [u8]),
    Nil,
    Other,
}

impl<'v> Basic<'v> {
    fn of(value: &'v Value) -> Self {
        let known = match value.kind() {
            ValueKind::None | ValueKind::Undefined => Some(Self::Nil),
            ValueKind::Bool => value.as_bool().map(Self::Bool),
            ValueKind::I64 | ValueKind::I128 => value.as_i64().map(Self::Int),
            ValueKind::U64 | ValueKind::U128 => value.as_u64().map(Self::Uint),
            ValueKind::F64 => value.as_f64().map(Self::Float),
            ValueKind::String => value.as_str().map(|text| Self::Text(text.as_bytes())),
            ValueKind::Map => match typed::Type::of(value) {
                Some(typed::Type::Text) => typed::text_bytes(value).map(Self::Text),
                Some(typed::Type::Duration | typed::Type::Month | typed::Type::Weekday) => {
                    typed::number(value).map(Self::Int)
                }
                Some(typed::Type::Complex) => {
                    typed::complex(value).map(|(real, imaginary)| Self::Complex(real, imaginary))
                }
                _ => None,
            },
            _ => None,
        };
        known.unwrap_or(Self::Other)
    }

    const fn has_order(&self) -> bool {
        !matches!(self, Self::Nil | Self::Other)
    }
}

fn signed_and_unsigned(signed: i64, unsigned: u64) -> Ordering {
    u64::try_from(signed).map_or(Ordering::Less, |signed| signed.cmp(&unsigned))
}

fn incompatible(scope: &Scope, first: &Value, second: &Value) -> Error {
    Error::Incompatible(kind::type_of(scope, first).to_owned(), kind::type_of(scope, second).to_owned())
}

/// `eq first others…`: whether the first equals any of the others.
///
/// # Errors
/// As in Go: no others, kinds that do not compare, and types (maps, slices) that Go cannot compare.
pub fn eq(scope: &Scope, first: &Value, others: &[Value]) -> Result<bool, Error> {
    if others.is_empty() {
        return Err(Error::MissingArgument);
    }
    let basic = Basic::of(first);
    for other in others {
        let equal = match (&basic, Basic::of(other)) {
            (Basic::Bool(a), Basic::Bool(b)) => *a == b,
            (Basic::Int(a), Basic::Int(b)) => *a == b,
            (Basic::Uint(a), Basic::Uint(b)) => *a == b,
            (Basic::Int(a), Basic::Uint(b)) => signed_and_unsigned(*a, b).is_eq(),
            (Basic::Uint(a), Basic::Int(b)) => signed_and_unsigned(b, *a).is_eq(),
            (Basic::Float(a), Basic::Float(b)) => *a == b,
            (Basic::Complex(a, c), Basic::Complex(b, d)) => *a == b && *c == d,
            (Basic::Text(a), Basic::Text(b)) => *a == b,
            (Basic::Nil, Basic::Nil) => true,
            (Basic::Nil, Basic::Other) => scope.is_nil(other),
            (Basic::Other, Basic::Nil) => scope.is_nil(first),
            (Basic::Nil, _) | (_, Basic::Nil) => false,
            (Basic::Other, Basic::Other) => eq_others(scope, first, other)?,
            _ => return Err(incompatible(scope, first, other)),
        };
        if equal {
            return Ok(true);
        }
    }
    Ok(false)
}

/// `eq` on two values that are neither basic nor nil.
fn eq_others(scope: &Scope, first: &Value, second: &Value) -> Result<bool, Error> {
    // Go's messages print the values with `%s`, mistaken verbs and all, except for the last of a pair.
    let shown = |value: &Value| {
        let text = printf::sprintf(scope, b"%s", std::slice::from_ref(value))?;
        Ok::<_, Error>(typed::text_lossy(&text).unwrap_or_default().into_owned())
    };
    let name = |value| kind::type_of(scope, value).to_owned();
    if kind::kind_of(first) != kind::kind_of(second) {
        return Err(Error::NotComparablePair(
            shown(first)?,
            name(first),
            name(second),
            print::to_text(scope, second)?,
        ));
    }
    if scope.is_nil(first) || scope.is_nil(second) {
        return Ok(scope.is_nil(first) == scope.is_nil(second));
    }
    match typed::Type::of(second) {
        // Pointers compare by address; a clone of a value is the same pointer.
        Some(kind) if kind.is_pointer() => {
            Ok(matches!((first.as_map(), second.as_map()), (Some(a), Some(b)) if std::ptr::eq(a, b)))
        }
        Some(
            typed::Type::Time | typed::Type::Certificate | typed::Type::KubeVersion | typed::Type::BuildInfo,
        ) => Ok(first == second),
        _ => Err(Error::NotComparable(shown(second)?, name(second))),
    }
}

/// `ne first second`.
///
/// # Errors
/// As [`eq`].
pub fn ne(scope: &Scope, first: &Value, second: &Value) -> Result<bool, Error> {
    eq(scope, first, std::slice::from_ref(second)).map(|equal| !equal)
}

/// `lt first second`.
///
/// # Errors
/// As in Go: kinds without an order (nil, bool, maps…), and two kinds that do not compare.
pub fn lt(scope: &Scope, first: &Value, second: &Value) -> Result<bool, Error> {
    let (a, b) = (Basic::of(first), Basic::of(second));
    if !a.has_order() || !b.has_order() {
        return Err(Error::Unordered);
    }
    match (a, b) {
        (Basic::Bool(_), Basic::Bool(_)) | (Basic::Complex(..), Basic::Complex(..)) => Err(Error::Unordered),
        (Basic::Int(a), Basic::Int(b)) => Ok(a < b),
        (Basic::Uint(a), Basic::Uint(b)) => Ok(a < b),
        (Basic::Int(a), Basic::Uint(b)) => Ok(signed_and_unsigned(a, b).is_lt()),
        (Basic::Uint(a), Basic::Int(b)) => Ok(signed_and_unsigned(b, a).is_gt()),
        (Basic::Float(a), Basic::Float(b)) => Ok(a < b),
        (Basic::Text(a), Basic::Text(b)) => Ok(a < b),
        _ => Err(incompatible(scope, first, second)),
    }
}

/// `le first second`.
///
/// # Errors
/// As [`lt`].
pub fn le(scope: &Scope, first: &Value, second: &Value) -> Result<bool, Error> {
    Ok(lt(scope, first, second)? || eq(scope, first, std::slice::from_ref(second))?)
}

/// `gt first second`: the inverse of [`le`], NaN included, as in Go.
///
/// # Errors
/// As [`lt`].
pub fn gt(scope: &Scope, first: &Value, second: &Value) -> Result<bool, Error> {
    le(scope, first, second).map(|is| !is)
}

/// `ge first second`: the inverse of [`lt`], NaN included, as in Go.
///
/// # Errors
/// As [`lt`].
pub fn ge(scope: &Scope, first: &Value, second: &Value) -> Result<bool, Error> {
    lt(scope, first, second).map(|is| !is)
}

/// Go's `reflect.DeepEqual`: the same type and the same content, all the way down. An int never equals a float.
///
/// # Errors
/// When the values nest deeper than [`MAX_DEPTH`].
pub fn deep_equal(scope: &Scope, first: &Value, second: &Value) -> Result<bool, Error> {
    DeepEqual { scope, met: HashSet::new(), containers: 0 }.at(first, second, 0)
}

/// A comparison. As in Go, two maps or lists that were met before are taken for equal: they may be within themselves, or be
/// shared by so many that it would take for ever to compare all.
struct DeepEqual<'s> {
    scope: &'s Scope,
    /// The addresses of pairs that were met, but for the first few.
    met: HashSet<(usize, usize)>,
    containers: usize,
}

/// How many pairs are compared before they are noted.
const FEW: usize = 32;

/// Whether two lists or two maps are of one type, and both or neither nil.
fn same_type(scope: &Scope, first: &Value, second: &Value) -> bool {
    scope.named_type(first) == scope.named_type(second) && scope.is_nil(first) == scope.is_nil(second)
}

impl DeepEqual<'_> {
    /// Whether a pair of maps or lists was met before.
    fn is_known(&mut self, first: usize, second: usize) -> bool {
        self.containers += 1;
        self.containers > FEW && !self.met.insert((first.min(second), first.max(second)))
    }

    fn at(&mut self, first: &Value, second: &Value, depth: usize) -> Result<bool, Error> {
        let scope = self.scope;
        if depth > MAX_DEPTH {
            return Err(scope.too_deep());
        }
        if first.kind() != second.kind() {
            let nil = |value: &Value| value.is_none() || value.is_undefined();
            return Ok(nil(first) && nil(second));
        }
        if let (Some(a), Some(b)) = (first.as_array(), second.as_array()) {
            if !same_type(scope, first, second) || a.len() != b.len() {
                return Ok(false);
            }
            if !a.is_empty() && self.is_known(a.as_ptr().addr(), b.as_ptr().addr()) {
                return Ok(true);
            }
            for (a, b) in a.iter().zip(b) {
                if !self.at(a, b, depth + 1)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        if let (Some(a), Some(b)) = (typed::complex(first), typed::complex(second)) {
            return Ok(a == b);
        }
        if let (Some(a), Some(b)) = (scope.map(first), scope.map(second)) {
            // NaN within one and the same map is equal, as for Go.
            if matches!((first.as_map(), second.as_map()), (Some(a), Some(b)) if std::ptr::eq(a, b)) {
                return Ok(true);
            }
            if !same_type(scope, first, second) || a.len() != b.len() {
                return Ok(false);
            }
            let address = |value: &Value| value.as_map().map_or(0, |map| std::ptr::from_ref(map).addr());
            if self.is_known(address(first), address(second)) {
                return Ok(true);
            }
            for (key, value) in a.iter() {
                let Some(other) = b.get(key) else { return Ok(false) };
                if !self.at(value, other, depth + 1)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        if let (Some(a), Some(b)) = (first.as_f64(), second.as_f64()) {
            return Ok(!first.is_f64() && first == second || first.is_f64() && a == b);
        }
        Ok(first == second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tera::Map;

    fn equal(first: &Value, second: &Value) -> Result<bool, String> {
        eq(&Scope::new(), first, std::slice::from_ref(second)).map_err(|error| error.to_string())
    }

    #[test]
    fn integers_compare_across_signs_and_no_other_kinds_do() {
        assert_eq!(equal(&Value::from(1i64), &Value::from(1u64)), Ok(true));
        assert_eq!(equal(&Value::from(-1i64), &Value::from(u64::MAX)), Ok(false));
        assert_eq!(
            equal(&Value::from(1i64), &Value::from(1.0)),
            Err("incompatible types for comparison: int and float64".to_owned())
        );
        assert_eq!(
            lt(&Scope::new(), &Value::from("a"), &Value::from(1i128)).unwrap_err().to_string(),
            "incompatible types for comparison: string and int64"
        );
        assert_eq!(lt(&Scope::new(), &Value::none(), &Value::from(1i64)), Err(Error::Unordered));
        assert_eq!(lt(&Scope::new(), &Value::from(true), &Value::from(true)), Err(Error::Unordered));
    }

    #[test]
    fn nil_equals_nil_alone() {
        assert_eq!(equal(&Value::none(), &Value::from("")), Ok(false));
        assert_eq!(equal(&Value::none(), &Value::none()), Ok(true));
        let scope = Scope::new();
        let (nil, empty) = (Value::from(Map::default()), Value::from(Map::default()));
        scope.make_nil(&nil);
        assert_eq!(eq(&scope, &nil, &[Value::none()]), Ok(true));
        assert_eq!(eq(&scope, &Value::none(), std::slice::from_ref(&empty)), Ok(false));
        assert_eq!(eq(&scope, &nil, std::slice::from_ref(&empty)), Ok(false));
        assert!(eq(&scope, &empty, std::slice::from_ref(&empty)).is_err());
    }

    #[test]
    fn what_go_cannot_compare_is_named() {
        let list = Value::from(vec![Value::from(1i64), Value::from("a")]);
        assert_eq!(equal(&list, &list), Err("non-comparable type [%!s(int=1) a]: []interface {}".to_owned()));
        assert_eq!(
            equal(&list, &Value::from(Map::default())),
            Err("non-comparable types [%!s(int=1) a]: []interface {}, map[string]interface {}: map[]"
                .to_owned())
        );
        assert_eq!(eq(&Scope::new(), &list, &[]), Err(Error::MissingArgument));
    }

    #[test]
    fn deep_equality_tells_types_apart() {
        let scope = Scope::new();
        let deep = |a: &Value, b: &Value| deep_equal(&scope, a, b).unwrap();
        assert!(deep(&Value::from(vec![1.0]), &Value::from(vec![1.0])));
        assert!(!deep(&Value::from(vec![1.0]), &Value::from(vec![1i64])));
        assert!(!deep(&Value::from(1i64), &Value::from(1i128)));
        assert!(!deep(&Value::from(f64::NAN), &Value::from(f64::NAN)));
        assert!(deep(&Value::none(), &Value::none()));
        let (one, two) = (Value::from(Map::default()), Value::from(Map::default()));
        scope.set(&one, "a", Value::from(1i64)).unwrap();
        assert!(!deep(&one, &two));
        scope.set(&two, "a", Value::from(1i64)).unwrap();
        assert!(deep(&one, &two));
    }
}
