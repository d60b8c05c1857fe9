//! Formats, colours, pipes: what reaches other programs.

use std::process::Stdio;

use crate::repository::{Repository, wait, without_times};

const FORMATS: [&str; 7] = [
    "human", "concise", "json", "sarif", "github", "gitlab", "junit",
];

/// The demonstration as a repository, with its four findings.
fn drifted() -> Repository {
    let repository = Repository::of("demo/before");
    repository.copy("demo/after");
    repository
}

#[test]
fn json_formats_are_json() {
    let repository = drifted();
    for (format, count) in [
        ("json", "/findings"),
        ("sarif", "/runs/0/results"),
        ("gitlab", ""),
    ] {
        let ran = repository.run(&["--format", format]).expect(1);
        let value: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let list = value.pointer(count).and_then(|list| list.as_array());
        assert_eq!(list.map(Vec::len), Some(4), "{format}");
        assert!(ran.stdout.ends_with("}\n") || ran.stdout.ends_with("]\n"));
    }
}

#[test]
fn line_formats_have_a_line_for_each_finding() {
    let repository = drifted();
    let ran = repository.run(&["--format", "concise"]).expect(1);
    assert_eq!(ran.stdout.lines().count(), 4);
    assert!(
        ran.stdout.starts_with("apps/wave-1/grafana.yaml:1:1 error"),
        "{}",
        ran.stdout
    );
    let ran = repository.run(&["--format", "github"]).expect(1);
    assert_eq!(
        ran.stdout
            .lines()
            .filter(|line| line.starts_with("::error "))
            .count(),
        4
    );
}

#[test]
fn junit_is_well_formed() {
    let ran = drifted().run(&["--format", "junit"]).expect(1);
    let mut open: Vec<&str> = Vec::new();
    let body = ran.stdout.split_once("?>").expect("a declaration").1;
    for tag in body.split('<').skip(1) {
        let tag = tag.split_once('>').expect("a tag ends").0;
        let name = tag.trim_start_matches('/').split([' ', '/', '\n']).next();
        let name = name.expect("a tag has a name");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert_eq!(open, [""; 0]);
    assert_eq!(ran.stdout.matches("<failure").count(), 4);
}

#[test]
fn two_runs_print_the_same_bytes() {
    let repository = drifted();
    for format in FORMATS {
        let print = || {
            let ran = repository.run(&["--format", format]).expect(1);
            if format == "human" {
                without_times(&ran.stdout)
            } else {
                ran.stdout
            }
        };
        let first = print();
        for _ in 0..3 {
            assert_eq!(first, print(), "{format}");
        }
        let root = repository.path();
        assert!(
            !first.contains(root.to_str().expect("a plain path")),
            "{format}"
        );
    }
}

#[test]
fn what_is_piped_is_plain() {
    let repository = drifted();
    let plain = repository.run(&[]).expect(1).stdout;
    assert!(!plain.contains('\u{1b}'));
    for drawn in ['╭', '─', '│'] {
        assert!(!plain.contains(drawn));
    }
    let forced = repository
        .run_with(&[], &[("CLICOLOR_FORCE", "1")])
        .expect(1)
        .stdout;
    assert!(forced.contains("\u{1b}["));
    let flag = repository.run(&["--color", "always"]).expect(1).stdout;
    assert!(flag.contains("\u{1b}["));
    let never = repository
        .run_with(&["--color", "never"], &[("CLICOLOR_FORCE", "1")])
        .expect(1)
        .stdout;
    assert_eq!(without_times(&never), without_times(&plain));
}

#[test]
fn quiet_prints_findings_only() {
    let repository = drifted();
    let text = repository.run(&["--quiet"]).expect(1).stdout;
    assert!(text.contains("wrong-wave") && !text.contains("4 errors in"));
    repository.copy("demo/before");
    assert_eq!(repository.run(&["-q"]).expect(0).stdout, "");
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let repository = drifted();
    for arguments in [
        &["--format", "json"][..],
        &["--format", "human"],
        &["rules"],
        &["demo"],
    ] {
        let mut child = repository
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        drop(child.stdout.take());
        let mut stderr = child.stderr.take().expect("a pipe");
        let status = wait(&mut child);
        let mut said = String::new();
        std::io::Read::read_to_string(&mut stderr, &mut said).expect("text");
        assert_eq!(said, "", "{arguments:?}");
        assert!(
            matches!(status.code(), Some(0 | 1)),
            "{arguments:?}: {status}"
        );
    }
}

#[test]
fn a_closed_standard_error_does_no_harm() {
    let repository = drifted();
    let mut child = repository
        .command(&["--rev", "nowhere"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    drop(child.stderr.take());
    assert_eq!(wait(&mut child).code(), Some(2));
}

#[test]
fn verbose_says_what_is_read_and_what_cannot_be_known() {
    let repository = drifted();
    repository.replace(
        "platform/kustomization.yaml",
        "resources:\n",
        "resources:\n  - https://example.org/remote?ref=v1\n",
    );
    let said = repository.run(&["--verbose"]).expect(1).stderr;
    let head = repository.git(&["rev-parse", "HEAD"]);
    let first = format!(
        "wavelint: note: linting the work tree, compared with commit {}\n",
        &head[..10]
    );
    assert!(said.starts_with(&first), "{said}");
    assert!(
        said.contains("cluster `clusters/prod`: 5 Kustomizations, "),
        "{said}"
    );
    assert!(
        said.contains("not known in `clusters/dev`: ")
            && said.contains("platform/kustomization.yaml:4"),
        "{said}"
    );
}

#[test]
fn a_report_in_the_repository_is_no_finding_of_the_next_run() {
    let repository = Repository::of("homelab/waves");
    for format in ["sarif", "json", "human"] {
        let output = format!("wavelint.{format}");
        repository
            .run(&["--format", format, "--output", &output])
            .expect(0);
    }
    assert_eq!(repository.findings(&[]), Vec::<String>::new());
    assert!(
        repository
            .read("wavelint.sarif")
            .contains("private-key-committed")
    );
}
