//! What the environment's variables do. They belong to a process, so each test runs itself once more in a process
//! whose variables it has chosen.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use dormouse_aws::config::AwsConfig;
use dormouse_aws::dynamo_table::DynamoTable;
use dormouse_tests::dynoxide::Dynoxide;

use super::remote::NAME;

/// Set in the second process.
const CHOSEN: &str = "DORMOUSE_TEST_CHOSEN_ENVIRONMENT";

/// In the second process: says whether the table is ready, and is done.
#[allow(clippy::print_stdout, reason = "it is how one process tells the other")]
async fn is_chosen() -> bool {
    if std::env::var_os(CHOSEN).is_none() {
        return false;
    }
    let table = DynamoTable::new(&AwsConfig::from_environment().await, NAME);
    match table.ready().await {
        Ok(()) => println!("it is ready"),
        Err(error) => println!("it is not ready: {error}"),
    }
    true
}

/// In the first process: what the test says in an environment of these variables only.
fn said_with(test: &str, variables: &[(&str, &str)]) -> Result<String> {
    let output = Command::new(std::env::current_exe()?)
        .args([
            "--exact",
            "--nocapture",
            &format!("aws::environment::{test}"),
        ])
        .env_clear()
        .env(CHOSEN, "1")
        .env("HOME", "/nowhere")
        // Nothing but this machine is asked for credentials.
        .env("AWS_EC2_METADATA_DISABLED", "true")
        .envs(variables.iter().copied())
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout)?;
    let line = said.lines().find(|line| line.contains("it is "));
    Ok(line
        .with_context(|| format!("{test} said nothing: {said}"))?
        .to_owned())
}

const KEYS: [(&str, &str); 2] = [
    ("AWS_ACCESS_KEY_ID", "any"),
    ("AWS_SECRET_ACCESS_KEY", "thing"),
];

#[tokio::test]
async fn the_environment_names_an_endpoint_for_all_services_or_for_one() -> Result<()> {
    if is_chosen().await {
        return Ok(());
    }
    let server = Dynoxide::start()?;
    DynamoTable::new(&server.config(), NAME)
        .create_table()
        .await?;
    let nobody = "http://127.0.0.1:9";
    let place = server.endpoint();
    for endpoints in [
        &[("AWS_ENDPOINT_URL", place)][..],
        &[
            ("AWS_ENDPOINT_URL", nobody),
            ("AWS_ENDPOINT_URL_DYNAMODB", place),
        ][..],
    ] {
        let mut variables = vec![("AWS_REGION", "eu-central-1")];
        variables.extend(KEYS);
        variables.extend(endpoints);
        let test = "the_environment_names_an_endpoint_for_all_services_or_for_one";
        let said = said_with(test, &variables)?;
        assert!(said.ends_with("it is ready"), "{said}");
    }
    Ok(())
}

#[tokio::test]
async fn what_the_environment_lacks_is_named() -> Result<()> {
    if is_chosen().await {
        return Ok(());
    }
    let test = "what_the_environment_lacks_is_named";
    let endpoint = ("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:9");
    let said = said_with(test, &[("AWS_REGION", "eu-central-1"), endpoint])?;
    assert!(
        said.contains("no AWS credentials") && said.contains("AWS_PROFILE"),
        "{said}"
    );
    assert!(said.contains("http://127.0.0.1:9"), "{said}");

    let said = said_with(test, &KEYS)?;
    assert!(said.contains("AWS_REGION"), "{said}");
    Ok(())
}
