//! Limits of connections and of open files.

use clap::Args;

/// Connections that are held, unless the option says otherwise.
const CONNECTIONS: usize = 2_048;

/// Files that are not connections: the table, the log, requests that leave.
const OTHER_FILES: u64 = 256;

/// The most files that are asked for where the operating system sets no limit.
#[cfg(unix)]
const FILES_MAX: u64 = 65_536;

/// Limits of connections: options of the command line.
#[derive(Debug, Args)]
pub(crate) struct ConnectionArgs {
    /// Maximum number of open connections [default: 2048, or the limit of open files if it is lower]. Beyond it, the server closes
    /// the oldest idle connection. If none is idle, it answers only /health/live
    #[arg(long, value_name = "NUMBER", env = "DORMOUSE_MAX_CONNECTIONS", value_parser = clap::value_parser!(u32).range(1..))]
    max_connections: Option<u32>,
    /// Maximum number of open connections from one address [default: half of --max-connections; all of them behind proxies]
    #[arg(long, value_name = "NUMBER", env = "DORMOUSE_MAX_CONNECTIONS_PER_ADDRESS", value_parser = clap::value_parser!(u32).range(1..))]
    max_connections_per_address: Option<u32>,
}

/// Bounds on connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ConnectionLimits {
    /// In all.
    pub(super) all: usize,
    /// From one address.
    pub(super) of_address: usize,
}

impl ConnectionArgs {
    /// The bounds, after the limit of open files is raised as far as it goes.
    pub(crate) fn read(&self, is_behind_proxies: bool) -> ConnectionLimits {
        let files = raise_file_limit().saturating_sub(OTHER_FILES).max(16);
        let files = usize::try_from(files).unwrap_or(usize::MAX);
        let wanted = self.max_connections.map_or(CONNECTIONS, |n| n as usize);
        let all = wanted.min(files);
        if all < wanted && self.max_connections.is_some() {
            tracing::warn!(
                all,
                wanted,
                "the limit of open files allows fewer connections; raise it (`ulimit -n`, LimitNOFILE)"
            );
        }
        let own = self.max_connections_per_address.map(|n| n as usize);
        let of_address = own.unwrap_or(match is_behind_proxies {
            true => all,
            false => (all / 2).max(1),
        });
        ConnectionLimits { all, of_address }
    }
}

/// Raises the limit of open files as far as this user may. The limit then.
#[cfg(unix)]
fn raise_file_limit() -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = getrlimit(Resource::Nofile);
    let current = limit.current.unwrap_or(FILES_MAX);
    let highest = limit.maximum.unwrap_or(FILES_MAX).min(FILES_MAX);
    if current >= highest {
        return current;
    }
    let raised = Rlimit {
        current: Some(highest),
        maximum: limit.maximum,
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => highest,
        Err(error) => {
            tracing::debug!(%error, "the limit of open files stays as it is");
            current
        }
    }
}

#[cfg(not(unix))]
fn raise_file_limit() -> u64 {
    u64::MAX
}
