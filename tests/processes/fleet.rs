//! Three servers over one table, which they find by the variables that every AWS tool reads.

use std::path::Path;

use dormouse_tests::database::Database;
use dormouse_tests::server::Server;
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_dormouse");

/// Three servers and their database.
pub(crate) struct Fleet {
    pub(crate) servers: [Server; 3],
    pub(crate) database: Database,
    _folder: TempDir,
}

impl Fleet {
    /// Starts the database for the test of this name, and three servers, each with more variables of its own.
    pub(crate) fn start(test: &'static str, more: [&[(&str, &str)]; 3]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::start(test, &folder.path().join("table.sqlite"));
        let endpoint = database.endpoint();
        let variables = [
            ("AWS_ENDPOINT_URL", endpoint.as_str()),
            ("AWS_REGION", "eu-central-1"),
            ("AWS_ACCESS_KEY_ID", "any"),
            ("AWS_SECRET_ACCESS_KEY", "thing"),
            ("AWS_EC2_METADATA_DISABLED", "true"),
        ];
        let args = [
            "--table",
            "dynamodb",
            "--table-name",
            "fleet",
            "--create-table",
            "--allow-private-egress",
        ];
        let mut number = 0;
        let servers = more.map(|more| {
            number += 1;
            let log = folder.path().join(format!("server-{number}.log"));
            let variables = [&variables[..], more].concat();
            Server::start_with(Path::new(BINARY), &args, &variables, &log, 1)
        });
        Self {
            servers,
            database,
            _folder: folder,
        }
    }

    pub(crate) fn ports(&self) -> Vec<u16> {
        self.servers.iter().map(|server| server.port).collect()
    }

    /// What all servers wrote.
    pub(crate) fn log(&self) -> String {
        let logs = self.servers.iter().map(Server::log);
        logs.collect::<Vec<_>>().join("\n--\n")
    }
}
