//! The table as one node reaches it: each call is a point at which things go wrong, each write is watched, and
//! planted bugs change what is asked or answered.

use std::collections::BTreeMap;
use std::sync::Mutex;

use async_trait::async_trait;
use dormouse_store::table::{
    Change, Condition, Durability, Item, Key, Page, Query, Table, TableError, Updated, Write,
    Written,
};

use super::cluster::{Cluster, lock};
use super::fate::Fate;
use super::inspector::at_once;
use super::node::Node;
use super::sabotage::{Sabotage, forget_events, is_head, only_raises_fence, take_state};
use super::spending::Call;
use super::world::Owner;

/// What planted bugs remember of answers they have seen.
#[derive(Default)]
pub(crate) struct Remembered {
    items: Mutex<BTreeMap<Key, Item>>,
    pages: Mutex<BTreeMap<(usize, u64), (String, Page)>>,
}

fn lost() -> TableError {
    TableError::Unknown("the answer was lost".into())
}

impl Node {
    /// A call arrives. `Err`: it does nothing, or not now.
    async fn arrive(&self, name: &'static str) -> (Fate, Call) {
        let call = self.world().begin_call();
        (self.world().point(self.owner(), name).await, call)
    }

    async fn leave<T>(&self, fate: Fate, answer: T) -> Result<T, TableError> {
        self.world().maybe_crash(self.owner()).await;
        if fate != Fate::Lost {
            return Ok(answer);
        }
        Err(lost())
    }

    /// Does it later, when nobody waits for it any more.
    fn do_late(&self, ms: u64, work: impl Future<Output = ()> + Send + 'static) -> TableError {
        let (world, cluster) = (self.world().clone(), self.cluster.clone());
        cluster.pend(1);
        self.world().spawn(Owner::Outside, async move {
            world.sleep(ms).await;
            work.await;
            cluster.pend(-1);
        });
        lost()
    }
}

/// Plain writes that are sent together.
const TOGETHER: usize = 16;

#[async_trait]
impl Table for Node {
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        let (fate, _call) = self.arrive("get").await;
        if fate != Fate::Well {
            return Err(TableError::Busy);
        }
        let trusts = self.cluster.shared.sabotage == Some(Sabotage::TrustsBroadcast)
            && self.world().current_name() == "start";
        if trusts && key.sort == "HEAD" && key.partition.contains("/DEF#") {
            let known = lock(&self.remembered.items).get(key).cloned();
            if known.is_some() {
                return Ok(known);
            }
            let found = self.cluster.shared.table.get(key).await?;
            lock(&self.remembered.items).extend(found.clone().map(|item| (key.clone(), item)));
            return Ok(found);
        }
        let mut found = self.cluster.shared.table.get(key).await?;
        if let Some(item) = found.as_mut().filter(|_| is_head(key)) {
            self.spoil(item);
        }
        Ok(found)
    }

    async fn query(&self, query: &Query) -> Result<Page, TableError> {
        let (fate, _call) = self.arrive("query").await;
        if fate != Fate::Well {
            return Err(TableError::Busy);
        }
        let page = self.cluster.query(query).await?;
        self.world().count_rows(page.items.len());
        self.world().note(|| {
            let (rows, partition) = (page.items.len(), &query.partition);
            format!("{:?}   {rows} rows of {partition}", self.owner())
        });
        if query.partition.starts_with("~/TIMER#") {
            self.cluster.has_read(&page.items);
        }
        if self.cluster.shared.sabotage == Some(Sabotage::NoSecondLook)
            && query.index.is_none()
            && query.partition.contains("/STIM#")
        {
            let mut pages = lock(&self.remembered.pages);
            let (first, seen) = pages
                .entry(self.world().current())
                .or_insert_with(|| (query.partition.clone(), page.clone()));
            if *first == query.partition {
                return Ok(seen.clone());
            }
        }
        Ok(page)
    }

    async fn update(
        &self,
        key: &Key,
        changes: &[Change],
        condition: &Condition,
        durability: Durability,
    ) -> Result<Updated, TableError> {
        let (fate, _call) = self.arrive("update").await;
        match fate {
            Fate::Refused => return Err(TableError::Busy),
            Fate::Vanished => return Err(lost()),
            Fate::Late(ms) => {
                let cluster = self.cluster.clone();
                let (key, changes) = (key.clone(), changes.to_vec());
                let condition = condition.clone();
                return Err(self.do_late(ms, async move {
                    let _ = cluster.update(&key, &changes, &condition, durability).await;
                }));
            }
            Fate::Well | Fate::Lost => {}
        }
        let mut updated = self
            .cluster
            .update(key, changes, condition, durability)
            .await?;
        self.world().note(|| {
            let how = if matches!(updated, Updated::New(_)) {
                "done"
            } else {
                "refused"
            };
            format!("{:?}   {how}: {} {changes:?}", self.owner(), key.partition)
        });
        if let Updated::New(item) = &mut updated
            && is_head(key)
        {
            self.spoil(item);
        }
        self.leave(fate, updated).await
    }

    /// Some together, as the real tables send them: the embedded one in groups, DynamoDB's beside each other.
    async fn write_each(&self, writes: &[Write]) -> Result<(), TableError> {
        for together in writes.chunks(TOGETHER) {
            self.write(together).await?;
        }
        Ok(())
    }

    async fn write(&self, writes: &[Write]) -> Result<Written, TableError> {
        let (fate, _call) = self.arrive("write").await;
        match fate {
            Fate::Refused => return Err(TableError::Busy),
            Fate::Vanished => return Err(lost()),
            Fate::Late(ms) => {
                let (cluster, writes) = (self.cluster.clone(), writes.to_vec());
                return Err(self.do_late(ms, async move {
                    let _ = cluster.write(&writes).await;
                }));
            }
            Fate::Well | Fate::Lost => {}
        }
        let written = match self.cluster.shared.sabotage {
            Some(Sabotage::NotAtomic) if writes.len() > 1 => self.write_one_by_one(writes).await?,
            _ => self.cluster.write(writes).await?,
        };
        self.world().note(|| {
            let how = if written == Written::Done {
                "done"
            } else {
                "refused"
            };
            let keys: Vec<_> = writes.iter().map(brief).collect();
            format!("{:?}   {how}: {keys:?}", self.owner())
        });
        self.leave(fate, written).await
    }
}

/// A write in few words.
fn brief(write: &Write) -> String {
    let verb = match write {
        Write::Put(..) => "put",
        Write::Update(..) => "update",
        Write::Delete(..) => "delete",
        Write::Check(..) => "check",
    };
    format!("{verb} {} {}", write.key().partition, write.key().sort)
}

/// Planted bugs.
impl Node {
    /// What this node reads of a head.
    fn spoil(&self, item: &mut Item) {
        match self.cluster.shared.sabotage {
            Some(Sabotage::StaleState) => {
                let before = lock(&self.remembered.items).insert(item.key.clone(), item.clone());
                if let Some(mut before) = before {
                    take_state(&mut item.attributes, &mut before.attributes);
                }
            }
            Some(Sabotage::EndsTwice) if item.attributes.contains_key("en") => {
                if let Some(alive) = lock(&self.remembered.items).get_mut(&item.key) {
                    take_state(&mut item.attributes, &mut alive.attributes);
                    let summary = alive.attributes.get("su").cloned();
                    item.attributes.remove("en");
                    item.attributes
                        .extend(summary.map(|summary| ("su".to_owned(), summary)));
                }
            }
            Some(Sabotage::EndsTwice) => {
                lock(&self.remembered.items).insert(item.key.clone(), item.clone());
            }
            _ => {}
        }
    }

    async fn write_one_by_one(&self, writes: &[Write]) -> Result<Written, TableError> {
        for write in writes {
            let one = std::slice::from_ref(write);
            if let Written::Refused(refused) = self.cluster.write(one).await? {
                let place = writes.iter().position(|other| other == write);
                let mut all = vec![None; writes.len()];
                if let (Some(place), Some(refused)) = (place, refused.into_iter().next()) {
                    all[place] = refused;
                }
                return Ok(Written::Refused(all));
            }
            self.world().point(self.owner(), "between").await;
        }
        Ok(Written::Done)
    }
}

/// What happens in the table itself, for whomever.
impl Cluster {
    pub(crate) async fn update(
        &self,
        key: &Key,
        changes: &[Change],
        condition: &Condition,
        durability: Durability,
    ) -> Result<Updated, TableError> {
        let condition = match self.shared.sabotage {
            Some(sabotage) => &sabotage.condition(key, condition),
            None => condition,
        };
        if self.shared.sabotage == Some(Sabotage::NotNoted) && key.partition.contains("/TAKEN#") {
            return Ok(Updated::New(Item {
                key: key.clone(),
                attributes: BTreeMap::new(),
            }));
        }
        let mut changes = changes.to_vec();
        if is_head(key) {
            match self.shared.sabotage {
                Some(Sabotage::EventsForgotten) => changes.iter_mut().for_each(forget_events),
                Some(Sabotage::DroppedUnfenced) if only_raises_fence(&changes) => {
                    let item = self.shared.table.get(key).await?;
                    return Ok(Updated::New(item.unwrap_or_else(|| Item {
                        key: key.clone(),
                        attributes: BTreeMap::new(),
                    })));
                }
                _ => {}
            }
        }
        let table = &self.shared.table;
        let updated = table.update(key, &changes, condition, durability).await?;
        if let Updated::New(item) = &updated {
            if is_head(key) {
                lock(&self.shared.watch).see(key, Some(item));
            }
            self.show_later(key, || Some(item.clone()));
        }
        Ok(updated)
    }

    async fn query(&self, query: &Query) -> Result<Page, TableError> {
        if query.index.is_some()
            && let Some(indexes) = lock(&self.shared.indexes).as_mut()
        {
            return indexes.query(query, self.world.now_ms());
        }
        self.shared.table.query(query).await
    }

    /// The indexes show a change some time later, where they are late.
    fn show_later(&self, key: &Key, item: impl FnOnce() -> Option<Item>) {
        if let Some(indexes) = lock(&self.shared.indexes).as_mut() {
            let late_ms = self.world.below(self.world.faults().index_ms + 1);
            let at_ms = self.world.now_ms() + i64::try_from(late_ms).unwrap_or(0);
            indexes.change(key, item(), at_ms);
        }
    }

    pub(crate) async fn write(&self, writes: &[Write]) -> Result<Written, TableError> {
        let changed = self.shared.sabotage.map(|s| s.writes(writes));
        let writes = changed.as_deref().unwrap_or(writes);
        if writes.is_empty() {
            return Ok(Written::Done);
        }
        let written = self.shared.table.write(writes).await?;
        if written != Written::Done {
            return Ok(written);
        }
        for write in writes {
            let key = write.key();
            if is_head(key) && !matches!(write, Write::Check(..)) {
                let item = self.shared.table.get(key).await?;
                lock(&self.shared.watch).see(key, item.as_ref());
            }
            self.show_later(key, || at_once(self.shared.table.get(key)).ok().flatten());
        }
        Ok(written)
    }
}
