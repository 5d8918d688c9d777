//! Which program a file is from, by what only that program writes.

use std::fmt;

/// The dialect of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// PIPE 1 and 2: no token classes.
    Pipe2,
    /// PIPE 3 and AMAP: `<tokenclass>`.
    Pipe3,
    /// PIPE 4: `<token enabled=…>`.
    Pipe4,
    /// PIPE 5: `<net>` without attributes, or `<token>` without `enabled`.
    Pipe5,
    /// PIPECore 2.0 with hierarchical nets.
    PipeCore2,
    /// PIPE+, high-level nets.
    PipePlus,
    /// Jarp, and Petri Net Plans.
    Jarp,
    /// The models of the Storm model checker.
    Storm,
    /// PNML of ISO/IEC 15909-2.
    Pnml2009,
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pipe2 => "PIPE 2",
            Self::Pipe3 => "PIPE 3",
            Self::Pipe4 => "PIPE 4",
            Self::Pipe5 => "PIPE 5",
            Self::PipeCore2 => "PIPECore 2",
            Self::PipePlus => "PIPE+",
            Self::Jarp => "Jarp",
            Self::Storm => "Storm",
            Self::Pnml2009 => "PNML 2009",
        })
    }
}

/// What was seen in a file.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one trace of one program")]
pub(super) struct Traces {
    pub(super) pnml_2009: bool,
    pub(super) bare_net: bool,
    pub(super) token: bool,
    pub(super) token_without_enabled: bool,
    pub(super) tokenclass: bool,
    pub(super) hierarchical: bool,
    pub(super) high_level: bool,
    pub(super) jarp: bool,
    pub(super) storm: bool,
    pub(super) plain_marking: bool,
}

impl Traces {
    pub(super) fn dialect(self) -> Dialect {
        if self.pnml_2009 {
            Dialect::Pnml2009
        } else if self.high_level {
            Dialect::PipePlus
        } else if self.hierarchical {
            Dialect::PipeCore2
        } else if self.jarp {
            Dialect::Jarp
        } else if self.storm {
            Dialect::Storm
        } else if self.tokenclass {
            Dialect::Pipe3
        } else if self.bare_net || self.token_without_enabled {
            Dialect::Pipe5
        } else if self.token || !self.plain_marking {
            Dialect::Pipe4
        } else {
            Dialect::Pipe2
        }
    }
}
