//! The classes of system calls considered, under all names used by kernels and C libraries.

use serde::{Deserialize, Serialize};

/// A class of system calls, with its name in the paper \[Khadke2012, 3.2\].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CallClass {
    /// Accepts a connection: `accept`, `accept4`.
    Accept,
    /// Makes a connection.
    Connect,
    /// Assigns an address to a socket.
    Bind,
    /// Creates a socket.
    Socket,
    /// Checks access to a file: `access`, `faccessat`, `faccessat2`.
    Access,
    /// Queries a file's metadata by its path: `stat`, `lstat`, `newfstatat`, `fstatat64`, `statx` and their predecessors. `fstat` is excluded: it
    /// queries a file that is already open, and so never waits for the disk.
    Stat,
    /// Starts a program: `execve`, `execveat`.
    Execve,
}

impl CallClass {
    /// All classes, in a fixed order.
    pub const ALL: [Self; 7] =
        [Self::Accept, Self::Connect, Self::Bind, Self::Socket, Self::Access, Self::Stat, Self::Execve];

    /// Returns the class of a call by its name in a strace log; `None` for the many calls that are not considered.
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

    /// Returns the position in [`Self::ALL`].
    pub(super) fn index(self) -> usize {
        self as usize
    }

    /// Returns true if calls of the class refer to files by path.
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
