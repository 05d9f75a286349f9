//! What the random workflows are made of.

use super::generator::large;

#[test]
fn every_activity_that_ends_by_itself_or_by_a_person_is_drawn() {
    let drawn: String = (0..200)
        .flat_map(large)
        .map(|recipe| recipe.json.to_string())
        .collect();
    // Left out: what answers HTTP requests, reads a console, runs C# or Python, or goes the way that happens to be first.
    let kinds = "BulkDispatchWorkflows Break Complete Correlate Delay DispatchWorkflow DownloadHttpFile Event \
        ExecuteWorkflow Fault Finish FlowDecision FlowFork FlowJoin FlowSendHttpRequest FlowSwitch Flowchart For ForEach \
        Fork If Parallel ParallelForEach PublishEvent RunJavaScript RunTask SendHttpRequest Sequence SetName SetOutput \
        SetVariable StartAt Switch Timer While WriteLine";
    for own in ["Dormouse.Throw", "Dormouse.TryCatch", "compensateOn"] {
        assert!(drawn.contains(&format!("\"{own}\"")), "{own}");
    }
    for kind in kinds.split_whitespace() {
        assert!(drawn.contains(&format!("\"Elsa.{kind}\"")), "{kind}");
    }
}
