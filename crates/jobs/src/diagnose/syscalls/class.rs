//! The classes of system calls that are looked at, whatever a kernel or a C library calls them.

use serde::{Deserialize, Serialize};

/// A class of system calls, as the paper names them \[Khadke2012, 3.2\].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallClass {
    /// A connection is taken: `accept`, `accept4`.
    Accept,
    /// A connection is made.
    Connect,
    /// A socket gets its address.
    Bind,
    /// A socket is made.
    Socket,
    /// May a file be used: `access`, `faccessat`, `faccessat2`.
    Access,
    /// What is known of a file, by its path: `stat`, `lstat`, `newfstatat`, `fstatat64`, `statx` and their elders. `fstat` is none of
    /// them: it asks about a file that is open already, and so never waits for the disk.
    Stat,
    /// A program is started: `execve`, `execveat`.
    Execve,
}

impl CallClass {
    /// All classes, in a fixed order.
    pub const ALL: [Self; 7] =
        [Self::Accept, Self::Connect, Self::Bind, Self::Socket, Self::Access, Self::Stat, Self::Execve];

    /// The class of a call by its name in a log of strace; `None` for the many calls that are not looked at.
    ///
    /// ```
    /// # use tailspn_jobs::diagnose::syscalls::CallClass;
    /// assert_eq!(CallClass::of("newfstatat"), Some(CallClass::Stat));
    /// assert_eq!(CallClass::of("fstat"), None);
    /// ```
    pub fn of(name: &str) -> Option<Self> {
        Self::of_bytes(name.as_bytes())
    }

    pub(super) fn of_bytes(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"accept" | b"accept4" => Self::Accept,
            b"connect" => Self::Connect,
            b"bind" => Self::Bind,
            b"socket" => Self::Socket,
            b"access" | b"faccessat" | b"faccessat2" => Self::Access,
            b"stat" | b"lstat" | b"stat64" | b"lstat64" | b"oldstat" | b"oldlstat" | b"newstat" | b"newlstat"
            | b"fstatat64" | b"newfstatat" | b"fstatat" | b"statx" => Self::Stat,
            b"execve" | b"execveat" => Self::Execve,
            _ => return None,
        })
    }

    /// Returns the name in the paper.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Connect => "connect",
            Self::Bind => "bind",
            Self::Socket => "socket",
            Self::Access => "access",
            Self::Stat => "stat",
            Self::Execve => "execve",
        }
    }

    /// Returns the place in [`Self::ALL`].
    pub(super) fn index(self) -> usize {
        self as usize
    }

    /// Returns true if its calls are about a file by its path.
    pub fn is_about_files(self) -> bool {
        matches!(self, Self::Access | Self::Stat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_generations_of_a_call_are_one_class() {
        for (class, names) in [
            (CallClass::Stat, "stat lstat stat64 newfstatat fstatat64 statx"),
            (CallClass::Access, "access faccessat faccessat2"),
            (CallClass::Accept, "accept accept4"),
            (CallClass::Execve, "execve execveat"),
        ] {
            for name in names.split(' ') {
                assert_eq!(CallClass::of(name), Some(class), "{name}");
            }
        }
        for other in ["fstat", "fstat64", "read", "statfs", "connectx", "", "socketpair", "recvfrom"] {
            assert_eq!(CallClass::of(other), None, "{other}");
        }
        for (at, class) in CallClass::ALL.into_iter().enumerate() {
            assert_eq!((class.index(), CallClass::of(class.name())), (at, Some(class)));
        }
    }
}
