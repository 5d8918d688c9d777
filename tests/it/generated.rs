//! Pages with a generated part: it is compared here, and `INSTA_UPDATE=always` writes it again.

/// Compares the generated part of a page, which follows the line `start`.
pub(crate) fn compare(page: &str, start: &str, generated: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    let text = std::fs::read_to_string(&path).unwrap();
    let (head, found) = text.split_once(start).unwrap();
    let generated = format!("\n{}\n", generated.trim_end());
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(path, format!("{head}{start}{generated}")).unwrap();
        return;
    }
    let differs = found.lines().zip(generated.lines()).find(|(is, should)| is != should);
    assert!(found == generated, "{page} differs from what is generated: {differs:?}");
}
