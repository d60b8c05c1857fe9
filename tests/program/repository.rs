//! Temporary repositories, and the binary run in them.

use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// No run may take longer, in the slowest build on the busiest machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder that may be a git repository.
pub(crate) struct Repository {
    folder: TempDir,
}

/// What a run of the binary gave.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Fails unless the run ended with this exit code.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "\nstdout:\n{}\nstderr:\n{}",
            self.stdout, self.stderr
        );
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    /// `rule path:line` of each finding; the run was one with `--format json`.
    pub(crate) fn findings(&self) -> Vec<String> {
        let report: serde_json::Value =
            serde_json::from_str(&self.stdout).unwrap_or_else(|error| {
                panic!(
                    "{error}\nstdout:\n{}\nstderr:\n{}",
                    self.stdout, self.stderr
                )
            });
        let findings = report["findings"].as_array().expect("a list of findings");
        findings
            .iter()
            .map(|finding| {
                format!(
                    "{} {}:{}",
                    finding["rule"].as_str().expect("a rule"),
                    finding["location"]["path"].as_str().expect("a path"),
                    finding["location"]["start"]["line"]
                )
            })
            .collect()
    }
}

impl Repository {
    /// An empty folder outside git.
    pub(crate) fn folder() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    /// A repository without commits.
    pub(crate) fn empty() -> Self {
        let repository = Self::folder();
        repository.git(&["init", "-q", "-b", "main"]);
        repository.git(&["config", "core.autocrlf", "false"]);
        repository
    }

    /// A repository with one commit that holds a directory of the test data.
    pub(crate) fn of(testdata: &str) -> Self {
        let repository = Self::empty();
        repository.copy(testdata);
        repository.commit("first");
        repository
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("the folder")
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(path, content).expect("a file");
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).expect("a file")
    }

    /// Replaces a text that stands in a file exactly once.
    #[track_caller]
    pub(crate) fn replace(&self, path: &str, old: &str, new: &str) {
        let text = self.read(path);
        assert_eq!(text.matches(old).count(), 1, "{old:?} in {path}");
        self.write(path, text.replace(old, new));
    }

    /// Puts a directory of the test data in the place of all files.
    pub(crate) fn copy(&self, testdata: &str) {
        for entry in std::fs::read_dir(self.path()).expect("the folder") {
            let path = entry.expect("an entry").path();
            if path.file_name().is_some_and(|name| name == ".git") {
                continue;
            }
            if path.is_dir() {
                std::fs::remove_dir_all(path).expect("a directory to remove");
            } else {
                std::fs::remove_file(path).expect("a file to remove");
            }
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("testdata")
            .join(testdata);
        for entry in walkdir::WalkDir::new(&root) {
            let entry = entry.expect("the test data");
            if entry.file_type().is_file() {
                let path = entry.path().strip_prefix(&root).expect("below the root");
                let content = std::fs::read(entry.path()).expect("the test data");
                self.write(path.to_str().expect("a plain name"), content);
            }
        }
    }

    /// What git prints; it must succeed.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = clean(&mut Command::new("git"))
            .current_dir(self.path())
            .args(["-c", "user.name=Somebody", "-c", "user.email=s@example.org"])
            .args(arguments)
            .output()
            .expect("git runs");
        assert!(
            output.status.success(),
            "git {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    /// Commits all files as they are.
    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    /// Runs wavelint here.
    #[track_caller]
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, &[])
    }

    /// Runs wavelint here, with more in its environment.
    #[track_caller]
    pub(crate) fn run_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
        let mut command = self.command(arguments);
        command.envs(environment.iter().copied());
        finish(command)
    }

    /// wavelint, not yet run.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wavelint"));
        clean(&mut command)
            .current_dir(self.path())
            .args(arguments)
            .stdin(Stdio::null());
        command
    }

    /// `rule path:line` of all findings; the exit code must be 0 or 1.
    #[track_caller]
    pub(crate) fn findings(&self, arguments: &[&str]) -> Vec<String> {
        let ran = self.run(&[&["check", "--format", "json"], arguments].concat());
        assert!(ran.code < 2, "{}", ran.stderr);
        ran.findings()
    }
}

/// Nothing of the machine's own settings, of the hook or of the workflow in which the tests may run.
fn clean(command: &mut Command) -> &mut Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    command
        .env_clear()
        .env("PATH", path)
        .env("HOME", "/nonexistent")
        .env("LANG", "C.UTF-8")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
}

/// Runs to the end, and fails where there is none in time.
#[track_caller]
fn finish(mut command: Command) -> Ran {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let collect = |mut pipe: Box<dyn Read + Send>| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            pipe.read_to_end(&mut bytes).expect("a pipe");
            String::from_utf8(bytes).expect("the output is UTF-8")
        })
    };
    let stdout = collect(Box::new(child.stdout.take().expect("a pipe")));
    let stderr = collect(Box::new(child.stderr.take().expect("a pipe")));
    let status = wait(&mut child);
    Ran {
        code: status.code().expect("no signal ended it"),
        stdout: stdout.join().expect("standard output"),
        stderr: stderr.join().expect("standard error"),
    }
}

/// Waits, and kills what takes too long.
#[track_caller]
pub(crate) fn wait(child: &mut std::process::Child) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a child") {
            return status;
        }
        if start.elapsed() > PATIENCE {
            child.kill().expect("a child to kill");
            let _ = std::io::stderr().flush();
            panic!("wavelint did not end within {PATIENCE:?}");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// A report for people without its times.
pub(crate) fn without_times(text: &str) -> String {
    text.lines()
        .map(|line| match line.rsplit_once(" (") {
            Some((front, time)) if time.ends_with(" ms)") || time.ends_with(" s)") => {
                format!("{front} (… ms)\n")
            }
            _ => format!("{line}\n"),
        })
        .collect()
}
