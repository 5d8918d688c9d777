//! Erlang delays as chains of exponential transitions, for programs that support only exponential delays.

use crate::formats::pipe::loss::{Loss, WriteWarning};
use crate::net::{ArcKind, Delay, Law, Net, NetBuilder, PartRef, Place, Point, Servers, Timing, TransitionId};

/// Distance between the stages in the drawing, in pixels.
const STEP: f64 = 40.0;

/// The net with every Erlang delay of one or infinitely many servers replaced by its stages.
///
/// The first stage consumes the tokens, and the last stage produces the tokens. So during the delay, tokens are in the
/// places between the stages. With one server, an inhibitor arc from each of these places keeps the next customer
/// waiting. The chain cannot be disabled once it has started, so the chain is not equivalent to a transition that can
/// lose its input tokens before it fires.
pub(super) fn expand(net: &Net, warnings: &mut Vec<WriteWarning>) -> Net {
    let mut builder = net.to_builder();
    for (i, transition) in net.transitions().iter().enumerate() {
        let Timing::Timed { delay: Delay::General(Law::Erlang { stages, mean }), servers, .. } = &transition.timing
        else {
            continue;
        };
        if *stages < 2 || matches!(servers, Servers::Limited(_)) {
            continue;
        }
        let id = TransitionId::from_index(i);
        chain(&mut builder, net, id, *stages, *mean, *servers);
        warnings.push(WriteWarning {
            loss: Loss::Chain,
            part: Some(PartRef::Transition(id)),
            message: format!(
                "transition `{}` becomes {stages} exponential stages with {} new places; once started, the stages cannot be disabled",
                transition.id,
                stages - 1
            ),
        });
    }
    builder.build().unwrap_or_else(|_| net.clone())
}

fn chain(builder: &mut NetBuilder, net: &Net, first: TransitionId, stages: u32, mean: f64, servers: Servers) {
    let original = net.transition(first).clone();
    let rate = f64::from(stages) / mean;
    let timing = |memory| Timing::Timed { delay: Delay::Exponential { rate: rate.into() }, servers, memory };
    let Timing::Timed { memory, .. } = original.timing else { return };
    builder.transition_mut(first).timing = timing(memory);
    let mut before = first;
    for stage in 2..=stages {
        let shift = STEP * f64::from(stage - 1);
        let moved = |dx: f64| original.position.map(|p| Point { x: p.x + shift + dx, y: p.y + shift });
        let place_id = fresh(net, &format!("{}_after{}", original.id, stage - 1));
        let place = builder.add_place(Place { id: place_id, position: moved(-STEP / 2.0), ..Place::default() });
        let mut next = original.clone();
        next.id = fresh(net, &format!("{}_stage{stage}", original.id));
        next.name = String::new();
        next.position = moved(0.0);
        next.timing = timing(memory);
        let next = builder.add_transition(next);
        builder.output(before, place, 1.0);
        builder.input(place, next, 1.0);
        if servers == Servers::Single {
            builder.inhibitor(place, first, 1.0);
        }
        before = next;
    }
    for (i, arc) in net.arcs().iter().enumerate() {
        if arc.transition == first && arc.kind == ArcKind::Output {
            let moved = builder.arc_mut(i);
            moved.transition = before;
            moved.path.clear();
        }
    }
}

/// `wanted`, or a similar id that no place or transition has.
fn fresh(net: &Net, wanted: &str) -> String {
    let mut id = wanted.to_owned();
    while net.find_place(&id).is_some() || net.find_transition(&id).is_some() {
        id.push('_');
    }
    id
}
