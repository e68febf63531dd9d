//! Quantities of a case in words: with their unit, and in a column that has it in its head.

use crate::case::units;
use crate::recipe::plan::Quantity;
use crate::run::Record;

/// The unit of a throughput, without its prefix.
const ELEMENTS: &str = "elem/s";

/// The unit of floating-point operations per second, without its prefix.
const FLOPS: &str = "FLOPS";

/// A value of this quantity with its unit.
pub fn value(quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::Bandwidth | Quantity::SystemBandwidth => units::fmt_rate(value),
        Quantity::Time | Quantity::TimeWithTransfer => units::fmt_seconds(value),
        Quantity::Throughput => units::fmt_throughput(value),
        Quantity::Flops | Quantity::FlopsWithTransfer => units::fmt_flops(value),
    }
}

/// The quantity of a record with its unit.
pub fn of(record: &Record, quantity: Quantity) -> Option<String> {
    Some(value(quantity, record.quantity(quantity)?))
}

/// The rate that stands beside the median time of a case: the effective bandwidth, unless the chart's y axis is another.
pub fn rate(y: Quantity) -> Quantity {
    match y {
        Quantity::Throughput | Quantity::Flops | Quantity::FlopsWithTransfer => y,
        _ => Quantity::Bandwidth,
    }
}

/// The unit above a column of this quantity; empty if each value has its own unit.
pub fn column_unit(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Bandwidth | Quantity::SystemBandwidth => "GB/s",
        Quantity::Throughput => ELEMENTS,
        Quantity::Flops | Quantity::FlopsWithTransfer => FLOPS,
        Quantity::Time | Quantity::TimeWithTransfer => "",
    }
}

/// The quantity of a record in a column headed by [`column_unit`].
pub fn in_column(record: &Record, quantity: Quantity) -> Option<String> {
    match column_unit(quantity) {
        "" => of(record, quantity),
        // Its prefix depends on the value: `2.13 M`.
        unit @ (ELEMENTS | FLOPS) => Some(of(record, quantity)?.trim_end_matches(unit).trim_end().to_owned()),
        _ => Some(units::three_digits(record.quantity(quantity)?)),
    }
}
