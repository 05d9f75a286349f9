//! A faulty table without faults keeps the contract, and each fault is what its name says.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use async_trait::async_trait;
use dormouse_store::table::faults::{
    Call, Fault, FaultPlan, Operation, ScriptedFaults, SeededFaults,
};
use dormouse_store::table::{Condition, Item, Key, Table, TableError, Write};
use dormouse_store::{FaultyTable, MemoryTable};

mod transparent {
    use dormouse_tests::table_contract::Fixture;

    use super::{Arc, FaultyTable, MemoryTable, ScriptedFaults};

    dormouse_tests::table_contract!(Fixture::new(FaultyTable::new(
        Arc::new(MemoryTable::new()),
        Arc::new(ScriptedFaults::default()),
    )));
}

fn put(sort: &str) -> [Write; 1] {
    let item = Item {
        key: Key::new("p", sort),
        attributes: Default::default(),
    };
    [Write::Put(item, Condition::Absent)]
}

/// A table whose first call has the fault, and the memory beneath.
fn with_first(fault: Fault) -> (FaultyTable, Arc<MemoryTable>) {
    let memory = Arc::new(MemoryTable::new());
    let plan = ScriptedFaults([(1, fault)].into());
    (FaultyTable::new(memory.clone(), Arc::new(plan)), memory)
}

#[tokio::test]
async fn a_fault_before_the_deed_leaves_nothing_done() {
    for fault in [Fault::Busy, Fault::Full, Fault::Lost] {
        let (table, memory) = with_first(fault);
        let error = table.write(&put("a")).await.unwrap_err();
        let is_right = match fault {
            Fault::Busy => matches!(error, TableError::Busy),
            Fault::Full => matches!(error, TableError::Full(_)),
            _ => matches!(error, TableError::Unknown(_)),
        };
        assert!(is_right, "{fault:?} gave {error:?}");
        assert!(memory.items().is_empty(), "{fault:?}");
        table.write(&put("a")).await.unwrap();
        assert_eq!((memory.items().len(), table.calls()), (1, 2), "{fault:?}");
    }
}

#[tokio::test]
async fn a_lost_answer_leaves_the_deed_done() {
    let (table, memory) = with_first(Fault::AnswerLost);
    let error = table.write(&put("a")).await.unwrap_err();
    assert!(matches!(error, TableError::Unknown(_)), "{error:?}");
    assert_eq!(memory.items().len(), 1);
}

#[tokio::test]
async fn silence_is_no_answer_before_or_after_the_deed() {
    for (fault, items) in [(Fault::Silence, 0), (Fault::SilenceAfter, 1)] {
        let (table, memory) = with_first(fault);
        let answer = tokio::time::timeout(Duration::from_millis(20), table.write(&put("a"))).await;
        assert!(answer.is_err(), "{fault:?} answered {answer:?}");
        assert_eq!(memory.items().len(), items, "{fault:?}");
    }
}

/// Which of the first calls fail under the seed.
async fn lots(seed: u64) -> Vec<Fault> {
    let plan = SeededFaults {
        seed,
        per_mille: vec![(Fault::Busy, 100), (Fault::AnswerLost, 50)],
    };
    let mut lots = Vec::new();
    for number in 1..=2_000 {
        let call = Call {
            number,
            operation: Operation::Get,
            partition: "p",
        };
        lots.push(plan.fault(&call).await);
    }
    lots
}

#[tokio::test]
async fn a_seed_decides_the_faults() {
    let first = lots(7).await;
    assert_eq!(first, lots(7).await);
    assert_ne!(first, lots(8).await);
    let busy = first.iter().filter(|fault| **fault == Fault::Busy).count();
    let lost = first
        .iter()
        .filter(|fault| **fault == Fault::AnswerLost)
        .count();
    assert!(
        (150..250).contains(&busy) && (70..130).contains(&lost),
        "{busy} busy, {lost} lost"
    );
}

/// Lets each call wait for a permit.
struct Delayed(tokio::sync::Semaphore);

#[async_trait]
impl FaultPlan for Delayed {
    async fn fault(&self, _call: &Call<'_>) -> Fault {
        let permit = self.0.acquire().await;
        permit.map_or(Fault::Lost, |permit| {
            permit.forget();
            Fault::None
        })
    }
}

#[tokio::test]
async fn a_plan_that_waits_delays_the_call() -> Result<()> {
    let memory = Arc::new(MemoryTable::new());
    let plan = Arc::new(Delayed(tokio::sync::Semaphore::new(0)));
    let table = Arc::new(FaultyTable::new(memory.clone(), plan.clone()));
    let write = tokio::spawn({
        let table = Arc::clone(&table);
        async move { table.write(&put("a")).await }
    });
    while table.calls() == 0 {
        tokio::task::yield_now().await;
    }
    assert!(memory.items().is_empty());
    plan.0.add_permits(1);
    write.await??;
    assert_eq!(memory.items().len(), 1);
    Ok(())
}
