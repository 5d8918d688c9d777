//! Results side by side, on one time axis and in one table. The comparison of two results is a separate kind of
//! result: `crate::compare`.

use crate::document::{Cell, Document, Figure, Headline, Number, Table};
use crate::report::bar_rows::BarRow;

/// Returns the part that several results have in common: their times. `None` for fewer than two results.
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
        question: "Times of the results".to_owned(),
        ..Document::default()
    };
    if timed.len() < 2 {
        return Some(compared);
    }
    // results on one page may be of different jobs, so their order has no meaning
    compared.remarks.push(
        "The results may describe different jobs or nets. `tailspn why A B` tests the difference between two results."
            .to_owned(),
    );
    let rows: Vec<BarRow> =
        timed.iter().map(|(i, section, headline)| row(name(*i, section, headline), headline)).collect();
    let caption = "Each bar ends at the mean; the thin line is the interval of the mean. The orange marks are p95 and p99, which one run in \
                   twenty and one in a hundred exceeds.";
    compared.figure(Figure::bars("compare", "Side by side", caption, "time [s]", rows));
    let mut table = Table::new("Side by side", "", ["result", "mean", "p50", "p95", "p99"]);
    for (i, section, headline) in &timed {
        // each number is in the file of its result
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

fn row(name: String, headline: &Headline) -> BarRow {
    let mean = &headline.mean;
    let [_, p95, p99] = &headline.quantiles;
    BarRow {
        name,
        bar: [0.0, mean.measured.value],
        interval: mean.ends().filter(|ends| ends.iter().all(|end| end.is_finite())),
        marks: [p95, p99].into_iter().flatten().map(|number| number.measured.value).collect(),
        text: mean.text(),
        ..BarRow::default()
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_quantile_is_in_the_column_of_its_name() {
        let number = |value: f64| Number::new(format!("/{value}"), value, "s");
        let of = |mean: f64| {
            let quantiles = [1.0, 2.0, 3.0].map(|more| Some(number(mean + more)));
            Document { headline: Some(Headline { of: None, mean: number(mean), quantiles }), ..Document::default() }
        };
        let compared = [of(10.0), of(20.0)];
        let compared = comparison(&compared.each_ref()).unwrap();
        let table = compared.tables().next().unwrap();
        let titles: Vec<&str> = table.columns.iter().map(|column| column.title.as_str()).collect();
        assert_eq!(titles, ["result", "mean", "p50", "p95", "p99"]);
        for (row, mean) in table.rows.iter().zip([10.0, 20.0]) {
            let values = row[1..].iter().map(|cell| match cell {
                Cell::Number(number) => number.measured.value,
                _ => f64::NAN,
            });
            assert_eq!(values.collect::<Vec<_>>(), [0.0, 1.0, 2.0, 3.0].map(|more| mean + more));
        }
    }
}
