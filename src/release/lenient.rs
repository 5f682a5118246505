//! Reading JSON of which only a part is known, and that part not for certain.
//!
//! Objects of kinds that nobody here defined may hold anything anywhere; one of them must not end a watch. What has the
//! expected shape is taken in, what has not is passed over, and nothing else is kept.

use std::{fmt, marker::PhantomData};

use serde::de::{
    Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
    value::{MapAccessDeserializer, SeqAccessDeserializer},
};

/// What a shape makes of a JSON value; each method's default passes the value over.
trait Take<'de>: Sized + Default {
    fn number(_: i64) -> Self {
        Self::default()
    }
    fn flag(_: bool) -> Self {
        Self::default()
    }
    fn text(_: &str) -> Self {
        Self::default()
    }
    fn map<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

struct TakeVisitor<T>(PhantomData<T>);

impl<'de, T: Take<'de>> Visitor<'de> for TakeVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_bool<E>(self, v: bool) -> Result<T, E> {
        Ok(T::flag(v))
    }

    fn visit_i64<E>(self, v: i64) -> Result<T, E> {
        Ok(T::number(v))
    }

    fn visit_u64<E>(self, v: u64) -> Result<T, E> {
        Ok(i64::try_from(v).map_or_else(|_| T::default(), T::number))
    }

    fn visit_f64<E>(self, _: f64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_str<E>(self, v: &str) -> Result<T, E> {
        Ok(T::text(v))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::map(map)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        T::list(list)
    }
}

macro_rules! read_through_take {
    ($name:ident $(<$t:ident>)?) => {
        impl<'de $(, $t: Deserialize<'de> + Default)?> Deserialize<'de> for $name $(<$t>)? {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(TakeVisitor(PhantomData))
            }
        }
    };
}

/// An integer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Int(pub Option<i64>);

impl Take<'_> for Int {
    fn number(v: i64) -> Self {
        Int(Some(v))
    }
}
read_through_take!(Int);

/// A boolean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flag(pub Option<bool>);

impl Take<'_> for Flag {
    fn flag(v: bool) -> Self {
        Flag(Some(v))
    }
}
read_through_take!(Flag);

/// A text; empty when there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text(pub Box<str>);

impl Take<'_> for Text {
    fn text(v: &str) -> Self {
        Text(v.into())
    }
}
read_through_take!(Text);

/// Whether anything but null is there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Present(pub bool);

impl<'de> Take<'de> for Present {
    fn number(_: i64) -> Self {
        Present(true)
    }
    fn flag(_: bool) -> Self {
        Present(true)
    }
    fn text(_: &str) -> Self {
        Present(true)
    }
    fn map<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Present(true))
    }
    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Present(true))
    }
}
read_through_take!(Present);

/// A structure, whose fields should be lenient in turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Struct<T>(pub T);

impl<'de, T: Deserialize<'de> + Default> Take<'de> for Struct<T> {
    fn map<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Struct)
    }
}
read_through_take!(Struct<T>);

/// A list, whose items should be lenient in turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct List<T>(pub Vec<T>);

impl<'de, T: Deserialize<'de>> Take<'de> for List<T>
where
    T: Default,
{
    fn list<A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(List)
    }
}
read_through_take!(List<T>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_shape_fails() {
        for json in
            ["1", "-1", "1.5", "\"a\"", "true", "null", "[1,{}]", "{\"a\":[1]}", "18446744073709551615"]
        {
            serde_json::from_str::<Int>(json).unwrap();
            serde_json::from_str::<Flag>(json).unwrap();
            serde_json::from_str::<Text>(json).unwrap();
            serde_json::from_str::<Present>(json).unwrap();
            serde_json::from_str::<List<Int>>(json).unwrap();
            serde_json::from_str::<Struct<std::collections::BTreeMap<String, Int>>>(json).unwrap();
        }
    }

    #[test]
    fn the_expected_shape_is_taken() {
        assert_eq!(serde_json::from_str::<Int>("7").unwrap().0, Some(7));
        assert_eq!(&*serde_json::from_str::<Text>("\"a\\n\"").unwrap().0, "a\n");
        assert_eq!(serde_json::from_str::<List<Int>>("[1,\"x\"]").unwrap().0, [Int(Some(1)), Int(None)]);
    }
}
