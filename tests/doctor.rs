//! The doctor on machines that are pretended: a root directory, an environment, a loader.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use gpubench::backend::doctor::{Finding, State, System};
use std::path::Path;

/// A machine below a temporary directory.
struct Machine {
    root: tempfile::TempDir,
    env: Vec<(&'static str, &'static str)>,
    /// Ends of the names of libraries that do not load.
    broken: Vec<&'static str>,
    /// Ends of the names of nodes that this user may not use.
    forbidden: Vec<&'static str>,
}

impl Machine {
    /// A Debian with both loaders.
    fn debian() -> Self {
        let root = tempfile::tempdir().unwrap();
        let machine = Self { root, env: vec![], broken: vec![], forbidden: vec![] };
        machine
            .with("/etc/os-release", "ID=debian\n")
            .with("/etc/group", "root:x:0:\nvideo:x:44:me\n")
    }

    fn with(self, path: &str, text: &str) -> Self {
        let path = self.root.path().join(path.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// A GPU on the PCI bus, bound to a kernel driver unless that is empty.
    fn with_gpu(self, address: &str, vendor: &str, driver: &str) -> Self {
        let device = format!("/sys/bus/pci/devices/{address}");
        let machine = self
            .with(&format!("{device}/class"), "0x030000\n")
            .with(&format!("{device}/vendor"), &format!("{vendor}\n"));
        #[cfg(unix)]
        if !driver.is_empty() {
            let link = machine.root.path().join(format!("sys/bus/pci/devices/{address}/driver"));
            std::os::unix::fs::symlink(format!("../../drivers/{driver}"), link).unwrap();
        }
        machine
    }

    fn examine(&self) -> Vec<Finding> {
        let ends = |path: &Path, names: &[&str]| {
            names.iter().any(|name| path.to_string_lossy().ends_with(name))
        };
        let system = System {
            root: self.root.path().to_owned(),
            env: &|name| {
                let found = self.env.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            },
            load: &|path| {
                if ends(path, &self.broken) { Err("it is broken".into()) } else { Ok(()) }
            },
            access: &|path| !ends(path, &self.forbidden),
        };
        system.examine()
    }

    /// The one finding whose text contains `part`.
    fn find(&self, part: &str) -> Finding {
        let findings = self.examine();
        let found: Vec<_> = findings.iter().filter(|f| f.found.contains(part)).collect();
        assert_eq!(found.len(), 1, "findings with `{part}` among {findings:#?}");
        found[0].clone()
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;

    fn todo(finding: &Finding) -> &str {
        finding.todo.as_deref().unwrap_or_default()
    }

    #[test]
    fn a_machine_with_nothing_gets_install_advice() {
        let mut machine = Machine::debian();
        machine.broken = vec!["libOpenCL.so.1", "libvulkan.so.1"];
        let findings = machine.examine();
        assert!(findings.iter().all(|f| f.state != State::Ok && f.todo.is_some()), "{findings:#?}");
        let all = findings.iter().map(todo).collect::<Vec<_>>().join("\n");
        for package in
            ["ocl-icd-libopencl1", "libvulkan1", "pocl-opencl-icd", "mesa-vulkan-drivers"]
        {
            assert!(all.contains(&format!("sudo apt install {package}")), "{package} in {all}");
        }
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn a_vendors_own_library_needs_no_loader() {
        let mut machine = Machine::debian().with("/vendor/lib64/egl/libGLES_mali.so", "");
        machine.broken = vec!["libOpenCL.so.1"];
        assert_eq!(machine.find("libGLES_mali.so loads").state, State::Ok);
        let said = format!("{:?}", machine.examine());
        assert!(!said.contains("libOpenCL") && !said.contains(".icd"), "{said}");
        // Where drivers are registered, the loader is what counts.
        let registered = machine.with("/etc/OpenCL/vendors/a.icd", "libgood.so.1\n");
        assert_eq!(registered.find("loader:").state, State::Problem);
    }

    #[test]
    fn opencl_manifests_name_libraries_that_load() {
        let mut machine = Machine::debian()
            .with("/etc/OpenCL/vendors/a.icd", "libgood.so.1\n")
            .with("/etc/OpenCL/vendors/b.icd", "/opt/absent/lib.so\n")
            .with("/etc/OpenCL/vendors/c.icd", "libbad.so\n")
            .with("/etc/OpenCL/vendors/d.icd", "\n")
            .with("/etc/OpenCL/vendors/e.icd", "libRusticlOpenCL.so.1\n")
            .with("/etc/OpenCL/vendors/readme.txt", "not a manifest");
        machine.broken = vec!["libbad.so"];
        assert_eq!(machine.find("a.icd").state, State::Ok);
        let absent = machine.find("b.icd");
        assert_eq!(absent.state, State::Problem);
        assert!(absent.found.contains("no such file") && todo(&absent).contains("reinstall"));
        assert!(machine.find("c.icd").found.contains("it is broken"));
        assert_eq!(machine.find("d.icd").state, State::Problem);
        assert!(todo(&machine.find("e.icd")).contains("RUSTICL_ENABLE"));
        assert!(!format!("{:?}", machine.examine()).contains("readme"));
        machine.env = vec![("RUSTICL_ENABLE", "radeonsi")];
        assert_eq!(machine.find("e.icd").state, State::Ok);
        // A container of NVIDIA's names its drivers so.
        machine.env = vec![("OCL_ICD_FILENAMES", "libnvidia-opencl.so.1:libbad.so")];
        assert_eq!(machine.find("OCL_ICD_FILENAMES: libnvidia").state, State::Ok);
        assert_eq!(machine.find("OCL_ICD_FILENAMES: libbad").state, State::Problem);
    }

    #[test]
    fn vulkan_manifests_parse_and_name_libraries_that_load() {
        let good = r#"{"file_format_version": "1.0.0", "ICD": {"library_path": "libgood.so", "api_version": "1.3.0"}}"#;
        let other_word = r#"{"ICD": {"library_path": "libother.so", "library_arch": "7"}}"#;
        let relative = r#"{"ICD": {"library_path": "../../lib/driver.so"}}"#;
        let machine = Machine::debian()
            .with("/usr/share/vulkan/icd.d/good.json", good)
            .with("/usr/share/vulkan/icd.d/other.json", other_word)
            .with("/etc/vulkan/icd.d/cut.json", &good[..60])
            .with("/etc/vulkan/icd.d/empty.json", "{}")
            .with("/etc/vulkan/icd.d/evil.json", "{\"ICD\": \u{1b}[31m")
            .with("/usr/local/share/vulkan/icd.d/relative.json", relative)
            .with("/usr/local/share/lib/driver.so", "");
        assert_eq!(machine.find("good.json").state, State::Ok);
        assert_eq!(machine.find("relative.json").state, State::Ok);
        for broken in ["cut.json", "empty.json", "evil.json"] {
            let finding = machine.find(broken);
            assert_eq!(finding.state, State::Problem);
            assert!(finding.found.contains("no driver manifest"), "{finding:?}");
            assert!(finding.found.contains("line 1"), "{finding:?}");
            assert!(!finding.found.contains('\u{1b}'));
        }
        assert!(!format!("{:?}", machine.examine()).contains("other.json"));
    }

    #[test]
    fn a_missing_vulkan_library_is_a_problem() {
        let missing = r#"{"ICD": {"library_path": "/usr/lib/libgone.so"}}"#;
        let machine = Machine::debian().with("/etc/vulkan/icd.d/gone.json", missing);
        let finding = machine.find("gone.json");
        assert_eq!(finding.state, State::Problem);
        assert!(finding.found.contains("/usr/lib/libgone.so does not load: there is no such file"));
    }

    /// What a library of a class and machine begins with.
    fn elf(class: u8, machine: u8) -> String {
        let mut head = vec![0; 64];
        head[..4].copy_from_slice(b"\x7fELF");
        (head[4], head[5], head[18]) = (class, 1, machine);
        String::from_utf8(head).unwrap()
    }

    #[test]
    fn drivers_of_another_architecture_are_no_problem() {
        let icd = |library: &str| format!(r#"{{"ICD": {{"library_path": "{library}"}}}}"#);
        // Of this one, a 32-bit one, and a machine that nobody builds for.
        let (word, ours) =
            if cfg!(target_arch = "aarch64") { (2, "aarch64") } else { (1, "x86_64") };
        let mut machine = Machine::debian()
            .with("/usr/share/vulkan/icd.d/lvp_icd.i686.json", &icd("libmissing.so"))
            .with(&format!("/usr/share/vulkan/icd.d/own_icd.{ours}.json"), &icd("libmissing.so"))
            .with("/usr/share/vulkan/icd.d/path.json", &icd("/usr/lib/i386-linux-gnu/libdriver.so"))
            .with("/usr/lib/i386-linux-gnu/libdriver.so", &elf(1, 3))
            .with("/usr/share/vulkan/icd.d/bare.json", &icd("libbare.so"))
            .with("/usr/lib/riscv64-linux-gnu/libbare.so", &elf(word, 8))
            .with("/etc/OpenCL/vendors/other.icd", "/usr/lib/i386-linux-gnu/libdriver.so\n")
            .with("/usr/share/vulkan/icd.d/torn.json", &icd("/opt/libtorn.so"))
            .with("/opt/libtorn.so", "\u{7f}ELF");
        machine.broken = vec!["libmissing.so", "libdriver.so", "libbare.so", "libtorn.so"];
        for foreign in ["lvp_icd.i686.json", "path.json", "bare.json", "other.icd"] {
            let finding = machine.find(foreign);
            assert_eq!(finding.state, State::Ok, "{finding:?}");
            assert!(finding.found.contains("another architecture"), "{finding:?}");
        }
        for broken in [&format!("own_icd.{ours}.json")[..], "torn.json"] {
            assert_eq!(machine.find(broken).state, State::Problem);
        }
    }

    #[test]
    fn variables_that_hide_drivers_are_named() {
        let mut machine = Machine::debian()
            .with("/usr/share/vulkan/icd.d/hidden.json", "{}")
            .with("/opt/only.json", r#"{"ICD": {"library_path": "libonly.so"}}"#)
            .with("/opt/vendors/mine.icd", "libmine.so");
        machine.env = vec![
            ("VK_DRIVER_FILES", "/opt/only.json:/opt/absent.json"),
            ("OCL_ICD_VENDORS", "/opt/vendors"),
            ("OPENCL_DYLIB_PATH", "/opt/absent.so"),
        ];
        assert_eq!(machine.find("VK_DRIVER_FILES").state, State::Warning);
        assert_eq!(machine.find("only.json").state, State::Ok);
        assert!(machine.find("absent.json").found.contains("cannot be read"));
        assert_eq!(machine.find("mine.icd").state, State::Ok);
        assert!(todo(&machine.find("absent.so")).contains("correct OPENCL_DYLIB_PATH"));
        assert!(!format!("{:?}", machine.examine()).contains("hidden.json"));
    }

    #[test]
    fn a_gpu_needs_a_driver_and_its_nodes() {
        let mut machine = Machine::debian()
            .with_gpu("0000:01:00.0", "0x10de", "nvidia")
            .with_gpu("0000:02:00.0", "0x1002", "amdgpu")
            .with_gpu("0000:03:00.0", "0x8086", "")
            .with_gpu("0000:04:00.0", "0x1a03", "ast")
            .with("/dev/dri/renderD128", "")
            .with("/dev/dri/card0", "")
            .with("/dev/nvidiactl", "")
            .with("/dev/nvidia0", "")
            .with("/dev/kfd", "");
        assert_eq!(machine.find("01:00.0 (NVIDIA) is driven by nvidia").state, State::Ok);
        assert_eq!(machine.find("03:00.0 (Intel) has no kernel driver").state, State::Problem);
        assert!(!format!("{:?}", machine.examine()).contains("04:00.0"), "a server's screen");
        assert_eq!(machine.find("there is no /dev/nvidia-uvm").state, State::Problem);
        assert_eq!(machine.find("/dev/kfd").state, State::Ok);
        machine.forbidden = vec!["renderD128"];
        assert_eq!(machine.find("/dev/dri/renderD128").state, State::Problem);
        let advice = machine.find("no .icd file").todo.unwrap();
        for package in ["nvidia-opencl-icd", "mesa-opencl-icd", "intel-opencl-icd"] {
            assert!(advice.contains(package), "{advice}");
        }
    }

    #[test]
    fn a_gpu_without_driver_or_node_is_a_problem() {
        let machine = Machine::debian().with_gpu("0000:01:00.0", "0x10de", "");
        let finding = machine.find("01:00.0 (NVIDIA) has no kernel driver");
        assert!(todo(&finding).contains("sudo apt install nvidia-driver"), "{finding:?}");
        let machine = Machine::debian().with_gpu("0000:02:00.0", "0x1002", "amdgpu");
        assert_eq!(machine.find("no /dev/dri/renderD*").state, State::Problem);
        let machine = Machine::debian().with_gpu("0000:03:00.0", "0x10de", "nouveau");
        assert_eq!(machine.find("driven by nouveau").state, State::Warning);
        let machine = Machine::debian().with_gpu("0000:04:00.0", "0x1414", "dxgkrnl");
        assert_eq!(machine.find("/dev/dxg").state, State::Problem);
        assert!(!format!("{:?}", machine.examine()).contains("renderD"));
    }

    #[test]
    fn a_forbidden_node_names_the_group_to_join() {
        use std::os::unix::fs::MetadataExt;
        let mut machine = Machine::debian()
            .with_gpu("0000:02:00.0", "0x1002", "amdgpu")
            .with("/dev/dri/renderD128", "");
        machine.forbidden = vec!["renderD128"];
        let node = machine.root.path().join("dev/dri/renderD128");
        let group = std::fs::metadata(node).unwrap().gid();
        let machine =
            machine.with("/etc/group", &format!("root:x:4294967294:\nrender:x:{group}:\n"));
        let finding = machine.find("/dev/dri/renderD128");
        assert!(todo(&finding).contains("usermod -aG render"), "{finding:?}");
    }

    #[test]
    fn without_a_gpu_only_cpu_implementations_can_be_used() {
        assert_eq!(Machine::debian().find("sees no GPU").state, State::Warning);
    }
}
