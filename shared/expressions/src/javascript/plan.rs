//! What a script's text tells before it runs: the names it uses, and how it is wrapped into a function.
//!
//! Elsa's scripts give the value of a top-level `return` or of their last expression. A function that can be
//! compiled once has only the former, so the last expression is found here and gets a `return`. Where that
//! is not certain, the script stays text for `eval`, which is slower and always right.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::path::Path;
use super::scanner::{Kind, Token, scan};
use super::{hazard, tail};
use crate::EvaluationError;

/// A checked script: everything that is known of it before it runs. The same on every thread.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The script as its author wrote it.
    pub(super) source: Arc<str>,
    pub(super) form: Form,
    /// It could also run as a program: it neither returns nor awaits at its top.
    pub(super) is_program: bool,
    /// Suffix and direction of the generated accessors it names.
    pub(super) accessors: Vec<Accessor>,
    /// The names that follow `variables.` in its text: as in Elsa, `variables` has no others.
    variables: BTreeSet<String>,
    /// It may change members of objects, those of variables among them.
    pub(super) may_change_members: bool,
    pub(super) uses_variables: bool,
    pub(super) uses_arguments: bool,
    /// It may redefine or reach what all scripts share, so it gets an interpreter of its own.
    pub(super) is_private: bool,
    /// It may create global names, so they are swept away behind it.
    pub(super) may_leak: bool,
    /// It is only a path into one value, which needs no interpreter at all.
    pub(super) path: Option<Path>,
}

/// How a script becomes a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Form {
    /// The body of a function; `is_async` if it awaits.
    Body { text: String, is_async: bool },
    /// A text whose last value only `eval` can tell.
    Eval,
}

/// `get<suffix>` or `set<suffix>`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Accessor {
    pub(super) sets: bool,
    pub(super) suffix: String,
}

impl Accessor {
    /// The function's name in a script.
    pub(super) fn name(&self) -> String {
        format!("{}{}", if self.sets { "set" } else { "get" }, self.suffix)
    }
}

/// What judges the syntax: QuickJS, and the names that exist without the script.
pub(super) trait Judge {
    /// Whether `text` is an expression: here, a function whose last line is only its closing brace.
    fn parses(&self, text: &str) -> Result<(), EvaluationError>;
    /// Whether every script has a global of that name.
    fn is_global(&self, name: &str) -> bool;
}

impl Plan {
    /// Checks `source` and makes its plan.
    pub(super) fn new(source: &str, judge: &dyn Judge) -> Result<Self, EvaluationError> {
        let Some(tokens) = scan(source) else {
            return Self::unscanned(source, judge);
        };
        let form = form(source, &tokens, judge)?;
        let words = words(&tokens);
        let is_async = matches!(form, Form::Body { is_async: true, .. });
        Ok(Self {
            is_program: !is_async && !tail::returns(&tokens),
            source: source.into(),
            accessors: accessors(&tokens, judge),
            variables: variables(source),
            may_change_members: hazard::may_change_members(source),
            uses_variables: words.contains("variables"),
            uses_arguments: words.contains("args"),
            is_private: hazard::is_private(&tokens, judge) || asks_for_type(&tokens, judge),
            may_leak: hazard::may_leak(source),
            path: Path::new(&tokens, judge),
            form,
        })
    }

    /// A plan for a text the scanner cannot read: if QuickJS can, every precaution is taken.
    fn unscanned(source: &str, judge: &dyn Judge) -> Result<Self, EvaluationError> {
        judge.parses(&function(source, false))?;
        // Brackets that close the function around them and open another cannot fit into both.
        judge.parses(&function(&format!("{{{source}\n}}"), false))?;
        Ok(Self {
            source: source.into(),
            is_program: !source.contains("return"),
            form: Form::Body {
                text: source.to_owned(),
                is_async: false,
            },
            accessors: Vec::new(),
            variables: variables(source),
            may_change_members: true,
            uses_variables: true,
            uses_arguments: true,
            is_private: true,
            may_leak: true,
            path: None,
        })
    }

    /// Whether `variables` has the variable of that name.
    pub(super) fn names(&self, name: &str) -> bool {
        self.variables.contains(name)
    }

    /// The function a script becomes. It takes the accessors once, by name, and then `variables` and `args`
    /// anew for every evaluation.
    ///
    /// Nothing of the outer function may be a variable a script could assign: the next evaluation would see
    /// it. So the accessors are constants, and their object is hidden behind a parameter of the same name.
    pub(super) fn wrapped(&self) -> String {
        let names: Vec<_> = self.accessors.iter().map(Accessor::name).collect();
        let names = format!("const {{{}}}=accessors$", names.join(","));
        match &self.form {
            Form::Body { text, is_async } => {
                let keyword = if *is_async { "async " } else { "" };
                // In a block of its own, a script may declare names that are parameters here.
                let (open, close) = if self.uses_variables || self.uses_arguments {
                    ("{", "}")
                } else {
                    ("", "")
                };
                format!(
                    "((accessors$)=>{{{names};return {keyword}(variables,args,accessors$)=>\
                     {{{open}{text}\n{close}}}}})"
                )
            }
            Form::Eval => {
                // A direct call of eval sees the names around it, and has the completion value.
                let text = serde_json::Value::from(&*self.source);
                format!(
                    "((accessors$,eval)=>{{{names};return (variables,args,accessors$)=>eval({text})}})"
                )
            }
        }
    }
}

fn function(body: &str, is_async: bool) -> String {
    format!("({}()=>{{{body}\n}})", if is_async { "async " } else { "" })
}

fn form(source: &str, tokens: &[Token<'_>], judge: &dyn Judge) -> Result<Form, EvaluationError> {
    let awaits = tokens.iter().any(|token| token.is("await"));
    if let Some(text) = tail::with_return(source, tokens) {
        // `await (x)` would also be a call of a function named so.
        for is_async in [true, false] {
            if (!is_async || awaits) && judge.parses(&function(&text, is_async)).is_ok() {
                return Ok(Form::Body { text, is_async });
            }
        }
    }
    let text = source.to_owned();
    match judge.parses(&function(source, false)) {
        Ok(()) if tail::returns(tokens) => Ok(Form::Body {
            text,
            is_async: false,
        }),
        Ok(()) => Ok(Form::Eval),
        Err(_) if awaits && judge.parses(&function(source, true)).is_ok() => Ok(Form::Body {
            text,
            is_async: true,
        }),
        Err(error) => Err(error),
    }
}

/// The words that follow `variables.` in a text, as Elsa looks for them: wherever they stand, and without a blank
/// between.
fn variables(source: &str) -> BTreeSet<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let after = source.split("variables.").skip(1);
    after
        .map(|rest| rest.chars().take_while(|c| is_word(*c)).collect())
        .filter(|name: &String| !name.is_empty())
        .collect()
}

/// Whether the script asks for the type of a name that need not exist (`typeof getOrder`). What all scripts of a
/// thread share cannot tell.
fn asks_for_type(tokens: &[Token<'_>], judge: &dyn Judge) -> bool {
    let names = |word: &Token<'_>| {
        let is_accessor = word.text.starts_with("get") || word.text.starts_with("set");
        let may_miss = matches!(word.text, "getConfig" | "setOutcome" | "setOutcomes");
        is_accessor && (may_miss || !judge.is_global(word.text))
    };
    let asked = tokens.windows(2).any(|pair| match pair {
        [first, word] => first.is("typeof") && names(word),
        _ => false,
    });
    asked && tokens.iter().all(|token| !token.is("return"))
}

fn words(tokens: &[Token<'_>]) -> BTreeSet<String> {
    let named = tokens.iter().filter_map(|token| match token.kind {
        Kind::Word => Some(token.text),
        Kind::Text => token.text.get(1..token.text.len() - 1),
        Kind::Number | Kind::Template | Kind::Pattern | Kind::Mark => None,
    });
    named.map(str::to_owned).collect()
}

fn accessors(tokens: &[Token<'_>], judge: &dyn Judge) -> Vec<Accessor> {
    let is_name = |index: usize| !hazard::is_member(tokens, index);
    let words = tokens.iter().enumerate().filter(|(index, token)| {
        token.kind == Kind::Word && is_name(*index) && !judge.is_global(token.text)
    });
    let words: Vec<_> = words.collect();
    let accessor = |text: &str| match (text.strip_prefix("get"), text.strip_prefix("set")) {
        (Some(suffix), _) => Some(Accessor {
            sets: false,
            suffix: suffix.to_owned(),
        }),
        (None, Some(suffix)) => Some(Accessor {
            sets: true,
            suffix: suffix.to_owned(),
        }),
        (None, None) => None,
    };
    let mut accessors: BTreeSet<_> = words
        .iter()
        .filter_map(|(_, word)| accessor(word.text))
        .collect();
    // A name the script assigns is its own.
    for (_, word) in words
        .iter()
        .filter(|(index, _)| hazard::is_assigned(tokens, *index))
    {
        accessor(word.text).map(|assigned| accessors.remove(&assigned));
    }
    accessors
        .into_iter()
        .filter(|accessor| !accessor.suffix.is_empty())
        .collect()
}
