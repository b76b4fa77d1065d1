//! The machine a run is made on, and the program that makes it.

use gpubench_core::record::Host;
use gpubench_core::text::printable;

/// This gpubench: its version and commit.
pub fn version() -> String {
    format!("{} ({})", env!("CARGO_PKG_VERSION"), env!("GPUBENCH_COMMIT"))
}

/// Looks at this machine.
pub fn host() -> Host {
    use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};
    let what = RefreshKind::nothing()
        .with_cpu(CpuRefreshKind::nothing())
        .with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(what).ok();
    let cpu = system.as_ref().and_then(|system| system.cpus().first()).map(|cpu| cpu.brand());
    Host {
        name: text(System::host_name().ok()),
        cpu: match cpu.map(str::trim) {
            None | Some("") => System::cpu_arch(),
            Some(brand) => printable(brand, 120),
        },
        cores: std::thread::available_parallelism()
            .map_or(0, |n| u32::try_from(n.get()).unwrap_or(u32::MAX)),
        memory: system.map_or(0, |system| system.total_memory()),
        os: text(System::long_os_version().ok()),
        kernel: text(System::kernel_version().ok()),
        environment: environment(std::env::vars_os()),
    }
}

fn text(found: Option<String>) -> String {
    found.map_or_else(|| "unknown".into(), |text| printable(&text, 120))
}

fn environment(
    vars: impl Iterator<Item = (std::ffi::OsString, std::ffi::OsString)>,
) -> Vec<String> {
    let backends = gpubench_device::all();
    let changes_drivers = |name: &str| {
        backends.iter().flat_map(|b| b.environment()).any(|start| name.starts_with(start))
    };
    let mut found: Vec<_> = vars
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value))
        .filter(|(name, _)| changes_drivers(name))
        .map(|(name, value)| printable(&format!("{name}={}", value.to_string_lossy()), 400))
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_drivers_is_kept() {
        let vars = [("POCL_DEVICES", "basic"), ("SECRET_TOKEN", "x"), ("LP_NUM_THREADS", "2")];
        let found = environment(vars.into_iter().map(|(n, v)| (n.into(), v.into())));
        assert_eq!(found, ["LP_NUM_THREADS=2", "POCL_DEVICES=basic"]);
    }

    #[test]
    fn this_machine_has_cores_and_memory() {
        let host = host();
        assert!(host.cores > 0 && host.memory > 0, "{host:?}");
    }
}
