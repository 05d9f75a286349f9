//! Loading what is to be run: definitions, with the workflows they use, compiled.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_engine::activity_type::{ActivityType, Handler};
use dormouse_engine::definition::Definition;
use dormouse_engine::graph::{Children, Graph, Place, Reference};
use dormouse_store::Tenant;
use dormouse_store::definition::head::{DefinitionHead, DefinitionVersion};
use dormouse_store::instance::head::Summary;
use serde_json::Value;

use crate::error::RuntimeError;
use crate::graph::bindings::{Bindings, VersionKey, own_key, reference_key};
use crate::graph::cache::{GraphKey, Published, Runnable};
use crate::graph::version_extra::VersionExtra;
use crate::loading::Graphs;
use crate::loading::resolve::Resolve;
use crate::port::DefinitionChanged;

/// How long a published version counts as loaded although it uses workflows that were not found, in ms.
const INCOMPLETE_MS: i64 = 5_000;

/// What a definition uses as activities.
#[derive(Default)]
struct Bodies {
    definitions: BTreeMap<VersionKey, Arc<Definition>>,
    own_types: BTreeMap<VersionKey, Arc<ActivityType>>,
}

/// Finds what is bound, and notes what is not.
struct Bound<'a> {
    bindings: &'a Bindings,
    bodies: &'a Bodies,
    asked: Mutex<Vec<Reference>>,
}

impl<'a> Bound<'a> {
    fn new(bindings: &'a Bindings, bodies: &'a Bodies) -> Self {
        Self {
            bindings,
            bodies,
            asked: Mutex::default(),
        }
    }
}

impl Children for Bound<'_> {
    fn find(&self, reference: &Reference) -> Option<Arc<Definition>> {
        let version = self.bindings.get(&reference_key(reference))?;
        self.bodies.definitions.get(version).cloned()
    }

    fn own(&self, reference: &Reference) -> Option<Arc<ActivityType>> {
        let version = self.bindings.get(&reference_key(reference));
        let found = version.and_then(|version| self.bodies.own_types.get(version));
        if found.is_none() {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            if !asked.contains(reference) {
                asked.push(reference.clone());
            }
        }
        found.cloned()
    }
}

/// Reads a stored version.
pub(crate) fn read_definition(stored: &DefinitionVersion) -> Result<Definition, RuntimeError> {
    Definition::from_json(&stored.body).map_err(|source| RuntimeError::StoredDefinition {
        definition_id: stored.definition_id.clone(),
        version: stored.info.version,
        source,
    })
}

impl Graphs<'_> {
    /// A version of a definition that must be there, because an instance or a publication names it.
    pub(crate) async fn needed_definition(
        self,
        tenant: &Tenant,
        definition_id: &str,
        version: u32,
    ) -> Result<Arc<Definition>, RuntimeError> {
        let stored = self
            .store()
            .definitions()
            .definition_version(tenant, definition_id, version)
            .await?;
        let stored = stored.ok_or_else(|| RuntimeError::VersionMissing {
            definition_id: definition_id.to_owned(),
            version,
        })?;
        Ok(Arc::new(read_definition(&stored)?))
    }

    /// What an instance runs: its version with the workflows that it is pinned to. No read if this node has it.
    pub(crate) async fn runnable_of(
        self,
        tenant: &Tenant,
        summary: &Summary,
        bindings: Bindings,
    ) -> Result<Runnable, RuntimeError> {
        let (id, version) = (summary.definition_id.as_str(), summary.definition_version);
        let key = GraphKey {
            tenant: tenant.clone(),
            definition_id: id.to_owned(),
            version,
            bindings,
        };
        if let Some(runnable) = self.cache().graph(&key) {
            return Ok(runnable);
        }
        let definition = self.needed_definition(tenant, id, version).await?;
        let runnable = self
            .compile(tenant, definition, key.bindings.clone(), Resolve::Nothing)
            .await?;
        self.cache().put_graph(key, runnable.clone());
        Ok(runnable)
    }

    /// Forgets what this node remembers of a definition that has changed, and reads what is published of it now, so
    /// that the next start need not. False: nothing is published any more.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]: it could not be read; the next start reads it.
    pub async fn reload(self, changed: &DefinitionChanged) -> Result<bool, RuntimeError> {
        self.invalidate(changed);
        let Ok(tenant) = Tenant::new(&changed.tenant) else {
            return Ok(false);
        };
        let id = &changed.definition_id;
        let Some(head) = self
            .store()
            .definitions()
            .definition_head(&tenant, id)
            .await?
        else {
            return Ok(false);
        };
        Ok(self.load_published(&tenant, head).await?.is_some())
    }

    /// What a start of a published version runs, given the head that names it. `None`: nothing is published.
    pub(crate) async fn load_published(
        self,
        tenant: &Tenant,
        head: DefinitionHead,
    ) -> Result<Option<Arc<Published>>, RuntimeError> {
        let Some(info) = &head.published else {
            self.cache().forget(tenant, &head.definition_id);
            return Ok(None);
        };
        let extra = VersionExtra::read(info)?;
        let key = GraphKey {
            tenant: tenant.clone(),
            definition_id: head.definition_id.clone(),
            version: info.version,
            bindings: extra.bindings.clone(),
        };
        let known = self
            .cache()
            .graph(&key)
            .filter(|runnable| runnable.graph.missing.is_empty());
        let runnable = match known {
            Some(runnable) => runnable,
            None => {
                let definition = self
                    .needed_definition(tenant, &key.definition_id, key.version)
                    .await?;
                let bindings = key.bindings.clone();
                // What was not found when it was published may be there by now.
                let runnable = self
                    .compile(tenant, definition, bindings, Resolve::AndPin)
                    .await?;
                let key = GraphKey {
                    bindings: runnable.bindings.clone(),
                    ..key
                };
                self.cache().put_graph(key, runnable.clone());
                runnable
            }
        };
        let incomplete = !runnable.graph.missing.is_empty();
        let published = Arc::new(Published {
            incomplete_until: incomplete.then(|| self.now().plus_ms(INCOMPLETE_MS)),
            head,
            extra,
            runnable,
        });
        self.cache().put_published(tenant, published.clone());
        Ok(Some(published))
    }

    /// A version that is not the published one, ready for instances to name it. `None`: there is none.
    pub(crate) async fn load_version(
        self,
        tenant: &Tenant,
        definition_id: &str,
        version: u32,
    ) -> Result<Option<Runnable>, RuntimeError> {
        let id = definition_id.to_owned();
        let found = self
            .version_for(tenant, id, version, Resolve::AndPin)
            .await?;
        let Some((_, definition)) = found else {
            return Ok(None);
        };
        let runnable = self
            .compile(tenant, definition, Bindings::default(), Resolve::AndPin)
            .await?;
        let key = GraphKey {
            tenant: tenant.clone(),
            definition_id: definition_id.to_owned(),
            version,
            bindings: runnable.bindings.clone(),
        };
        self.cache().put_graph(key, runnable.clone());
        Ok(Some(runnable))
    }

    /// Where the activities of a definition stand, those of workflows that it would use now included.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn places(
        self,
        tenant: &Tenant,
        definition: &Definition,
    ) -> Result<Vec<Place>, RuntimeError> {
        let (compiled, bodies) = self
            .compile_with(
                tenant,
                Arc::new(definition.clone()),
                Bindings::default(),
                Resolve::AndForget,
            )
            .await?;
        let bound = Bound::new(&compiled.bindings, &bodies);
        Ok(Graph::places(definition, &bound, self.expressions()))
    }

    /// Compiles a definition with the workflows it uses: those in `bindings`, and others as `resolve` says.
    pub(crate) async fn compile(
        self,
        tenant: &Tenant,
        definition: Arc<Definition>,
        bindings: Bindings,
        resolve: Resolve,
    ) -> Result<Runnable, RuntimeError> {
        let compiled = self.compile_with(tenant, definition, bindings, resolve);
        Ok(compiled.await?.0)
    }

    /// The same, and the workflows it uses.
    async fn compile_with(
        self,
        tenant: &Tenant,
        definition: Arc<Definition>,
        mut bindings: Bindings,
        resolve: Resolve,
    ) -> Result<(Runnable, Bodies), RuntimeError> {
        let mut bodies = Bodies::default();
        for (id, version) in bindings.versions() {
            let body = self.needed_definition(tenant, &id, version).await?;
            bodies.definitions.insert((id, version), body);
        }
        for (name, version) in bindings.own_types() {
            let ty = self.needed_type(tenant, &name, version).await?;
            bodies.own_types.insert(own_key(&name, version), ty);
        }
        let mut not_found = BTreeSet::new();
        loop {
            let (graph, asked) = self.try_compile(&definition, &bindings, &bodies);
            let mut is_news = false;
            for reference in asked {
                let key = reference_key(&reference);
                if resolve == Resolve::Nothing || not_found.contains(&key) {
                    continue;
                }
                if let Some((version, body)) = self.resolve(tenant, &reference, resolve).await? {
                    bindings.insert(key, version.clone());
                    bodies.definitions.insert(version, body);
                    is_news = true;
                } else if let Some(ty) = self.resolve_type(tenant, &reference).await? {
                    let version = own_key(&ty.type_name, ty.version);
                    bindings.insert(key, version.clone());
                    bodies.own_types.insert(version, ty);
                    is_news = true;
                } else {
                    not_found.insert(key);
                }
            }
            if !is_news {
                let is_script =
                    |ty: &Arc<ActivityType>| matches!(ty.handler, Handler::JavaScript { .. });
                let runs_scripts = names_scripts(definition.raw().values())
                    || bodies.own_types.values().any(is_script)
                    || bodies
                        .definitions
                        .values()
                        .any(|body| names_scripts(body.raw().values()));
                let runnable = Runnable {
                    runs_scripts,
                    definition,
                    graph: Arc::new(graph),
                    bindings,
                };
                return Ok((runnable, bodies));
            }
        }
    }

    /// Compiles with what is at hand, and tells which references led nowhere.
    fn try_compile(
        self,
        definition: &Definition,
        bindings: &Bindings,
        bodies: &Bodies,
    ) -> (Graph, Vec<Reference>) {
        let bound = Bound::new(bindings, bodies);
        let graph = Graph::compile(definition, &bound, self.expressions());
        let asked = bound.asked.into_inner();
        let asked = asked.unwrap_or_else(PoisonError::into_inner);
        (graph, asked)
    }
}

/// Whether a definition names a language in which scripts are written, or an activity that runs them: then its steps may
/// take long. Any text that reads so counts.
fn names_scripts<'a>(mut values: impl Iterator<Item = &'a Value>) -> bool {
    values.any(|value| match value {
        Value::String(text) => {
            let text = text.to_ascii_lowercase();
            ["javascript", "liquid", "csharp", "c#", "python"]
                .iter()
                .any(|language| text.ends_with(language))
        }
        Value::Array(items) => names_scripts(items.iter()),
        Value::Object(fields) => names_scripts(fields.values()),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    })
}
