//! Waiting for a time, and starting at one.

use dormouse_engine::instance::Start;
use dormouse_tests::primitives::{delay, event, for_, fork, line, sequence};
use dormouse_tests::{Activity, Scenario, activity, finished, js, suspended, workflow};

fn scenario(root: Activity) -> Scenario {
    Scenario::of(&workflow("scheduling", root))
}

#[test]
fn a_delay_waits_its_time() {
    let mut it = scenario(sequence([delay("00:00:10").id("Delay"), line("After")]));
    it.start()
        .is(suspended(&["Delay"]).effects(&["timer Delay 00:00:10"]));
    it.after("00:00:09").is(suspended(&["Delay"]));
    it.after("00:00:01").is(finished().lines(&["After"]));
}

#[test]
fn a_delay_is_a_minute_unless_it_says_otherwise() {
    let mut it = scenario(activity("Elsa.Delay").id("Delay"));
    it.start()
        .is(suspended(&["Delay"]).effects(&["timer Delay 00:01:00"]));
}

#[test]
fn a_delay_of_nothing_goes_on_at_once() {
    let mut it = scenario(sequence([delay("00:00:00").id("Delay"), line("After")]));
    assert_eq!(it.start().lines, ["After"]);
}

#[test]
fn a_delay_that_is_no_time_is_none() {
    let mut it = scenario(sequence([delay("soon").id("Delay"), line("After")]));
    assert_eq!(it.start().lines, ["After"]);
}

#[test]
fn the_first_of_two_delays_wins_the_race() {
    let branch = |time: &str, id: &str| sequence([delay(time).id(id), line(time)]);
    let branches = [branch("00:00:20", "Slow"), branch("00:00:10", "Fast")];
    let mut it = scenario(fork("WaitAny", branches));
    let effects = ["timer Slow 00:00:20", "timer Fast 00:00:10"];
    it.start()
        .is(suspended(&["Slow", "Fast"]).effects(&effects));
    it.after("01:00:00").is(finished().lines(&["00:00:10"]));
}

#[test]
fn an_instant_in_the_past_does_not_wait() {
    let at = |time: &str| activity("Elsa.StartAt").id("At").input("dateTime", time);
    scenario(at("2025-12-31T00:00:00Z")).start().is(finished());
    let mut it = scenario(at("2026-01-01T00:01:00Z"));
    it.start()
        .is(suspended(&["At"]).effects(&["timer At 00:01:00"]));
    it.after("00:01:00").is(finished());
}

#[test]
fn a_cron_expression_waits_for_its_next_time() {
    let cron = activity("Elsa.Cron")
        .id("Cron")
        .input("cronExpression", "0 0 * * * *");
    let mut it = scenario(cron);
    it.start()
        .is(suspended(&["Cron"]).effects(&["timer Cron 01:00:00"]));
    it.after("01:00:00").is(finished());
}

fn timer() -> Activity {
    activity("Elsa.Timer")
        .id("Timer")
        .input("interval", "00:00:30")
        .trigger()
}

fn triggered() -> Start {
    Start {
        trigger_activity_id: Some("Timer".into()),
        ..Start::default()
    }
}

#[test]
fn a_timer_waits_once() {
    let mut it = scenario(sequence([timer(), line("After")]));
    it.start()
        .is(suspended(&["Timer"]).effects(&["timer Timer 00:00:30"]));
    it.after("00:00:30").is(finished().lines(&["After"]));
}

#[test]
fn the_trigger_that_started_an_instance_does_not_wait() {
    let mut it = scenario(sequence([timer(), line("After")]));
    it.start_as(triggered()).is(finished().lines(&["After"]));
}

#[test]
fn the_trigger_does_not_wait_when_a_loop_comes_back_to_it_at_once() {
    let mut it = scenario(for_(1, 2, sequence([timer(), line("Round")])));
    it.start_as(triggered())
        .is(finished().lines(&["Round", "Round"]));
}

#[test]
fn the_trigger_waits_when_a_loop_comes_back_to_it() {
    let mut it = scenario(for_(1, 2, sequence([timer(), line("Round"), event("Go")])));
    it.start_as(triggered())
        .is(suspended(&["Go"]).lines(&["Round"]));
    let effects = ["timer Timer 00:00:30"];
    it.resume("Go").is(suspended(&["Timer"]).effects(&effects));
    it.after("00:00:30")
        .is(suspended(&["Go"]).lines(&["Round"]));
    it.resume("Go").is(finished());
}

#[test]
fn a_bad_cron_expression_fails_where_it_waits() {
    let seen = scenario(activity("Elsa.Cron").input("cronExpression", js("'never'"))).start();
    let message = &seen.incidents[0];
    assert!(
        message.starts_with("Error when parsing cron expression:"),
        "{message}"
    );
}
