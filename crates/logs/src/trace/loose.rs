//! Values in the notations of logs: numbers as text, numbers with a fraction, Avro unions in an object, texts that need no copy.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// An integer, or the reason why there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Number {
    /// Missing, `null`, or not a number.
    #[default]
    None,
    /// Present.
    Is(i64),
    /// A number out of range.
    TooLarge,
}

impl Number {
    pub(super) fn value(self) -> Option<i64> {
        if let Self::Is(value) = self { Some(value) } else { None }
    }

    pub(super) fn is_given(self) -> bool {
        self != Self::None
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl<'de> Visitor<'de> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_i64<E>(self, value: i64) -> Result<Number, E> {
        Ok(Number::Is(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Number, E> {
        Ok(i64::try_from(value).map_or(Number::TooLarge, Number::Is))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Number, E> {
        // 2^63 is the first float beyond the range
        let fits = value.abs() < 9_223_372_036_854_775_808.0;
        Ok(if fits { Number::Is(value as i64) } else { Number::TooLarge })
    }

    fn visit_str<E>(self, text: &str) -> Result<Number, E> {
        Ok(text.trim().parse().map_or(Number::None, Number::Is))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Number, E> {
        Ok(Number::None)
    }

    fn visit_unit<E>(self) -> Result<Number, E> {
        Ok(Number::None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Number, A::Error> {
        // a union of Avro: {"long": 5}
        let number = map.next_entry::<IgnoredAny, Number>()?.map_or(Number::None, |(_, number)| number);
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(number)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Number, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Number::None)
    }
}

/// A text that borrows from the line if possible; empty if missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

impl Text<'_> {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor(PhantomData))
    }
}

struct TextVisitor<'a>(PhantomData<&'a ()>);

impl<'de: 'a, 'a> Visitor<'de> for TextVisitor<'a> {
    type Value = Text<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'a>, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Text<'a>, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Text<'a>, E> {
        Ok(Text(Cow::Owned(value.to_string())))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Text<'a>, E> {
        Ok(Text(Cow::Owned(value.to_string())))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Text<'a>, E> {
        Ok(Text(Cow::Owned(value.to_string())))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Text<'a>, E> {
        Ok(Text(Cow::Borrowed(if value { "true" } else { "false" })))
    }

    fn visit_unit<E>(self) -> Result<Text<'a>, E> {
        Ok(Text::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Text<'a>, A::Error> {
        let text = map.next_entry::<IgnoredAny, Text<'a>>()?.map(|(_, text)| text);
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(text.unwrap_or_default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Text<'a>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Text::default())
    }
}

/// Reads `null` like a missing value.
pub(super) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_logs_write_them() {
        let number = |text: &str| serde_json::from_str::<Number>(text).unwrap();
        for text in ["5", "\"5\"", "5.0", "{\"long\":5}", "{\"long\":{\"int\":5}}"] {
            assert_eq!(number(text), Number::Is(5), "{text}");
        }
        for text in ["null", "\"five\"", "[1,2]", "{}", "true"] {
            assert_eq!(number(text), Number::None, "{text}");
        }
        assert_eq!(number("18446744073709551615"), Number::TooLarge);
        assert_eq!(number("1e300"), Number::TooLarge);
        assert_eq!(number("-9223372036854775808"), Number::Is(i64::MIN));
    }

    #[test]
    fn texts_borrow_where_they_can() {
        let text = serde_json::from_str::<Text<'_>>("\"abc\"").unwrap();
        assert!(matches!(text.0, Cow::Borrowed("abc")));
        let text = serde_json::from_str::<Text<'_>>("{\"string\":\"a\\nb\"}").unwrap();
        assert_eq!(text.as_str(), "a\nb");
        assert_eq!(serde_json::from_str::<Text<'_>>("null").unwrap(), Text::default());
    }
}
