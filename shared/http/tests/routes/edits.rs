//! Two who edit one definition: the second one is told, and what the first one saved stays.

use serde_json::{Value, json};

use crate::access::{ask, key_of, server};
use crate::server::{Server, waiting};

const SAVE: &str = "/workflow-definitions";
const READ: &str = "/workflow-definitions/by-definition-id/w";

struct Editor<'a> {
    server: &'a Server,
    key: String,
}

impl Editor<'_> {
    async fn read(&self) -> Value {
        let nothing = json!({});
        let read = ask(self.server, Some(&self.key), "GET", READ, &nothing);
        read.await.ok(200)
    }

    async fn save(&self, model: &Value, publish: bool) -> crate::server::Answered {
        let body = json!({ "model": model, "publish": publish });
        ask(self.server, Some(&self.key), "POST", SAVE, &body).await
    }
}

/// The model with another text where it says hello.
fn saying(model: &Value, text: &str) -> Value {
    let mut model = model.clone();
    model["root"]["activities"][0]["text"]["expression"]["value"] = text.into();
    model
}

#[tokio::test]
async fn who_saves_over_what_he_has_not_seen_is_told_what_has_changed() {
    let server = server();
    let editor = async |name| Editor {
        server: &server,
        key: key_of(&server, "default", name, &["*"]).await,
    };
    let (ada, bob) = (editor("ada").await, editor("bob").await);
    ada.save(&waiting("w"), true).await.ok(200);
    let (seen_by_ada, seen_by_bob) = (ada.read().await, bob.read().await);
    let saved = ada.save(&saying(&seen_by_ada, "from ada"), false).await;
    let saved = saved.ok(200)["workflowDefinition"].clone();

    let problem = bob.save(&saying(&seen_by_bob, "from bob"), false).await;
    let problem = problem.problem(409, "staleEdit");
    let told = problem["detail"].as_str().unwrap();
    assert!(told.contains("ada has saved `w`"), "{told}");
    assert!(
        told.contains("root.activities[0].text.expression.value"),
        "{told}"
    );
    let text =
        |model: &Value| model["root"]["activities"][0]["text"]["expression"]["value"].clone();
    assert_eq!(text(&bob.read().await), "from ada");
    // Publishing is no edit, and what he has read again he may change.
    ada.save(&saved, true).await.ok(200);
    let read_again = bob.read().await;
    ask(
        &server,
        Some(&ada.key),
        "POST",
        "/workflow-definitions/w/retract",
        &json!({}),
    )
    .await
    .ok(200);
    bob.save(&saying(&read_again, "from bob"), false)
        .await
        .ok(200);
    assert_eq!(text(&ada.read().await), "from bob");
    // The same as is stored is no loss, and who names no content is not asked.
    ada.save(&saying(&seen_by_ada, "from bob"), false)
        .await
        .ok(200);
    let mut without_content = saying(&seen_by_bob, "from a file");
    without_content["customProperties"] = json!({});
    bob.save(&without_content, false).await.ok(200);
}

#[tokio::test]
async fn an_editor_that_saves_again_before_it_has_its_answer_is_not_in_its_own_way() {
    let server = server();
    let ada = Editor {
        server: &server,
        key: key_of(&server, "default", "ada", &["*"]).await,
    };
    ada.save(&waiting("w"), false).await.ok(200);
    let seen = ada.read().await;
    ada.save(&saying(&seen, "one"), false).await.ok(200);
    ada.save(&saying(&seen, "two"), false).await.ok(200);
}
