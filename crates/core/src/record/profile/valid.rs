//! What the values of a profile's file must be.

use super::VERSION;
use crate::checked::checked;
use crate::class::Class;
use crate::gpu::DeviceInfo;
use crate::units::quoted;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

pub(super) fn known_version<'de, D: Deserializer<'de>>(d: D) -> Result<u32, D::Error> {
    match u32::deserialize(d)? {
        1..=VERSION => Ok(VERSION),
        other => Err(D::Error::custom(format!(
            "a profile of version {other}, and this gpubench reads versions up to {VERSION}"
        ))),
    }
}

pub(super) fn priced<'de, D: Deserializer<'de>>(d: D) -> Result<Class, D::Error> {
    let why = |class: Class| format!("`{}` has no price of its own", class.name());
    checked(Class::deserialize(d)?, Class::is_priced, why)
}

/// A device that does something: with units and a clock, where the driver reports them.
pub(super) fn at_work<'de, D: Deserializer<'de>>(d: D) -> Result<DeviceInfo, D::Error> {
    let device = DeviceInfo::deserialize(d)?;
    if device.compute_units == Some(0) {
        return Err(D::Error::custom("a device of 0 compute units"));
    }
    match device.clock_hz {
        Some(clock) if !(clock > 0.0 && clock.is_finite()) => {
            Err(D::Error::custom(format!("a device whose clock runs at {} Hz", quoted(clock))))
        }
        _ => Ok(device),
    }
}

pub(super) fn transaction<'de, D: Deserializer<'de>>(d: D) -> Result<Option<u32>, D::Error> {
    match Option::<u32>::deserialize(d)? {
        Some(bytes) if !(bytes.is_power_of_two() && bytes >= 4) => Err(D::Error::custom(format!(
            "a transaction of {bytes} B: a power of two from 4 is needed"
        ))),
        bytes => Ok(bytes),
    }
}

pub(super) fn some<'de, D: Deserializer<'de>>(d: D) -> Result<u32, D::Error> {
    checked(u32::deserialize(d)?, |n| n > 0, |_| "0 is too small: at least 1 is needed".to_owned())
}
