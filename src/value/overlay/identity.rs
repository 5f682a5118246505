//! What tells one map or list from another: its address.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

use tera::{Map, Value};

/// Hashes an address: the low bits are all zero, so that they are mixed with one multiplication.
#[derive(Default)]
pub(super) struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }
    fn write_usize(&mut self, address: usize) {
        let mixed = (address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

/// What is known of maps and lists, by their addresses.
pub(super) type ByAddress<T> = HashMap<usize, T, BuildHasherDefault<AddressHasher>>;

/// The address of a map. It is that of no other as long as the map lives.
pub(super) fn address(map: &Map) -> usize {
    std::ptr::from_ref(map).addr()
}

/// A list without items that has an address of its own, so that it can have a name or be nil.
#[must_use]
pub fn empty_list() -> Value {
    let items: Vec<Value> = Vec::with_capacity(1);
    Value::from(items)
}

/// The address that tells one map or list from another; none for lists without items that have no memory.
pub(super) fn container_address(value: &Value) -> Option<usize> {
    match (value.as_map(), value.as_array()) {
        (Some(map), _) => Some(address(map)),
        (_, Some(items)) => {
            let address = items.as_ptr().addr();
            let none: Vec<Value> = Vec::new();
            (!items.is_empty() || address != none.as_ptr().addr()).then_some(address)
        }
        _ => None,
    }
}

/// Bytes that are none and can be made nil.
#[must_use]
pub(super) fn empty_bytes() -> Value {
    let bytes: Vec<u8> = Vec::with_capacity(1);
    Value::bytes(bytes)
}

/// The address under which a name or nil is known: that of a container, or of what [`empty_bytes`] made.
pub(super) fn known_address(value: &Value) -> Option<usize> {
    container_address(value).or_else(|| {
        let bytes = value.as_bytes().filter(|bytes| bytes.is_empty())?;
        let none: Vec<u8> = Vec::new();
        Some(bytes.as_ptr().addr()).filter(|address| *address != none.as_ptr().addr())
    })
}
