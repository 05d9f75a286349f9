//! Large states in S3.

use anyhow::{Result, anyhow};
use bytes::Bytes;
use dormouse_aws::config::AwsConfig;
use dormouse_aws::s3_blobs::S3Blobs;
use dormouse_store::item::error::Cause;
use dormouse_store::table::blobs::Blobs as _;
use dormouse_tests::ministack::Ministack;

fn plain(cause: Cause) -> anyhow::Error {
    anyhow!(cause)
}

#[tokio::test]
async fn a_large_state_is_kept_until_it_is_deleted() -> Result<()> {
    let Some(server) = Ministack::shared()? else {
        return Ok(());
    };
    let blobs = S3Blobs::new(&server.config(), "dormouse-states");
    blobs.create_bucket().await?;
    blobs.ready().await?;
    let value: Bytes = (0..6_000_000_u32)
        .map(|n| n.to_le_bytes()[n as usize % 3])
        .collect();
    for name in ["default/order-1/7-3-ab12", "tenant ü/a#b?c=d&e+f%20/1"] {
        assert_eq!(blobs.get(name).await.map_err(plain)?, None, "{name}");
        blobs.put(name, value.clone()).await.map_err(plain)?;
        // A repeated put is the same put.
        blobs.put(name, value.clone()).await.map_err(plain)?;
        assert!(
            blobs.get(name).await.map_err(plain)? == Some(value.clone()),
            "{name}"
        );
        blobs.delete(name).await.map_err(plain)?;
        blobs.delete(name).await.map_err(plain)?;
        assert_eq!(blobs.get(name).await.map_err(plain)?, None, "{name}");
    }
    Ok(())
}

#[tokio::test]
async fn a_missing_bucket_is_an_error_and_not_a_missing_state() -> Result<()> {
    let Some(server) = Ministack::shared()? else {
        return Ok(());
    };
    let blobs = S3Blobs::new(&server.config(), "no-such-bucket");
    assert!(blobs.ready().await.is_err());
    let get = blobs.get("name").await;
    let said = get.err().map(|cause| cause.to_string()).unwrap_or_default();
    assert!(said.contains("no-such-bucket"), "{said}");
    Ok(())
}

#[tokio::test]
async fn a_place_without_a_server_is_named() -> Result<()> {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let blobs = S3Blobs::new(&AwsConfig::emulator(format!("http://{nobody}")), "states");
    let answer = blobs.put("name", Bytes::from_static(b"x")).await;
    let said = answer
        .err()
        .map(|cause| cause.to_string())
        .unwrap_or_default();
    assert!(
        said.contains("states") && said.contains(&nobody.to_string()),
        "{said}"
    );
    Ok(())
}
