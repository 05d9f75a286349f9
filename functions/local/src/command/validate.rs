//! `dormouse validate`

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use dormouse_engine::definition::Definition;
use dormouse_engine::definition::name::type_key;
use dormouse_engine::graph::{Children, Graph, Problem, Reference};
use dormouse_engine::step::Environment;
use dormouse_engine::validate;
use dormouse_expressions::{Expressions, Limits};
use serde_json::json;

use crate::definition_file::{self, DefinitionFile};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::moment;
use crate::screen::Screen;
use crate::text_table::TextTable;

/// Definitions to validate.
#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// Definition files, or folders of them. A workflow that is used as an activity must be among them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// The files themselves are where workflows used as activities are looked for.
pub(super) struct Files(Vec<Arc<Definition>>);

impl Files {
    pub(super) fn of(files: &[DefinitionFile]) -> Self {
        Self(
            files
                .iter()
                .map(|f| Arc::new(f.definition.clone()))
                .collect(),
        )
    }
}

impl Children for Files {
    fn find(&self, reference: &Reference) -> Option<Arc<Definition>> {
        let same =
            |wanted: &Option<String>, own: &Option<String>| wanted.is_some() && wanted == own;
        let by_id = self.0.iter().find(|d| {
            same(&reference.version_id, &d.version_id)
                || same(&reference.definition_id, &d.definition_id)
        });
        let key = type_key(&reference.type_name);
        let by_name = || {
            let is_named = |d: &&Arc<Definition>| {
                d.options.usable_as_activity
                    && d.name.as_deref().is_some_and(|name| type_key(name) == key)
            };
            self.0.iter().find(is_named)
        };
        by_id.or_else(by_name).cloned()
    }
}

/// Tells everything that is wrong, file by file. The exit code says whether anything of it is an error.
pub(crate) fn validate(args: &ValidateArgs, screen: &Screen) -> Result<Exit, Failure> {
    let files = definition_file::read_all(&args.files)?;
    let children = Files::of(&files);
    let expressions = Expressions::new(Limits::default());
    let mut is_valid = true;
    let mut results = Vec::new();
    for file in &files {
        let graph = Graph::compile(&file.definition, &children, &expressions);
        let environment = Environment::new(moment::now(), &expressions);
        let problems = validate::validate(&graph, &environment);
        is_valid &= !problems.iter().any(|p| p.is_error);
        tell(screen, file, &problems);
        results.push(json!({ "file": file.shown(), "problems": problems }));
    }
    screen.value(&json!({ "isValid": is_valid, "files": results }));
    Ok(if is_valid { Exit::Ok } else { Exit::BadInput })
}

fn tell(screen: &Screen, file: &DefinitionFile, problems: &[Problem]) {
    let errors = problems.iter().filter(|p| p.is_error).count();
    let notes = problems.len() - errors;
    let verdict = match (errors, notes) {
        (0, 0) => "valid".to_owned(),
        (0, n) => format!("valid, {n} to look at"),
        (n, _) => format!("{n} to correct"),
    };
    screen.line(format!("{}: {verdict}", screen.bold(&file.shown())));
    let mut table = TextTable::plain();
    for problem in problems {
        let kind = if problem.is_error { "error" } else { "note" };
        table.row([
            String::new(),
            kind.to_owned(),
            problem.path.clone(),
            format!("{} [{}]", problem.message, problem.code),
        ]);
    }
    screen.table(&table);
}
