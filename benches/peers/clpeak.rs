//! One device's figures by clpeak.

use std::process::Command;

/// clpeak for one device.
pub struct Clpeak {
    /// As its option wants them.
    platform: String,
    device: String,
}

impl Clpeak {
    /// For the device called `name`; `None` (with a word on stderr) where it has none or cannot be run.
    pub fn of(name: &str) -> Option<Self> {
        let text = run(&["--kernel-latency"])?;
        let (mut platform, mut device) = (None, 0);
        for line in text.lines().map(str::trim) {
            if line.starts_with("Platform:") {
                platform = Some(platform.map_or(0, |platform: usize| platform + 1));
                device = 0;
            } else if let Some(one) = line.strip_prefix("Device: ") {
                if one == name.trim() {
                    let platform = platform?.to_string();
                    return Some(Self { platform, device: device.to_string() });
                }
                device += 1;
            }
        }
        eprintln!("clpeak knows no {name}: its column stays empty");
        None
    }

    /// What it prints for a test.
    pub fn test(&self, option: &str) -> Figures {
        let text = run(&["-p", &self.platform, "-d", &self.device, option]).unwrap_or_default();
        let mut lines = vec![];
        let mut heading = String::new();
        for line in text.lines().map(str::trim) {
            let Some((label, value)) = line.rsplit_once(':') else {
                heading = line.to_owned();
                continue;
            };
            let value = value.split_whitespace().next().and_then(|value| value.parse().ok());
            lines.extend(value.map(|value| (format!("{heading}/{}", label.trim()), value)));
        }
        Figures { lines }
    }
}

/// A test's figures, with the label of each behind its heading.
pub struct Figures {
    lines: Vec<(String, f64)>,
}

impl Figures {
    /// All but those of the device itself, which stand above the first heading.
    pub fn under_headings(&self) -> impl Iterator<Item = f64> {
        self.lines.iter().filter(|(label, _)| !label.starts_with('/')).map(|line| line.1)
    }

    /// Those whose heading and label begin so.
    pub fn of<'a>(&'a self, start: &'a str) -> impl Iterator<Item = f64> + 'a {
        self.lines.iter().filter(move |(label, _)| label.starts_with(start)).map(|line| line.1)
    }
}

/// What it prints, also where it ends with an error. It does so at a platform without devices, such as Clover's,
/// behind the figures of all others.
fn run(arguments: &[&str]) -> Option<String> {
    match Command::new("clpeak").args(arguments).output() {
        Ok(output) => {
            if !output.status.success() {
                eprintln!("clpeak {}: {}", arguments.join(" "), output.status);
            }
            // A signal that ends it leaves no code.
            output.status.code().map(|_| String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Err(error) => {
            eprintln!("clpeak: {error}; its column stays empty");
            None
        }
    }
}
