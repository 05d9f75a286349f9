//! `dormouse test`

mod found;
mod from_instance;
mod junit;
mod report;
mod watch;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
pub(crate) use from_instance::from_instance;

use dormouse_sandbox::{Case, Coverage, Outcome, TestFile, Trial};

use crate::definition_file;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

/// The format of test files, for `dormouse test --help`.
const HELP: &str = "\
A test file, such as approval.test.yaml beside approval.json:

  workflow: approval.json            # with: [child.json] for workflows that it uses
  now: 2026-03-02T09:00:00Z          # start of the virtual clock
  cases:
    - name: the deadline refuses
      input: { Request: a chair }    # also: correlation, trigger: ACTIVITY, start: false
      mocks:
        Elsa.SendHttpRequest:        # a type, id or name; answer, fails: TEXT or timesOut: true
          - { when: { url: \"*/crm/*\", method: GET }, answer: { status: 200, body: { id: 7 } } }
        \"task:Review\": { after: 2d, result: { ok: true } }
        \"workflow:child\": { after: 1h, output: { Login: ada } }   # or fails: TEXT
      steps:
        - advance: 1d 12h
        - { event: Decision, payload: { approved: true } }
        - { task: Ship, result: { ok: true } }
        - { resume: Approve, input: {} }
        - request: { method: POST, path: /orders, query: {}, headers: {}, body: {} }
        - cancel: true               # or retry: true
        - expect: { status: Suspended, waiting: [WaitForDecision] }
      expect: { status: Finished, output: { Outcome: refused }, ran: [Refuse], notRan: [Grant] }

`expect` has status, output, variables, ran, notRan, waiting, incidents (a number or texts), lines, events, tasks, instances,
requests and response (status, headers, body). Activities are named by id or name.";

/// Tests to run.
#[derive(Debug, Args)]
#[command(after_long_help = HELP)]
pub(crate) struct TestArgs {
    /// Test files, or folders that are searched for `*.test.yaml`
    #[arg(required_unless_present = "from_instance", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print a test file made of what this instance of a running server did, instead of running tests
    #[arg(long, value_name = "INSTANCE", conflicts_with_all = ["files", "case", "coverage", "junit", "watch"])]
    pub(crate) from_instance: Option<String>,
    /// Run only cases with this text in their name
    #[arg(long, value_name = "TEXT")]
    case: Option<String>,
    /// List the activities and outcomes that no case ran
    #[arg(long)]
    coverage: bool,
    /// Write the results as JUnit XML too
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Run again whenever a test file or a definition changes, until it is interrupted
    #[arg(long)]
    watch: bool,
}

/// The results of a test file.
struct FileResult {
    file: String,
    /// `None`: the file or its definition cannot be used.
    ran: Result<Ran, Broken>,
}

/// A file that cannot be used.
struct Broken {
    line: usize,
    message: String,
}

struct Ran {
    workflow: String,
    cases: Vec<CaseResult>,
    coverage: Coverage,
}

struct CaseResult {
    case: Case,
    outcome: Outcome,
    ms: f64,
}

impl CaseResult {
    fn has_passed(&self) -> bool {
        self.outcome.failures.is_empty()
    }
}

/// Runs all cases of all files. The exit code says whether each passed.
pub(crate) fn test(args: &TestArgs, screen: &Screen) -> Result<Exit, Failure> {
    if args.watch {
        return watch::watch(&args.files, screen, || run_all(args, screen));
    }
    run_all(args, screen)
}

fn run_all(args: &TestArgs, screen: &Screen) -> Result<Exit, Failure> {
    let begin = Instant::now();
    let files = found::test_files(&args.files)?;
    let mut results = Vec::new();
    for path in &files {
        let result = FileResult {
            file: path.display().to_string(),
            ran: run(path, args.case.as_deref()),
        };
        report::tell_file(screen, &result, args.coverage);
        results.push(result);
    }
    let cases = || results.iter().flat_map(FileResult::cases);
    if cases().next().is_none() && results.iter().all(|r| r.ran.is_ok()) {
        let message = "no case has this text in its name";
        return Err(Failure::new(Exit::BadInput, "noCase", message));
    }
    if let Some(file) = &args.junit {
        let written = std::fs::write(file, junit::xml(&results));
        written.map_err(|e| Failure::file(file, &e))?;
    }
    let ms = begin.elapsed().as_secs_f64() * 1_000.0;
    report::tell_all(screen, &results, ms);
    Ok(match () {
        () if results.iter().any(|r| r.ran.is_err()) => Exit::BadInput,
        () if cases().all(CaseResult::has_passed) => Exit::Ok,
        () => Exit::Failed,
    })
}

impl FileResult {
    fn cases(&self) -> &[CaseResult] {
        self.ran.as_ref().map_or(&[], |ran| &ran.cases)
    }
}

fn run(path: &Path, wanted: Option<&str>) -> Result<Ran, Broken> {
    let broken = |line: usize, message: String| Broken { line, message };
    let text = std::fs::read_to_string(path).map_err(|e| broken(1, e.to_string()))?;
    let file = TestFile::parse(&text).map_err(|e| broken(e.line, e.message))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut definitions = Vec::new();
    for located in std::iter::once(&file.workflow).chain(&file.with) {
        let read = definition_file::read_all(&[folder.join(&located.text)]);
        let read = read.map_err(|failure| broken(located.line, failure.message))?;
        definitions.extend(read.into_iter().map(|f| f.definition));
    }
    let mut trial =
        Trial::new(definitions).map_err(|e| broken(file.workflow.line, e.to_string()))?;
    let cases = file.cases.into_iter();
    let cases = cases.filter(|c| wanted.is_none_or(|text| c.name.contains(text)));
    let mut results = Vec::new();
    for case in cases {
        let begin = Instant::now();
        let outcome = trial.run(&case);
        results.push(CaseResult {
            ms: begin.elapsed().as_secs_f64() * 1_000.0,
            case,
            outcome,
        });
    }
    Ok(Ran {
        workflow: file.workflow.text,
        cases: results,
        coverage: trial.coverage(),
    })
}
