//! Trying a call again: which answers are worth it, how often, and after what pause.
//!
//! A pause is a timer like any other, so an instance that waits for its next attempt costs nothing and survives a
//! crash; the attempts made so far are part of its state.

use serde_json::{Value, json};

use crate::call::Answer;
use crate::definition::convert::text_of;
use crate::definition::data_type::DataType;
use crate::definition::fields::Fields;
use crate::graph::{Builder, Expression};
use crate::step::{Cx, Fault};
use crate::time::{format_duration, parse_duration_ms};

/// No pause is longer than a day.
const PAUSE_MS_MAX: i64 = 86_400_000;

/// How the pauses grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BackOff {
    Constant,
    Linear,
    Exponential,
}

/// How a call is tried again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strategy {
    attempts_max: u32,
    delay_ms: i64,
    back_off: BackOff,
    has_jitter: bool,
}

/// What an activity says of its strategy.
#[derive(Debug)]
pub(crate) enum Resilience {
    /// Nothing.
    None,
    /// The strategy itself, or the one with an id.
    Fixed(Strategy),
    /// A strategy or an id that an expression gives.
    Computed(Expression),
}

impl Strategy {
    /// Elsa's HTTP strategy: three more attempts, the first after a second, each pause twice as long.
    #[must_use]
    pub fn http() -> Self {
        Self {
            attempts_max: 3,
            delay_ms: 1_000,
            back_off: BackOff::Exponential,
            has_jitter: true,
        }
    }

    /// What the obsolete `enableResiliency` means.
    #[must_use]
    pub fn legacy() -> Self {
        Self {
            attempts_max: 8,
            has_jitter: false,
            ..Self::http()
        }
    }

    /// Reads a strategy: `{maxRetryAttempts, delay, backoffType, useJitter}`, or the id of one. What is not said is
    /// as in [`Self::http`].
    #[must_use]
    pub fn read(value: &Value) -> Self {
        // An `Object` expression gives its text.
        let parsed = value
            .as_str()
            .and_then(|text| serde_json::from_str(text).ok());
        let fields = Fields::of(parsed.as_ref().unwrap_or(value));
        let base = Self::http();
        let delay = fields.get("delay").map(|d| text_of(d.clone()));
        let back_off = match fields
            .text("backoffType")
            .unwrap_or_default()
            .to_ascii_lowercase()
            .as_str()
        {
            "constant" | "0" => BackOff::Constant,
            "linear" | "1" => BackOff::Linear,
            _ => BackOff::Exponential,
        };
        Self {
            attempts_max: fields
                .integer("maxRetryAttempts")
                .and_then(|n| u32::try_from(n).ok())
                .unwrap_or(base.attempts_max),
            delay_ms: delay
                .and_then(|d| parse_duration_ms(&d))
                .unwrap_or(base.delay_ms)
                .clamp(0, PAUSE_MS_MAX),
            back_off,
            has_jitter: fields.flag("useJitter").unwrap_or(base.has_jitter),
        }
    }

    /// The strategy as a catalogue lists it.
    #[must_use]
    pub fn value(&self) -> Value {
        json!({
            "maxRetryAttempts": self.attempts_max,
            "delay": format_duration(self.delay_ms),
            "backoffType": format!("{:?}", self.back_off),
            "useJitter": self.has_jitter,
        })
    }

    /// The pause before the next attempt, milliseconds, if there is to be one. `attempts`: how many there were
    /// besides the first. `random`: any number.
    #[must_use]
    pub fn pause_ms(&self, attempts: u32, answer: &Answer, random: u64) -> Option<i64> {
        if attempts >= self.attempts_max || !is_worth_another(answer) {
            return None;
        }
        let factor = match self.back_off {
            BackOff::Constant => 1,
            BackOff::Linear => i64::from(attempts) + 1,
            BackOff::Exponential => 1_i64.checked_shl(attempts.min(40)).unwrap_or(i64::MAX),
        };
        let mut pause = self.delay_ms.saturating_mul(factor).min(PAUSE_MS_MAX);
        if self.has_jitter {
            // From half to one and a half times as long, so that many who failed together do not come back together.
            let spread = i64::try_from(random % 1_001).unwrap_or(0);
            pause = pause / 2 + pause / 1_000 * spread + pause % 1_000 * spread / 1_000;
        }
        Some(pause.max(asked_for_ms(answer)).min(PAUSE_MS_MAX))
    }
}

/// Whether the same request may fare better later: no connection, no answer, or a status that says so.
fn is_worth_another(answer: &Answer) -> bool {
    match answer {
        Answer::FailedToConnect { .. } | Answer::TimedOut => true,
        Answer::Http { status, .. } => matches!(status, 408 | 409 | 429 | 500 | 502 | 503 | 504),
        Answer::Refused { .. }
        | Answer::Executed { .. }
        | Answer::Found
        | Answer::NotStarted { .. } => false,
    }
}

/// How long the answer asks to wait (`Retry-After` in seconds).
fn asked_for_ms(answer: &Answer) -> i64 {
    let Answer::Http { headers, .. } = answer else {
        return 0;
    };
    let header = headers.get("retry-after").and_then(|values| values.first());
    header
        .and_then(|text| text.trim().parse::<i64>().ok())
        .map_or(0, |s| s.clamp(0, PAUSE_MS_MAX / 1_000) * 1_000)
}

impl Resilience {
    /// Reads an activity's `customProperties.resilienceStrategy`: `{mode, strategyId, expression}`.
    pub(crate) fn read(builder: &mut Builder<'_>, fields: Fields<'_>) -> Self {
        let strategy = fields
            .object("customProperties")
            .object("resilienceStrategy");
        if !strategy.is_present() {
            return Self::None;
        }
        if strategy
            .text("mode")
            .is_some_and(|mode| mode.eq_ignore_ascii_case("expression"))
        {
            let depth = builder.enter("customProperties.resilienceStrategy.expression");
            let found = builder.expression(strategy.object("expression"), &DataType::Object);
            builder.leave(depth);
            return found.map_or(Self::None, Self::Computed);
        }
        match strategy.text("strategyId").filter(|id| !id.is_empty()) {
            Some(_) => Self::Fixed(Strategy::http()),
            None => Self::None,
        }
    }

    /// The strategy to go by now.
    pub(crate) fn strategy(&self, cx: &mut Cx<'_, '_>) -> Result<Option<Strategy>, Fault> {
        Ok(match self {
            Self::Fixed(strategy) => Some(strategy.clone()),
            Self::Computed(expression) => match cx.evaluate(expression, &DataType::Object)? {
                Value::Null => None,
                value @ (Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Array(_)
                | Value::Object(_)) => Some(Strategy::read(&value)),
            },
            Self::None if cx.flag("enableResiliency")? => Some(Strategy::legacy()),
            Self::None => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn status(status: u16) -> Answer {
        let headers = BTreeMap::new();
        Answer::Http {
            status,
            headers,
            body: Vec::new(),
        }
    }

    #[test]
    fn pauses_grow_as_asked_and_end() {
        let pauses = |kind: &str| {
            let strategy = Strategy::read(
                &json!({ "delay": "00:00:02", "backoffType": kind, "useJitter": false }),
            );
            (0..5)
                .map_while(|n| strategy.pause_ms(n, &Answer::TimedOut, 0))
                .collect::<Vec<_>>()
        };
        assert_eq!(pauses("Exponential"), [2_000, 4_000, 8_000]);
        assert_eq!(pauses("Linear"), [2_000, 4_000, 6_000]);
        assert_eq!(pauses("Constant"), [2_000, 2_000, 2_000]);
        assert_eq!(
            Strategy::legacy().pause_ms(7, &Answer::TimedOut, 0),
            Some(128_000)
        );
    }

    #[test]
    fn jitter_stays_between_half_and_one_and_a_half() {
        let strategy = Strategy::http();
        assert_eq!(strategy.pause_ms(0, &Answer::TimedOut, 0), Some(500));
        assert_eq!(strategy.pause_ms(0, &Answer::TimedOut, 1_000), Some(1_500));
    }

    #[test]
    fn only_answers_that_may_change_are_tried_again() {
        let worth: Vec<u16> = (100..600)
            .filter(|s| is_worth_another(&status(*s)))
            .collect();
        assert_eq!(worth, [408, 409, 429, 500, 502, 503, 504]);
        let refused = Answer::Refused {
            message: String::new(),
        };
        assert_eq!(Strategy::http().pause_ms(0, &refused, 0), None);
    }

    #[test]
    fn an_answer_may_ask_for_a_longer_pause() {
        let headers = BTreeMap::from([("retry-after".to_owned(), vec!["30".to_owned()])]);
        let busy = Answer::Http {
            status: 503,
            headers,
            body: Vec::new(),
        };
        assert_eq!(Strategy::http().pause_ms(0, &busy, 7), Some(30_000));
    }

    #[test]
    fn a_strategy_survives_being_a_value() {
        for strategy in [Strategy::http(), Strategy::legacy()] {
            assert_eq!(Strategy::read(&strategy.value()), strategy);
        }
    }
}
