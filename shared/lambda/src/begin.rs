//! The life of a function's process: it begins, handles one invocation after the other, and is ended.

use std::future::Future;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use dormouse_telemetry::{LogFormat, begin_log};
use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;

use crate::function::{Function, Kind, StartError, level};

/// How long after SIGTERM an invocation under way may take. Lambda kills two seconds after it.
const END_LIMIT: Duration = Duration::from_millis(1_500);

/// How long the answer of that invocation may take to be sent.
const ANSWER_LIMIT: Duration = Duration::from_millis(200);

/// Runs a function until its process is ended: `handle` gets the function, an event, and the time at which Lambda ends
/// the invocation, in ms since 1970. Its errors are the invocation's.
pub fn begin<F, A>(name: &str, kind: Kind, handle: F) -> ExitCode
where
    F: Fn(Arc<Function>, Value, u64) -> A,
    A: Future<Output = Result<Value, Error>>,
{
    // One invocation at a time, so one thread: there is nothing to do beside it.
    let threads = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let lived = match threads {
        Ok(threads) => threads.block_on(live(name, kind, handle)),
        Err(error) => Err(StartError::Process(error).into()),
    };
    match lived {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(%error, "the function ends");
            ExitCode::FAILURE
        }
    }
}

async fn live<F, A>(name: &str, kind: Kind, handle: F) -> Result<(), Error>
where
    F: Fn(Arc<Function>, Value, u64) -> A,
    A: Future<Output = Result<Value, Error>>,
{
    let function = match Function::new(name, kind).await {
        Ok(function) => Arc::new(function),
        Err(error) => {
            begin_log(level("info"), LogFormat::Json);
            if let Err(unheard) = refuse(&error).await {
                tracing::warn!(error = %unheard, "Lambda could not be told why the function ends");
            }
            return Err(error.into());
        }
    };
    let mut ended = signal(SignalKind::terminate()).map_err(StartError::Process)?;
    let turn = Semaphore::new(1);
    let service = service_fn(|event: LambdaEvent<Value>| {
        let answer = handle(Arc::clone(&function), event.payload, event.context.deadline);
        let (turn, function) = (&turn, &function);
        async move {
            let _held = turn.acquire().await;
            function.look_at_pause().await;
            let answer = match function.allow_links().await {
                Ok(()) => answer.await,
                Err(error) => Err(error.into()),
            };
            function.write_measures();
            // Before the answer: after it the process is frozen.
            function.send_spans().await;
            if let Err(error) = &answer {
                tracing::error!(%error, "an invocation failed");
            }
            answer
        }
    });
    let mut running = pin!(lambda_runtime::run(service));
    tokio::select! {
        ended = &mut running => return ended,
        _ = ended.recv() => {}
    }
    if turn.available_permits() == 0 {
        // Whatever is cut off here is like a crash, which everything survives; but somebody may wait for it.
        let _cut_off = tokio::time::timeout(END_LIMIT, async {
            tokio::select! {
                _ = &mut running => {}
                _ = turn.acquire() => {}
            }
        })
        .await;
        // Its answer is still to be sent.
        let _idle = tokio::time::timeout(ANSWER_LIMIT, running).await;
    }
    Ok(())
}

/// Tells Lambda why the function cannot begin.
async fn refuse(error: &StartError) -> Result<(), Error> {
    let client = lambda_runtime_api_client::PooledClient::builder().build();
    let reason = json!({ "errorType": "StartError", "errorMessage": error.to_string() });
    let request = http::Request::post("/2018-06-01/runtime/init/error")
        .header("lambda-runtime-function-error-type", "Runtime.StartError")
        .body(reason.to_string().into())?;
    client.call(request).await?;
    Ok(())
}
