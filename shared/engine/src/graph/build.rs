//! From a definition's JSON to a [`Graph`].

use std::collections::{BTreeMap, BTreeSet};

use dormouse_expressions::Expressions;
use serde_json::Value;

use super::children::{Children, Reference};
use super::describe::NodeFacts;
use super::guard::{NamedUndo, undos_among};
use super::plain::plain;
use super::{Graph, Guard, Node, NodeCommit, NodeIndex, Problem};
use crate::activity::{self};
use crate::definition::Definition;
use crate::definition::declaration::variables;
use crate::definition::fields::Fields;

/// The deepest nesting of activities, workflows used as activities counted in.
pub const DEPTH_MAX: usize = 128;
/// The most activities of one graph.
pub const NODES_MAX: usize = 50_000;

/// What is known of the workflow whose activities are being read.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) modern: bool,
    pub(super) outputs: Vec<String>,
    pub(super) is_log_excluded: bool,
}

/// Builds a graph. Activities use it to read their own properties and children.
pub struct Builder<'a> {
    pub(super) expressions: &'a Expressions,
    pub(super) children: &'a dyn Children,
    pub(super) nodes: Vec<Node>,
    pub(super) problems: Vec<Problem>,
    pub(super) bindings: Vec<(String, u32)>,
    pub(super) missing: Vec<Reference>,
    pub(super) frames: Vec<Frame>,
    pub(super) using: Vec<String>,
    pub(super) scope: Vec<BTreeSet<String>>,
    pub(super) path: String,
    pub(super) current: NodeIndex,
    pub(super) depth: usize,
    pub(super) counters: BTreeMap<String, u32>,
    pub(super) ids: BTreeSet<String>,
    pub(super) trigger_paths: BTreeMap<String, String>,
    /// Where in the JSON each activity stands, if anybody wants to know.
    pub(super) paths: Option<Vec<(NodeIndex, String)>>,
    pub(super) named_undos: Vec<NamedUndo>,
    /// The root activities of inlined workflows, by the activity that uses them; with `paths` only.
    pub(super) inlined: BTreeMap<NodeIndex, Value>,
}

impl Graph {
    /// Compiles a definition, with the workflows it uses inlined. Never fails: see [`Graph::problems`].
    #[must_use]
    pub fn compile(
        definition: &Definition,
        children: &dyn Children,
        expressions: &Expressions,
    ) -> Self {
        let mut builder = Builder::new(definition, children, expressions);
        builder.workflow(definition, None);
        builder.finish(definition)
    }
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        definition: &Definition,
        children: &'a dyn Children,
        expressions: &'a Expressions,
    ) -> Self {
        Self {
            expressions,
            children,
            nodes: Vec::new(),
            problems: Vec::new(),
            bindings: Vec::new(),
            missing: Vec::new(),
            frames: Vec::new(),
            using: definition.definition_id.iter().cloned().collect(),
            scope: Vec::new(),
            path: "root".into(),
            current: NodeIndex(0),
            depth: 0,
            counters: BTreeMap::new(),
            ids: BTreeSet::new(),
            trigger_paths: BTreeMap::new(),
            paths: None,
            named_undos: Vec::new(),
            inlined: BTreeMap::new(),
        }
    }

    /// Adds the implicit workflow activity of a definition, and everything below it.
    pub(crate) fn workflow(
        &mut self,
        definition: &Definition,
        parent: Option<NodeIndex>,
    ) -> NodeIndex {
        let index = self.reserve(parent);
        self.frames.push(Frame {
            modern: definition.modern,
            outputs: definition.outputs.iter().map(|o| o.name.clone()).collect(),
            is_log_excluded: activity::is_log_excluded(definition.raw()),
        });
        self.scope
            .push(definition.variables.iter().map(|v| v.id.clone()).collect());
        let outer_ids = std::mem::take(&mut self.ids);
        let outer_counters = std::mem::take(&mut self.counters);
        let outer = std::mem::replace(&mut self.current, index);
        let outer_path = parent.map(|_| std::mem::replace(&mut self.path, "root".into()));
        let root = self.activity(definition.root());
        if let Some(path) = outer_path {
            self.path = path;
        }
        self.current = outer;
        self.ids = outer_ids;
        self.counters = outer_counters;
        self.scope.pop();
        self.frames.pop();
        let activity = Box::new(activity::workflow::Workflow::new(root, definition));
        if let Some(node) = self.nodes.get_mut(index.0 as usize) {
            node.type_name = "Elsa.Workflow".into();
            node.name = definition.name.clone();
            node.variables = definition.variables.clone();
            node.activity = activity;
            node.modern = definition.modern;
        }
        index
    }

    fn reserve(&mut self, parent: Option<NodeIndex>) -> NodeIndex {
        let index = NodeIndex(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Node {
            id: String::new(),
            node_id: String::new(),
            name: None,
            type_name: String::new(),
            version: 1,
            parent,
            activity: Box::new(activity::marker::Marker),
            inputs: Vec::new(),
            plain: Vec::new(),
            outputs: Vec::new(),
            variables: Vec::new(),
            can_start_workflow: false,
            run_asynchronously: false,
            merge_mode: None,
            commit: NodeCommit::default(),
            resilience: None,
            guard: Guard::default(),
            modern: true,
            custom: BTreeMap::new(),
        });
        index
    }

    /// Adds an activity below the current one, and everything below it. `None` if the JSON is not an activity.
    pub fn activity(&mut self, json: &Value) -> Option<NodeIndex> {
        let fields = Fields::of(json);
        if !fields.is_present() {
            return None;
        }
        if self.depth >= DEPTH_MAX || self.nodes.len() >= NODES_MAX {
            self.problem(
                "tooDeep",
                format!("more than {DEPTH_MAX} activities inside each other, or {NODES_MAX} in all; split the workflow"),
            );
            return None;
        }
        let parent = self.current;
        let index = self.reserve(Some(parent));
        if let Some(paths) = &mut self.paths {
            paths.push((index, self.path.clone()));
        }
        let type_name = fields.text("type").unwrap_or_default();
        let id = self.id_of(fields, &type_name);
        let declared = variables(fields, &id);
        self.scope
            .push(declared.iter().map(|v| v.id.clone()).collect());
        self.current = index;
        self.depth += 1;
        let (kind, reference) = activity::resolve(&type_name, fields, self.children);
        if let Some(reference) = reference {
            self.missing.push(reference);
        }
        let descriptor = kind.descriptor(self);
        let inputs = self.inputs(fields, &descriptor);
        let outputs = self.outputs(fields, &descriptor);
        // The node's own facts are needed by its children's builders, so they are in place before its activity is.
        self.describe(
            index,
            fields,
            NodeFacts {
                id,
                type_name,
                inputs,
                plain: plain(fields, &descriptor),
                outputs,
                variables: declared,
            },
        );
        let activity = kind.build(self, fields);
        if let Some(node) = self.nodes.get_mut(index.0 as usize) {
            node.activity = activity;
        }
        self.compensation(index, fields);
        self.depth -= 1;
        self.current = parent;
        self.scope.pop();
        Some(index)
    }

    fn id_of(&mut self, fields: Fields<'_>, type_name: &str) -> String {
        let id = fields
            .text("id")
            .filter(|id| !id.is_empty())
            .unwrap_or_else(|| {
                let short = type_name
                    .rsplit('.')
                    .next()
                    .unwrap_or("Activity")
                    .to_owned();
                let counter = self.counters.entry(short.clone()).or_default();
                *counter += 1;
                format!("{short}{counter}")
            });
        if !self.ids.insert(id.clone()) {
            self.problem(
                "duplicateId",
                format!(
                    "the activity id `{id}` is used more than once; give each activity its own"
                ),
            );
        }
        id
    }

    /// Adds the activity in a property, such as `body` or `then`.
    pub fn child(&mut self, fields: Fields<'_>, property: &str) -> Option<NodeIndex> {
        let json = fields.get(property)?;
        let depth = self.enter(property);
        let found = self.activity(json);
        self.leave(depth);
        found
    }

    /// Adds the activities in a list property, such as `activities`. What is no activity is left out, and so is what only
    /// undoes others of them.
    pub fn children(&mut self, fields: Fields<'_>, property: &str) -> Vec<NodeIndex> {
        let mut found = Vec::new();
        let list = fields.list(property);
        let undos = undos_among(&list);
        for (place, json) in list.into_iter().enumerate() {
            let depth = self.enter(&format!("{property}[{place}]"));
            found.extend(self.activity(json));
            self.leave(depth);
        }
        found.retain(|index| {
            let node = self.node(*index);
            !node.is_some_and(|n| {
                undos.contains(&n.id) || n.name.as_ref().is_some_and(|name| undos.contains(name))
            })
        });
        found
    }

    /// Inlines a workflow that is used as an activity. `None` if it uses itself.
    pub(crate) fn inline(&mut self, definition: &Definition) -> Option<NodeIndex> {
        let id = definition.definition_id.clone().unwrap_or_default();
        if self.using.contains(&id) {
            self.problem("recursion", format!("the workflow `{id}` uses itself as an activity; use ExecuteWorkflow or DispatchWorkflow for that"));
            return None;
        }
        let binding = (id.clone(), definition.version);
        if !self.bindings.contains(&binding) {
            self.bindings.push(binding);
        }
        self.using.push(id);
        let parent = self.current;
        if self.paths.is_some() {
            self.inlined.insert(parent, definition.root().clone());
        }
        let known = self.problems.len();
        let index = self.workflow(definition, Some(parent));
        // What is wrong inside is told where that workflow is validated, but for what comes of using it here.
        let inside = self.problems.split_off(known);
        let told_here = |p: &Problem| matches!(p.code, "tooDeep" | "recursion");
        for problem in inside.into_iter().filter(told_here) {
            self.problem(problem.code, problem.message);
        }
        self.using.pop();
        Some(index)
    }

    /// Notes something that keeps the definition from being published.
    pub fn problem(&mut self, code: &'static str, message: String) {
        self.problems.push(Problem {
            path: self.path.clone(),
            code,
            message,
            is_error: true,
        });
    }

    /// Notes something that is probably not meant.
    pub fn warn(&mut self, code: &'static str, message: String) {
        self.problems.push(Problem {
            path: self.path.clone(),
            code,
            message,
            is_error: false,
        });
    }

    /// Goes one step down in the JSON path; [`Self::leave`] with the result goes back up.
    pub fn enter(&mut self, step: &str) -> usize {
        let depth = self.path.len();
        self.path.push('.');
        self.path.push_str(step);
        depth
    }

    /// Goes back up to where [`Self::enter`] was called.
    pub fn leave(&mut self, depth: usize) {
        self.path.truncate(depth);
    }

    /// The JSON id of an activity that was added.
    #[must_use]
    pub fn id(&self, index: NodeIndex) -> &str {
        self.nodes
            .get(index.0 as usize)
            .map_or("", |n| n.id.as_str())
    }

    /// The type of an activity that was added.
    #[must_use]
    pub fn type_name(&self, index: NodeIndex) -> &str {
        self.nodes
            .get(index.0 as usize)
            .map_or("", |n| n.type_name.as_str())
    }

    /// The activity that is being built.
    #[must_use]
    pub fn current(&self) -> NodeIndex {
        self.current
    }

    /// An activity that was added.
    #[must_use]
    pub fn node(&self, index: NodeIndex) -> Option<&Node> {
        self.nodes.get(index.0 as usize)
    }

    /// Whether a variable with the id is in scope here.
    #[must_use]
    pub fn has_variable(&self, id: &str) -> bool {
        self.scope.iter().any(|s| s.contains(id))
    }
}
