//! The definitions a host knows, and what they are compiled to.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_engine::definition::Definition;
use dormouse_engine::definition::name::{type_key, type_name};
use dormouse_engine::graph::{Graph, Reference, SharedGraph, Trigger};
use dormouse_engine::step::Environment;
use dormouse_expressions::Expressions;

/// Definitions by id and version.
#[derive(Debug, Default)]
pub struct Library {
    versions: Vec<Arc<Definition>>,
    /// Definitions that are found instead of others with their ids.
    stand_ins: Vec<Arc<Definition>>,
    graphs: Mutex<BTreeMap<String, SharedGraph>>,
}

impl Library {
    /// Adds a version of a definition. One without ids is given some.
    pub fn add(&mut self, mut definition: Definition) -> Arc<Definition> {
        if definition.definition_id.is_none() {
            let name = definition.name.clone().unwrap_or_else(|| "unnamed".into());
            let version = definition.version.max(1);
            definition.identify(&name, &format!("{name}-v{version}"), version);
        }
        let definition = Arc::new(definition);
        self.versions.push(definition.clone());
        self.graphs().clear();
        definition
    }

    /// Lets definitions stand in for others with the same ids, until the next call.
    pub fn stand_in(&mut self, definitions: Vec<Definition>) {
        let is_changed = !self.stand_ins.is_empty() || !definitions.is_empty();
        self.stand_ins = definitions.into_iter().map(Arc::new).collect();
        if is_changed {
            self.graphs().clear();
        }
    }

    fn graphs(&self) -> MutexGuard<'_, BTreeMap<String, SharedGraph>> {
        self.graphs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All versions, in the order they were added.
    #[must_use]
    pub fn versions(&self) -> &[Arc<Definition>] {
        &self.versions
    }

    /// The published version of a definition, else its latest.
    #[must_use]
    pub fn find(&self, definition_id: &str) -> Option<&Arc<Definition>> {
        let is_it = |d: &&Arc<Definition>| d.definition_id.as_deref() == Some(definition_id);
        if let Some(stand_in) = self.stand_ins.iter().find(is_it) {
            return Some(stand_in);
        }
        let of = || {
            self.versions
                .iter()
                .filter(|d| d.definition_id.as_deref() == Some(definition_id))
        };
        of().filter(|d| d.is_published)
            .max_by_key(|d| d.version)
            .or_else(|| of().max_by_key(|d| d.version))
    }

    /// A workflow used as an activity, in Elsa's order: version id, definition id (recorded version, published,
    /// latest), type name.
    #[must_use]
    pub fn resolve(&self, reference: &Reference) -> Option<Arc<Definition>> {
        let by_version_id = || {
            let id = reference.version_id.as_deref()?;
            self.versions
                .iter()
                .find(|d| d.version_id.as_deref() == Some(id))
        };
        let by_definition_id = || {
            let id = reference.definition_id.as_deref()?;
            let recorded = self.versions.iter().find(|d| {
                d.definition_id.as_deref() == Some(id) && Some(d.version) == reference.version
            });
            recorded.or_else(|| self.find(id))
        };
        let by_type_name = || {
            let key = type_key(&reference.type_name);
            let is_it = |d: &&Arc<Definition>| {
                d.options.usable_as_activity
                    && d.name
                        .as_deref()
                        .is_some_and(|name| type_key(&type_name(name)) == key)
            };
            let found = self.versions.iter().find(is_it)?;
            self.find(found.definition_id.as_deref()?)
        };
        by_version_id()
            .or_else(by_definition_id)
            .or_else(by_type_name)
            .cloned()
    }

    /// The compiled form of the version that a start takes.
    #[must_use]
    pub fn graph(&self, definition_id: &str, expressions: &Expressions) -> Option<SharedGraph> {
        let definition = self.find(definition_id)?;
        let key = format!("{definition_id}/{}", definition.version);
        if let Some(graph) = self.graphs().get(&key) {
            return Some(graph.clone());
        }
        let graph = Arc::new(self.compile(definition, expressions));
        self.graphs().insert(key, graph.clone());
        Some(graph)
    }

    /// Compiles a version with what this library has.
    #[must_use]
    pub fn compile(&self, definition: &Definition, expressions: &Expressions) -> Graph {
        Graph::compile(
            definition,
            &|reference: &Reference| self.resolve(reference),
            expressions,
        )
    }

    /// Triggers of all published definitions, with the id of their definition.
    #[must_use]
    pub fn triggers(&self, environment: &Environment<'_>) -> Vec<(String, Trigger)> {
        let mut found = Vec::new();
        for definition in self.versions.iter().filter(|d| d.is_published) {
            let Some(id) = definition.definition_id.as_deref() else {
                continue;
            };
            if self
                .find(id)
                .is_none_or(|published| !Arc::ptr_eq(published, definition))
            {
                continue;
            }
            let Some(graph) = self.graph(id, environment.expressions) else {
                continue;
            };
            let triggers = graph.triggers(environment).unwrap_or_default();
            found.extend(triggers.into_iter().map(|t| (id.to_owned(), t)));
        }
        found
    }

    /// The published definitions that a stimulus starts, and which of their activities it triggers.
    #[must_use]
    pub fn triggered(&self, hash: &str, environment: &Environment<'_>) -> Vec<(String, String)> {
        let all = self.triggers(environment).into_iter();
        all.filter(|(_, t)| t.hash == hash)
            .map(|(id, t)| (id, t.activity_id))
            .collect()
    }
}
