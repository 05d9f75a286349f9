//! The ways a workflow begins, waits and goes on.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use dormouse_tests::cloud::{Cloud, said};
use dormouse_tests::primitives::{
    delay, dispatch, endpoint, event, fork, respond, sequence, task, write,
};
use dormouse_tests::{activity, workflow};
use serde_json::{Value, json};

use super::mailbox::{Mailbox, put_event};

/// The one instance of a definition.
fn only(cloud: &Cloud, definition: &str) -> Result<String> {
    cloud.until(&format!("an instance of {definition}"), || {
        let found = cloud.instances(definition)?;
        let id = found.first().and_then(|instance| instance["id"].as_str());
        Ok(id.map(str::to_owned))
    })
}

/// Waits until an instance waits in an activity of a type.
fn until_it_waits(cloud: &Cloud, id: &str, activity: &str) -> Result<Value> {
    cloud.until(&format!("{id} waits in {activity}"), || {
        let path = format!("/elsa/api/workflow-instances/{id}");
        let instance = cloud.ask("GET", &path, None)?.json();
        let bookmarks = instance["workflowState"]["bookmarks"].as_array().cloned();
        let waits = bookmarks.into_iter().flatten();
        let mut of_type =
            waits.filter(|b| b["name"].as_str().is_some_and(|n| n.contains(activity)));
        Ok(of_type.next())
    })
}

/// Published, started by a request, it waits for a delay, an event from the bus, one from the API, a task, and a
/// person with a link.
pub(super) fn from_a_request_over_all_waits_to_the_end(cloud: &Cloud) -> Result<()> {
    let steps = [
        endpoint("orders", &["POST"]).trigger(),
        respond("accepted"),
        delay("00:00:02"),
        event("Paid"),
        event("Packed"),
        task("Ship"),
        event("Received"),
        write("done"),
    ];
    let tasks = Mailbox::open(cloud, "tasks", "TaskRequested")?;
    cloud.publish(workflow("order", sequence(steps)).json())?;
    let answer = cloud.ask("POST", "/workflows/orders", Some(&json!({ "id": 7 })))?;
    ensure!(
        answer.is_success() && answer.body == b"accepted",
        "{}",
        said(&answer)
    );
    let id = only(cloud, "order")?;
    until_it_waits(cloud, &id, "Event")?;
    put_event(cloud, "Paid", &json!({ "amount": 12 }))?;
    // It may be the API's turn before the bus's; an event that comes too early is kept.
    let packed = cloud.ask("POST", "/elsa/api/events/Packed/trigger", Some(&json!({})))?;
    ensure!(packed.is_success(), "{}", said(&packed));
    let asked = tasks.next(|detail| detail["taskName"] == "Ship")?;
    let asked = asked["taskId"].as_str().unwrap_or_default().to_owned();
    let path = format!("/elsa/api/tasks/{asked}/complete");
    cloud.until("the task can be completed", || {
        let done = cloud.ask("POST", &path, Some(&json!({ "result": "sent" })))?;
        Ok(done.is_success().then_some(()))
    })?;
    let bookmark = until_it_waits(cloud, &id, "Event")?;
    answer_by_link(cloud, &id, bookmark["id"].as_str().unwrap_or_default())?;
    cloud.until_is(&id, "Finished")?;
    Ok(())
}

/// A person without an account looks at a page, which changes nothing, and presses a button.
fn answer_by_link(cloud: &Cloud, id: &str, bookmark: &str) -> Result<()> {
    let path = format!("/elsa/api/workflow-instances/{id}/bookmarks/{bookmark}/links");
    let made = cloud.ask("POST", &path, Some(&json!({ "outcomes": ["Yes", "No"] })))?;
    ensure!(made.is_success(), "{}", said(&made));
    let made = made.json();
    let url = made["url"].as_str().unwrap_or_default();
    let (_, secret) = url.split_once("/links/").context("a link")?;
    let link = format!("/links/{secret}");
    let page = cloud.ask("GET", &link, None)?;
    ensure!(page.is_success(), "{}", said(&page));
    ensure!(cloud.instance(id)?["subStatus"] == "Suspended");
    let form = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("origin", "null"),
    ];
    let pressed = cloud.send("POST", &link, &form, "outcome=0")?;
    ensure!(pressed.is_success(), "{}", said(&pressed));
    Ok(())
}

/// A delay of days is a schedule of the stack's group, is set again when it is lost, and goes with its instance.
pub(super) fn far_away_timers_are_schedules(cloud: &Cloud, binary: &Path) -> Result<()> {
    let group = cloud.output("ScheduleGroupName");
    cloud.publish(workflow("reminder", sequence([delay("3.00:00:00")])).json())?;
    let id = cloud.start("reminder", &json!({}))?;
    let made = schedules(cloud)?;
    ensure!(made.len() == 1, "{made:?}");
    let path = format!("/schedules/{}?groupName={group}", made[0]);
    let schedule = cloud.schedules("GET", &path)?;
    let target = &schedule["Target"];
    ensure!(target["Arn"] == cloud.output("TimerQueueArn"), "{target}");
    ensure!(
        target["RoleArn"] == cloud.output("ScheduleRoleArn"),
        "{target}"
    );
    let kept = &target["DeadLetterConfig"]["Arn"];
    ensure!(*kept == cloud.output("UndeliveredQueueArn"), "{target}");
    // Somebody deletes it; the doctor sets it again.
    cloud.schedules("DELETE", &path)?;
    ensure!(schedules(cloud)?.is_empty(), "it is deleted");
    let examined = Command::new(binary)
        .args(["doctor", "--json", "--fix", "--table", "dynamodb"])
        .envs(cloud.variables())
        .env("AWS_ENDPOINT_URL", cloud.server.endpoint())
        .output()?;
    let report: Value = serde_json::from_slice(&examined.stdout)?;
    ensure!(
        report["timersSet"] == 1 && report["left"] == 0,
        "{report:#}"
    );
    ensure!(schedules(cloud)? == made, "{made:?}");

    cancel(cloud, &id)?;
    cloud.until("the schedule is gone", || {
        Ok(schedules(cloud)?.is_empty().then_some(()))
    })
}

/// Deadlines that are not needed any more go, and new ones come, whichever function carries the instance on: the API
/// begins, a timer ends the first wait, an event the second, and somebody cancels the third.
pub(super) fn deadlines_come_and_go(cloud: &Cloud) -> Result<()> {
    let until = |what| fork("WaitAny", [what, delay("3.00:00:00")]);
    let steps = [
        until(delay("00:00:01")),
        until(event("Now")),
        delay("2.00:00:00"),
    ];
    cloud.publish(workflow("deadlines", sequence(steps)).json())?;
    let id = cloud.start("deadlines", &json!({}))?;
    until_it_waits(cloud, &id, "Event")?;
    put_event(cloud, "Now", &json!({}))?;
    cloud.until("the last wait", || {
        let waits = cloud.instance(&id)?["workflowState"]["bookmarks"].clone();
        Ok((!waits.to_string().contains("Event")).then_some(()))
    })?;
    cancel(cloud, &id)?;
    cloud.until("every schedule is gone", || {
        Ok(schedules(cloud)?.is_empty().then_some(()))
    })
}

/// What comes before anybody waits for it is kept, by whichever function finds that nobody does.
pub(super) fn early_events_are_kept(cloud: &Cloud) -> Result<()> {
    for (name, mode) in [("First", "Asynchronous"), ("Second", "Synchronous")] {
        let path = format!("/elsa/api/events/{name}/trigger");
        let body = json!({ "workflowExecutionMode": mode });
        let sent = cloud.ask("POST", &path, Some(&body))?;
        ensure!(sent.is_success(), "{}", said(&sent));
    }
    // The other one's message has long been handled when a start, a delay and a timer have been.
    let steps = [
        delay("00:00:02"),
        event("First"),
        event("Second"),
        write("both"),
    ];
    cloud.publish(workflow("late", sequence(steps)).json())?;
    let id = cloud.start("late", &json!({}))?;
    cloud.until_is(&id, "Finished")?;
    Ok(())
}

fn cancel(cloud: &Cloud, id: &str) -> Result<()> {
    let path = format!("/elsa/api/cancel/workflow-instances/{id}");
    let cancelled = cloud.ask("POST", &path, Some(&json!({})))?;
    ensure!(cancelled.is_success(), "{}", said(&cancelled));
    cloud.until_is(id, "Cancelled")?;
    Ok(())
}

/// The names of the schedules of the stack's group.
fn schedules(cloud: &Cloud) -> Result<Vec<String>> {
    let group = cloud.output("ScheduleGroupName");
    let listed = cloud.schedules("GET", &format!("/schedules?ScheduleGroup={group}"))?;
    let schedules = listed["Schedules"].as_array().into_iter().flatten();
    let names = schedules.filter_map(|schedule| schedule["Name"].as_str());
    Ok(names.map(str::to_owned).collect())
}

/// Every two seconds an instance, by SQS delays, until the definition is retracted.
pub(super) fn a_clock_starts_instances(cloud: &Cloud) -> Result<()> {
    let cron = activity("Elsa.Cron")
        .trigger()
        .input("cronExpression", "*/2 * * * * *");
    cloud.publish(workflow("clock", sequence([cron, write("tick")])).json())?;
    cloud.until("three ticks", || {
        let ticks = cloud.instances("clock")?;
        let done = ticks.iter().filter(|tick| tick["subStatus"] == "Finished");
        Ok((done.count() >= 3).then_some(()))
    })?;
    let retracted = cloud.ask("POST", "/elsa/api/workflow-definitions/clock/retract", None)?;
    ensure!(retracted.is_success(), "{}", said(&retracted));
    Ok(())
}

/// A parent goes on when its child has ended.
pub(super) fn a_parent_waits_for_its_child(cloud: &Cloud) -> Result<()> {
    cloud.publish(workflow("child", sequence([delay("00:00:01"), write("done")])).json())?;
    cloud.publish(workflow("parent", sequence([dispatch("child", true), write("on")])).json())?;
    let id = cloud.start("parent", &json!({}))?;
    cloud.until_is(&id, "Finished")?;
    let children = cloud.instances("child")?;
    ensure!(children.len() == 1, "{children:?}");
    ensure!(children[0]["subStatus"] == "Finished", "{children:?}");
    Ok(())
}
