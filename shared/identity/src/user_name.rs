//! Names of users that look like each other although their letters differ: a Cyrillic `а` in `аdmin`.

/// What a name looks like. Two names with the same one cannot be told apart on a screen (Unicode Technical Standard 39, 4).
#[must_use]
pub fn skeleton(name: &str) -> String {
    unicode_security::skeleton(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_have_one_skeleton() {
        for (one, other) in [
            ("admin", "\u{430}dmin"),
            ("admin", "adm\u{456}n"),
            ("ada1", "adal"),
            ("paul", "\u{440}\u{430}ul"),
        ] {
            assert_eq!(skeleton(one), skeleton(other), "{one} {other}");
        }
        assert_ne!(skeleton("ada"), skeleton("bob"));
    }
}
