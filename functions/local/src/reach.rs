//! How far the HTTP requests of workflows may reach: the same options of `serve` and `run`.

use clap::Args;
use dormouse_egress::{Network, Reach};

/// How far they may reach.
#[derive(Debug, Args)]
pub(crate) struct ReachArgs {
    /// Let workflows send HTTP requests to this machine and its network, and not only to public addresses
    #[arg(long)]
    allow_private_egress: bool,
    /// Let them reach this network besides, as in 10.1.0.0/16; may be given again for more
    #[arg(
        long,
        value_name = "NETWORK",
        env = "DORMOUSE_ALLOW_EGRESS",
        value_delimiter = ','
    )]
    allow_egress: Vec<Network>,
}

impl ReachArgs {
    /// What was said, as the guard takes it.
    pub(crate) fn read(&self) -> Reach {
        match (self.allow_private_egress, self.allow_egress.as_slice()) {
            (true, _) => Reach::Anywhere,
            (false, networks) => Reach::public_and(networks),
        }
    }
}
