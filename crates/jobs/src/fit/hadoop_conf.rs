//! The settings of a MapReduce job, as Hadoop stores them with its history: `*_conf.xml`, under their old and new names.
//!
//! Implements the reading of that file and the mapping from properties to settings. `test_job` interprets a setting for the model.

use std::collections::BTreeMap;

use quick_xml::Reader;
use quick_xml::events::{BytesRef, Event};

use crate::plan::problem::line_of;

/// Maximum bytes of a configuration; typical files have a few hundred kB.
const MOST_BYTES: usize = 64 << 20;

/// Reason why a text is not a Hadoop configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfError {
    /// The text is not well-formed XML. Provide the file that Hadoop wrote.
    #[error("line {line}: {reason}")]
    Xml {
        /// The line, from 1.
        line: usize,
        /// The problem on that line.
        reason: String,
    },
    /// The text has no `<configuration>` with properties. Provide the `*_conf.xml` stored with the job's history.
    #[error("no <configuration> with a <property>: this is not a Hadoop configuration")]
    NoProperty,
    /// The text is larger than any real configuration.
    #[error("a Hadoop configuration of {bytes} bytes is too large; the limit is {MOST_BYTES} bytes")]
    TooLarge {
        /// Size.
        bytes: usize,
    },
}

/// The properties of a job by name; if a name occurs twice, the last property counts, as in Hadoop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HadoopConf {
    properties: BTreeMap<String, String>,
}

/// A setting used by the model, with all names it has had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Names, the newest first.
    names: &'static [&'static str],
}

macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident = [$($property:literal),+];)+) => {
        impl Setting {
            $($(#[$doc])* pub const $name: Self = Self { names: &[$($property),+] };)+
        }
    };
}

settings! {
    /// Sort buffer of a map \[MB\].
    SORT_MB = ["mapreduce.task.io.sort.mb", "io.sort.mb"];
    /// Share of the buffer at which it is spilled.
    SORT_SPILL_PERCENT = ["mapreduce.map.sort.spill.percent", "io.sort.spill.percent"];
    /// Share of the buffer for metadata; Hadoop 0.21 and later divide the buffer dynamically, and do not have it.
    SORT_RECORD_PERCENT = ["io.sort.record.percent"];
    /// Number of spills merged at a time.
    SORT_FACTOR = ["mapreduce.task.io.sort.factor", "io.sort.factor"];
    /// Number of parallel fetches of a reduce task.
    PARALLEL_COPIES = ["mapreduce.reduce.shuffle.parallelcopies", "mapred.reduce.parallel.copies"];
    /// Share of a reduce task's heap that buffers map output.
    SHUFFLE_BUFFER_PERCENT =
        ["mapreduce.reduce.shuffle.input.buffer.percent", "mapred.job.shuffle.input.buffer.percent"];
    /// Share of that buffer at which it is merged to disk.
    SHUFFLE_MERGE_PERCENT = ["mapreduce.reduce.shuffle.merge.percent", "mapred.job.shuffle.merge.percent"];
    /// Java options of a reduce task, which include its heap size.
    REDUCE_OPTIONS = ["mapreduce.reduce.java.opts", "mapred.reduce.child.java.opts", "mapred.child.java.opts"];
    /// Size of a block \[bytes\].
    BLOCK_BYTES = ["dfs.blocksize", "dfs.block.size"];
    /// Smallest split \[bytes\].
    SPLIT_LEAST = ["mapreduce.input.fileinputformat.split.minsize", "mapred.min.split.size"];
    /// Largest split \[bytes\].
    SPLIT_MOST = ["mapreduce.input.fileinputformat.split.maxsize", "mapred.max.split.size"];
    /// Replicas of a block.
    REPLICAS = ["dfs.replication"];
    /// Reduce tasks.
    REDUCES = ["mapreduce.job.reduces", "mapred.reduce.tasks"];
}

impl HadoopConf {
    /// Returns true if a file starts like XML, which logs do not.
    pub fn is_meant(head: &[u8]) -> bool {
        head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start().starts_with(b"<")
    }

    /// Reads a configuration. Unknown elements are ignored.
    ///
    /// # Errors
    ///
    /// [`ConfError`].
    pub fn read(bytes: &[u8]) -> Result<Self, ConfError> {
        if bytes.len() > MOST_BYTES {
            return Err(ConfError::TooLarge { bytes: bytes.len() });
        }
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_start_matches('\u{feff}').trim_start();
        let mut reader = Reader::from_str(text);
        let mut conf = Self::default();
        let (mut name, mut value, mut open) = (String::new(), String::new(), Vec::<String>::new());
        loop {
            let at = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
            let wrong = |reason: String| ConfError::Xml { line: line_of(text, at), reason };
            let mut add = |piece: &str| match open.last().map(String::as_str) {
                Some("name") => name.push_str(piece),
                Some("value") => value.push_str(piece),
                _ => {}
            };
            match reader.read_event().map_err(|error| wrong(error.to_string()))? {
                Event::Text(piece) => add(&piece.xml10_content()),
                Event::CData(piece) => add(&piece.xml10_content()),
                Event::GeneralRef(piece) => add(&resolved(&piece).map_err(wrong)?),
                Event::Start(tag) => {
                    let tag = tag.name().0.to_owned();
                    if tag == "property" {
                        name.clear();
                        value.clear();
                    }
                    open.push(tag);
                }
                Event::End(_) => {
                    let ended = open.pop();
                    if ended.as_deref() == Some("property") && !name.trim().is_empty() {
                        conf.properties.insert(name.trim().to_owned(), value.trim().to_owned());
                    }
                }
                Event::Eof if open.is_empty() => break,
                Event::Eof => return Err(wrong(format!("the file ends inside <{}>", open.join("><")))),
                _ => {}
            }
        }
        if conf.properties.is_empty() { Err(ConfError::NoProperty) } else { Ok(conf) }
    }

    /// Returns a property by its name.
    pub fn property(&self, name: &str) -> Option<&str> {
        self.properties.get(name).map(String::as_str)
    }

    /// Returns a setting, with its name in this configuration.
    pub fn text(&self, setting: Setting) -> Option<(&'static str, &str)> {
        setting.names.iter().find_map(|&name| Some((name, self.property(name)?)))
    }

    /// Returns a setting that is a number >= 0, with its name in this configuration. Values such as Hadoop's `128m` are converted to bytes.
    pub fn number(&self, setting: Setting) -> Option<(&'static str, f64)> {
        let (name, text) = self.text(setting)?;
        Some((name, number(text)?))
    }

    /// Returns the heap of a reduce task \[MB\], from `-Xmx` of its Java options, with the name of the property.
    pub fn reduce_heap_mb(&self) -> Option<(&'static str, f64)> {
        let names = Setting::REDUCE_OPTIONS.names.iter();
        names.copied().find_map(|name| {
            let word = self.property(name)?.split_whitespace().rev().find_map(|word| word.strip_prefix("-Xmx"))?;
            Some((name, number(word)? / 1_048_576.0))
        })
    }
}

/// Parses a number with an optional unit that is a power of 1024.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let unit = text.chars().last().filter(char::is_ascii_alphabetic);
    let factor = match unit.map(|unit| unit.to_ascii_lowercase()) {
        None => 1.0,
        Some('k') => 1024.0,
        Some('m') => 1_048_576.0,
        Some('g') => 1_073_741_824.0,
        Some('t') => 1_099_511_627_776.0,
        Some(_) => return None,
    };
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let value = digits.trim().parse::<f64>().ok()? * factor;
    (value.is_finite() && value >= 0.0).then_some(value)
}

/// Returns the replacement of an entity; entities defined by a DOCTYPE are never followed.
fn resolved(reference: &BytesRef<'_>) -> Result<String, String> {
    let found = reference.resolve_char_ref().map_err(|error| error.to_string())?;
    let known = match &**reference {
        _ if found.is_some() => found,
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => None,
    };
    known.map(String::from).ok_or_else(|| format!("unknown entity `&{};`", &**reference))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conf(properties: &str) -> HadoopConf {
        HadoopConf::read(format!("<?xml version=\"1.0\"?>\n<configuration>{properties}</configuration>").as_bytes())
            .unwrap()
    }

    fn property(name: &str, value: &str) -> String {
        format!("<property>\n <name>{name}</name><value>{value}</value><source>job.xml</source></property>")
    }

    #[test]
    fn settings_are_found_under_old_and_new_names() {
        let old = conf(&(property("io.sort.mb", "200") + &property("dfs.block.size", "134217728")));
        let new = conf(&(property("mapreduce.task.io.sort.mb", " 256 ") + &property("dfs.blocksize", "128m")));
        assert_eq!(old.number(Setting::SORT_MB), Some(("io.sort.mb", 200.0)));
        assert_eq!(new.number(Setting::SORT_MB), Some(("mapreduce.task.io.sort.mb", 256.0)));
        assert_eq!(old.number(Setting::BLOCK_BYTES).unwrap().1, new.number(Setting::BLOCK_BYTES).unwrap().1);
        assert_eq!(new.number(Setting::SORT_FACTOR), None);
        let both = conf(&(property("io.sort.factor", "5") + &property("mapreduce.task.io.sort.factor", "7")));
        assert_eq!(both.number(Setting::SORT_FACTOR).unwrap().1, 7.0);
    }

    #[test]
    fn the_reduce_heap_is_read_from_the_java_options() {
        let options = property("mapred.child.java.opts", "-server -Xmx512m -Xmx640m -Da=&lt;b&gt;");
        assert_eq!(conf(&options).reduce_heap_mb(), Some(("mapred.child.java.opts", 640.0)));
        let options = options + &property("mapreduce.reduce.java.opts", "-Xmx2g");
        assert_eq!(conf(&options).reduce_heap_mb(), Some(("mapreduce.reduce.java.opts", 2048.0)));
        assert_eq!(conf(&property("mapreduce.reduce.java.opts", "-server")).reduce_heap_mb(), None);
        assert_eq!(conf(&property("a", "&amp;&#65;")).property("a"), Some("&A"));
    }

    #[test]
    fn values_that_are_no_numbers_are_unknown() {
        for value in ["${dfs.block}", "", "ten", "-5", "1e999", "3x"] {
            assert_eq!(conf(&property("io.sort.mb", value)).number(Setting::SORT_MB), None, "{value}");
        }
    }

    #[test]
    fn files_that_are_not_a_configuration_are_refused_with_their_line() {
        let read = |text: &str| HadoopConf::read(text.as_bytes());
        assert_eq!(read("<configuration/>"), Err(ConfError::NoProperty));
        assert_eq!(read("<html><p>x</p></html>"), Err(ConfError::NoProperty));
        let cut = read("<configuration>\n<property>\n<name>a</name>");
        assert!(matches!(&cut, Err(ConfError::Xml { line: 3, reason }) if reason.contains("property")), "{cut:?}");
        assert!(matches!(read("<a>\n</b>"), Err(ConfError::Xml { line: 2, .. })));
        assert!(matches!(read("<a>&unknown;</a>"), Err(ConfError::Xml { .. })));
        assert!(HadoopConf::is_meant(b"\n <?xml?>") && !HadoopConf::is_meant(b"Avro-Json\n"));
    }
}
