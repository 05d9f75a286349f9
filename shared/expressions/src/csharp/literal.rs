//! Values of literals.

use super::decimal::Decimal;
use super::syntax::Literal;
use super::value::V;

pub(super) fn of_literal<'p>(literal: &Literal) -> V<'p> {
    match literal {
        Literal::Null => V::Null,
        Literal::Bool(flag) => V::Bool(*flag),
        Literal::Int(number) => V::Int(*number),
        Literal::Long(number) => V::Long(*number),
        Literal::Single(number) => V::Single(*number),
        Literal::Double(number) => V::Double(*number),
        Literal::Decimal(digits) => Decimal::parse(digits).map_or(V::Null, V::Decimal),
        Literal::Text(text) => V::text(text.as_str()),
        Literal::Char(character) => V::Char(*character),
    }
}
