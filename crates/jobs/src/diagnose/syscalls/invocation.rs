//! Invocations: a call with its arguments and its result, hashed to one number, so that the same invocation can be found in another run
//! \[Khadke2012, 4.1.2\].

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::diagnose::syscalls::class::CallClass;

/// Criterion for equal invocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Matching {
    /// Identical call, arguments and result, as in the paper. Therefore arguments with memory addresses, which change
    /// from run to run, never match.
    Literal,
    /// Identical call, arguments and result, except for memory addresses (`0x...`) and, for `accept`, the port of the
    /// peer, which the system assigns anew each time. The default.
    #[default]
    Stable,
}

/// FNV-1a, 64 bits: short, and the same on every machine and in every version, so a profile can be stored in a file.
#[derive(Clone, Copy)]
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    #[inline]
    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
}

/// Returns the number of an invocation. Spaces do not count: strace places them differently if a call was interrupted.
pub(super) fn key(class: CallClass, arguments: [&[u8]; 2], result: &[u8], matching: Matching) -> u64 {
    let mut fnv = Fnv::new();
    class.name().bytes().for_each(|byte| fnv.byte(byte));
    for part in arguments {
        hash_part(&mut fnv, part, class, matching);
    }
    fnv.byte(b'=');
    // an annotation of the result, such as a path, follows from the arguments
    let bare = result.iter().position(|&byte| byte == b'<').unwrap_or(result.len());
    hash_part(&mut fnv, &result[..bare], class, matching);
    fnv.0
}

fn hash_part(fnv: &mut Fnv, text: &[u8], class: CallClass, matching: Matching) {
    let mut at = 0;
    let port = b"htons(";
    while let Some(&byte) = text.get(at) {
        at += 1;
        if byte.is_ascii_whitespace() {
            continue;
        }
        fnv.byte(byte);
        if matching == Matching::Literal {
            continue;
        }
        if byte == b'x' && at >= 2 && text[at - 2] == b'0' {
            while text.get(at).is_some_and(u8::is_ascii_hexdigit) {
                at += 1;
            }
        } else if class == CallClass::Accept && byte == b'(' && text[..at].ends_with(port) {
            while text.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
        }
    }
}

/// The shortest and the longest time of each invocation, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extremes(pub(super) HashMap<u64, [u64; 2]>);

impl Extremes {
    /// Adds a time; returns false if the profile already has `most` invocations.
    pub(super) fn add(&mut self, key: u64, nanoseconds: u64, most: usize) -> bool {
        if let Some([low, high]) = self.0.get_mut(&key) {
            (*low, *high) = ((*low).min(nanoseconds), (*high).max(nanoseconds));
            return true;
        }
        let fits = self.0.len() < most;
        if fits {
            self.0.insert(key, [nanoseconds; 2]);
        }
        fits
    }

    /// Merges the extremes of another run.
    pub(super) fn merge(&mut self, other: &Self) {
        // minima and maxima do not depend on the order
        #[allow(clippy::iter_over_hash_type, reason = "minima and maxima do not depend on the order")]
        for (key, [low, high]) in &other.0 {
            let range = self.0.entry(*key).or_insert([*low, *high]);
            *range = [range[0].min(*low), range[1].max(*high)];
        }
    }

    /// Returns the number of invocations.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if there are no invocations.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the distance of a time outside the range, in nanoseconds: 0 inside; `None` for an unknown invocation.
    pub(super) fn beyond(&self, key: u64, nanoseconds: u64, sides: Sides) -> Option<u64> {
        let [low, high] = *self.0.get(&key)?;
        Some(match sides {
            Sides::Both if nanoseconds < low => low - nanoseconds,
            _ => nanoseconds.saturating_sub(high),
        })
    }
}

/// Sides of the range of the control runs on which a time counts as outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sides {
    /// Below the minimum and above the maximum time, like the paper's "outside". The default.
    #[default]
    Both,
    /// Only above the maximum time: an unusually fast call is not a sign of a fault.
    Above,
}

/// Calls judged by the extremes of a profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Judged {
    /// Calls whose invocation is in the profile.
    pub known: u64,
    /// Known calls outside the range.
    pub outside: u64,
    /// Total time outside the range, in nanoseconds.
    pub beyond: u64,
}

impl Judged {
    pub(super) fn add(&mut self, beyond: u64) {
        self.known += 1;
        self.outside += u64::from(beyond > 0);
        self.beyond = self.beyond.saturating_add(beyond);
    }
}

/// Calls outside the range on one node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Outside {
    /// Judged calls of each class, in the order of [`CallClass::ALL`].
    pub classes: [Judged; 7],
    /// Calls of `connect` and `accept` by the address at the other end.
    pub peers: BTreeMap<String, [Judged; 2]>,
    /// Calls of the classes whose invocation is not in the profile.
    pub unknown: u64,
}

impl Outside {
    /// Returns the calls of a class.
    pub fn class(&self, class: CallClass) -> Judged {
        self.classes[class.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashed(class: CallClass, arguments: &str, matching: Matching) -> u64 {
        key(class, [arguments.as_bytes(), b""], b"0", matching)
    }

    #[test]
    fn stable_keys_omit_pointers_and_client_ports() {
        let (a, b) = (r#"AT_FDCWD, "/x", 0x7ffe1, 0"#, r#"AT_FDCWD, "/x", 0x7fab9c, 0"#);
        assert_eq!(hashed(CallClass::Stat, a, Matching::Stable), hashed(CallClass::Stat, b, Matching::Stable));
        assert_ne!(hashed(CallClass::Stat, a, Matching::Literal), hashed(CallClass::Stat, b, Matching::Literal));
        let (a, b) = (r#"3, {sin_port=htons(53192), "10.0.0.1"}"#, r#"3, {sin_port=htons(53208), "10.0.0.1"}"#);
        assert_eq!(hashed(CallClass::Accept, a, Matching::Stable), hashed(CallClass::Accept, b, Matching::Stable));
        assert_ne!(hashed(CallClass::Connect, a, Matching::Stable), hashed(CallClass::Connect, b, Matching::Stable));
        assert_ne!(hashed(CallClass::Stat, "a", Matching::Stable), hashed(CallClass::Access, "a", Matching::Stable));
    }

    #[test]
    fn an_interrupted_call_is_the_same_invocation() {
        let class = CallClass::Connect;
        let whole = key(class, [b"3, {a}, 16", b""], b"0", Matching::Stable);
        assert_eq!(key(class, [b"3, {a}, 16 ", b""], b"0", Matching::Stable), whole);
        assert_eq!(key(class, [b"3,  ", b"{a}, 16"], b"0", Matching::Stable), whole);
        assert_ne!(key(class, [b"3, {a}, 16", b""], b"-1 ETIMEDOUT (Connection timed out)", Matching::Stable), whole);
        assert_eq!(key(class, [b"3, {a}, 16", b""], b"0<TCP:[1]>", Matching::Stable), whole);
    }

    #[test]
    fn times_outside_the_extremes_are_measured_from_the_nearer_end() {
        let mut extremes = Extremes::default();
        assert!(extremes.add(7, 100, 1) && extremes.add(7, 300, 1) && !extremes.add(8, 1, 1));
        let beyond = |time, sides| extremes.beyond(7, time, sides);
        assert_eq!([90, 100, 300, 350].map(|time| beyond(time, Sides::Both)), [Some(10), Some(0), Some(0), Some(50)]);
        assert_eq!((beyond(90, Sides::Above), extremes.beyond(8, 1, Sides::Both)), (Some(0), None));
        let mut other = Extremes::default();
        other.add(7, 50, 9);
        other.add(9, 1, 9);
        other.merge(&extremes);
        assert_eq!((other.0[&7], other.len()), ([50, 300], 2));
    }
}
