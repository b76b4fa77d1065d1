//! Whether a device has the subgroups that a kernel asks for.

use gpubench_core::gpu::{DeviceInfo, SUBGROUP_SIZE};

/// Whether kernels can have subgroups of `size` work-items.
///
/// # Errors
/// What the device has instead.
pub(super) fn check_subgroup(size: u32, device: &DeviceInfo) -> Result<(), String> {
    let has_choice = device.features.iter().any(|has| has == SUBGROUP_SIZE);
    let has = match device.subgroup {
        None => "reports no sizes".to_owned(),
        Some([only, other]) if only == other => {
            if size == only {
                return Ok(());
            }
            format!("has {only}")
        }
        Some([smallest, largest]) if !has_choice => {
            format!("has {smallest} to {largest} and takes no request")
        }
        Some([smallest, largest]) if (smallest..=largest).contains(&size) => return Ok(()),
        Some([smallest, largest]) => format!("has {smallest} to {largest}"),
    };
    Err(format!("the kernel asks for subgroups of {size} work-items, and the device {has}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::sample::device;

    #[test]
    fn a_size_is_the_only_one_or_one_of_those_that_may_be_requested() {
        let check = |size, subgroup, features: &[&str]| {
            let features = features.iter().map(|&one| one.to_owned()).collect();
            check_subgroup(size, &DeviceInfo { subgroup, features, ..device("vulkan") })
        };
        let range = Some([8, 32]);
        assert!(check(32, Some([32, 32]), &[]).is_ok());
        assert!(check(16, range, &[SUBGROUP_SIZE]).is_ok());
        let why = |size, subgroup, features| check(size, subgroup, features).unwrap_err();
        assert!(why(64, Some([32, 32]), &[]).ends_with("the device has 32"));
        assert!(why(64, range, &[SUBGROUP_SIZE]).ends_with("the device has 8 to 32"));
        assert!(why(16, range, &["subgroups"]).ends_with("takes no request"));
        assert!(why(16, None, &[SUBGROUP_SIZE]).ends_with("reports no sizes"));
    }
}
