//! .NET's decimal numbers: they keep how many digits they have behind the point.

use std::cmp::Ordering;

/// A number and the count of its digits behind the point.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decimal {
    units: i128,
    scale: u32,
}

const SCALE_MAX: u32 = 28;

impl Decimal {
    pub(super) fn whole(number: i64) -> Self {
        Self {
            units: i128::from(number),
            scale: 0,
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.contains(['e', 'E']) {
            return Self::from_f64(text.parse().ok()?);
        }
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = fraction.get(..fraction.len().min(SCALE_MAX as usize))?;
        if !digits.bytes().all(|b| b.is_ascii_digit()) || whole.is_empty() && digits.is_empty() {
            return None;
        }
        let units = format!("{whole}{digits}").parse().ok()?;
        Some(Self {
            units,
            scale: u32::try_from(digits.len()).ok()?,
        })
    }

    pub(super) fn from_f64(number: f64) -> Option<Self> {
        if !number.is_finite() || number.abs() > 7.9e28 {
            return None;
        }
        // A double has 15 digits that are certain.
        let text = format!("{number:.14e}").parse::<f64>().ok()?;
        Self::parse(&format!("{text}"))
    }

    pub(super) fn as_f64(self) -> f64 {
        self.text().parse().unwrap_or(f64::NAN)
    }

    pub(super) fn text(self) -> String {
        let digits = self.units.unsigned_abs().to_string();
        let scale = self.scale as usize;
        let digits = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        let sign = if self.units < 0 { "-" } else { "" };
        if fraction.is_empty() {
            format!("{sign}{whole}")
        } else {
            format!("{sign}{whole}.{fraction}")
        }
    }

    fn aligned(self, other: Self) -> Option<(i128, i128, u32)> {
        let scale = self.scale.max(other.scale);
        let up = |d: Self| d.units.checked_mul(10_i128.checked_pow(scale - d.scale)?);
        Some((up(self)?, up(other)?, scale))
    }

    pub(super) fn add(self, other: Self) -> Option<Self> {
        let (a, b, scale) = self.aligned(other)?;
        Some(Self {
            units: a.checked_add(b)?,
            scale,
        })
    }

    pub(super) fn negated(self) -> Self {
        Self {
            units: -self.units,
            ..self
        }
    }

    pub(super) fn multiply(self, other: Self) -> Option<Self> {
        let units = self.units.checked_mul(other.units)?;
        Some(
            Self {
                units,
                scale: self.scale + other.scale,
            }
            .fitted(),
        )
    }

    pub(super) fn divide(self, other: Self) -> Option<Self> {
        let (a, b, _) = self.aligned(other)?;
        let mut units = a.checked_div(b)?;
        let mut rest = a.checked_rem(b)?;
        let mut scale = 0;
        while rest != 0 && scale < SCALE_MAX && units.unsigned_abs() < 10_u128.pow(28) {
            rest = rest.checked_mul(10)?;
            units = units.checked_mul(10)?.checked_add(rest / b)?;
            rest %= b;
            scale += 1;
        }
        Some(Self { units, scale })
    }

    pub(super) fn remainder(self, other: Self) -> Option<Self> {
        let (a, b, scale) = self.aligned(other)?;
        Some(Self {
            units: a.checked_rem(b)?,
            scale,
        })
    }

    /// With no more digits behind the point than asked for; halves to even, or away from zero.
    pub(super) fn rounded(self, digits: u32, away: bool) -> Self {
        if self.scale <= digits {
            return self;
        }
        let unit = 10_i128.pow((self.scale - digits).min(37));
        let (mut units, rest) = (self.units / unit, (self.units % unit).abs());
        let half = (rest * 2).cmp(&unit);
        if half == Ordering::Greater || half == Ordering::Equal && (away || units % 2 != 0) {
            units += self.units.signum();
        }
        Self {
            units,
            scale: digits,
        }
    }

    pub(super) fn truncated(self) -> Self {
        Self {
            units: self.units / 10_i128.pow(self.scale.min(37)),
            scale: 0,
        }
    }

    pub(super) fn compare(self, other: Self) -> Ordering {
        match self.aligned(other) {
            Some((a, b, _)) => a.cmp(&b),
            None => self.as_f64().total_cmp(&other.as_f64()),
        }
    }

    fn fitted(self) -> Self {
        if self.scale > SCALE_MAX {
            self.rounded(SCALE_MAX, false)
        } else {
            self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal;

    #[test]
    fn the_scale_is_kept() {
        let of = |text| Decimal::parse(text).unwrap();
        assert_eq!(of("1.10").add(of("2.20")).unwrap().text(), "3.30");
        assert_eq!(of("7").divide(of("2")).unwrap().text(), "3.5");
        assert_eq!(of("2.345").rounded(2, false).text(), "2.34");
        assert_eq!(of("-0.5").text(), "-0.5");
        assert_eq!(of("1.5").multiply(of("2.0")).unwrap().text(), "3.00");
    }
}
