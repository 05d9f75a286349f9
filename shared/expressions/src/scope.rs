//! What a script sees of the running workflow, and what it may change there.
//!
//! The engine implements [`Scope`]; nothing else of the host is reachable from a script.

use serde_json::Value;

/// Who is running: Elsa's identity functions read it.
#[derive(Debug, Clone, Default)]
pub struct Identity {
    /// The definition's id.
    pub definition_id: String,
    /// The version's id.
    pub definition_version_id: String,
    /// The version's number.
    pub definition_version: u32,
    /// The instance's id.
    pub instance_id: String,
    /// The instance's correlation id.
    pub correlation_id: Option<String>,
    /// The instance's name.
    pub name: Option<String>,
}

/// How a value looks to a script, beyond what JSON can say of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// As its JSON.
    #[default]
    Plain,
    /// A number that is a double even where it is whole.
    Double,
    /// ISO 8601 text that is a date.
    DateTime,
    /// Text in .NET's constant format that is a length of time.
    TimeSpan,
    /// Text that is a GUID.
    Guid,
    /// Base64 text that is bytes.
    Bytes,
    /// An object of JSON (.NET's `ExpandoObject` of `JsonElement`).
    Json,
    /// Values by name that are still JSON (.NET's dictionary of `JsonElement`).
    Dictionary,
    /// Texts by name (.NET's dictionary).
    Texts,
    /// An object of JSON with members of JSON (.NET's `JsonObject`).
    Node,
    /// A list whose objects are JSON.
    ListOfJson,
    /// Text of a whole number without a bound.
    BigInteger,
    /// Null, which stands for a function.
    Function,
    /// Null, which stands for what no serialiser can write: there are functions in it.
    Opaque,
}

/// What a script sees and may change. Implemented by the engine over the running activity.
pub trait Scope {
    /// Ids, correlation id and name of the instance.
    fn identity(&self) -> Identity;
    /// `setCorrelationId`.
    fn set_correlation_id(&mut self, id: Option<String>);
    /// `setWorkflowInstanceName`.
    fn set_name(&mut self, name: Option<String>);
    /// The variable of that exact name nearest to the running activity; `None`: there is no such variable.
    fn variable(&self, name: &str) -> Option<Value>;
    /// How the variable of that name looks to scripts.
    fn variable_kind(&self, _name: &str) -> Kind {
        Kind::Plain
    }
    /// .NET's name of the type of the variable of that name, as far as scripts need it: `Int32`, `Int64`, `Single`,
    /// `Double`, `Decimal`, `String`, `Boolean`, `DateTimeOffset`, `Dictionary`, `Object` for what has no members;
    /// empty for all else.
    fn variable_type(&self, _name: &str) -> &'static str {
        ""
    }
    /// How the input of that name looks to scripts.
    fn input_kind(&self, _name: &str) -> Kind {
        Kind::Plain
    }
    /// The input of that name converted to its declared type, with .NET's name of the type as in
    /// [`Self::variable_type`]. `None`: none is declared; an error: why it cannot be converted.
    fn typed_input(&self, _name: &str) -> Option<Result<(Value, Kind, &'static str), String>> {
        None
    }
    /// Names of all variables in scope, nearest first.
    fn variable_names(&self) -> Vec<String>;
    /// Sets a variable, or makes a dynamic one on the nearest container.
    fn set_variable(&mut self, name: &str, value: Value);
    /// A workflow input (inside a composite: the same-named variable first). `None`: not given.
    fn input(&self, name: &str) -> Option<Value>;
    /// Names of the workflow's declared and given inputs.
    fn input_names(&self) -> Vec<String>;
    /// Whether `name` is an input of the running *workflow* (then `variables.name` is not written back).
    fn is_input(&self, name: &str) -> bool {
        self.input_names().iter().any(|n| n == name)
    }
    /// `(activity, output name)` pairs with a generated accessor `get<Output>From<Activity>()`; `activity` is
    /// the activity's name (modern tool version) or id (older), as the definition wants it.
    fn output_names(&self) -> Vec<(String, String)>;
    /// The first recorded value of an activity's output, by activity id or name; default output `Result`.
    fn output_from(&self, activity: &str, output: Option<&str>) -> Option<Value>;
    /// Whether there is an activity of that id or name.
    fn has_activity(&self, _activity: &str) -> bool {
        true
    }
    /// The last recorded output named `Result`.
    fn last_result(&self) -> Option<Value>;
    /// `args.<name>` and `get<Arg>()`: extra arguments of this evaluation (BulkDispatch's correlation function).
    fn arguments(&self) -> Vec<(String, Value)> {
        Vec::new()
    }
    /// Whether scripts have `setOutcome` and `setOutcomes`: only those of RunJavaScript.
    fn takes_outcomes(&self) -> bool {
        true
    }
    /// `setOutcome`, `setOutcomes` of RunJavaScript.
    fn set_outcomes(&mut self, _outcomes: Vec<String>) {}
    /// The time given to the instance for this burst, milliseconds since 1970 (`Date.now()`, `new Date()`).
    fn now_ms(&self) -> i64;
    /// The next number of the instance's own deterministic sequence (`Math.random()`, `newGuid()`).
    fn random(&mut self) -> u64;
    /// `createEventTriggerUrl`: a public address that publishes the event to this instance, usable until that
    /// time (milliseconds since 1970). `None`: this host has no public address.
    fn event_trigger_url(&mut self, _event: &str, _expires_at_ms: Option<i64>) -> Option<String> {
        None
    }
    /// `getSecret`. `None`: there is no such secret, or the workflow may not read it.
    fn secret(&self, _name: &str) -> Option<Value> {
        None
    }
    /// Whether scripts have `getConfig`.
    fn shows_configuration(&self) -> bool {
        false
    }
    /// Configuration a host allows scripts to read (`getConfig`, Liquid `Configuration`).
    fn configuration(&self, _path: &str) -> Option<Value> {
        None
    }
}
