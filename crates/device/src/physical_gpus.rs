//! Which devices of several APIs are one physical GPU.

use gpubench_core::gpu::{DeviceInfo, DeviceKind};

/// The physical GPU of each device, numbered from 0 in the order of the devices. Two devices are one
/// physical GPU when their UUIDs or their PCI addresses are equal; a device that reports neither is a
/// physical GPU of its own.
pub fn physical_gpus(devices: &[DeviceInfo]) -> Vec<usize> {
    let mut groups: Vec<Vec<usize>> = vec![];
    for (i, device) in devices.iter().enumerate() {
        let joins =
            |group: &Vec<usize>| group.iter().any(|&j| same_physical_gpu(device, &devices[j]));
        // A device can join two groups of which one knows only the UUID, the other only the
        // address.
        let (mut joined, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(joins);
        groups = others;
        joined.push(vec![i]);
        groups.push(joined.concat());
    }
    groups.sort_by_key(|group| group.iter().min().copied());
    let number = |i| groups.iter().position(|group| group.contains(&i)).unwrap_or(i);
    (0..devices.len()).map(number).collect()
}

/// GPUs of their own first, CPU implementations last.
pub(crate) fn kind_rank(kind: DeviceKind) -> u8 {
    match kind {
        DeviceKind::Discrete => 0,
        DeviceKind::Integrated => 1,
        DeviceKind::Virtual => 2,
        DeviceKind::Other => 3,
        DeviceKind::Cpu | DeviceKind::Simulated | DeviceKind::Imported => 4,
    }
}

fn same_physical_gpu(a: &DeviceInfo, b: &DeviceInfo) -> bool {
    let same = |a: &Option<String>, b: &Option<String>| {
        a.as_ref().zip(b.as_ref()).is_some_and(|(a, b)| a.eq_ignore_ascii_case(b))
    };
    same(&a.uuid, &b.uuid) || same(&a.pci, &b.pci)
}

#[cfg(test)]
mod tests {
    use super::super::device_choice::tests::device;
    use super::*;

    #[test]
    fn views_of_one_physical_gpu_share_its_number() {
        let mut devices =
            [device("opencl", 0, "A"), device("opencl", 1, "B"), device("wgpu", 0, "B")];
        assert_eq!(physical_gpus(&devices), [0, 1, 2]);
        devices[1].pci = Some("0000:0a:00.0".into());
        devices[2].pci = Some("0000:0A:00.0".into());
        assert_eq!(physical_gpus(&devices), [0, 1, 1]);
        devices[0].uuid = Some("ab".into());
        devices[2].uuid = Some("ab".into());
        assert_eq!(physical_gpus(&devices), [0, 0, 0]);
        assert_eq!(physical_gpus(&[]), [] as [usize; 0]);
    }
}
