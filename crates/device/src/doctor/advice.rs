//! What to install, in the words of this system.

use super::hardware::{Gpu, Vendor};
use super::{Finding, Machine, System};
use std::path::{Path, PathBuf};

/// A need, a vendor, and behind them the packages of each distribution.
const PACKAGES: &str = include_str!("packages.tsv");

/// A system by the way in which packages are installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Debian, Ubuntu and what is made from them.
    Debian,
    /// Fedora and Red Hat's.
    Fedora,
    /// Arch Linux.
    Arch,
    /// Alpine Linux.
    Alpine,
    /// openSUSE and SUSE.
    Suse,
    /// Another Linux, or another system of its kind.
    Other,
    /// macOS.
    Macos,
    /// Windows.
    Windows,
}

/// An API as the doctor knows it.
pub(crate) struct Api {
    /// What its findings belong to.
    pub area: &'static str,
    /// Its name in `packages.tsv`.
    pub packages: &'static str,
    /// What to do where it is missing on macOS.
    pub macos: &'static str,
    /// How to get its loader on a system whose packages are not known.
    pub loader: &'static str,
    /// How to get a driver there.
    pub driver: &'static str,
    /// What is said where no driver is registered.
    pub unregistered: &'static str,
}

/// Something of an API that can be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Loader,
    Driver(Option<Vendor>),
}

impl Distribution {
    /// The system that is run on, from what it was built for and `/etc/os-release`.
    pub fn of(system: &System<'_>) -> Self {
        if cfg!(target_os = "macos") {
            return Self::Macos;
        }
        if cfg!(windows) {
            return Self::Windows;
        }
        let text = system.read("/etc/os-release").or_else(|| system.read("/usr/lib/os-release"));
        Self::from_os_release(&text.unwrap_or_default())
    }

    /// From `ID`, else from what `ID_LIKE` names first
    /// (<https://www.freedesktop.org/software/systemd/man/latest/os-release.html>).
    fn from_os_release(text: &str) -> Self {
        let value = |key: &str| {
            let line = text.lines().find_map(|line| line.trim().strip_prefix(key));
            line.unwrap_or_default().trim_matches(['"', '\'']).to_owned()
        };
        let names = format!("{} {}", value("ID="), value("ID_LIKE="));
        let known = names.split_whitespace().find_map(|name| match name {
            "debian" | "ubuntu" => Some(Self::Debian),
            "fedora" | "rhel" | "centos" => Some(Self::Fedora),
            "arch" | "archlinux" => Some(Self::Arch),
            "alpine" => Some(Self::Alpine),
            "suse" | "opensuse" => Some(Self::Suse),
            name if name.starts_with("opensuse") => Some(Self::Suse),
            _ => None,
        });
        known.unwrap_or(Self::Other)
    }

    /// How to get what is needed of an API.
    pub(crate) fn advice(self, api: &Api, need: Need) -> String {
        match (self, need) {
            (Self::Macos, _) => api.macos.into(),
            (Self::Windows, _) => {
                "install the graphics driver of the device's vendor: it brings OpenCL and Vulkan"
                    .into()
            }
            (Self::Other, Need::Loader) => api.loader.into(),
            (Self::Other, Need::Driver(_)) => api.driver.into(),
            _ => self.install(api, need).unwrap_or_else(|| {
                "no package is known here; see the page of the device's vendor".into()
            }),
        }
    }

    /// The advice for the GPUs of this machine, or for its processor where there is none.
    fn for_all(self, gpus: &[Gpu], api: &Api) -> String {
        let mut vendors: Vec<_> = gpus.iter().map(|gpu| Some(gpu.vendor)).collect();
        vendors.dedup();
        if vendors.is_empty() {
            return format!("for the processor: {}", self.advice(api, Need::Driver(None)));
        }
        let mut lines: Vec<String> = vendors
            .into_iter()
            .map(|vendor| {
                let name = vendor.map_or("", Vendor::name);
                format!("for {name}: {}", self.advice(api, Need::Driver(vendor)))
            })
            .collect();
        lines.dedup();
        lines.join("; ")
    }

    /// How packages are installed, and the column of [`PACKAGES`].
    fn packaging(self) -> Option<(&'static str, usize)> {
        match self {
            Self::Debian => Some(("sudo apt install", 2)),
            Self::Fedora => Some(("sudo dnf install", 3)),
            Self::Arch => Some(("sudo pacman -S", 4)),
            Self::Alpine => Some(("sudo apk add", 5)),
            Self::Suse => Some(("sudo zypper install", 6)),
            Self::Other | Self::Macos | Self::Windows => None,
        }
    }

    fn install(self, api: &Api, need: Need) -> Option<String> {
        let (part, vendor) = match need {
            Need::Loader => ("loader", None),
            Need::Driver(vendor) => ("driver", vendor),
        };
        let name = format!("{}-{part}", api.packages);
        let vendor = vendor.map_or("-", Vendor::name);
        let mut rows = PACKAGES.lines().map(|line| line.split('\t').collect::<Vec<_>>());
        let row = rows.find(|row| row[..2.min(row.len())] == [&name, vendor])?;
        let (command, column) = self.packaging()?;
        let packages = row.get(column).filter(|packages| **packages != "-")?;
        Some(format!("{command} {packages}"))
    }
}

impl Machine<'_> {
    /// Whether drivers of an API are registered, and what `one` says of the manifest of each.
    pub(crate) fn drivers(
        &self,
        api: &Api,
        manifests: &[PathBuf],
        one: impl Fn(&Path) -> Option<Finding>,
    ) -> Vec<Finding> {
        if manifests.is_empty() {
            let todo = self.here.for_all(&self.gpus, api);
            return vec![Finding::problem(api.area, api.unregistered, todo)];
        }
        manifests.iter().filter_map(|path| one(path)).collect()
    }

    /// Whether an API's loader loads.
    pub(crate) fn loader(&self, api: &Api, name: &str) -> Finding {
        self.system.loader(api.area, name, self.here.advice(api, Need::Loader))
    }

    /// Whether drivers are registered by files, as the loaders of Linux do it.
    pub(crate) fn has_manifests(&self) -> bool {
        !matches!(self.here, Distribution::Macos | Distribution::Windows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_are_known_by_name_or_likeness() {
        let of = Distribution::from_os_release;
        assert_eq!(of("NAME=x\nID=debian\n"), Distribution::Debian);
        assert_eq!(of("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"), Distribution::Debian);
        assert_eq!(of("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n"), Distribution::Fedora);
        assert_eq!(of("ID=manjaro\nID_LIKE=arch\n"), Distribution::Arch);
        assert_eq!(of("ID='alpine'"), Distribution::Alpine);
        assert_eq!(of("ID=\"opensuse-tumbleweed\""), Distribution::Suse);
        assert_eq!(of("VERSION_ID=debian\nID=nixos"), Distribution::Other);
        assert_eq!(of(""), Distribution::Other);
    }

    #[test]
    fn every_row_names_packages_for_every_distribution() {
        let rows: Vec<usize> =
            PACKAGES.lines().skip(1).map(|line| line.split('\t').count()).collect();
        assert_eq!(rows, [7; 13]);
    }

    #[test]
    fn advice_is_a_command() {
        let debian = Distribution::Debian;
        let [opencl, vulkan] = ["opencl", "vulkan"].map(|packages| Api {
            area: "",
            packages,
            macos: "",
            loader: "",
            driver: "",
            unregistered: "",
        });
        assert_eq!(debian.advice(&opencl, Need::Loader), "sudo apt install ocl-icd-libopencl1");
        assert_eq!(
            debian.for_all(&[], &vulkan),
            "for the processor: sudo apt install mesa-vulkan-drivers"
        );
        let none = Distribution::Alpine.advice(&opencl, Need::Driver(Some(Vendor::Nvidia)));
        assert!(none.contains("no package"), "{none}");
    }
}
