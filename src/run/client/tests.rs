use super::*;
use crate::engine::protocol::{Finished, Pictures};
use crate::recipe::plan::Plan;

fn shell(line: &str) -> anyhow::Result<(Client, Hello)> {
    Client::spawn(&EngineCommand::Shell(line.to_owned()))
}

#[test]
fn an_engine_that_does_not_start_is_one_line_with_what_it_said() {
    let error = shell("echo one; echo two >&2; exit 7").expect_err("no engine").to_string();
    assert!(error.contains("exit status 7"), "{error}");
    assert!(error.contains("one") && error.contains("two") && !error.contains('\n'), "{error}");
    let error = shell("exit 0").expect_err("no engine").to_string();
    assert!(error.ends_with("(exit status 0)"), "{error}");
}

#[test]
fn a_start_can_be_given_up() {
    let began = Instant::now();
    let mut asked = 0;
    let mut given_up = || {
        asked += 1;
        asked > 2
    };
    let client = Client::spawn_unless(&EngineCommand::Shell("sleep 100".into()), &mut given_up);
    assert!(client.expect("no error").is_none());
    assert!(began.elapsed() < END_TIMEOUT, "it is not asked to end by itself");
}

#[test]
fn an_engine_that_reads_nothing_blocks_nobody() {
    let mut sleeper = std::process::Command::new("sleep");
    let mut client = Client::start(sleeper.arg("100").process_group(0)).expect("starts");
    // More than the capacity of a pipe.
    client.send(&Command::Probe { backends: vec!["x".repeat(1 << 20)], device: 0 }).expect("said");
    client.kill();
    assert_eq!(client.ending(), "killed by signal 9 (often: out of memory)");
}

/// The client would wait for ever for the answer to a command that was never sent.
#[test]
fn a_plan_that_cannot_be_said_is_an_error() {
    let plan = Plan { title: "x".repeat(LONGEST_COMMAND), ..Plan::default() };
    let mut sleeper = std::process::Command::new("sleep");
    let mut client = Client::start(sleeper.arg("100").process_group(0)).expect("starts");
    let run = Command::Run { plan: Box::new(plan), finished: Finished::default(), pictures: Pictures::None };
    let error = format!("{:#}", client.send(&run).expect_err("a plan that is too long"));
    assert!(error.contains("an engine reads up to"), "{error}");
    client.kill();
}

#[test]
fn endings_are_told_in_words() {
    let status = |wait: i32| describe(ExitStatus::from_raw(wait));
    assert_eq!(status(1 << 8), "exit status 1");
    assert_eq!(status(4 << 8), "exit status 4: it lost its device");
    assert_eq!(status(137 << 8), "exit status 137: killed by signal 9 (often: out of memory)");
    assert_eq!(status(11), "ended by signal 11 (a crash, of its own or in a driver)");
    assert_eq!(status(15), "ended by signal 15");
}

#[test]
fn a_command_line_can_be_copied_into_a_shell() {
    let own = EngineCommand::Own.command_line("run --resume", Path::new("reports/a-1"));
    assert_eq!(own, "scatterlab run --resume reports/a-1");
    let far = EngineCommand::Shell("ssh host 'scatterlab' engine".into());
    let far = far.command_line("report", Path::new("my runs/a"));
    assert_eq!(far, r"scatterlab report 'my runs/a' --engine 'ssh host '\''scatterlab'\'' engine'");
}
