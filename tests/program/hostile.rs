//! Repositories made to hurt: no panic, no hang, and an exit code that says what happened.

use crate::repository::Repository;

fn lint_every_way(repository: &Repository) {
    for arguments in [
        &[][..],
        &["--format", "json"],
        &["--format", "sarif", "--no-base"],
        &["--staged"],
    ] {
        let ran = repository.run(arguments);
        assert!(matches!(ran.code, 0 | 1), "{arguments:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    }
}

const KUSTOMIZATION: &str =
    "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n";

/// A cluster that reads every hostile file.
fn with_files(files: &[(&str, Vec<u8>)]) -> Repository {
    let repository = Repository::of("homelab/waves");
    let mut list = KUSTOMIZATION.to_owned();
    for (name, content) in files {
        repository.write(&format!("platform/{name}"), content);
        list.push_str(&format!("  - {name}\n"));
    }
    repository.write("platform/kustomization.yaml", list);
    repository.git(&["add", "-A"]);
    repository
}

#[test]
fn deep_nesting_and_long_lines() {
    let deep_flow = [b"a: ".to_vec(), vec![b'['; 200_000]].concat();
    let mut deep_block = Vec::new();
    for depth in 0..2_000 {
        deep_block.extend(vec![b' '; depth]);
        deep_block.extend(b"a:\n");
    }
    let mut long_line =
        b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: long\ndata:\n  x: ".to_vec();
    long_line.extend(vec![b'y'; 10_000_000]);
    let dashes = b"- ".repeat(50_000);
    lint_every_way(&with_files(&[
        ("deep-flow.yaml", deep_flow),
        ("deep-block.yaml", deep_block),
        ("long-line.yaml", long_line),
        ("dashes.yaml", dashes),
    ]));
}

#[test]
fn alias_bombs_and_merge_loops() {
    let mut bomb = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\na0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..30 {
        let below = format!("*a{}", level - 1);
        bomb.push_str(&format!(
            "a{level}: &a{level} [{}]\n",
            [below.as_str(); 9].join(", ")
        ));
    }
    let mut merges =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: merges}\nm0: &m0 {k: v}\n".to_owned();
    for level in 1..40 {
        merges.push_str(&format!(
            "m{level}: &m{level} {{<<: [*m{0}, *m{0}], k{level}: v}}\n",
            level - 1
        ));
    }
    lint_every_way(&with_files(&[
        ("bomb.yaml", bomb.into_bytes()),
        ("merges.yaml", merges.into_bytes()),
        ("self.yaml", b"a: &a [*a]\nb: *missing\n".to_vec()),
    ]));
}

#[test]
fn what_is_no_text_and_odd_text() {
    lint_every_way(&with_files(&[
        ("latin1.yaml", b"a: \xe9\xff\n".to_vec()),
        ("nul.yaml", b"a: \0\0b\n---\n\0".to_vec()),
        (
            "crlf.yaml",
            b"apiVersion: v1\r\nkind: ConfigMap\r\nmetadata:\r\n  name: x\r\n".to_vec(),
        ),
        ("cr.yaml", b"a: 1\rb: 2\r".to_vec()),
        (
            "bom.yaml",
            b"\xef\xbb\xbfapiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n".to_vec(),
        ),
        ("utf16.yaml", b"\xff\xfea\0:\0 \0b\0".to_vec()),
        ("empty.yaml", Vec::new()),
        ("tabs.yaml", b"a:\n\t- b\n\tc: d\n".to_vec()),
        (
            "steer.yaml",
            "a: \"\u{202e}\u{1b}[2J\"\n\u{1b}: \u{7}\n".into(),
        ),
        ("documents.yaml", b"---\n".repeat(20_000)),
        (
            "keys.yaml",
            b"? [a, b]\n: {c: d}\n? {x: y}\n: z\n12: 13\nnull: ~\n".to_vec(),
        ),
        ("dollars.yaml", "${".repeat(50_000).into_bytes()),
    ]));
}

#[test]
fn kustomizations_in_circles() {
    let repository = Repository::of("homelab/waves");
    for (path, text) in [
        (
            "platform/kustomization.yaml",
            format!("{KUSTOMIZATION}  - ../platform-config\n  - .\n  - ../\n"),
        ),
        (
            "platform-config/kustomization.yaml",
            format!("{KUSTOMIZATION}  - ../platform\n  - ../../../../etc\n  - /etc/passwd\n"),
        ),
        (
            "clusters/base/kustomization.yaml",
            format!("{KUSTOMIZATION}  - ../dev\n  - apps-wave-0.yaml\n"),
        ),
    ] {
        repository.write(path, text);
    }
    repository.git(&["add", "-A"]);
    lint_every_way(&repository);
}

#[cfg(unix)]
#[test]
fn links_and_pipes() {
    let repository = Repository::of("homelab/waves");
    let top = repository.path();
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, top.join(at)).expect("a link");
    link(".", "loop");
    link("../apps", "apps/again");
    link("b", "a");
    link("a", "b");
    link("/etc", "apps/etc");
    link("nowhere", "apps/wave-0/dangling.yaml");
    repository.write(
        "platform/kustomization.yaml",
        format!("{KUSTOMIZATION}  - ../loop\n  - ../a\n  - ../apps/etc/passwd\n"),
    );
    let made = std::process::Command::new("mkfifo")
        .arg(top.join("apps/pipe.yaml"))
        .status();
    assert!(made.is_ok_and(|status| status.success()));
    lint_every_way(&repository);
}

#[test]
fn very_many_files_and_odd_names() {
    let repository = Repository::of("homelab/waves");
    for number in 0..3_000 {
        repository.write(&format!("many/{}/{number}.yaml", number % 50), "a: 1\n");
    }
    for name in [
        "-",
        "--fix",
        "a b.yaml",
        "a\nb.yaml",
        "é.yaml",
        "#.yaml",
        "'\".yaml",
        "*.yaml",
        "%0A.yaml",
    ] {
        repository.write(
            &format!("apps/wave-0/{name}"),
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plex}\n",
        );
    }
    let deep = "d/".repeat(200);
    repository.write(&format!("{deep}x.yaml"), "a: 1\n");
    repository.git(&["add", "-A"]);
    lint_every_way(&repository);
    let ran = repository.run(&["--format", "github"]).expect(1);
    assert!(
        ran.stdout.lines().all(|line| line.starts_with("::")),
        "{}",
        ran.stdout
    );
}

#[test]
fn many_kustomizations_in_a_chain_and_in_a_knot() {
    let repository = Repository::of("homelab/waves");
    let mut chain = String::new();
    for number in 0..1_500 {
        chain.push_str(&format!(
            "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: k{number}, namespace: flux-system}}\n\
             spec: {{interval: 1m, path: ./platform, prune: true, sourceRef: {{kind: GitRepository, name: flux-system}}, dependsOn: [{{name: k{}}}, {{name: k{}}}]}}\n",
            (number + 1) % 1_500,
            (number * 7 + 3) % 1_500,
        ));
    }
    repository.write("clusters/base/chain.yaml", chain);
    repository.replace(
        "clusters/base/kustomization.yaml",
        "  - platform.yaml\n",
        "  - platform.yaml\n  - chain.yaml\n",
    );
    repository.git(&["add", "-A"]);
    lint_every_way(&repository);
}

/// What must not be read, as somebody who must not: root reads everything, and becomes nobody first.
#[cfg(unix)]
#[test]
fn what_is_tracked_and_may_not_be_read_is_an_error() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
    const NOBODY: u32 = 65534;
    let repository = Repository::of("homelab/waves");
    let root = repository.path();
    let is_root = std::fs::metadata(&root).expect("the folder").uid() == 0;
    let program = env!("CARGO_BIN_EXE_wavelint");
    let copy = tempfile::tempdir().expect("a folder");
    let binary = copy.path().join("wavelint");
    let mut command = vec![program.to_owned()];
    if is_root {
        let as_nobody = |command: &str| {
            std::process::Command::new("setpriv")
                .args(["--reuid=65534", "--clear-groups", command])
                .output()
                .is_ok_and(|output| output.status.success())
        };
        if !as_nobody("true") {
            println!("left out: no setpriv here, and root may read everything");
            return;
        }
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::copy(program, &binary).expect("a copy of the binary");
        std::fs::set_permissions(&binary, open.clone()).expect("its mode");
        std::fs::set_permissions(copy.path(), open).expect("its mode");
        for entry in walkdir::WalkDir::new(&root) {
            let path = entry.expect("an entry").into_path();
            chown(path, Some(NOBODY), None).expect("another owner");
        }
        command = ["setpriv", "--reuid=65534", "--clear-groups"]
            .map(str::to_owned)
            .to_vec();
        command.push(binary.display().to_string());
    }
    let run = || {
        let mut running = std::process::Command::new(&command[0]);
        running
            .args(&command[1..])
            .arg("--no-base")
            .current_dir(&root)
            .env("HOME", "/nonexistent");
        let output = running.output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), text)
    };
    let mode = |path: &str, mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(root.join(path), permissions).expect("a mode");
    };
    assert_eq!(run().0, Some(0), "{}", run().1);
    for (path, named, before) in [
        (
            "clusters/base/apps-wave-2.yaml",
            "clusters/base/apps-wave-2.yaml",
            0o644,
        ),
        ("clusters", "clusters/", 0o755),
        ("clusters/base", "clusters/base/", 0o755),
    ] {
        mode(path, 0);
        let (code, text) = run();
        mode(path, before);
        assert_eq!(code, Some(2), "{path}: {text}");
        assert!(
            text.contains(named) && text.contains("denied"),
            "{path}: {text}"
        );
    }
    // What is no YAML says nothing that Flux would read.
    repository.write("notes.txt", "x");
    mode("notes.txt", 0);
    assert_eq!(run().0, Some(0), "{}", run().1);
}
