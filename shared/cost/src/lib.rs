//! What a workflow would cost on AWS, before anyone deploys it: the real engine, store and runtime in an
//! [`Account`] in memory that counts what the parts of AWS would be asked to do, and a [`Bill`] at dated prices.
//!
//! Nothing here takes time: the clock is virtual, and a delay of three days is over at once.

mod account;
mod bill;
mod charge;
mod ledger;
mod parts;
mod price;
mod run;
mod tally;

pub use account::{Account, OpenWait};
pub use bill::{Bill, Line, storage_usd_per_month};
pub use charge::Units;
pub use price::{Assumed, PerMillion, Prices};
pub use run::{Answers, CostError, EVERY_OTHER, Ran, Start, run};
pub use tally::{Phase, TableUse, Tally};
