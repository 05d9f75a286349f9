//! Options of the trace collector.

use clap::Args;
use dormouse_telemetry::Collector;

/// Destination of spans.
#[derive(Debug, Args)]
pub(super) struct TracesArgs {
    /// Send a span for each burst to this OpenTelemetry collector (OTLP over HTTP), such as http://localhost:4318
    #[arg(long, value_name = "URL", env = "OTEL_EXPORTER_OTLP_ENDPOINT")]
    traces: Option<String>,
    /// Headers of requests to the collector: name=value,name=value
    #[arg(
        long,
        value_name = "HEADERS",
        env = "OTEL_EXPORTER_OTLP_HEADERS",
        hide_env_values = true,
        default_value = ""
    )]
    traces_headers: String,
}

impl TracesArgs {
    pub(super) fn collector(&self) -> Option<Collector> {
        let endpoint = self.traces.clone().filter(|url| !url.is_empty())?;
        Some(Collector {
            endpoint,
            headers: self.traces_headers.clone(),
            service: "dormouse".to_owned(),
        })
    }
}
