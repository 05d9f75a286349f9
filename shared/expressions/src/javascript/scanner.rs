//! Splits JavaScript text into tokens, well enough to see which names it uses and where statements begin.
//!
//! This is no parser: QuickJS judges the syntax. A token read wrongly here (a `/` taken for a division)
//! can make a script slower or give it a private interpreter, never a wrong result.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or a keyword.
    Word,
    /// A number, also a big integer.
    Number,
    /// A string in quotes.
    Text,
    /// A piece of a template literal, up to `${` or the closing backtick.
    Template,
    /// A regular expression literal with its flags.
    Pattern,
    /// One character of punctuation.
    Mark,
}

/// A token: where it is and how deep in brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    pub(super) start: usize,
    /// Open brackets around it; an opening bracket and its closing one have the same depth.
    pub(super) depth: usize,
    /// Whether a line ends between the token before and this one.
    pub(super) on_new_line: bool,
}

impl Token<'_> {
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(super) fn is(&self, text: &str) -> bool {
        self.text == text && matches!(self.kind, Kind::Word | Kind::Mark)
    }
}

/// The tokens of `source`, or `None` if its brackets do not match or something never ends.
pub(super) fn scan(source: &str) -> Option<Vec<Token<'_>>> {
    let mut scanner = Scanner {
        source,
        position: 0,
        brackets: Vec::new(),
        tokens: Vec::new(),
        new_line: false,
    };
    while let Some(next) = scanner.peek() {
        scanner.read(next)?;
    }
    scanner.brackets.is_empty().then_some(scanner.tokens)
}

struct Scanner<'a> {
    source: &'a str,
    position: usize,
    /// The closers still to come; a backtick stands for the `}` that leads back into a template.
    brackets: Vec<char>,
    tokens: Vec<Token<'a>>,
    new_line: bool,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        self.source.get(self.position..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn read(&mut self, next: char) -> Option<()> {
        let rest = self.rest();
        if next.is_whitespace() || next == '\u{feff}' {
            self.new_line |= matches!(next, '\n' | '\r' | '\u{2028}' | '\u{2029}');
            self.position += next.len_utf8();
        } else if rest.starts_with("//") {
            self.position += rest
                .find(['\n', '\r', '\u{2028}', '\u{2029}'])
                .unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            let length = rest.get(2..)?.find("*/")? + 4;
            self.new_line |= rest.get(..length)?.contains('\n');
            self.position += length;
        } else if is_word_start(next) {
            self.push(
                Kind::Word,
                rest.find(|c| !is_word_part(c)).unwrap_or(rest.len()),
            );
        } else if next.is_ascii_digit() {
            self.push(Kind::Number, number_length(rest));
        } else if next == '"' || next == '\'' {
            self.push(Kind::Text, text_length(rest, next)?);
        } else if next == '`' {
            self.read_template(1)?;
        } else if next == '/' && self.expects_operand() {
            self.push(Kind::Pattern, pattern_length(rest)?);
        } else {
            self.read_mark(next)?;
        }
        Some(())
    }

    fn read_mark(&mut self, mark: char) -> Option<()> {
        match mark {
            '(' | '[' | '{' => {
                self.push(Kind::Mark, 1);
                self.brackets.push(match mark {
                    '(' => ')',
                    '[' => ']',
                    _ => '}',
                });
            }
            ')' | ']' | '}' => match self.brackets.pop()? {
                '`' if mark == '}' => self.read_template(1)?,
                closer if closer == mark => self.push(Kind::Mark, 1),
                _ => return None,
            },
            _ => self.push(Kind::Mark, mark.len_utf8()),
        }
        Some(())
    }

    /// Reads a piece of a template from its opening mark (of `skip` bytes) to `${` or the backtick.
    fn read_template(&mut self, skip: usize) -> Option<()> {
        let rest = self.rest();
        let mut characters = rest.char_indices().skip(skip);
        while let Some((index, character)) = characters.next() {
            match character {
                '\\' => {
                    characters.next();
                }
                '`' => {
                    self.push(Kind::Template, index + 1);
                    return Some(());
                }
                '$' if rest.get(index + 1..)?.starts_with('{') => {
                    self.push(Kind::Template, index + 2);
                    self.brackets.push('`');
                    return Some(());
                }
                _ => {}
            }
        }
        None
    }

    fn push(&mut self, kind: Kind, length: usize) {
        let start = self.position;
        self.position += length;
        self.tokens.push(Token {
            kind,
            text: self.source.get(start..self.position).unwrap_or(""),
            start,
            depth: self.brackets.len(),
            on_new_line: std::mem::take(&mut self.new_line),
        });
    }

    /// Whether a `/` here begins a regular expression: after an operator, not after a value.
    fn expects_operand(&self) -> bool {
        match self.tokens.last() {
            None => true,
            Some(last) if last.kind == Kind::Word => is_operator_word(last.text),
            Some(last) if last.kind == Kind::Mark => !matches!(last.text, ")" | "]" | "}"),
            Some(last) => last.kind == Kind::Template && last.text.ends_with("${"),
        }
    }
}

/// Keywords that a value follows.
pub(super) fn is_operator_word(word: &str) -> bool {
    matches!(
        word,
        "return"
            | "typeof"
            | "case"
            | "in"
            | "of"
            | "instanceof"
            | "delete"
            | "void"
            | "throw"
            | "new"
            | "else"
            | "do"
            | "await"
            | "yield"
    )
}

fn is_word_start(character: char) -> bool {
    character.is_alphabetic() || matches!(character, '_' | '$' | '#' | '\\')
}

fn is_word_part(character: char) -> bool {
    character.is_alphanumeric()
        || matches!(character, '_' | '$' | '#' | '\\' | '\u{200c}' | '\u{200d}')
}

fn number_length(rest: &str) -> usize {
    let mut previous = ' ';
    rest.find(|character: char| {
        let sign = matches!(character, '+' | '-')
            && matches!(previous, 'e' | 'E')
            && !rest.starts_with("0x");
        previous = character;
        !(character.is_ascii_alphanumeric() || matches!(character, '.' | '_') || sign)
    })
    .unwrap_or(rest.len())
}

fn text_length(rest: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (index, character) in rest.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return None,
            _ if character == quote => return Some(index + 1),
            _ => {}
        }
    }
    None
}

fn pattern_length(rest: &str) -> Option<usize> {
    let (mut escaped, mut in_class) = (false, false);
    for (index, character) in rest.char_indices().skip(1) {
        match character {
            '\n' => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '/' if !in_class => {
                let flags = rest.get(index + 1..)?;
                let length = flags.find(|c| !is_word_part(c)).unwrap_or(flags.len());
                return Some(index + 1 + length);
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> Vec<&str> {
        let tokens = scan(source).unwrap();
        tokens
            .iter()
            .filter(|token| token.kind == Kind::Word)
            .map(|token| token.text)
            .collect()
    }

    #[test]
    fn names_inside_templates_are_seen_and_names_inside_text_are_not() {
        let source = "`a ${getB(`${c}`)} d` + 'e' + \"f\" // g\n /* h */ + /i[/]j/g.test(k)";
        assert_eq!(words(source), ["getB", "c", "test", "k"]);
    }

    #[test]
    fn a_slash_after_a_value_divides() {
        assert_eq!(words("a / b / c"), ["a", "b", "c"]);
        assert_eq!(words("(a) / b / c"), ["a", "b", "c"]);
    }

    #[test]
    fn brackets_that_do_not_match_are_noticed() {
        for source in ["(", ")", "(]", "}, function () {", "`${`", "'a", "/* b"] {
            assert_eq!(scan(source), None, "{source}");
        }
    }

    #[test]
    fn depth_counts_the_brackets_around_a_token() {
        let tokens = scan("a(b[c])").unwrap();
        let depths: Vec<_> = tokens
            .iter()
            .map(|token| (token.text, token.depth))
            .collect();
        let expected = [
            ("a", 0),
            ("(", 0),
            ("b", 1),
            ("[", 1),
            ("c", 2),
            ("]", 1),
            (")", 0),
        ];
        assert_eq!(depths, expected);
    }
}
