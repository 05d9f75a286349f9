//! The command line and its configuration, from the help texts that the binary prints, and the parameters of template.yaml.

use std::fmt::Write as _;
use std::process::Command;

use dormouse_tests::template::Template;
use serde_json::Value;

use super::cell;
use crate::process::dormouse;

/// Output of `dormouse … --help`, with no variable of this process.
fn help(command: &[String]) -> String {
    let binary = dormouse();
    let mut help = Command::new(binary.get_program());
    let output = help.env_clear().args(command).arg("--help").output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim().to_owned()
}

/// Commands that a help text lists.
fn listed(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    let is_name = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let names = lines
        .filter(is_name)
        .filter_map(|line| line.split_whitespace().next());
    names
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// All commands with their help texts, in the order of the help.
fn commands() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for name in listed(&help(&[])) {
        let text = help(std::slice::from_ref(&name));
        let inner = listed(&text);
        if inner.is_empty() {
            found.push((name, text));
            continue;
        }
        for second in inner {
            let text = help(&[name.clone(), second.clone()]);
            found.push((format!("{name} {second}"), text));
        }
    }
    assert!(found.len() >= 19, "{found:?}");
    found
}

/// The page of the command line.
pub(super) fn page() -> String {
    let mut page = String::from(
        "# Command line\n\nThis page is generated from the help texts of the binary. Options that several commands share are \
         repeated for each of them.\n\n",
    );
    let _infallible = write!(page, "```text\n{}\n```\n", help(&[]));
    for (name, text) in commands() {
        let _infallible = write!(page, "\n## dormouse {name}\n\n```text\n{text}\n```\n");
    }
    page
}

/// One option with a variable.
struct Option {
    variable: String,
    flag: String,
    default: String,
    text: String,
}

/// Value of a note in brackets, such as `[default: 7070]`.
fn note(text: &str, name: &str) -> std::option::Option<String> {
    let begin = text.find(&format!("[{name}: "))?;
    let rest = &text[begin + name.len() + 3..];
    Some(rest[..rest.find(']')?].trim_end_matches('=').to_owned())
}

/// Options of a help text that can also be set by a variable.
fn options(help: &str) -> Vec<Option> {
    let mut paragraphs: Vec<String> = Vec::new();
    for line in help.lines() {
        let is_flag = line.trim_start().starts_with('-');
        match paragraphs.last_mut() {
            Some(last) if !is_flag && !line.is_empty() => {
                last.push(' ');
                last.push_str(line.trim());
            }
            _ => paragraphs.push(line.trim().to_owned()),
        }
    }
    // An empty line between an option and its notes belongs to the option.
    let mut joined: Vec<String> = Vec::new();
    for paragraph in paragraphs {
        match joined.last_mut() {
            Some(last) if !paragraph.starts_with('-') => {
                last.push(' ');
                last.push_str(&paragraph);
            }
            _ => joined.push(paragraph),
        }
    }
    let read = |text: String| {
        let variable = note(&text, "env")?;
        let flag = text
            .split_whitespace()
            .find(|word| word.starts_with("--"))?;
        let after = text.split_once('>').map_or(&*text, |(_, after)| after);
        let after = after.strip_prefix(flag).unwrap_or(after);
        let text = after.split(" [").next().unwrap_or_default();
        let text = text.split(" Possible values:").next().unwrap_or_default();
        Some(Option {
            variable,
            flag: flag.to_owned(),
            default: note(after, "default").unwrap_or_default(),
            text: text.trim().trim_start_matches(flag).trim().to_owned(),
        })
    };
    joined.into_iter().filter_map(read).collect()
}

/// The page of the configuration.
pub(super) fn configuration() -> String {
    let mut page = String::from(
        "# Configuration\n\nThis page is generated from the help texts of the binary and from `template.yaml`.\n\n\
         ## Environment variables of `dormouse serve`\n\nAn option on the command line overrides its variable. Options \
         without a variable are in the [reference of the command line](cli.md#dormouse-serve).\n\n\
         | Variable | Option | Default | Meaning |\n|---|---|---|---|\n",
    );
    let serve = options(&help(&["serve".to_owned()]));
    assert!(serve.len() >= 20, "{} options have a variable", serve.len());
    for option in serve {
        let Option {
            variable,
            flag,
            default,
            text,
        } = option;
        let default = match default.as_str() {
            "" => String::new(),
            default => format!("`{default}`"),
        };
        let text = cell(&text);
        let _infallible = writeln!(page, "| `{variable}` | `{flag}` | {default} | {text} |");
    }
    page.push_str(
        "\nA server over DynamoDB also reads the names of the queues, the topic and the bus of a deployment from its \
         environment. They are outputs of the stack: see [Deploy](../how-to/deploy.md#containers).\n\n\
         ## Environment variables of the command line\n\n| Variable | Option | Meaning |\n|---|---|---|\n",
    );
    for option in options(&help(&["list".to_owned()])) {
        let Option {
            variable,
            flag,
            text,
            ..
        } = option;
        let _infallible = writeln!(page, "| `{variable}` | `{flag}` | {} |", cell(&text));
    }
    page.push_str(
        "\n## Parameters of the AWS stack\n\n| Parameter | Default | Meaning |\n|---|---|---|\n",
    );
    for (name, parameter) in Template::read().section("Parameters") {
        let default = match &parameter["Default"] {
            Value::Null => "none: it must be given".to_owned(),
            Value::String(text) if text.is_empty() => String::new(),
            Value::String(text) => format!("`{text}`"),
            other => format!("`{other}`"),
        };
        let text = cell(parameter["Description"].as_str().unwrap_or_default());
        let _infallible = writeln!(page, "| `{name}` | {default} | {text} |");
    }
    page
}
