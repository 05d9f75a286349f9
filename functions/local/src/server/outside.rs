//! Calls that leave this process: background work that waits for one lets other work have its turn.

use std::sync::Arc;

use async_trait::async_trait;
use dormouse_embedded::out_of_turn;
use dormouse_engine::call::{Answer, HttpRequest};
use dormouse_runtime::port::{CommandAnswer, Commands, FunctionAnswer, Functions, HttpCaller};

/// A port whose calls leave this process.
pub(crate) struct Outside<T: ?Sized>(pub(crate) Arc<T>);

#[async_trait]
impl HttpCaller for Outside<dyn HttpCaller> {
    async fn call(&self, request: &HttpRequest, timeout_ms: u64) -> Answer {
        out_of_turn(self.0.call(request, timeout_ms)).await
    }
}

#[async_trait]
impl Commands for Outside<dyn Commands> {
    async fn run(
        &self,
        command: &[String],
        input: Vec<u8>,
        timeout_ms: u64,
        bytes_max: usize,
    ) -> CommandAnswer {
        out_of_turn(self.0.run(command, input, timeout_ms, bytes_max)).await
    }
}

#[async_trait]
impl Functions for Outside<dyn Functions> {
    fn allows(&self, function: &str) -> bool {
        self.0.allows(function)
    }

    async fn invoke(
        &self,
        function: &str,
        input: Vec<u8>,
        timeout_ms: u64,
        bytes_max: usize,
    ) -> FunctionAnswer {
        out_of_turn(self.0.invoke(function, input, timeout_ms, bytes_max)).await
    }
}
