//! A machine behind a real sshd: one of our own on the loopback address, with keys made for it.

use crate::common::{Place, suite, text, until};
use crate::links::killed;
use crate::machines::write_hosts;
use crate::{SIM, nothing_is_left, output, results};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// It ends with the test.
struct Sshd(Child);

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts it; the words that lead into the place behind it.
fn sshd(place: &Place) -> (Sshd, String) {
    let folder = place.folder.path().display();
    for key in ["host", "user"] {
        let file = format!("{folder}/{key}");
        let made =
            Command::new("ssh-keygen").args(["-qt", "ed25519", "-N", "", "-f", &file]).status();
        assert!(made.expect("ssh-keygen is installed").success());
    }
    let port =
        TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
    let write = |name: &str, text: String| {
        std::fs::write(place.folder.path().join(name), text).expect("writable");
    };
    write(
        "sshd_config",
        format!(
            "ListenAddress 127.0.0.1:{port}\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/user.pub\n\
             StrictModes no\nUsePAM no\nPidFile none\n"
        ),
    );
    write(
        "ssh_config",
        format!(
            "Host board\nHostName 127.0.0.1\nPort {port}\nIdentityFile {folder}/user\nIdentitiesOnly yes\n\
             UserKnownHostsFile {folder}/known\nStrictHostKeyChecking accept-new\nBatchMode yes\nLogLevel ERROR\n"
        ),
    );
    // Where an sshd of root's confines what answers before the key is checked.
    let _ = std::fs::create_dir("/run/sshd");
    let config = format!("{folder}/sshd_config");
    let mut command = Command::new("/usr/sbin/sshd");
    command.args(["-D", "-e", "-f", &config]).stderr(Stdio::null());
    let sshd = Sshd(command.spawn().expect("sshd is installed"));
    until("the sshd", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    let there = format!("env -C {folder} TMPDIR={folder}/tmp GPUBENCH_LOCKS={folder}/tmp");
    (sshd, format!("ssh -F {folder}/ssh_config board {there}"))
}

#[test]
#[cfg_attr(not(feature = "require-ssh"), ignore = "needs an sshd")]
fn a_run_behind_ssh_is_the_run_that_it_is_here() {
    let place = Place::new();
    let (_sshd, command) = sshd(&place);
    let binary = env!("CARGO_BIN_EXE_gpubench");
    write_hosts(&place, &format!("board: {{ command: {command}, binary: {binary} }}\n"));
    let suite = suite("program/program.yaml");
    let run = |more: &[&str]| {
        let found = output(&place, &[&["run", &suite], more, &SIM].concat());
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
        let run = place.run();
        std::fs::remove_file(place.result()).expect("a file");
        run
    };
    let (here, there) = (run(&[]), run(&["--on", "board"]));
    assert!(!here.records.is_empty());
    assert_eq!(results(&here.records), results(&there.records));
    assert_eq!(there.header.remotes[0].name, "board");
    let pushed = output(&place, &["devices", "--sim", "k40c", "--on", &command, "--push", binary]);
    assert!(text(&pushed.stdout).contains("Tesla K40c"), "{}", text(&pushed.stderr));
    nothing_is_left(&place);
}

/// What is killed is the client: the relay behind the sshd sees its stdin end.
#[test]
#[cfg_attr(not(feature = "require-ssh"), ignore = "needs an sshd")]
fn killed_ssh_clients_cost_no_record_and_leave_no_process() {
    let place = Place::new();
    let (_sshd, command) = sshd(&place);
    let folder = Path::new(env!("CARGO_BIN_EXE_gpubench")).parent().expect("a folder").display();
    killed(&place, &format!("{command} PATH={folder}:/usr/bin:/bin \"$@\""));
}
