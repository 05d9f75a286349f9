//! Options of the data folder or the table.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::key::DATA;
use crate::server::Place;

/// Data folder or table.
#[derive(Debug, Args)]
pub(super) struct PlaceArgs {
    /// Data folder. It is created if it does not exist
    #[arg(
        long,
        value_name = "DIR",
        env = "DORMOUSE_DATA",
        default_value = DATA
    )]
    data: PathBuf,
    /// Keep the permissions of the data folder. By default the server makes it private, because it contains signing keys
    #[arg(long, env = "DORMOUSE_SHARED_DATA")]
    shared_data: bool,
    /// Maximum size of the embedded table in megabytes. Beyond it, writes fail as on a full disk [default: no limit]
    #[arg(long, value_name = "MB")]
    max_data_mb: Option<u64>,
    /// Storage: `embedded` in the data folder, for one process, or `dynamodb`, which several servers can share
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Kind::Embedded)]
    table: Kind,
    /// Name of the DynamoDB table. Region, credentials and endpoint come from the AWS environment
    #[arg(long, value_name = "NAME", env = "DORMOUSE_TABLE")]
    table_name: Option<String>,
    /// Create the DynamoDB table if it does not exist
    #[arg(long)]
    create_table: bool,
    /// S3 bucket for instance states that exceed the item size of DynamoDB
    #[arg(long, value_name = "NAME", env = "DORMOUSE_BUCKET")]
    bucket: Option<String>,
}

/// The kinds of table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Embedded,
    Dynamodb,
}

impl PlaceArgs {
    /// The place, if the options go together.
    pub(super) fn place(&self) -> Result<Place, Failure> {
        let wrong = |message: &str| Failure::new(Exit::BadInput, "badOptions", message);
        match self.table {
            Kind::Embedded if self.create_table => {
                Err(wrong("--create-table is about a DynamoDB table")
                    .help("add --table dynamodb, or leave it out"))
            }
            Kind::Embedded => Ok(Place::Folder {
                data: self.data.clone(),
                bytes_max: self.max_data_mb.map(|mb| mb.saturating_mul(1 << 20)),
                is_shared: self.shared_data,
            }),
            Kind::Dynamodb if self.max_data_mb.is_some() => {
                Err(wrong("--max-data-mb is about the data folder")
                    .help("leave it out: DynamoDB has no such limit"))
            }
            Kind::Dynamodb => Ok(Place::Dynamo {
                table: self.table_name.clone().ok_or_else(|| {
                    wrong("which DynamoDB table? It has no name yet")
                        .help("name it with --table-name or DORMOUSE_TABLE")
                })?,
                is_made: self.create_table,
                bucket: self.bucket.clone(),
            }),
        }
    }

    /// The folder of what only this machine has.
    pub(super) fn data(&self) -> &Path {
        &self.data
    }

    /// True if no other machine can use it.
    pub(super) fn is_own(&self) -> bool {
        self.table == Kind::Embedded
    }

    /// The kind of place and its name, for the first line of a server.
    pub(super) fn shown(&self) -> (&'static str, String) {
        match (self.table, &self.table_name) {
            (Kind::Dynamodb, Some(name)) => ("table", name.clone()),
            (Kind::Embedded | Kind::Dynamodb, _) => ("data", self.data.display().to_string()),
        }
    }
}
