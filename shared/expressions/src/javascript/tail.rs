//! Finds the expression whose value is a script's value, and puts `return` before it.
//!
//! A boundary between statements is only taken where it is certain: after `;`, or where a line ends and
//! JavaScript itself would insert a semicolon. QuickJS then judges whether the rest is one expression.

use super::scanner::{Kind, Token, is_operator_word};

/// `source` with a `return` before its last statement, or `None` if that cannot be an expression.
pub(super) fn with_return(source: &str, tokens: &[Token<'_>]) -> Option<String> {
    let last = tokens
        .iter()
        .rposition(|token| !(token.is(";") && token.depth == 0))?;
    let first = (0..=last)
        .rev()
        .find(|index| begins_statement(tokens, *index))?;
    let (first, last) = (tokens.get(first)?, tokens.get(last)?);
    if !can_be_value(first) {
        return None;
    }
    let head = source.get(..first.start)?;
    let tail = source.get(first.start..last.end())?;
    Some(format!("{head}return ({tail}\n)"))
}

/// Whether the script has a `return` outside of all its functions.
pub(super) fn returns(tokens: &[Token<'_>]) -> bool {
    let mut function_braces = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        if token.is("{") {
            function_braces.push(opens_function(tokens, index));
        } else if token.is("}") {
            function_braces.pop();
        } else if token.is("return") && !function_braces.contains(&true) {
            return true;
        }
    }
    false
}

fn begins_statement(tokens: &[Token<'_>], index: usize) -> bool {
    let Some(token) = tokens.get(index).filter(|token| token.depth == 0) else {
        return false;
    };
    let Some(previous) = index.checked_sub(1).and_then(|before| tokens.get(before)) else {
        return true;
    };
    if previous.depth > 0 || token.is(";") {
        return false;
    }
    if previous.is(";") {
        return true;
    }
    // After the brace of an object such a token would be an error.
    let ends_block =
        previous.is("}") && matches!(token.kind, Kind::Word | Kind::Text | Kind::Number);
    (token.on_new_line || ends_block)
        && ends_value(tokens, index - 1)
        && !continues_statement(token)
}

/// Whether a statement can end with this token.
fn ends_value(tokens: &[Token<'_>], index: usize) -> bool {
    let Some(token) = tokens.get(index) else {
        return false;
    };
    match token.kind {
        Kind::Word => !is_operator_word(token.text),
        Kind::Number | Kind::Text | Kind::Pattern => true,
        Kind::Template => token.text.ends_with('`'),
        Kind::Mark => match token.text {
            "]" | "}" => true,
            // The head of `if (…)` or `for (…)` ends nothing.
            ")" => !is_head(tokens, index),
            _ => false,
        },
    }
}

fn is_head(tokens: &[Token<'_>], closing: usize) -> bool {
    let before = before_parenthesis(tokens, closing);
    before.is_some_and(|word| {
        matches!(
            word.text,
            "if" | "for" | "while" | "with" | "switch" | "catch" | "await"
        )
    })
}

/// The token before the parenthesis that `closing` closes.
fn before_parenthesis<'a, 'b>(tokens: &'a [Token<'b>], closing: usize) -> Option<&'a Token<'b>> {
    let depth = tokens.get(closing)?.depth;
    let before = tokens.get(..closing)?;
    let opening = before
        .iter()
        .rposition(|token| token.depth == depth && token.is("("))?;
    tokens.get(opening.checked_sub(1)?)
}

fn continues_statement(token: &Token<'_>) -> bool {
    match token.kind {
        Kind::Word => matches!(
            token.text,
            "in" | "of" | "instanceof" | "else" | "catch" | "finally" | "while" | "from" | "as"
        ),
        Kind::Mark => !matches!(token.text, "!" | "~"),
        Kind::Template => true,
        Kind::Number | Kind::Text | Kind::Pattern => false,
    }
}

/// Whether a statement that begins so can be an expression, and means the same in parentheses.
fn can_be_value(first: &Token<'_>) -> bool {
    let is_statement = matches!(
        first.text,
        "{" | "function"
            | "class"
            | "async"
            | "let"
            | "const"
            | "var"
            | "return"
            | "if"
            | "for"
            | "while"
            | "do"
            | "switch"
            | "try"
            | "throw"
            | "break"
            | "continue"
            | "debugger"
            | "import"
            | "export"
            | "with"
    );
    !is_statement || first.kind == Kind::Text
}

fn opens_function(tokens: &[Token<'_>], brace: usize) -> bool {
    let Some(previous) = brace.checked_sub(1).and_then(|before| tokens.get(before)) else {
        return false;
    };
    if previous.is(">") {
        return true;
    }
    previous.is(")") && !is_head(tokens, brace - 1)
}

#[cfg(test)]
mod tests {
    use super::super::scanner::scan;
    use super::*;

    fn tail(source: &str) -> Option<String> {
        let text = with_return(source, &scan(source).unwrap())?;
        let at = text.rfind("return (").unwrap();
        Some(text[at + 8..].trim_end_matches("\n)").to_owned())
    }

    #[test]
    fn the_last_expression_is_the_value() {
        let cases = [
            ("getX()", "getX()"),
            ("a; b;", "b"),
            ("const a = 1\na + 2 // c", "a + 2"),
            ("const a = 1\na\n+ b", "a\n+ b"),
            ("if (a) { b } c", "c"),
            ("f()\n`x`", "f()\n`x`"),
            ("const f = () => { return 1 }\nf()", "f()"),
            ("x = { a: 1 };\n({ b: x })", "({ b: x })"),
        ];
        for (source, expected) in cases {
            assert_eq!(tail(source).as_deref(), Some(expected), "{source}");
        }
    }

    #[test]
    fn no_return_is_put_into_the_body_of_a_loop() {
        for source in [
            "for (const a of b)\n f(a)",
            "while (a)\n f()",
            "{ a: 1 }",
            "if (a) b()",
        ] {
            assert_eq!(tail(source), None, "{source}");
        }
    }

    #[test]
    fn a_return_inside_a_function_is_not_the_scripts() {
        let returning = [
            "return 1",
            "if (a) { return 1 }",
            "for (;;) { if (a) { return b } }",
        ];
        let not = [
            "function f() { return 1 }",
            "a.map(b => { return b })",
            "({ m(a) { return a } })",
        ];
        assert!(
            returning
                .iter()
                .all(|source| returns(&scan(source).unwrap()))
        );
        assert!(!not.iter().any(|source| returns(&scan(source).unwrap())));
    }
}
