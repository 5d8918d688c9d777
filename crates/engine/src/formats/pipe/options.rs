//! Options for reading: the cases that versions of PIPE read differently, and limits.

/// The reading of files that PIPE 4.3 and PIPE 5 read differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// The most likely meaning of the file, documented with each field.
    #[default]
    Sensible,
    /// As PIPE 4.3.0 reads it.
    Pipe43,
    /// As PIPE 5.0.2 reads it.
    Pipe5,
}

/// Settings of reading a PIPE or PNML file.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Immediate transitions without a priority. Sensible and 4.3: 1. PIPE 5: 0.
    pub missing_priority: Reading,
    /// Arcs without a weight. Sensible: weight 1, as in 4.3.1 and PNML. 4.3: the arc moves and needs no tokens.
    /// PIPE 5: an input arc needs one token and consumes none, an output arc produces none.
    pub missing_inscription: Reading,
    /// `timed`, `infiniteServer` and `tagged` with a text other than `true` and `false`. Sensible: true for texts
    /// such as `1`, `yes` and `TRUE`. 4.3: true unless the text has five letters. PIPE 5: true only for `1`.
    pub odd_boolean: Reading,
    /// Ids in arcs and names in expressions. Sensible: the name as written; if there is no such name, the only name
    /// that differs in letter case. 4.3: letter case never matters, and of several equal names the last name counts.
    /// PIPE 5: as written.
    pub id_case: Reading,
    /// Token classes that are used but not declared. Sensible and PIPE 5: declared by their use. 4.3: refused.
    pub undeclared_class: Reading,
    /// The class of a number without a class if `Default` is not the first class. Sensible and PIPE 5: `Default`. 4.3:
    /// the first class.
    pub plain_number: Reading,
    /// Files with several nets. Sensible and PIPE 5: the first net. 4.3: all nets as one.
    pub several_nets: Reading,
    /// Inhibitor arcs from a transition to a place. Sensible and PIPE 5: refused. 4.3: ignored.
    pub output_inhibitor: Reading,
    /// `<?tailspn …?>` instructions. Sensible: they take precedence over the elements. 4.3 and PIPE 5: they are
    /// skipped, so that tailspn reads the same net as PIPE. [`as_pipe43`](Self::as_pipe43) and
    /// [`as_pipe5`](Self::as_pipe5) leave this field `Sensible`.
    pub instructions: Reading,
    /// Name of the net in a GreatSPN project with several nets. Default none, for files with one net.
    pub net: Option<String>,
    /// Values of constants of JANI, and of constants and templates of GreatSPN, in place of the values in the file;
    /// [`ReadNet::taken`](crate::formats::pipe::ReadNet::taken) lists the constants that were found.
    pub constants: Vec<(String, f64)>,
    /// The text of the `.def` file that belongs to a GreatSPN `.net`. Default none.
    pub definitions: Option<String>,
    /// The extension of the file's name, such as `jani`; used for a text whose content shows no format. Default none.
    pub extension: Option<String>,
    /// Maximum size of a file in bytes. Default 256 MiB.
    pub max_bytes: usize,
    /// Maximum nesting of elements. Default 64.
    pub max_depth: usize,
    /// Maximum number of elements in the file. Default 10 million.
    pub max_nodes: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            missing_priority: Reading::Sensible,
            missing_inscription: Reading::Sensible,
            odd_boolean: Reading::Sensible,
            id_case: Reading::Sensible,
            undeclared_class: Reading::Sensible,
            plain_number: Reading::Sensible,
            several_nets: Reading::Sensible,
            output_inhibitor: Reading::Sensible,
            instructions: Reading::Sensible,
            net: None,
            constants: Vec::new(),
            definitions: None,
            extension: None,
            max_bytes: 256 << 20,
            max_depth: 64,
            max_nodes: 10_000_000,
        }
    }
}

impl ReadOptions {
    /// Reads everything as PIPE 4.3.0 does.
    pub fn as_pipe43() -> Self {
        Self::all(Reading::Pipe43)
    }

    /// Reads everything as PIPE 5.0.2 does.
    pub fn as_pipe5() -> Self {
        Self::all(Reading::Pipe5)
    }

    fn all(reading: Reading) -> Self {
        Self {
            missing_priority: reading,
            missing_inscription: reading,
            odd_boolean: reading,
            id_case: reading,
            undeclared_class: reading,
            plain_number: reading,
            several_nets: reading,
            output_inhibitor: reading,
            ..Self::default()
        }
    }
}
