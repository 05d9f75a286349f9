//! The types that scripts may name, and the namespaces they are in.

/// The namespaces that every script imports.
const IMPORTED: [&str; 6] = [
    "System",
    "System.Linq",
    "System.Collections.Generic",
    "System.Text.Json",
    "System.Text.Json.Nodes",
    "System.Dynamic",
];

/// Types with static members, by namespace.
const TYPES: [(&str, &[&str]); 11] = [
    (
        "System",
        &[
            "Math",
            "MathF",
            "Convert",
            "String",
            "Guid",
            "DateTime",
            "DateTimeOffset",
            "TimeSpan",
            "DateOnly",
            "TimeOnly",
            "Int16",
            "Int32",
            "Int64",
            "UInt32",
            "UInt64",
            "Byte",
            "SByte",
            "UInt16",
            "Single",
            "Double",
            "Decimal",
            "Boolean",
            "Char",
            "Array",
            "Random",
            "Uri",
            "Environment",
            "StringComparison",
            "StringSplitOptions",
            "DateTimeKind",
            "DayOfWeek",
            "MidpointRounding",
            "StringComparer",
            "Object",
            "Exception",
            "Console",
            "Enum",
            "Tuple",
            "ValueTuple",
            "BitConverter",
            "TimeZoneInfo",
            "Version",
            "Buffer",
            "HashCode",
            "Nullable",
            "Base64FormattingOptions",
            "UriKind",
        ],
    ),
    ("System.Linq", &["Enumerable"]),
    (
        "System.Collections.Generic",
        &["Comparer", "EqualityComparer", "KeyValuePair"],
    ),
    (
        "System.Text.Json",
        &[
            "JsonSerializer",
            "JsonDocument",
            "JsonElement",
            "JsonNamingPolicy",
            "JsonValueKind",
        ],
    ),
    (
        "System.Text.Json.Nodes",
        &["JsonNode", "JsonObject", "JsonArray", "JsonValue"],
    ),
    ("System.Text", &["Encoding", "UTF8"]),
    ("System.Text.RegularExpressions", &["Regex", "RegexOptions"]),
    (
        "System.Globalization",
        &["CultureInfo", "NumberStyles", "DateTimeStyles"],
    ),
    ("System.Threading.Tasks", &["Task"]),
    ("System.Net", &["HttpStatusCode", "WebUtility"]),
    ("System.IO", &["Path"]),
];

/// Types that scripts construct and that need an import.
const CONSTRUCTED: [(&str, &str); 4] = [
    ("StringBuilder", "System.Text"),
    ("Regex", "System.Text.RegularExpressions"),
    ("CultureInfo", "System.Globalization"),
    ("Task", "System.Threading.Tasks"),
];

/// The namespace of a type with static members.
pub(super) fn namespace(name: &str) -> Option<&'static str> {
    let found = TYPES.iter().find(|(_, names)| names.contains(&name));
    found.map(|(namespace, _)| *namespace)
}

/// Whether a script that has these `using` directives may name a type without its namespace.
pub(super) fn is_imported(name: &str, usings: &[String]) -> bool {
    let constructed = CONSTRUCTED.iter().find(|(known, _)| *known == name);
    let namespace = namespace(name).or(constructed.map(|(_, namespace)| *namespace));
    namespace.is_none_or(|namespace| {
        IMPORTED.contains(&namespace) || usings.iter().any(|known| known == namespace)
    })
}

/// Whether there is such a namespace, as far as scripts can reach.
pub(super) fn is_namespace(name: &str) -> bool {
    const OTHERS: [&str; 10] = [
        "System.Collections",
        "System.IO",
        "System.Reflection",
        "System.Threading",
        "System.Diagnostics",
        "System.Runtime",
        "System.Collections.Concurrent",
        "System.Text.Json.Serialization",
        "System.Collections.ObjectModel",
        "System.Runtime.CompilerServices",
    ];
    TYPES.iter().any(|(known, _)| *known == name)
        || IMPORTED.contains(&name)
        || OTHERS.contains(&name)
}
