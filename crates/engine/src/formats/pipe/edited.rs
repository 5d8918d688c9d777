//! Exports that were edited by hand: elements that no longer say what their instructions say.
//!
//! An export holds a value twice where PIPE cannot hold it: as the element that PIPE reads and as an instruction that is
//! read here. To see an edit of the element, the net is written again and both files are read as PIPE reads them: an
//! element that differs was edited.

use crate::formats::pipe::assemble::Spans;
use crate::formats::pipe::notes::Notes;
use crate::formats::pipe::options::{ReadOptions, Reading};
use crate::formats::pipe::problem::Oddity;
use crate::formats::pipe::read::read;
use crate::formats::pipe::write::{Target, WriteOptions, write};
use crate::net::Net;

/// Notes the first place or transition whose elements contradict its instructions.
pub(super) fn note_contradictions(
    bytes: &[u8],
    net: &Net,
    options: &ReadOptions,
    spans: &Spans,
    notes: &mut Notes<'_>,
) {
    let options = ReadOptions { instructions: Reading::Pipe43, ..options.clone() };
    let Ok(file) = read(bytes, &options) else { return };
    // the targets write rates in their own ways; the right one has the fewest differences
    let differences = [Target::Pipe4, Target::Pipe5].into_iter().filter_map(|target| {
        let written = write(net, &WriteOptions { target, ..WriteOptions::default() });
        let again = read(written.xml.as_bytes(), &options).ok()?.net;
        Some(differing(&file.net, &again))
    });
    let Some((places, transitions)) = differences.min_by_key(|(p, t)| p.len() + t.len()) else { return };
    let place_span = |id: &String| spans.places.get(net.find_place(id)?.index());
    let transition_span = |id: &String| spans.transitions.get(net.find_transition(id)?.index());
    let places = places.iter().map(|id| ("place", id, place_span(id)));
    let transitions = transitions.iter().map(|id| ("transition", id, transition_span(id)));
    for (kind, id, span) in places.chain(transitions) {
        // a part that only PIPE sees stands for others
        let Some(span) = span else { continue };
        notes.odd(span.clone(), Oddity::Contradiction, || {
            format!(
                "the elements of {kind} `{id}` were edited and contradict its `<?tailspn ...?>` instruction, which is read \
                 (option `instructions`)"
            )
        });
    }
}

/// Ids of the places and transitions that differ in what they mean.
fn differing(file: &Net, again: &Net) -> (Vec<String>, Vec<String>) {
    let places = file.places().iter().filter(|place| {
        let other = again.find_place(&place.id).map(|id| again.place(id));
        other.is_none_or(|other| (&other.initial, other.capacity) != (&place.initial, place.capacity))
    });
    let transitions = file.transitions().iter().filter(|transition| {
        let other = again.find_transition(&transition.id).map(|id| again.transition(id));
        other.is_none_or(|other| other.timing != transition.timing)
    });
    (places.map(|p| p.id.clone()).collect(), transitions.map(|t| t.id.clone()).collect())
}
