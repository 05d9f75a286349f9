//! Which scripts could touch what all scripts of a thread share.
//!
//! Nothing here is what keeps scripts apart: the shared interpreter is frozen whatever a script is. These
//! rules only send scripts that *want* to change a builtin to an interpreter of their own, where they can.

use super::plan::Judge;
use super::scanner::{Kind, Token};

/// Whether the script needs an interpreter of its own to work as its author expects.
pub(super) fn is_private(tokens: &[Token<'_>], judge: &dyn Judge) -> bool {
    let has_methods = tokens
        .iter()
        .any(|token| token.is("function") || token.is("class"));
    tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| token.kind == Kind::Word)
        .any(|(index, token)| {
            if token.text.contains('\\') {
                return true;
            }
            match token.text {
                "__proto__" | "__defineGetter__" | "__defineSetter__" => true,
                "prototype" => !is_only_read(tokens, index),
                _ if is_member(tokens, index) => false,
                "globalThis" | "eval" | "Function" => true,
                "this" => !has_methods,
                name => judge.is_global(name) && is_target(tokens, index),
            }
        })
}

/// Whether a script of this text could create a global name. Errs on the side of yes: it looks at the text
/// only, so nothing can hide from it.
pub(super) fn may_leak(source: &str) -> bool {
    let bytes = source.as_bytes();
    let at = |index: usize| bytes.get(index).copied().unwrap_or(b' ');
    let assigns = (0..bytes.len())
        .filter(|index| at(*index) == b'=')
        .any(|index| {
            let before = if index == 0 { b' ' } else { at(index - 1) };
            let shifts = index > 1 && at(index - 2) == before;
            let compares =
                matches!(before, b'=' | b'!') || matches!(before, b'<' | b'>') && !shifts;
            !compares && !matches!(at(index + 1), b'=' | b'>')
        });
    let words = ["++", "--", "for", "this", "globalThis", "\\"];
    assigns || words.iter().any(|word| source.contains(word))
}

/// Whether a script of this text could change a member of an object it was given. Errs on the side of yes.
pub(super) fn may_change_members(source: &str) -> bool {
    let words = ["++", "--", "delete", "assign", "define", "Reflect", "\\"];
    let at = |index: usize| source.as_bytes().get(index).copied().unwrap_or(b' ');
    let assigns = source.match_indices('=').any(|(index, _)| {
        let before = index.checked_sub(1).map_or(b' ', at);
        let shifts = index > 1 && at(index - 2) == before;
        let compares = matches!(before, b'=' | b'!') || matches!(before, b'<' | b'>') && !shifts;
        if compares || matches!(at(index + 1), b'=' | b'>') {
            return false;
        }
        // `const x = …` changes none; `x.y = …`, `x[y] = …` and `[x.y] = …` do.
        let target = source.get(..index).unwrap_or_default();
        let target =
            target.trim_end_matches(|c: char| c.is_whitespace() || "+-*/%&|^?<>".contains(c));
        let name = target.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '$');
        let declares = ["const", "let", "var", ";", "{", "("];
        let before = name.trim_end();
        target.len() == name.len()
            || !(before.is_empty() || declares.iter().any(|word| before.ends_with(word)))
    });
    assigns || words.iter().any(|word| source.contains(word))
}

/// Whether the token is a property (`.name`), not a name of its own.
pub(super) fn is_member(tokens: &[Token<'_>], index: usize) -> bool {
    let before = |distance| index.checked_sub(distance).and_then(|at| tokens.get(at));
    let is_dot = |distance| before(distance).is_some_and(|token| token.is("."));
    is_dot(1) && !is_dot(2)
}

/// Whether the token is followed by a plain assignment.
pub(super) fn is_assigned(tokens: &[Token<'_>], index: usize) -> bool {
    let is = |at: usize, mark| tokens.get(at).is_some_and(|token| token.is(mark));
    is(index + 1, "=") && !is(index + 2, "=") && !is(index + 2, ">")
}

/// Whether the token, or a property path behind it, is assigned.
fn is_target(tokens: &[Token<'_>], index: usize) -> bool {
    is_assigned(tokens, end_of_path(tokens, index))
}

/// Whether `prototype` at `index` is only looked through, as in `Array.prototype.slice.call(x)`.
fn is_only_read(tokens: &[Token<'_>], index: usize) -> bool {
    let end = end_of_path(tokens, index);
    end > index && !is_assigned(tokens, end)
}

fn end_of_path(tokens: &[Token<'_>], start: usize) -> usize {
    let mut end = start;
    while tokens.get(end + 1).is_some_and(|token| token.is("."))
        && tokens
            .get(end + 2)
            .is_some_and(|token| token.kind == Kind::Word)
    {
        end += 2;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::super::scanner::scan;
    use super::*;
    use crate::EvaluationError;

    struct Builtins;

    impl Judge for Builtins {
        fn parses(&self, _text: &str) -> Result<(), EvaluationError> {
            Ok(())
        }

        fn is_global(&self, name: &str) -> bool {
            ["Array", "Math", "JSON", "Object"].contains(&name)
        }
    }

    #[test]
    fn scripts_that_change_builtins_are_private() {
        let private = [
            "Array.prototype.last = function () { return this[0] }",
            "Object.assign(Array.prototype, {})",
            "Math.max = 1",
            "JSON = null",
            "globalThis.x = 1",
            "eval('1')",
            "this.x = 1",
            "({}).__proto__.x = 1",
            "\\u0065val('1')",
        ];
        let shared = [
            "getX()",
            "Array.prototype.slice.call([1])",
            "Math.max(1, 2) == 2",
            "const a = JSON.parse(b)",
            "class A { constructor() { this.x = 1 } }",
            "a.eval",
        ];
        assert!(
            private
                .iter()
                .all(|text| is_private(&scan(text).unwrap(), &Builtins))
        );
        for text in shared {
            assert!(!is_private(&scan(text).unwrap(), &Builtins), "{text}");
        }
    }

    #[test]
    fn every_way_to_change_a_member_is_seen() {
        let changing = [
            "a.b = 1",
            "a['b'] += 1",
            "[a.b] = c",
            "a.b++",
            "delete a.b",
            "a.b ||= 1",
            "a.b\n= 1",
        ];
        assert!(changing.iter().all(|source| may_change_members(source)));
        let not = [
            "a.b",
            "const a = b.c",
            "let a = 1; a = b.c",
            "a.b == 1",
            "a => a.b",
            "a.b >= 1",
        ];
        assert!(!not.iter().any(|source| may_change_members(source)));
    }

    #[test]
    fn every_way_to_assign_may_leak() {
        let leaking = [
            "a = 1",
            "a += 1",
            "a++",
            "--a",
            "[a] = b",
            "a ||= 1",
            "a <<= 1",
            "for (a of b);",
        ];
        assert!(leaking.iter().all(|source| may_leak(source)));
        let not = [
            "a == 1", "a === b", "a => b", "a >= b", "a <= b", "a != b", "`${a}`",
        ];
        assert!(!not.iter().any(|source| may_leak(source)));
    }
}
