//! Commands that are handlers of activities: processes beside this one, each with a bound on its time and its answer.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use dormouse_runtime::port::{CommandAnswer, Commands};
use tokio::sync::Semaphore;

/// Maximum number of commands at a time.
const AT_ONCE: usize = 8;
/// Variables of the environment that a command receives. Everything else may be a secret.
const VARIABLES: [&str; 5] = ["PATH", "HOME", "LANG", "TMPDIR", "SystemRoot"];
/// Maximum length of the quoted error output of a failed command, in bytes.
const ERROR_BYTES_MAX: u64 = 2_000;
/// Interval at which the end of a command is checked.
const LOOK: Duration = Duration::from_millis(5);

/// Processes of this machine.
pub(crate) struct Processes {
    room: Semaphore,
}

impl Processes {
    pub(crate) fn new() -> Self {
        Self {
            room: Semaphore::new(AT_ONCE),
        }
    }
}

#[async_trait]
impl Commands for Processes {
    async fn run(
        &self,
        command: &[String],
        input: Vec<u8>,
        timeout_ms: u64,
        bytes_max: usize,
    ) -> CommandAnswer {
        let until = Instant::now() + Duration::from_millis(timeout_ms);
        let Ok(Ok(_room)) = tokio::time::timeout_at(until.into(), self.room.acquire()).await else {
            return CommandAnswer::TimedOut;
        };
        let command = command.to_vec();
        let ran = tokio::task::spawn_blocking(move || run(&command, input, until, bytes_max));
        ran.await.unwrap_or_else(|error| failed(error.to_string()))
    }
}

fn failed(message: String) -> CommandAnswer {
    CommandAnswer::Failed { message }
}

fn run(command: &[String], input: Vec<u8>, until: Instant, bytes_max: usize) -> CommandAnswer {
    let Some((program, arguments)) = command.split_first() else {
        return failed("there is no command".into());
    };
    let mut prepared = Command::new(program);
    prepared
        .args(arguments)
        .env_clear()
        .envs(
            VARIABLES
                .iter()
                .filter_map(|name| Some((*name, std::env::var_os(name)?))),
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut prepared, 0);
    let mut child = match prepared.spawn() {
        Ok(child) => child,
        Err(error) => return failed(format!("`{program}` cannot be started: {error}")),
    };
    if let Some(mut stdin) = child.stdin.take() {
        // One that does not read is no failure: its answer counts.
        std::thread::spawn(move || stdin.write_all(&input));
    }
    let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX);
    let written = read(child.stdout.take(), limit.saturating_add(1));
    let complained = read(child.stderr.take(), ERROR_BYTES_MAX);
    let answer = answer(&mut child, &written, &complained, until, bytes_max);
    // Whatever it has started and left.
    end(&mut child);
    answer
}

fn answer(
    child: &mut Child,
    written: &mpsc::Receiver<Vec<u8>>,
    complained: &mpsc::Receiver<Vec<u8>>,
    until: Instant,
    bytes_max: usize,
) -> CommandAnswer {
    let left = until.saturating_duration_since(Instant::now());
    let Ok(output) = written.recv_timeout(left) else {
        return CommandAnswer::TimedOut;
    };
    if output.len() > bytes_max {
        return CommandAnswer::TooLong;
    }
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return CommandAnswer::Done(output),
            Ok(Some(status)) => {
                let said = complained
                    .recv_timeout(Duration::from_secs(1))
                    .unwrap_or_default();
                let said = String::from_utf8_lossy(&said);
                return failed(format!("the command ended with {status}: {}", said.trim()));
            }
            Ok(None) if Instant::now() >= until => return CommandAnswer::TimedOut,
            Ok(None) => std::thread::sleep(LOOK),
            Err(error) => return failed(error.to_string()),
        }
    }
}

/// Output of a stream, up to its end or its limit.
fn read(stream: Option<impl Read + Send + 'static>, limit: u64) -> mpsc::Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(stream) = stream {
            // What came until it broke is what there is.
            let _ = stream.take(limit).read_to_end(&mut bytes);
        }
        let _nobody_waits = send.send(bytes);
    });
    receive
}

fn end(child: &mut Child) {
    if !matches!(child.try_wait(), Ok(Some(_))) {
        #[cfg(unix)]
        {
            let group = format!("-{}", child.id());
            let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    async fn sh(script: &str, timeout_ms: u64) -> CommandAnswer {
        let command = ["sh", "-c", script].map(str::to_owned);
        let input = br#"{"taskId":"t"}"#.to_vec();
        Processes::new()
            .run(&command, input, timeout_ms, 1_000)
            .await
    }

    #[tokio::test]
    async fn a_command_reads_its_task_and_what_it_writes_is_the_answer() {
        let echoed = CommandAnswer::Done(br#"{"taskId":"t"}"#.to_vec());
        assert_eq!(sh("cat", 10_000).await, echoed);
        assert_eq!(sh("exit 0", 10_000).await, CommandAnswer::Done(Vec::new()));
    }

    #[tokio::test]
    async fn a_command_that_fails_hangs_or_writes_too_much_is_told_so() {
        let CommandAnswer::Failed { message } = sh("echo no >&2; exit 3", 10_000).await else {
            panic!("it failed");
        };
        assert!(message.contains('3') && message.contains("no"), "{message}");
        let begin = Instant::now();
        assert_eq!(sh("sleep 60 & wait", 200).await, CommandAnswer::TimedOut);
        assert!(begin.elapsed() < Duration::from_secs(10));
        assert_eq!(sh("yes", 10_000).await, CommandAnswer::TooLong);
        let missing = ["/there/is/none".to_owned()];
        let answer = Processes::new().run(&missing, Vec::new(), 1_000, 10).await;
        assert!(matches!(answer, CommandAnswer::Failed { .. }));
    }

    #[tokio::test]
    async fn secrets_of_the_server_are_not_a_commands() {
        let CommandAnswer::Done(environment) = sh("env", 10_000).await else {
            panic!("it ended well");
        };
        let environment = String::from_utf8_lossy(&environment).into_owned();
        assert!(!environment.contains("CARGO"), "{environment}");
    }
}
