//! Results side by side: one axis of time, one table.

use crate::report::page::section::{Cell, Headline, Number, Section, Table};
use crate::report::plot::PlotError;
use crate::report::rows_plot::{BarRow, rows_picture};

/// What several results have in common: the times that they are about. None where fewer than two have one.
///
/// # Errors
///
/// [`PlotError`], which no report of this crate causes.
pub(super) fn comparison(sections: &[Section]) -> Result<Option<Section>, PlotError> {
    if sections.len() < 2 {
        return Ok(None);
    }
    let timed: Vec<(usize, &Section, &Headline)> =
        sections.iter().enumerate().filter_map(|(i, section)| Some((i, section, section.headline.as_ref()?))).collect();
    let mut compared = Section {
        kind: "comparison",
        title: format!("{} results", sections.len()),
        question: "Which of these is how fast, and how sure is that?".to_owned(),
        ..Section::default()
    };
    if timed.len() < 2 {
        return Ok(Some(compared));
    }
    let fastest = timed.iter().min_by(|a, b| a.2.mean.value.total_cmp(&b.2.mean.value));
    if let Some((i, section, headline)) = fastest {
        compared.answer.extend([
            format!("The shortest mean time is that of {}: ", name(*i, section, headline)).into(),
            Number { at: format!("#{i}{}", headline.mean.at), ..headline.mean.clone() }.into(),
            ".".into(),
        ]);
        let apart =
            timed.iter().filter(|(other, ..)| other != i).all(|(_, _, other)| are_apart(&headline.mean, &other.mean));
        if !apart {
            compared.remarks.push("Intervals of means overlap: the order of these results is not sure.".to_owned());
        }
    }
    let rows: Vec<BarRow> =
        timed.iter().map(|(i, section, headline)| row(name(*i, section, headline), headline)).collect();
    let caption = "A bar reaches to the mean, the black line is its interval, and the orange marks are p95 and p99, which one run in \
                   twenty and one in a hundred exceeds.";
    compared.figure(rows_picture("compare", "time [s]", &rows)?, "Side by side", caption);
    let mut table = Table::new("Side by side", "", &["result", "mean", "p50", "p95", "p99"]);
    for (i, section, headline) in &timed {
        // numbers of several results stand in several files
        let number = |number: &Number| Number { at: format!("#{i}{}", number.at), ..number.clone() };
        let mut cells: Vec<Cell> = vec![name(*i, section, headline).into(), number(&headline.mean).into()];
        cells.extend(headline.quantiles.iter().map(|quantile| Cell::from(quantile.as_ref().map(number))));
        table.rows.push(cells);
    }
    compared.table(table);
    Ok(Some(compared))
}

fn name(i: usize, section: &Section, headline: &Headline) -> String {
    let of = headline.of.as_ref().map_or_else(String::new, |of| format!(": {of}"));
    format!("{}. {}{of}", i + 1, section.title)
}

fn are_apart(a: &Number, b: &Number) -> bool {
    let [a, b] = [a, b].map(|number| number.ends.unwrap_or([number.value; 2]));
    a[1] < b[0] || b[1] < a[0]
}

fn row(name: String, headline: &Headline) -> BarRow {
    let mean = &headline.mean;
    let [_, p95, p99] = &headline.quantiles;
    BarRow {
        name,
        bar: [0.0, mean.value],
        interval: mean.ends,
        marks: [p95, p99].into_iter().flatten().map(|number| number.value).collect(),
        text: mean.text(),
        ..BarRow::default()
    }
}
