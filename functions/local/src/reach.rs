//! Addresses that HTTP requests of workflows may reach: the same options of `serve` and `run`.

use clap::Args;
use dormouse_egress::{Network, Reach};

/// Addresses that HTTP requests of workflows may reach.
#[derive(Debug, Args)]
pub(crate) struct ReachArgs {
    /// Let workflows send HTTP requests to any address, including private networks and this machine [default: public addresses only]
    #[arg(long)]
    allow_private_egress: bool,
    /// Let workflows send HTTP requests to this network as well, such as 10.1.0.0/16. Repeatable
    #[arg(
        long,
        value_name = "NETWORK",
        env = "DORMOUSE_ALLOW_EGRESS",
        value_delimiter = ','
    )]
    allow_egress: Vec<Network>,
}

impl ReachArgs {
    /// The options, in the form of the guard.
    pub(crate) fn read(&self) -> Reach {
        match (self.allow_private_egress, self.allow_egress.as_slice()) {
            (true, _) => Reach::Anywhere,
            (false, networks) => Reach::public_and(networks),
        }
    }
}
