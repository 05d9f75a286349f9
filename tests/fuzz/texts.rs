//! Small texts that people and programs send: cron, zones, times, cursors, tenants, durations.

use dormouse_engine::schedule::Cron;
use dormouse_engine::schedule::zone::{parse_in, zone};
use dormouse_engine::time::Timestamp;
use dormouse_store::table::Index;
use dormouse_store::{Cursor, Tenant};

use super::drive::{drive, kept, shown};
use super::mutant::mutant;

#[test]
fn cron_expressions() {
    let corpus = kept("cron");
    let zones = ["UTC", "Europe/Berlin", "America/Sao_Paulo", "Pacific/Apia"]
        .map(|name| zone(name).unwrap());
    drive(
        "cron",
        corpus.clone(),
        |chance| mutant(chance, &corpus),
        |b| shown(b),
        |bytes| {
            let Ok(cron) = Cron::parse(&String::from_utf8_lossy(bytes)) else {
                return;
            };
            for zone in &zones {
                let mut at = Timestamp(1_767_225_600_000);
                for _ in 0..3 {
                    match cron.next(at, zone) {
                        None => break,
                        Some(next) => {
                            assert!(next > at, "{next:?} is not after {at:?}");
                            at = next;
                        }
                    }
                }
            }
        },
    );
}

#[test]
fn names_and_marks() {
    let corpus = kept("text");
    drive(
        "text",
        corpus.clone(),
        |chance| mutant(chance, &corpus),
        |b| shown(b),
        |bytes| {
            let text = String::from_utf8_lossy(bytes);
            for index in [None, Some(Index::One)] {
                if let Ok(cursor) = Cursor::decode(&text, index) {
                    let again = Cursor::decode(&cursor.clone().encode(), index);
                    assert_eq!(again.ok(), Some(cursor));
                }
            }
            if let Ok(tenant) = Tenant::new(&text) {
                assert_eq!(tenant.as_str(), text);
            }
            if let Ok(zone) = zone(&text) {
                let _ = parse_in(&text, &zone);
            }
            let _ = parse_in(&text, &zone("Europe/Berlin").unwrap());
        },
    );
}
