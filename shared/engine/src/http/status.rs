//! Status codes by number or by the name .NET gives them.

const NAMES: [(&str, u16); 70] = [
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
    ("ImATeapot", 418),
    ("MisdirectedRequest", 421),
    ("UnprocessableEntity", 422),
    ("UnprocessableContent", 422),
    ("Locked", 423),
    ("FailedDependency", 424),
    ("TooEarly", 425),
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
    ("NetworkConnectTimeout", 599),
];

/// The name that .NET prints for a status: of several names of one code, the first.
#[must_use]
pub fn status_name(text: &str) -> Option<&'static str> {
    let code = status(text)?;
    let mut names = NAMES.iter();
    names
        .find(|(_, known)| *known == code)
        .map(|(name, _)| *name)
}

/// The status code that a text means. Codes of interim responses are no answer and are refused.
pub(crate) fn status(text: &str) -> Option<u16> {
    let text = text.trim();
    let code = match text.parse::<u16>() {
        Ok(code) => code,
        Err(_) => {
            NAMES
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case(text))?
                .1
        }
    };
    (200..=599).contains(&code).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::status;

    #[test]
    fn codes_come_as_names_and_numbers() {
        assert_eq!(status("OK"), Some(200));
        assert_eq!(status("notfound"), Some(404));
        assert_eq!(status(" 415 "), Some(415));
        for wrong in ["", "Continue", "99", "600", "fine"] {
            assert_eq!(status(wrong), None, "{wrong}");
        }
    }
}
