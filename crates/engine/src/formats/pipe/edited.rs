//! Exports that were edited by hand: elements that no longer match their instructions.
//!
//! An export contains a value twice if PIPE cannot represent it: as the element that PIPE reads and
//! as an instruction that tailspn reads. To detect edits of elements, the net is written again
//! and both files are read as PIPE reads them: an element that differs was edited.

use crate::formats::pipe::notes::Notes;
use crate::formats::pipe::problem::Oddity;
use crate::formats::pipe::spans::Spans;
use crate::formats::pipe::write::{Target, WriteOptions, write};
use crate::net::{Delay, Memory, Net, Timing};

/// Notes the first place or transition whose elements contradict its instructions. `as_pipe` reads a file as
/// PIPE does, without the instructions.
pub(super) fn note_contradictions(
    bytes: &[u8],
    net: &Net,
    spans: &Spans,
    notes: &mut Notes<'_>,
    as_pipe: impl Fn(&[u8]) -> Option<Net>,
) {
    let Some(file) = as_pipe(bytes) else { return };
    // the targets write rates in different ways; the right one has the fewest differences
    let differences = [Target::Pipe4, Target::Pipe5].into_iter().filter_map(|target| {
        let written = write(net, &WriteOptions { target, ..WriteOptions::default() });
        Some(differing(&file, &as_pipe(written.xml.as_bytes())?, net))
    });
    let Some((places, transitions)) = differences.min_by_key(|(p, t)| p.len() + t.len()) else { return };
    let place_span = |id: &String| spans.places.get(net.find_place(id)?.index());
    let transition_span = |id: &String| spans.transitions.get(net.find_transition(id)?.index());
    let places = places.iter().map(|id| ("place", id, place_span(id)));
    let transitions = transitions.iter().map(|id| ("transition", id, transition_span(id)));
    for (kind, id, span) in places.chain(transitions) {
        // a part without a position is read only by PIPE and replaces other parts
        let Some(span) = span else { continue };
        notes.odd(span.clone(), Oddity::Contradiction, || {
            format!(
                "the elements of {kind} `{id}` were edited and contradict its `<?tailspn ...?>` instruction, which takes precedence (option `instructions`)"
            )
        });
    }
}

/// Ids of the places and transitions that differ in meaning.
fn differing(file: &Net, again: &Net, net: &Net) -> (Vec<String>, Vec<String>) {
    let places = file.places().iter().filter(|place| {
        let other = again.find_place(&place.id).map(|id| again.place(id));
        other.is_none_or(|other| (&other.initial, other.capacity) != (&place.initial, place.capacity))
    });
    let transitions = file.transitions().iter().filter(|transition| {
        let other = again.find_transition(&transition.id).map(|id| again.transition(id));
        let plain = net.find_transition(&transition.id).and_then(|id| with_its_mean(&net.transition(id).timing));
        other.is_none_or(|other| other.timing != transition.timing) && plain.as_ref() != Some(&transition.timing)
    });
    (places.map(|p| p.id.clone()).collect(), transitions.map(|t| t.id.clone()).collect())
}

/// An exponential delay with the same mean and servers as a delay of another distribution, as found in files written by
/// hand.
fn with_its_mean(timing: &Timing) -> Option<Timing> {
    match timing {
        Timing::Timed { delay: Delay::General(law), servers, .. } => {
            let rate = (1.0 / law.mean()).into();
            Some(Timing::Timed { delay: Delay::Exponential { rate }, servers: *servers, memory: Memory::Enabling })
        }
        _ => None,
    }
}
