//! Results side by side: one axis of time, one table.

use crate::document::{Cell, Document, Figure, Headline, Number, Table};
use crate::report::rows_plot::BarRow;

/// Returns what several results have in common: the times that they are about. None for fewer than two results.
pub(crate) fn comparison(sections: &[&Document<'_>]) -> Option<Document<'static>> {
    if sections.len() < 2 {
        return None;
    }
    let timed: Vec<(usize, &Document<'_>, &Headline)> = sections
        .iter()
        .enumerate()
        .filter_map(|(i, section)| Some((i, *section, section.headline.as_ref()?)))
        .collect();
    let mut compared = Document {
        kind: "comparison",
        title: format!("{} results", sections.len()),
        question: "Which result has the shortest time, and is the difference statistically significant?".to_owned(),
        ..Document::default()
    };
    if timed.len() < 2 {
        return Some(compared);
    }
    let fastest = timed.iter().min_by(|a, b| a.2.mean.measured.value.total_cmp(&b.2.mean.measured.value));
    if let Some((i, section, headline)) = fastest {
        compared.answer.extend([
            format!("The shortest mean time is that of {}: ", name(*i, section, headline)).into(),
            Number { at: format!("#{i}{}", headline.mean.at), ..headline.mean.clone() }.into(),
            ".".into(),
        ]);
        let apart =
            timed.iter().filter(|(other, ..)| other != i).all(|(_, _, other)| are_apart(&headline.mean, &other.mean));
        if !apart {
            compared.remarks.push(
                "Intervals of means overlap: the order of these results is not statistically significant.".to_owned(),
            );
        }
    }
    let rows: Vec<BarRow> =
        timed.iter().map(|(i, section, headline)| row(name(*i, section, headline), headline)).collect();
    let caption = "A bar reaches to the mean, the black line is its interval, and the orange marks are p95 and p99, which one run in \
                   twenty and one in a hundred exceeds.";
    compared.figure(Figure::bars("compare", "Side by side", caption, "time [s]", rows));
    let mut table = Table::new("Side by side", "", ["result", "mean", "p50", "p95", "p99"]);
    for (i, section, headline) in &timed {
        // numbers of several results stand in several files
        let number = |number: &Number| Number { at: format!("#{i}{}", number.at), ..number.clone() };
        let mut cells: Vec<Cell> = vec![name(*i, section, headline).into(), number(&headline.mean).into()];
        cells.extend(headline.quantiles.iter().map(|quantile| Cell::from(quantile.as_ref().map(number))));
        table.rows.push(cells);
    }
    compared.table(table);
    Some(compared)
}

fn name(i: usize, section: &Document<'_>, headline: &Headline) -> String {
    let of = headline.of.as_ref().map_or_else(String::new, |of| format!(": {of}"));
    format!("{}. {}{of}", i + 1, section.title)
}

fn are_apart(a: &Number, b: &Number) -> bool {
    let [a, b] = [a, b].map(|number| number.ends().unwrap_or([number.measured.value; 2]));
    a[1] < b[0] || b[1] < a[0]
}

fn row(name: String, headline: &Headline) -> BarRow {
    let mean = &headline.mean;
    let [_, p95, p99] = &headline.quantiles;
    BarRow {
        name,
        bar: [0.0, mean.measured.value],
        interval: mean.ends(),
        marks: [p95, p99].into_iter().flatten().map(|number| number.measured.value).collect(),
        text: mean.text(),
        ..BarRow::default()
    }
}
