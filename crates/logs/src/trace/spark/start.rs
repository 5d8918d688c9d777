//! The application of a log, from its start.

use crate::trace::spark::event::{ApplicationStart, name};

/// The start of an application, as its event states it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::trace) struct Start {
    /// The id; empty if the log has none.
    pub(in crate::trace) id: String,
    /// The attempt of the application, if its cluster counts them.
    pub(in crate::trace) attempt: Option<String>,
    /// The name; empty if the log has none.
    pub(in crate::trace) name: String,
    /// The start in milliseconds since 1970.
    pub(in crate::trace) unix_ms: Option<i64>,
}

/// Returns the first application start at the beginning of a log; none if there is no such event.
pub(in crate::trace) fn start_in(head: &[u8]) -> Option<Start> {
    head.split(|&byte| byte == b'\n').find_map(|line| {
        let is_start = name(line).is_none_or(|name| name == b"SparkListenerApplicationStart");
        let event: ApplicationStart<'_> = is_start.then(|| serde_json::from_slice(line).ok())??;
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let start = Start {
            id: event.id.as_str().to_owned(),
            attempt: text(event.attempt.as_str()),
            name: event.name.as_str().to_owned(),
            unix_ms: event.time.value().filter(|&time| time > 0),
        };
        // an event with its name behind other keys, of another kind
        (!start.id.is_empty() || !start.name.is_empty()).then_some(start)
    })
}
