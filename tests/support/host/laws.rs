//! What holds for every step, whatever the definition: checked at each step of each test.

use dormouse_engine::graph::Graph;
use dormouse_engine::id::{BookmarkId, InstanceId};
use dormouse_engine::instance::{Instance, SubStatus};
use dormouse_engine::journal;
use dormouse_engine::step::{Environment, Next, Stimulus, Transition, step};
use dormouse_sandbox::Host;

/// Gives a stimulus twice; the second time nothing may come of it.
pub(super) fn deliver_twice(host: &mut Host, id: &InstanceId, stimulus: Stimulus) {
    host.step(id, stimulus.clone());
    let before = (host.lines.len(), host.pending());
    let instance = |host: &Host| host.kept(id).expect("a known instance").instance.clone();
    let sub_status = instance(host).sub_status;
    let is_changed = host.step(id, stimulus.clone());
    // A bookmark that waits for many notes each of them, but does nothing about a second one.
    let is_open = matches!(&stimulus, Stimulus::Resume { bookmark, .. } if instance(host).bookmark(bookmark).is_some());
    assert!(
        !is_changed || is_open,
        "a second delivery of {stimulus:?} changed {id}"
    );
    assert_eq!(
        before,
        (host.lines.len(), host.pending()),
        "something came of a second {stimulus:?}"
    );
    assert_eq!(
        sub_status,
        instance(host).sub_status,
        "a second {stimulus:?} moved {id}"
    );
}

/// A step that is held to the laws.
#[must_use]
pub fn lawful_step(
    graph: &Graph,
    before: Instance,
    stimulus: &Stimulus,
    environment: &Environment<'_>,
) -> Transition {
    let transition = step(graph, before.clone(), stimulus.clone(), environment);
    let again = step(graph, before.clone(), stimulus.clone(), environment);
    assert_eq!(
        transition, again,
        "the same input gives the same transition"
    );
    let bytes = transition.instance.encode(graph);
    assert_eq!(
        bytes,
        again.instance.encode(graph),
        "the same input gives the same bytes"
    );
    let read = Instance::decode(&bytes, graph).expect("what was encoded can be decoded");
    assert_eq!(
        read, transition.instance,
        "decoding gives back what was encoded"
    );
    assert_eq!(
        read.encode(graph),
        bytes,
        "a round trip gives the same bytes"
    );
    if !transition.is_changed {
        unchanged(&before, &transition);
        return transition;
    }
    the_journal_has_no_gaps(graph, &before, &transition);
    bookmarks_add_up(&before, &transition);
    what_goes_on_says_so(&transition);
    ended_means_ended(graph, &transition, environment);
    a_burnt_bookmark_is_gone(graph, &transition, stimulus, environment);
    transition
}

fn unchanged(before: &Instance, transition: &Transition) {
    assert_eq!(&transition.instance, before, "unchanged means unchanged");
    assert!(
        transition.effects.is_empty(),
        "nothing changed, so nothing is asked for"
    );
    assert!(
        transition.journal.is_empty(),
        "nothing changed, so nothing is told"
    );
    assert!(
        transition.lines.is_empty(),
        "nothing changed, so nothing is written"
    );
    assert!(
        transition.response.is_none(),
        "nothing changed, so nobody is answered"
    );
    assert_eq!(
        transition.next,
        Next::Rest,
        "nothing changed, so nothing comes next"
    );
}

fn the_journal_has_no_gaps(graph: &Graph, before: &Instance, transition: &Transition) {
    let mut expected = before.sequence;
    for entry in &transition.journal {
        assert_eq!(
            entry.sequence, expected,
            "journal lines are numbered without gaps"
        );
        expected += 1;
    }
    assert_eq!(
        transition.instance.sequence, expected,
        "the instance knows the next number"
    );
    let bytes = journal::encode(&transition.journal, graph);
    let lines = journal::decode(&bytes).expect("a journal can be read");
    assert_eq!(
        lines.len(),
        transition.journal.len(),
        "no journal line gets lost"
    );
}

fn bookmarks_add_up(before: &Instance, transition: &Transition) {
    let ids = |list: &[dormouse_engine::instance::Bookmark]| -> Vec<BookmarkId> {
        let mut ids: Vec<_> = list.iter().map(|b| b.id.clone()).collect();
        ids.sort();
        ids
    };
    let removed = ids(&transition.bookmarks_removed);
    let mut expected: Vec<_> = ids(&before.bookmarks)
        .into_iter()
        .filter(|id| !removed.contains(id))
        .collect();
    expected.extend(ids(&transition.bookmarks_added));
    expected.sort();
    assert_eq!(
        ids(&transition.instance.bookmarks),
        expected,
        "bookmarks = before − removed + added"
    );
    let mut unique = expected.clone();
    unique.dedup();
    assert_eq!(unique, expected, "no two bookmarks share an id");
}

/// What a crash after the commit cuts off is continued only if the state says so.
fn what_goes_on_says_so(transition: &Transition) {
    let sub_status = transition.instance.sub_status;
    let rests = matches!(transition.next, Next::Rest);
    assert!(
        rests || sub_status == SubStatus::Executing,
        "something comes next, and the instance is {sub_status:?}"
    );
}

fn ended_means_ended(graph: &Graph, transition: &Transition, environment: &Environment<'_>) {
    let instance = &transition.instance;
    if !instance.is_ended() {
        assert!(instance.finished_at.is_none(), "what runs has no end");
        return;
    }
    assert!(
        instance.bookmarks.is_empty(),
        "an ended instance waits for nothing"
    );
    assert!(
        instance.queue.is_empty(),
        "an ended instance has nothing to do"
    );
    assert!(
        instance.finished_at.is_some(),
        "an ended instance knows when"
    );
    assert_eq!(transition.next, Next::Rest, "after the end nothing comes");
    for stimulus in [Stimulus::Start, Stimulus::Continue, Stimulus::Cancel] {
        let after = step(graph, instance.clone(), stimulus.clone(), environment);
        assert!(
            !after.is_changed,
            "{stimulus:?} changed an instance that has ended"
        );
    }
}

fn a_burnt_bookmark_is_gone(
    graph: &Graph,
    transition: &Transition,
    stimulus: &Stimulus,
    environment: &Environment<'_>,
) {
    let (Stimulus::Resume { bookmark, .. } | Stimulus::Answered { bookmark, .. }) = stimulus else {
        return;
    };
    if transition.instance.bookmark(bookmark).is_some() {
        return;
    }
    let again = step(
        graph,
        transition.instance.clone(),
        stimulus.clone(),
        environment,
    );
    assert!(
        !again.is_changed,
        "a stimulus for a burnt bookmark changed something"
    );
}
