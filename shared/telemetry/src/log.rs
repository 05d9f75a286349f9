//! The log: lines for people, or one JSON object a line for programs.
//!
//! The fields of a JSON line are flat, and their names are stable: `timestamp`, `level`, `message`, and what the
//! message is about: `tenant`, `definition`, `instance`, `bookmark`, `timer`, `fence`, `wait_ms`, `late_ms`.

use std::str::FromStr;

use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// What a line of the log looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Neither `text` nor `json`.
#[derive(Debug, PartialEq, Eq)]
pub struct UnknownLogFormat;

impl std::fmt::Display for UnknownLogFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the format of a log is text or json")
    }
}

impl std::error::Error for UnknownLogFormat {}

impl FromStr for LogFormat {
    type Err = UnknownLogFormat;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err(UnknownLogFormat),
        }
    }
}

/// Begins to log on the error stream what is at least as important as `level`. A second begin changes nothing.
pub fn begin_log(level: LevelFilter, format: LogFormat) {
    let _begun_before = log_to(std::io::stderr, level, format).try_init();
}

/// A subscriber that writes the log somewhere.
pub fn log_to<W>(writer: W, level: LevelFilter, format: LogFormat) -> impl Subscriber + Send + Sync
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let lines = fmt::layer().with_writer(writer).with_target(false);
    let lines = match format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .with_span_list(false)
            .boxed(),
    };
    tracing_subscriber::registry().with(level).with(lines)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use serde_json::Value;

    use super::*;

    #[derive(Clone, Default)]
    struct Page(Arc<Mutex<Vec<u8>>>);

    impl Write for Page {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn logged(format: LogFormat) -> String {
        let page = Page::default();
        let writer = page.clone();
        let subscriber = log_to(move || writer.clone(), LevelFilter::INFO, format);
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!(instance = "i\n1", wait_ms = 3_i64, "lease acquired");
            tracing::debug!("not this one");
        });
        let bytes = page.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_line_of_json_has_flat_fields_with_stable_names() {
        let text = logged(LogFormat::Json);
        let lines: Vec<&str> = text.lines().collect();
        let [line] = lines.as_slice() else {
            panic!("{text}")
        };
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["level"], "INFO");
        assert_eq!(line["message"], "lease acquired");
        assert_eq!(line["instance"], "i\n1");
        assert_eq!(line["wait_ms"], 3);
        assert!(line["timestamp"].as_str().unwrap().ends_with('Z'));
    }

    #[test]
    fn formats_have_names() {
        assert!(logged(LogFormat::Text).contains("lease acquired"));
        assert_eq!("json".parse(), Ok(LogFormat::Json));
        assert_eq!("xml".parse::<LogFormat>(), Err(UnknownLogFormat));
    }
}
