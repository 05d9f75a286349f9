//! Stub.
pub(crate) fn format_date(_ms: i64, _offset: i32, _format: &str) -> String {
    String::new()
}
