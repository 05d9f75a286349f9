//! Secrets: each tenant has its own, one change of several counts, and all are found when a key is changed.

use bytes::Bytes;
use dormouse_store::Tenant;
use dormouse_store::identity::secret::{SecretPlace, StoredSecret};
use dormouse_store::item::versioned::Versioned;

use crate::rig::{now, rig};

fn secret(name: &str, value: &'static str) -> Versioned<StoredSecret> {
    Versioned::new(StoredSecret {
        name: name.into(),
        id: "1".into(),
        place: SecretPlace::Sealed(Bytes::from_static(value.as_bytes())),
        version: 1,
        created_ms: 7,
        ..StoredSecret::default()
    })
}

#[test]
fn secrets_belong_to_their_tenant_and_one_of_two_changes_counts() {
    let rig = rig();
    let store = rig.store.identities().secrets();
    let others = Tenant::new("acme2").unwrap();
    for name in ["b:key", "a"] {
        assert!(now(store.put(&rig.tenant, &secret(name, "x"))).unwrap());
    }
    assert!(now(store.put(&others, &secret("a", "y"))).unwrap());
    assert!(
        !now(store.put(&others, &secret("a", "z"))).unwrap(),
        "it is there"
    );
    let names = |tenant: &Tenant| -> Vec<String> {
        let all = now(store.all(tenant)).unwrap();
        all.into_iter().map(|found| found.value.name).collect()
    };
    assert_eq!(
        (names(&rig.tenant), names(&others)),
        (
            vec!["a".to_owned(), "b:key".to_owned()],
            vec!["a".to_owned()],
        )
    );
    let page = now(store.names(None)).unwrap();
    let all = [(&rig.tenant, "a"), (&rig.tenant, "b:key"), (&others, "a")];
    let all = all.map(|(tenant, name)| (tenant.clone(), name.to_owned()));
    assert_eq!((page.names, page.cursor), (all.to_vec(), None));

    let found = now(store.get(&others, "a")).unwrap().unwrap();
    assert_eq!(found.value, secret("a", "y").value);
    assert!(now(store.put(&others, &found)).unwrap());
    assert!(
        !now(store.delete(&others, &found)).unwrap(),
        "it has changed"
    );
    let found = now(store.get(&others, "a")).unwrap().unwrap();
    assert!(now(store.delete(&others, &found)).unwrap());
    assert_eq!(now(store.get(&others, "a")).unwrap(), None);
    assert_eq!(names(&rig.tenant).len(), 2);
}
