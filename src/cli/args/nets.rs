//! The arguments of `net check` and `net convert`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::args::{NetArgs, PrintArgs};
use crate::cli::values;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
    tailspn net check net.xml

    # also what PIPE itself would get wrong
    tailspn net check net.xml --pipe

    # what differs from another net
    tailspn net check net.xml --against changed.xml

    # with another value of a rate, as JSON
    tailspn net check net.xml --param arrivals=1.5 --json
")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) net: NetArgs,
    /// Also list the errors that each version of PIPE makes with the net
    #[arg(long)]
    pub(crate) pipe: bool,
    /// Also list the differences from this net; parts are matched by id, and positions are ignored
    #[arg(long, value_name = "OTHER")]
    pub(crate) against: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Without --to, the extension of OUT selects the format: .xml is pipe4, .pnml is pnml, .PNPRO is greatspn, .net is \
greatspn-net (with a .def in the same folder), .jani is jani, .prism and .sm are prism, .dot and .gv are dot, .svg is svg.

Examples:
    # for PIPE, from any format
    tailspn net convert net.pnml pipe.xml

    # a picture, with the nodes in layers
    tailspn net convert net.xml net.svg --layout layered

    # for a model checker
    tailspn net convert net.xml net.prism
    tailspn net convert net.xml net.jani --place-limit 100

    # Graphviz, to standard output
    tailspn net convert net.xml - --to dot

    # a file as PIPE 5 reads it
    tailspn net convert net.xml as-pipe5.xml --read-as pipe5
")]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub(crate) net: NetArgs,
    /// File to write; `-` is standard output
    pub(crate) out: PathBuf,
    /// Format to write
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: Option<OutFormat>,
    /// Positions of the nodes
    #[arg(long, value_name = "POSITIONS", default_value = "auto")]
    pub(crate) layout: LayoutChoice,
    /// Keep an Erlang delay as one transition, which PIPE treats as exponential; without this option, it becomes a chain
    /// of exponential transitions, which PIPE computes correctly
    #[arg(long)]
    pub(crate) keep_erlang: bool,
    /// Maximum tokens in places without a capacity or an invariant bound, for JANI and PRISM: transitions
    /// that would exceed the maximum are disabled
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count)]
    pub(crate) place_limit: Option<u64>,
    /// Replace OUT if it exists
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LayoutChoice {
    /// As in the file, or in layers if the net has no positions; a picture is also drawn in layers if nodes overlap,
    /// arcs run through other nodes, or labels are covered
    #[default]
    Auto,
    /// As in the file; parts without a position are drawn below the other parts
    File,
    /// In layers, regardless of the file; XML gets these positions
    Layered,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutFormat {
    /// PIPE XML that PIPE 4.3, PIPE 5 and PIPECore 2.0 load
    Pipe4,
    /// Like pipe4, but closer to the files that PIPE 5 writes
    Pipe5,
    /// PNML of ISO/IEC 15909-2, a place/transition net for other tools
    Pnml,
    /// A project of the GreatSPN editor, which Storm also reads
    Greatspn,
    /// The older pair of GreatSPN, `.net` and `.def`
    GreatspnNet,
    /// JANI for model checkers: a CTMC, or a Markov automaton if there are immediate transitions
    Jani,
    /// The PRISM language: a CTMC
    Prism,
    /// Graphviz
    Dot,
    /// A picture
    Svg,
}
