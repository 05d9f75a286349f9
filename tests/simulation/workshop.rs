//! What many runs share: workflows that are published once and copied into each world, and who reads what is left.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use dormouse_engine::definition::Definition;
use dormouse_expressions::Expressions;
use dormouse_runtime::{PublishOutcome, Runtime};
use dormouse_store::MemoryTable;

use super::cluster::{Cluster, Shared, lock, tenant};
use super::corpus;
use super::generator;
use super::inspector::Inspector;
use super::plan::{Menu, Plan, Size};
use super::recipe::{self, Recipe};
use super::special::special;
use super::world::{Owner, World};

/// How many menus are kept at hand.
const MENUS_MAX: usize = 8;

/// The workflows of a menu, published.
pub(crate) struct Menus {
    /// Those that errands choose from.
    pub(crate) recipes: Arc<Vec<Recipe>>,
    /// All of them.
    pub(crate) all: Vec<Recipe>,
    /// A table in which they are published.
    pub(crate) table: MemoryTable,
    pub(crate) inspector: Inspector,
}

/// What the runs of one thread share.
pub(crate) struct Workshop {
    pub(crate) expressions: Arc<Expressions>,
    menus: BTreeMap<(Menu, bool), Arc<Menus>>,
    /// Elsa's own workflows, with what they do.
    corpus: Option<Vec<Recipe>>,
}

impl Workshop {
    /// An empty one.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self {
            expressions: Arc::new(Expressions::default()),
            menus: BTreeMap::new(),
            corpus: None,
        }
    }

    /// Whether Elsa's own workflows are there.
    pub(crate) fn has_corpus(&mut self) -> bool {
        !self.corpus().is_empty()
    }

    fn corpus(&mut self) -> &[Recipe] {
        self.corpus.get_or_insert_with(corpus::recipes)
    }

    /// The workflows of a plan, published.
    pub(crate) fn menus(&mut self, plan: &Plan) -> Arc<Menus> {
        let key = (plan.menu, plan.is_embedded);
        if let Some(menus) = self.menus.get(&key) {
            return menus.clone();
        }
        if self.menus.len() >= MENUS_MAX {
            self.menus.clear();
        }
        let menus = Arc::new(self.publish(plan));
        self.menus.insert(key, menus.clone());
        menus
    }

    fn publish(&mut self, plan: &Plan) -> Menus {
        let recipes = match plan.menu {
            Menu::Small => recipe::small(),
            Menu::Large(number) => generator::large(number),
            Menu::Corpus => self.corpus().to_vec(),
        };
        let calm = Plan {
            is_embedded: plan.is_embedded,
            ..Plan::calm(1, Size::Small)
        };
        let world = World::new(1, 1, false);
        let expressions = self.expressions.clone();
        let cluster = Cluster::new(world.clone(), Shared::default(), &calm, expressions);
        let mut all = recipes.clone();
        all.extend(special());
        let work = publish_all(cluster.runtime(0), all.clone());
        until_done(&world, work);
        world.run(|| cluster.is_at_rest());
        let inspector = Inspector::new(&cluster, self.expressions.clone());
        let table = cluster.shared.table.clone();
        cluster.end();
        Menus {
            recipes: Arc::new(recipes),
            all,
            table,
            inspector,
        }
    }
}

async fn publish_all(runtime: Runtime, recipes: Vec<Recipe>) {
    for recipe in recipes {
        let definition =
            Definition::from_value(recipe.json.clone()).expect("the run's own definition");
        let saved = runtime.definitions().save(&tenant(), definition).await;
        saved.expect("saved while nothing goes wrong");
        let published = runtime.definitions().publish(&tenant(), &recipe.id).await;
        match published.expect("published while nothing goes wrong") {
            PublishOutcome::Published(_) => {}
            other => panic!("`{}` is not published: {other:?}", recipe.id),
        }
    }
}

/// Runs a world until some work is done.
pub(crate) fn until_done(world: &World, work: impl Future<Output = ()> + Send + 'static) {
    let is_done = Arc::new(Mutex::new(false));
    let flag = is_done.clone();
    world.spawn(Owner::Outside, async move {
        work.await;
        *lock(&flag) = true;
    });
    world.run(|| *lock(&is_done));
    let is_over = *lock(&is_done) || world.is_too_long();
    assert!(is_over, "nothing can go on any more");
}
