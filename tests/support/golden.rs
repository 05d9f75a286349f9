//! Texts that are compared with what a file of the repository says.

use std::path::Path;

/// Compares a text with `tests/golden/{name}`. With `DORMOUSE_BLESS` set the file is written instead.
#[track_caller]
pub fn compare(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("golden")
        .join(name);
    if std::env::var_os("DORMOUSE_BLESS").is_some() {
        std::fs::write(&path, text).expect("the golden file can be written");
        return;
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    if golden == text {
        return;
    }
    let mut pairs = golden.lines().zip(text.lines()).enumerate();
    let (number, (wanted, seen)) = pairs.find(|(_, (a, b))| a != b).unwrap_or((
        golden.lines().count().min(text.lines().count()),
        ("(one of the two ends here)", ""),
    ));
    panic!(
        "golden/{name}, line {}:\nwanted: {wanted}\n  seen: {seen}\nRun with DORMOUSE_BLESS=1 if the new text is right.",
        number + 1
    );
}
