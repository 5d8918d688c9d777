//! The layout in JSON of numbers whose owner states the level of their intervals.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::estimate::Measured;

/// A [`Measured`] as `value`, `low` and `high`, for `#[serde(with = "Ends")]`; without an interval, the ends are null.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "NumberWithEnds"))]
pub struct Ends {
    /// The number.
    pub value: f64,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
}

impl Ends {
    /// Serialises a number with the ends of its confidence interval.
    ///
    /// # Errors
    ///
    /// The serializer's.
    pub fn serialize<S: Serializer>(number: &Measured, serializer: S) -> Result<S::Ok, S::Error> {
        Serialize::serialize(&Self::from(number), serializer)
    }

    /// Reads a number and its ends.
    ///
    /// # Errors
    ///
    /// The deserializer's.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Measured, D::Error> {
        Ok(<Self as Deserialize>::deserialize(deserializer)?.into())
    }
}

impl From<&Measured> for Ends {
    fn from(number: &Measured) -> Self {
        let [low, high] = number.ends().map_or([None; 2], |ends| ends.map(Some));
        Self { value: number.value, low, high }
    }
}

impl From<Ends> for Measured {
    fn from(Ends { value, low, high }: Ends) -> Self {
        Self::between(value, low, high)
    }
}

/// The layout of an optional number, for `#[serde(with = "OptionalEnds", default)]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OptionalEnds(pub Option<Ends>);

impl OptionalEnds {
    /// Writes a number and its ends, or null.
    ///
    /// # Errors
    ///
    /// The serializer's.
    pub fn serialize<S: Serializer>(number: &Option<Measured>, serializer: S) -> Result<S::Ok, S::Error> {
        Serialize::serialize(&Self(number.as_ref().map(Ends::from)), serializer)
    }

    /// Reads a number and its ends, or null.
    ///
    /// # Errors
    ///
    /// The deserializer's.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Measured>, D::Error> {
        Ok(<Self as Deserialize>::deserialize(deserializer)?.0.map(Measured::from))
    }
}

/// Returns a number whose owner states level and samples.
pub(crate) fn owned(number: impl Into<Measured>) -> Measured {
    Measured { level: 0.0, samples: 0, ..number.into() }
}

/// Returns an exact number as an interval without width, so that both ends are in the JSON.
pub(crate) fn without_width(value: f64) -> Measured {
    Measured::between(value, Some(value), Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_shared_level_are_written_as_value_and_ends() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Owner {
            #[serde(with = "Ends")]
            time: Measured,
        }
        let owner = Owner { time: Measured::between(2.0, Some(1.0), Some(3.0)) };
        let json = r#"{"time":{"value":2.0,"low":1.0,"high":3.0}}"#;
        assert_eq!(serde_json::to_string(&owner).unwrap(), json);
        assert_eq!(serde_json::from_str::<Owner>(json).unwrap(), owner);
    }
}
