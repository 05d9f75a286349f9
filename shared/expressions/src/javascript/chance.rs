//! Time, chance and ids of scripts: all from the instance's own deterministic sequence and its given time.

use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rquickjs::{Ctx, Exception, Result};

use super::host::Functions;
use crate::moment::Moment;
use crate::{Scope, dotnet};

impl<'js> Functions<'js> {
    pub(super) fn add_random(&self) -> Result<()> {
        let current = Rc::clone(&self.current);
        self.add("now", move |ctx: Ctx<'js>| {
            #[allow(clippy::cast_precision_loss, reason = "JavaScript's times are doubles")]
            current.scope(&ctx, |scope| scope.now_ms() as f64)
        })?;
        let current = Rc::clone(&self.current);
        self.add("random", move |ctx: Ctx<'js>| {
            // The upper 53 bits, as a fraction of 2^53.
            #[allow(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
            current.scope(&ctx, |scope| {
                (scope.random() >> 11) as f64 / 9_007_199_254_740_992.0
            })
        })?;
        let current = Rc::clone(&self.current);
        self.add("newGuid", move |ctx: Ctx<'js>| {
            current.scope(&ctx, |scope| guid_text(guid(scope)))
        })?;
        let current = Rc::clone(&self.current);
        self.add("newShortGuid", move |ctx: Ctx<'js>| {
            current.scope(&ctx, |scope| {
                STANDARD.encode(guid(scope)).replace(['/', '+', '='], "")
            })
        })?;
        self.add("offset", |ctx: Ctx<'js>, zone: String, ms: f64| {
            #[allow(
                clippy::cast_possible_truncation,
                reason = "saturates; what is no time has no offset"
            )]
            let seconds = offset_seconds(&zone, ms as i64);
            let problem = || Exception::throw_range(&ctx, &format!("Invalid time zone: {zone}"));
            let seconds = seconds.ok_or_else(problem)?;
            Ok::<_, rquickjs::Error>(f64::from(seconds) * 1000.0)
        })?;
        let current = Rc::clone(&self.current);
        self.add(
            "formatDate",
            move |ctx: Ctx<'js>, ms: f64, offset: f64, format: String| {
                if !current.budget.charge(format.len() as u64) {
                    return Err(current.stop(&ctx));
                }
                #[allow(
                    clippy::cast_possible_truncation,
                    reason = "saturates; years are checked"
                )]
                Ok(dotnet::format_date(
                    &Moment::new(ms as i64, offset as i32),
                    &format,
                ))
            },
        )
    }
}

/// How far a time zone (`Europe/Berlin`, `+02:00`) is before UTC at a time. `None`: there is no such zone.
fn offset_seconds(zone: &str, ms: i64) -> Option<i32> {
    let at = jiff::Timestamp::from_millisecond(ms).ok()?;
    let zone = match zone.strip_prefix(['+', '-']) {
        Some(digits) => {
            let (hours, minutes) = digits.split_once(':')?;
            let seconds = hours.parse::<i32>().ok()? * 3600 + minutes.parse::<i32>().ok()? * 60;
            let seconds = if zone.starts_with('-') {
                -seconds
            } else {
                seconds
            };
            jiff::tz::Offset::from_seconds(seconds).ok()?.to_time_zone()
        }
        None => jiff::tz::TimeZone::get(zone).ok()?,
    };
    Some(zone.to_offset(at).seconds())
}

/// A random (version 4) GUID of the scope's own sequence.
fn guid(scope: &mut dyn Scope) -> [u8; 16] {
    let bits = u128::from(scope.random()) << 64 | u128::from(scope.random());
    let version = bits & !(0xf << 76) | 0x4 << 76;
    (version & !(0x3 << 62) | 0x2 << 62).to_be_bytes()
}

fn guid_text(bytes: [u8; 16]) -> String {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let part = |range| hex.get(range).unwrap_or_default();
    format!(
        "{}-{}-{}-{}-{}",
        part(0..8),
        part(8..12),
        part(12..16),
        part(16..20),
        part(20..32)
    )
}
