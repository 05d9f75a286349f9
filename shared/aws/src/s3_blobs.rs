//! The blobs port on S3: large states as objects of one bucket.
//!
//! A name is never used for a second value, so every call may be repeated, and the SDK repeats them. S3 answers
//! "forbidden" instead of "not there" to a role without `s3:ListBucket`; the role needs it.

use async_trait::async_trait;
use aws_sdk_s3::Client;
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::primitives::ByteStream;
use bytes::Bytes;
use dormouse_store::item::error::Cause;
use dormouse_store::table::blobs::{BlobPlace, Blobs, ListBlobs};

use crate::config::AwsConfig;
use crate::error;

/// The service's name in `AWS_ENDPOINT_URL_S3`.
const SERVICE: &str = "S3";

/// What the names of messages begin with that are too large for a queue. No tenant can be called so, and the bucket
/// removes them by itself.
pub const MESSAGES: &str = "!messages/";

/// A bucket as the [`Blobs`] port.
#[derive(Debug, Clone)]
pub struct S3Blobs {
    client: Client,
    bucket: String,
    place: String,
}

/// The bucket did not do what was asked.
#[derive(Debug, thiserror::Error)]
#[error("the bucket `{bucket}` at {place} fails: {said}")]
pub struct S3Error {
    bucket: String,
    place: String,
    said: String,
    #[source]
    cause: Cause,
}

impl S3Blobs {
    /// The bucket where `config` says. Nothing is asked of AWS yet; see [`S3Blobs::ready`].
    pub fn new(config: &AwsConfig, bucket: impl Into<String>) -> Self {
        let place = config.place(SERVICE);
        let settings = aws_sdk_s3::config::Builder::from(config.sdk())
            // An emulator has no host name per bucket.
            .force_path_style(config.endpoint(SERVICE).is_some())
            .build();
        Self {
            client: Client::from_conf(settings),
            bucket: bucket.into(),
            place,
        }
    }

    /// The bucket's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.bucket
    }

    /// Whether the bucket is there and may be used.
    ///
    /// # Errors
    ///
    /// [`S3Error`] with what is wrong.
    pub async fn ready(&self) -> Result<(), S3Error> {
        let request = self.client.head_bucket().bucket(&self.bucket);
        request
            .send()
            .await
            .map(drop)
            .map_err(|failed| self.failed(failed))
    }

    /// Makes the bucket, for emulators and tests; on AWS the deployment template makes it.
    ///
    /// # Errors
    ///
    /// [`S3Error`]: it is there already, or cannot be made.
    pub async fn create_bucket(&self) -> Result<(), S3Error> {
        let request = self.client.create_bucket().bucket(&self.bucket);
        request
            .send()
            .await
            .map(drop)
            .map_err(|failed| self.failed(failed))
    }

    fn failed<E>(&self, failed: SdkError<E>) -> S3Error
    where
        E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
    {
        let said = error::said(&failed);
        let (bucket, place) = (self.bucket.clone(), self.place.clone());
        S3Error {
            bucket,
            place,
            said,
            cause: Box::new(failed),
        }
    }
}

#[async_trait]
impl Blobs for S3Blobs {
    async fn put(&self, name: &str, value: Bytes) -> Result<(), Cause> {
        let request = self.client.put_object().bucket(&self.bucket).key(name);
        let sent = request.body(ByteStream::from(value)).send().await;
        Ok(sent.map(drop).map_err(|failed| self.failed(failed))?)
    }

    async fn get(&self, name: &str) -> Result<Option<Bytes>, Cause> {
        let request = self.client.get_object().bucket(&self.bucket).key(name);
        let answer = match request.send().await {
            Ok(answer) => answer,
            Err(failed) if error::is_no_object(&failed) => return Ok(None),
            Err(failed) => return Err(self.failed(failed).into()),
        };
        Ok(Some(answer.body.collect().await?.into_bytes()))
    }

    async fn delete(&self, name: &str) -> Result<(), Cause> {
        let request = self.client.delete_object().bucket(&self.bucket).key(name);
        Ok(request
            .send()
            .await
            .map(drop)
            .map_err(|failed| self.failed(failed))?)
    }
}

#[async_trait]
impl ListBlobs for S3Blobs {
    fn place(&self, name: &str) -> String {
        name.to_owned()
    }

    async fn list(&self) -> Result<Vec<BlobPlace>, Cause> {
        let request = self.client.list_objects_v2().bucket(&self.bucket);
        let mut pages = request.into_paginator().send();
        let mut found = Vec::new();
        while let Some(page) = pages.next().await {
            let page = page.map_err(|failed| self.failed(failed))?;
            for object in page.contents.unwrap_or_default() {
                let place = object.key.unwrap_or_default();
                // Archives are for people, and messages go by themselves.
                if place.starts_with("archive/") || place.starts_with(MESSAGES) {
                    continue;
                }
                let written = object.last_modified.and_then(|at| at.to_millis().ok());
                let written_ms = written.unwrap_or(i64::MAX);
                found.push(BlobPlace { place, written_ms });
            }
        }
        Ok(found)
    }

    async fn delete_at(&self, place: &str) -> Result<(), Cause> {
        self.delete(place).await
    }
}
