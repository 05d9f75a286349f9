//! Enumerations of .NET, and what is done with the members of any.

use super::run::{Done, Run, thrown};
use super::syntax::Type;
use super::text_method::plain;
use super::value::{Member, V};

type Known = (&'static str, &'static [(&'static str, i64)]);

const KNOWN: [Known; 14] = [
    (
        "DayOfWeek",
        &[
            ("Sunday", 0),
            ("Monday", 1),
            ("Tuesday", 2),
            ("Wednesday", 3),
            ("Thursday", 4),
            ("Friday", 5),
            ("Saturday", 6),
        ],
    ),
    (
        "StringComparison",
        &[
            ("CurrentCulture", 0),
            ("CurrentCultureIgnoreCase", 1),
            ("InvariantCulture", 2),
            ("InvariantCultureIgnoreCase", 3),
            ("Ordinal", 4),
            ("OrdinalIgnoreCase", 5),
        ],
    ),
    (
        "StringComparer",
        &[
            ("CurrentCulture", 0),
            ("CurrentCultureIgnoreCase", 1),
            ("InvariantCulture", 2),
            ("InvariantCultureIgnoreCase", 3),
            ("Ordinal", 4),
            ("OrdinalIgnoreCase", 5),
        ],
    ),
    (
        "StringSplitOptions",
        &[("None", 0), ("RemoveEmptyEntries", 1), ("TrimEntries", 2)],
    ),
    (
        "DateTimeKind",
        &[("Unspecified", 0), ("Utc", 1), ("Local", 2)],
    ),
    (
        "MidpointRounding",
        &[
            ("ToEven", 0),
            ("AwayFromZero", 1),
            ("ToZero", 2),
            ("ToNegativeInfinity", 3),
            ("ToPositiveInfinity", 4),
        ],
    ),
    (
        "RegexOptions",
        &[
            ("None", 0),
            ("IgnoreCase", 1),
            ("Multiline", 2),
            ("ExplicitCapture", 4),
            ("Compiled", 8),
            ("Singleline", 16),
            ("IgnorePatternWhitespace", 32),
            ("CultureInvariant", 512),
        ],
    ),
    (
        "JsonValueKind",
        &[
            ("Undefined", 0),
            ("Object", 1),
            ("Array", 2),
            ("String", 3),
            ("Number", 4),
            ("True", 5),
            ("False", 6),
            ("Null", 7),
        ],
    ),
    (
        "NumberStyles",
        &[
            ("None", 0),
            ("Integer", 7),
            ("Number", 111),
            ("Float", 167),
            ("Any", 511),
            ("HexNumber", 515),
        ],
    ),
    (
        "DateTimeStyles",
        &[
            ("None", 0),
            ("AdjustToUniversal", 16),
            ("AssumeLocal", 32),
            ("AssumeUniversal", 64),
            ("RoundtripKind", 128),
        ],
    ),
    (
        "HttpStatusCode",
        &[
            ("Continue", 100),
            ("SwitchingProtocols", 101),
            ("Processing", 102),
            ("EarlyHints", 103),
            ("OK", 200),
            ("Created", 201),
            ("Accepted", 202),
            ("NonAuthoritativeInformation", 203),
            ("NoContent", 204),
            ("ResetContent", 205),
            ("PartialContent", 206),
            ("MultiStatus", 207),
            ("AlreadyReported", 208),
            ("IMUsed", 226),
            ("MultipleChoices", 300),
            ("Ambiguous", 300),
            ("MovedPermanently", 301),
            ("Moved", 301),
            ("Found", 302),
            ("Redirect", 302),
            ("SeeOther", 303),
            ("RedirectMethod", 303),
            ("NotModified", 304),
            ("UseProxy", 305),
            ("Unused", 306),
            ("TemporaryRedirect", 307),
            ("RedirectKeepVerb", 307),
            ("PermanentRedirect", 308),
            ("BadRequest", 400),
            ("Unauthorized", 401),
            ("PaymentRequired", 402),
            ("Forbidden", 403),
            ("NotFound", 404),
            ("MethodNotAllowed", 405),
            ("NotAcceptable", 406),
            ("ProxyAuthenticationRequired", 407),
            ("RequestTimeout", 408),
            ("Conflict", 409),
            ("Gone", 410),
            ("LengthRequired", 411),
            ("PreconditionFailed", 412),
            ("RequestEntityTooLarge", 413),
            ("RequestUriTooLong", 414),
            ("UnsupportedMediaType", 415),
            ("RequestedRangeNotSatisfiable", 416),
            ("ExpectationFailed", 417),
            ("MisdirectedRequest", 421),
            ("UnprocessableEntity", 422),
            ("UnprocessableContent", 422),
            ("Locked", 423),
            ("FailedDependency", 424),
            ("UpgradeRequired", 426),
            ("PreconditionRequired", 428),
            ("TooManyRequests", 429),
            ("RequestHeaderFieldsTooLarge", 431),
            ("UnavailableForLegalReasons", 451),
            ("InternalServerError", 500),
            ("NotImplemented", 501),
            ("BadGateway", 502),
            ("ServiceUnavailable", 503),
            ("GatewayTimeout", 504),
            ("HttpVersionNotSupported", 505),
            ("VariantAlsoNegotiates", 506),
            ("InsufficientStorage", 507),
            ("LoopDetected", 508),
            ("NotExtended", 510),
            ("NetworkAuthenticationRequired", 511),
        ],
    ),
    (
        "UriKind",
        &[("RelativeOrAbsolute", 0), ("Absolute", 1), ("Relative", 2)],
    ),
    (
        "Base64FormattingOptions",
        &[("None", 0), ("InsertLineBreaks", 1)],
    ),
    (
        "JsonNamingPolicy",
        &[
            ("CamelCase", 1),
            ("SnakeCaseLower", 2),
            ("KebabCaseLower", 3),
        ],
    ),
];

fn known(class: &str) -> Option<Vec<(String, i64)>> {
    let (_, members) = KNOWN.iter().find(|(known, _)| *known == class)?;
    let members = members.iter();
    Some(
        members
            .map(|(name, number)| ((*name).to_owned(), *number))
            .collect(),
    )
}

/// A member of one of .NET's enumerations; `None`: there is no such type.
pub(super) fn known_member<'p>(class: &str, name: &str) -> Option<Option<V<'p>>> {
    let members = known(class)?;
    let found = members.iter().find(|(known, _)| known == name);
    Some(found.map(|(name, number)| V::member(class, name, *number)))
}

fn named(members: &[(String, i64)], number: i64) -> String {
    if let Some((name, _)) = members.iter().find(|(_, known)| *known == number) {
        return name.clone();
    }
    let mut rest = number;
    let mut names = Vec::new();
    for (name, flag) in members.iter().rev() {
        if *flag != 0 && rest & flag == *flag {
            names.insert(0, name.as_str());
            rest &= !flag;
        }
    }
    if rest == 0 && !names.is_empty() {
        names.join(", ")
    } else {
        number.to_string()
    }
}

/// The member of one of .NET's enumerations that has that number.
pub(super) fn enum_of<'p>(class: &str, number: i64) -> V<'p> {
    let members = known(class).unwrap_or_default();
    V::member(class, &named(&members, number), number)
}

impl Run<'_> {
    fn members_of(&self, class: &str) -> Option<Vec<(String, i64)>> {
        let declared = self.enums.iter().find(|(known, _)| known == class);
        declared
            .map(|(_, members)| members.clone())
            .or_else(|| known(class))
    }

    /// The member of that number, if the type is an enumeration.
    pub(super) fn enum_cast<'p>(&self, class: &str, number: i64) -> Option<V<'p>> {
        let members = self.members_of(class)?;
        Some(V::member(class, &named(&members, number), number))
    }

    /// The name of a member as its type has it: flags of a declared type, too.
    pub(super) fn enum_text(&self, member: &Member) -> String {
        match self.members_of(&member.class) {
            Some(members) => named(&members, member.number),
            None => member.name.to_string(),
        }
    }

    /// `Enum.Name(…)`
    pub(super) fn enum_call<'p>(
        &mut self,
        name: &str,
        types: &[Type],
        arguments: &[V<'p>],
    ) -> Done<'p, V<'p>> {
        let (class, rest) = match (types.first(), arguments) {
            (Some(of), rest) => (of.name.clone(), rest),
            (None, [V::Type(of), rest @ ..]) => (of.clone(), rest),
            (None, rest) => (String::new(), rest),
        };
        let Some(members) = self.members_of(&class) else {
            return thrown("ArgumentException", "The type provided must be an Enum.");
        };
        let ignores = rest.iter().any(|a| matches!(a, V::Bool(true)));
        let wanted = plain(rest.first());
        let find = || {
            let same =
                |known: &str| known == wanted || ignores && known.eq_ignore_ascii_case(&wanted);
            let found = members
                .iter()
                .find(|(known, number)| same(known) || wanted.parse() == Ok(*number));
            found.map(|(name, number)| V::member(&class, name, *number))
        };
        Ok(match name {
            "GetNames" => V::array(
                members
                    .iter()
                    .map(|(name, _)| V::text(name.as_str()))
                    .collect(),
            ),
            "GetValues" => V::array(
                members
                    .iter()
                    .map(|(name, number)| V::member(&class, name, *number))
                    .collect(),
            ),
            "GetName" => find().map_or(V::Null, |found| V::text(found.shown())),
            "IsDefined" => V::Bool(match rest.first() {
                Some(V::Enum(member)) => members.iter().any(|(_, n)| *n == member.number),
                _ => find().is_some(),
            }),
            "Parse" => match find() {
                Some(found) => found,
                None => {
                    let message = format!("Requested value '{wanted}' was not found.");
                    return thrown("ArgumentException", message);
                }
            },
            "TryParse" => {
                let found = find();
                let default = self.enum_cast(&class, 0).unwrap_or(V::Null);
                let has = V::Bool(found.is_some());
                V::Tuple(std::rc::Rc::new(vec![
                    (None, has),
                    (None, found.unwrap_or(default)),
                ]))
            }
            _ => {
                let message = format!("'Enum' does not contain a definition for '{name}'");
                return thrown("CompilationErrorException", message);
            }
        })
    }
}
