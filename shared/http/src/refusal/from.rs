//! Errors of what a route calls, as refusals.

use dormouse_engine::definition::DefinitionError;
use dormouse_runtime::RuntimeError;

use super::{Operating, Refusal};

impl From<RuntimeError> for Refusal {
    fn from(error: RuntimeError) -> Self {
        Self::Runtime(error)
    }
}

impl From<Operating> for Refusal {
    fn from(refusal: Operating) -> Self {
        Self::Operating(refusal)
    }
}

impl From<DefinitionError> for Refusal {
    fn from(error: DefinitionError) -> Self {
        Self::NotADefinition(error)
    }
}
