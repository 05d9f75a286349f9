//! Handlers, and what they can answer.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::context::{Context, TaskLost};

/// What a handler gives.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// It is done.
    Done {
        /// The outputs by name: an object, or null.
        outputs: Value,
        /// The way out. `None`: the type's only one, or `Done`.
        outcome: Option<String>,
    },
    /// The answer comes later, by [`crate::Client::tell`] or the REST API.
    Later,
}

impl Reply {
    /// Done, with these outputs: an object, a map or a struct.
    #[must_use]
    pub fn outputs(outputs: impl Serialize) -> Self {
        Self::Done {
            // What cannot be written is told as what it is: no object.
            outputs: serde_json::to_value(outputs)
                .unwrap_or_else(|error| Value::String(error.to_string())),
            outcome: None,
        }
    }

    /// Done without outputs, by a named way out.
    #[must_use]
    pub fn outcome(name: impl Into<String>) -> Self {
        Self::outputs(Value::Null).by(name)
    }

    /// The same by a named way out.
    #[must_use]
    pub fn by(self, name: impl Into<String>) -> Self {
        match self {
            Self::Done { outputs, .. } => Self::Done {
                outputs,
                outcome: Some(name.into()),
            },
            Self::Later => Self::Later,
        }
    }
}

/// Fails the attempt. Every error becomes one with `?`; its type is the name of the error's type then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityError {
    /// A stable name.
    pub kind: String,
    /// A sentence.
    pub message: String,
    /// Whether another attempt may follow.
    pub is_retryable: bool,
    is_lost: bool,
}

impl ActivityError {
    /// A failure after which another attempt may follow.
    #[must_use]
    pub fn new(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            message: message.into(),
            is_retryable: true,
            is_lost: false,
        }
    }

    /// The same, and no attempt follows.
    #[must_use]
    pub fn for_good(mut self) -> Self {
        self.is_retryable = false;
        self
    }

    pub(crate) fn body(&self) -> Value {
        json!({ "error": { "type": self.kind, "message": self.message, "retryable": self.is_retryable } })
    }
}

impl<E: std::error::Error + 'static> From<E> for ActivityError {
    fn from(error: E) -> Self {
        let mut failure = Self::new(std::any::type_name::<E>(), error.to_string());
        failure.is_lost = (&error as &dyn Any).is::<TaskLost>();
        failure
    }
}

/// What is to be told of a task.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Told {
    /// The body of the answer: `{outputs, outcome}` or `{error}`.
    Body(Value),
    /// Nothing: the answer comes later.
    Later,
    /// Nothing: the task is lost.
    Lost,
}

type Running = Pin<Box<dyn Future<Output = Result<Reply, ActivityError>> + Send>>;
type Function = Arc<dyn Fn(Context) -> Running + Send + Sync>;

/// The handlers by activity type.
#[derive(Clone, Default)]
pub(crate) struct Handlers(BTreeMap<String, Function>);

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Handlers {
    pub(crate) fn insert<I, F, R>(&mut self, activity_type: String, handler: F)
    where
        I: DeserializeOwned + Send + 'static,
        F: Fn(I, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Reply, ActivityError>> + Send + 'static,
    {
        let function = move |context: Context| -> Running {
            match serde_json::from_value(context.task().input.clone()) {
                Ok(input) => Box::pin(handler(input, context)),
                Err(error) => {
                    let message = format!("the input is not what the handler expects: {error}");
                    let failure = ActivityError::new("InvalidInput", message).for_good();
                    Box::pin(std::future::ready(Err(failure)))
                }
            }
        };
        self.0.insert(activity_type, Arc::new(function));
    }

    pub(crate) fn types(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    /// Does a task. Its future is dropped when the task is lost.
    pub(crate) async fn answer(&self, context: Context) -> Told {
        let activity_type = &context.task().activity_type;
        let Some(function) = self.0.get(activity_type) else {
            let message = format!("there is no handler of {activity_type} here");
            let failure = ActivityError::new("UnknownActivity", message).for_good();
            return Told::Body(failure.body());
        };
        // A task of its own, so that a panic is its own as well.
        let mut running = AbortOnDrop(tokio::spawn(function(context.clone())));
        let ended = tokio::select! {
            ended = &mut running.0 => ended,
            () = context.lost() => return Told::Lost,
        };
        match ended {
            Ok(Ok(reply)) => body(reply),
            Ok(Err(failure)) if failure.is_lost => Told::Lost,
            Ok(Err(failure)) => Told::Body(failure.body()),
            Err(_) => Told::Body(ActivityError::new("Panic", "the handler has panicked").body()),
        }
    }
}

struct AbortOnDrop(tokio::task::JoinHandle<Result<Reply, ActivityError>>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn body(reply: Reply) -> Told {
    let Reply::Done { outputs, outcome } = reply else {
        return Told::Later;
    };
    let outputs = match outputs {
        Value::Null => json!({}),
        Value::Object(_) => outputs,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            let message = "a handler returns its outputs as an object: a map or a struct";
            let failure = ActivityError::new("InvalidAnswer", message).for_good();
            return Told::Body(failure.body());
        }
    };
    Told::Body(match outcome {
        Some(outcome) => json!({ "outputs": outputs, "outcome": outcome }),
        None => json!({ "outputs": outputs }),
    })
}
