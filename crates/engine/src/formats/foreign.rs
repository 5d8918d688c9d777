//! Files of other tools that are not read: their names, and the way to a format that is.

/// A file of another tool, and what its user can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Foreign {
    /// The tool or format.
    pub(crate) what: &'static str,
    /// The way to a readable file.
    pub(crate) advice: &'static str,
}

/// Formats that are read.
const AS_PNML: &str = "save the net as PNML, which tailspn reads (also PIPE XML, GreatSPN and JANI)";

/// Recognises the first bytes of a file.
pub(crate) fn foreign(text: &str) -> Option<Foreign> {
    let text = text.trim_start();
    let starts = |words: &[&str]| words.iter().any(|word| text.starts_with(word));
    let lines = |words: &[&str]| {
        text.lines().filter(|line| words.iter().any(|word| line.trim_start().starts_with(word))).count()
    };
    let found = |what, advice| Some(Foreign { what, advice });
    if starts(&["version https://git-lfs"]) {
        found("a pointer of Git LFS in place of the file", "fetch the file with `git lfs pull`")
    } else if text.contains("TimeNET") {
        found("a net of TimeNET", AS_PNML)
    } else if text.contains("<Snoopy") {
        found("a net of Snoopy", AS_PNML)
    } else if text.contains("<workspaceElements") {
        found("a net of CPN Tools", "coloured nets are not read; unfold the net and save it as PNML")
    } else if starts(&["ctmc", "dtmc", "mdp", "pta"]) || lines(&["module ", "endmodule"]) > 1 {
        found("a model of PRISM", "convert it to JANI, for example with `storm-conv --prism FILE --tojani OUT`")
    } else if lines(&["PLACE", "MARKING", "TRANSITION"]) > 2 {
        found("a net of LoLA", AS_PNML)
    } else if text.contains("\"user.h\"") {
        found(
            "a net of SPNP",
            "it is a program in C, which is not run; write its net as PNML, or draw it in PIPE or GreatSPN",
        )
    } else if lines(&["tr ", "pl "]) > 0 && lines(&["net ", "tr "]) > 1 {
        found("a net of TINA", "save it as PNML, for example with `ndrio FILE.net OUT.pnml`")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_tools_are_named() {
        for (text, tool) in [
            ("PLACE p, q;\nMARKING p: 1;\nTRANSITION t\nCONSUME p: 1;\nPRODUCE q: 1;", "LoLA"),
            ("net n\ntr t [0,1] p -> q\npl p (1)", "TINA"),
            ("<net xmlns=\"http://pdv.cs.tu-berlin.de/TimeNET/schema/eDSPN\"/>", "TimeNET"),
            ("/* a queue */ #include \"user.h\"\nvoid net() { place(\"p\"); }", "SPNP"),
            ("// a queue\nctmc", ""),
            ("ctmc\nmodule queue\nendmodule", "PRISM"),
            ("<?xml version=\"1.0\"?><Snoopy version=\"2\">", "Snoopy"),
            ("<?xml version=\"1.0\"?><workspaceElements>", "CPN Tools"),
            ("version https://git-lfs.github.com/spec/v1\noid sha256:0", "Git LFS"),
            ("<pnml><net id=\"n\"/></pnml>", ""),
            ("time_s,tokens\n1,2\n", ""),
        ] {
            let found = foreign(text).map_or("", |found| found.what);
            assert!(found.ends_with(tool) || found.contains(tool), "{text}: {found}");
            assert_eq!(found.is_empty(), tool.is_empty(), "{text}: {found}");
        }
    }
}
