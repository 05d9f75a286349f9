//! Names of users that look like each other although their letters differ: a Cyrillic `а` in `аdmin`.

/// What a name looks like. Two names with the same one cannot be told apart on a screen (Unicode Technical Standard 39, 4).
#[must_use]
pub fn skeleton(name: &str) -> String {
    unicode_security::skeleton(name).collect()
}

/// A name that an issuer gave, as it is shown and recorded. Characters that are invisible or reorder others are escaped, so
/// that no name looks like another one in a log or on a page. At most 100 characters.
#[must_use]
pub fn shown(name: &str) -> String {
    let mut shown = String::new();
    for c in name.chars().take(SHOWN_CHARS_MAX) {
        match is_invisible(c) {
            true => shown.extend(c.escape_unicode()),
            false => shown.push(c),
        }
    }
    shown.chars().take(SHOWN_CHARS_MAX).collect()
}

const SHOWN_CHARS_MAX: usize = 100;

/// Control characters, format characters (Unicode's categories Cc and Cf), separators of lines, and fillers that are blank.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}'
            | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_name_hides_no_character() {
        assert_eq!(shown("Zoë Müller 李"), "Zoë Müller 李");
        let hidden = "\u{202e}nimda\n\u{200b}\u{e0041}";
        assert_eq!(shown(hidden), r"\u{202e}nimda\u{a}\u{200b}\u{e0041}");
        assert_eq!(shown(&"\n".repeat(300)).len(), SHOWN_CHARS_MAX);
    }

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
