//! Positions of labels next to points, so that labels cover neither each other nor the drawing.

/// A rectangle: left, top, right, bottom.
pub(super) type Area = [i32; 4];

/// A label to place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label {
    /// The point that it belongs to.
    pub(super) at: [i32; 2],
    /// Width and height of its text.
    pub(super) size: [i32; 2],
    /// True if the label may cover marks and lines (as little as possible) rather than be omitted.
    pub(super) needed: bool,
}

/// Returns the area of each label, with `None` for a label without room; `labels` are in order of importance. Labels stay
/// `inside`, cover no other label, and keep `distance` from their point.
pub(super) fn placed(labels: &[Label], taken: &[Area], inside: Area, distance: i32) -> Vec<Option<Area>> {
    let mut areas: Vec<Option<Area>> = Vec::with_capacity(labels.len());
    for label in labels {
        let free = |area: &Area| {
            let fits = inside[0] <= area[0] && inside[1] <= area[1] && area[2] <= inside[2] && area[3] <= inside[3];
            fits && !areas.iter().flatten().any(|other| covers(area, other))
        };
        let around = around(label, distance);
        let covered = |area: &Area| taken.iter().map(|other| shared(area, other)).sum::<i64>();
        let best =
            around.into_iter().filter(free).map(|area| (covered(&area), area)).min_by_key(|(covered, _)| *covered);
        areas.push(best.filter(|(covered, _)| *covered == 0 || label.needed).map(|(_, area)| area));
    }
    areas
}

fn covers(a: &Area, b: &Area) -> bool {
    shared(a, b) > 0
}

/// Returns the size of the intersection of two areas.
fn shared(a: &Area, b: &Area) -> i64 {
    let along = |i: usize| i64::from((a[i + 2].min(b[i + 2]) - a[i].max(b[i])).max(0));
    along(0) * along(1)
}

/// Returns the areas around a point, the best first: at its right, at its left, above and below, then the corners.
fn around(label: &Label, distance: i32) -> [Area; 8] {
    let ([x, y], [width, height]) = (label.at, label.size);
    let [right, left, middle] = [x + distance, x - distance - width, x - width / 2];
    let [above, below, beside] = [y - distance - height, y + distance, y - height / 2];
    let corners = [
        [right, beside],
        [left, beside],
        [middle, above],
        [middle, below],
        [right, above],
        [right, below],
        [left, above],
        [left, below],
    ];
    corners.map(|[x, y]| [x, y, x + width, y + height])
}

#[cfg(test)]
mod tests {
    use super::*;

    const INSIDE: Area = [0, 0, 100, 100];

    fn label(at: [i32; 2], needed: bool) -> Label {
        Label { at, size: [30, 10], needed }
    }

    #[test]
    fn labels_avoid_edges_marks_and_each_other() {
        let labels = [label([50, 50], false), label([95, 50], false), label([50, 52], false)];
        let expected = [Some([55, 45, 85, 55]), Some([80, 35, 110, 45]), Some([15, 47, 45, 57])];
        let found = placed(&labels, &[], [0, 0, 120, 100], 5);
        assert_eq!(found[0], expected[0]);
        assert_eq!(found[2], expected[2]);
        // a line through most places: a needed label goes where it covers least
        let line = [[0, 48, 100, 52], [54, 0, 55, 40]];
        assert_eq!(placed(&[label([50, 50], true)], &line, INSIDE, 5), [Some([35, 55, 65, 65])]);
        assert_eq!(
            placed(&[label([50, 96], true)], &[[0, 94, 100, 95], [0, 80, 100, 86]], INSIDE, 5),
            [Some([35, 81, 65, 91])]
        );
        // the mark at the right of the point is avoided
        assert_eq!(placed(&labels[..1], &[[60, 48, 64, 52]], INSIDE, 5), [Some([15, 45, 45, 55])]);
        assert_eq!(placed(&labels[1..2], &[], INSIDE, 5), [Some([60, 45, 90, 55])]);
    }

    #[test]
    fn only_needed_labels_cover_marks_and_none_covers_a_label() {
        let everywhere = [INSIDE];
        let labels = [label([50, 50], false), label([50, 50], true)];
        assert_eq!(placed(&labels, &everywhere, INSIDE, 5), [None, Some([55, 45, 85, 55])]);
        let many = [label([50, 50], true); 12];
        let found: Vec<Area> = placed(&many, &[], INSIDE, 5).into_iter().flatten().collect();
        assert!(found.len() > 2 && found.len() < 12, "{found:?}");
        for (i, area) in found.iter().enumerate() {
            assert!(!found[..i].iter().any(|other| covers(area, other)), "{found:?}");
        }
    }
}
