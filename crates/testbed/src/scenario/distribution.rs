//! Distributions of lengths: a length, or a table with one key that names the family.

use fencepost_choice::Distribution;
use fencepost_history::Duration;
use toml::Value as Toml;

use super::error::{Code, ScenarioError};
use super::reader::Reader;
use super::section::{section, tagged};
use super::shape::Shape;
use super::value::{Input, Value};

tagged! {
    /// A family of distributions.
    pub enum Family {
        /// Every length between two alike.
        Uniform((Duration, Duration)) = "uniform",
        /// The gaps between events that come at a constant rate.
        Exponential(Exponential) = "exponential",
        /// Lognormal: mostly near its median, with a long tail.
        LogNormal(LogNormal) = "lognormal",
        /// Measured lengths in ascending order; draws lie between neighbours.
        Measured(Vec<Duration>) = "measured",
    }
}

section! {
    /// The gaps between events that come at a constant rate.
    pub struct Exponential {
        /// The mean.
        mean: Duration,
    }
}

section! {
    /// Lognormal, given by two quantiles.
    pub struct LogNormal {
        /// The median.
        p50: Duration,
        /// The length that one draw in a thousand exceeds.
        p999: Duration,
    }
}

impl Family {
    /// Says what is wrong with the numbers.
    fn fault(&self) -> Option<&'static str> {
        match self {
            Self::Uniform((min, max)) if min > max => Some("the range ends before it starts"),
            Self::LogNormal(log) if log.p50 == Duration::ZERO => Some("the median is zero"),
            Self::LogNormal(log) if log.p999 < log.p50 => Some("`p999` is below `p50`"),
            Self::Measured(lengths) if lengths.is_empty() => Some("there are no lengths"),
            Self::Measured(lengths) if !lengths.is_sorted() => {
                Some("the lengths are not in ascending order")
            }
            Self::Uniform(_) | Self::Exponential(_) | Self::LogNormal(_) | Self::Measured(_) => {
                None
            }
        }
    }
}

impl Value for Distribution {
    fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
        if !input.get_ref().is_table() {
            return Duration::read(input, reader).map(Self::Fixed);
        }
        let errors = reader.error_count();
        let family = Family::read(input, reader)?;
        if let Some(fault) = family.fault().filter(|_| reader.error_count() == errors) {
            reader.report(ScenarioError::new(Code::BadValue, input.span(), fault));
            return None;
        }
        Some(match family {
            Family::Uniform((min, max)) => Self::Uniform { min, max },
            Family::Exponential(Exponential { mean }) => Self::Exponential { mean },
            Family::LogNormal(LogNormal { p50, p999 }) => Self::LogNormal { p50, p999 },
            Family::Measured(lengths) => Self::Empirical(lengths),
        })
    }

    fn write(&self) -> Option<Toml> {
        match self.clone() {
            Self::Fixed(length) => length.write(),
            Self::Uniform { min, max } => Family::Uniform((min, max)).write(),
            Self::Exponential { mean } => Family::Exponential(Exponential { mean }).write(),
            Self::LogNormal { p50, p999 } => Family::LogNormal(LogNormal { p50, p999 }).write(),
            Self::Empirical(lengths) => Family::Measured(lengths).write(),
            // Worlds of ticks are built by tests and benchmarks; no scenario is read as one.
            Self::Steps { .. } => None,
        }
    }

    fn shape() -> Shape {
        Shape::Either(vec![Duration::shape(), Family::shape()])
    }
}
