//! Detects the program that wrote a file, by features that only that program writes.

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
    /// PNML of another version, or without a version, such as SNAKES's.
    Pnml,
    /// PNML of pm4py and ProM, with or without stochastic parts.
    Pm4py,
    /// Workflow nets of WoPeD.
    Woped,
    /// Untimed nets of TAPAAL (`.tapn`).
    Tapaal,
    /// A project of GreatSPN's editor (`.PNPRO`).
    GreatSpn,
    /// GreatSPN's older pair of a `.net` and a `.def` file.
    GreatSpnNet,
    /// JANI, of model checkers.
    Jani,
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
            Self::Pnml => "PNML",
            Self::Pm4py => "PNML (pm4py)",
            Self::Woped => "PNML (WoPeD)",
            Self::Tapaal => "TAPAAL",
            Self::GreatSpn => "GreatSPN project",
            Self::GreatSpnNet => "GreatSPN .net",
            Self::Jani => "JANI",
        })
    }
}

/// Features seen in a file.
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
    /// The `type` of the net is a grammar of PNML.
    pub(super) pnml_type: bool,
    /// A transition has parts that only PIPE and its relatives write.
    pub(super) pipe_timing: bool,
    /// A marking or a weight is in `<text>`, as in PNML.
    pub(super) in_text: bool,
    /// A marking or a weight is in `<value>`, as in PIPE.
    pub(super) in_value: bool,
    pub(super) pm4py: bool,
    pub(super) woped: bool,
    pub(super) dice: bool,
    /// A transition has numbers of another tool that are not read.
    pub(super) unread_tool: bool,
    pub(super) tapaal: bool,
}

impl Traces {
    /// Returns true if the file follows the conventions of PNML: no times, and a missing weight is 1.
    pub(super) fn untimed(self) -> bool {
        let pnml_parts = self.in_text && !self.in_value && !self.pipe_timing;
        self.pnml_2009 || self.pnml_type || self.tapaal || self.pm4py || self.woped || pnml_parts
    }

    pub(super) fn dialect(self) -> Dialect {
        if self.tapaal {
            Dialect::Tapaal
        } else if self.pm4py {
            Dialect::Pm4py
        } else if self.woped {
            Dialect::Woped
        } else if self.pnml_2009 {
            Dialect::Pnml2009
        } else if self.high_level {
            Dialect::PipePlus
        } else if self.hierarchical {
            Dialect::PipeCore2
        } else if self.jarp {
            Dialect::Jarp
        } else if self.storm {
            Dialect::Storm
        } else if self.untimed() {
            Dialect::Pnml
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
