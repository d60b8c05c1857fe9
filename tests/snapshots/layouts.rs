use std::path::PathBuf;

use wavelint::snapshot::{BaseRequest, Kind, Source};

use crate::support::{Place, git_in, paths, text};

#[test]
fn a_linked_work_tree_has_its_own_files_index_and_head() {
    let place = Place::repository();
    place.commit("a.yaml", "a: 1\n");
    let outside = Place::new();
    let linked = outside.path().join("linked");
    let linked_name = linked.to_str().expect("a UTF-8 path");
    place.git(&["worktree", "add", "-q", "-b", "topic", linked_name]);
    std::fs::write(linked.join("b.yaml"), "b: 1\n").expect("a file");
    git_in(&linked, &["add", "b.yaml"]);
    git_in(&linked, &["commit", "-q", "-m", "b"]);
    let head = git_in(&linked, &["rev-parse", "HEAD"]);
    let git_dir = git_in(&linked, &["rev-parse", "--absolute-git-dir"]);
    // Git sets GIT_DIR for hooks there.
    for hook in [None, Some(PathBuf::from(git_dir))] {
        for source in [Source::WorkTree, Source::Index] {
            let taken = place
                .take(|request| {
                    request.current_directory = linked.clone();
                    request.source = source;
                    request.base = BaseRequest::Default;
                    request.environment.git_dir = hook.clone();
                })
                .expect("a work tree");
            assert_eq!(paths(&taken.head), ["a.yaml", "b.yaml"]);
            assert_eq!(taken.root, linked);
            assert_eq!(taken.base_revision.as_ref(), Some(&head));
        }
    }
    assert_eq!(paths(&place.work_tree().head), ["a.yaml"]);
}

#[test]
fn a_git_directory_elsewhere_is_found() {
    let elsewhere = Place::new();
    let git_dir = elsewhere.path().join("store.git");
    let place = Place::repository_with(&[
        "--separate-git-dir",
        git_dir.to_str().expect("a UTF-8 path"),
    ]);
    let head = place.commit("a.yaml", "a: 1\n");
    let taken = place
        .take(|request| request.base = BaseRequest::Default)
        .expect("a work tree");
    assert_eq!(paths(&taken.head), ["a.yaml"]);
    assert_eq!(taken.base_revision, Some(head));
}

#[test]
fn a_work_tree_elsewhere_is_found() {
    let place = Place::repository();
    place.commit("a.yaml", "a: 1\n");
    let files = Place::new();
    files.write("b.yaml", "");
    let path = files.path();
    place.git(&[
        "config",
        "core.worktree",
        path.to_str().expect("a UTF-8 path"),
    ]);
    let taken = place
        .take(|request| request.current_directory = place.path().join(".git"))
        .expect("a work tree");
    assert_eq!(taken.root, path);
    assert_eq!(paths(&taken.head), ["b.yaml"]);
}

#[test]
fn the_environment_names_git_directory_and_work_tree() {
    let place = Place::new();
    place.git(&["init", "-q", "--bare", "store"]);
    place.write("files/a.yaml", "a: 1\n");
    git_in(
        &place.path(),
        &["--git-dir=store", "--work-tree=files", "add", "a.yaml"],
    );
    let taken = place
        .take(|request| {
            request.environment.git_dir = Some("store".into());
            request.environment.git_work_tree = Some("files".into());
            request.source = Source::Index;
        })
        .expect("an index");
    assert_eq!(paths(&taken.head), ["a.yaml"]);
    assert_eq!(taken.root, place.path().join("files"));
}

#[test]
fn a_bare_repository_has_revisions_only() {
    let origin = Place::repository();
    let first = origin.commit("apps/a.yaml", "a: 1\n");
    let head = origin.commit("b.yaml", "b: 1\n");
    let place = Place::new();
    let url = origin.path();
    let url = url.to_str().expect("a UTF-8 path");
    place.git(&["clone", "-q", "--bare", url, "."]);
    for source in [Source::WorkTree, Source::Index] {
        let error = place.take(|request| request.source = source);
        let message = error.err().expect("an error").to_string();
        assert!(message.contains("is bare"), "{message}");
        assert!(message.contains("--rev"), "{message}");
    }
    let taken = place
        .take(|request| {
            request.source = Source::Revision("main".to_owned());
            request.base = BaseRequest::Default;
        })
        .expect("a revision");
    assert_eq!(taken.head.revision, Some(head));
    assert_eq!(taken.base_revision, Some(first));
    assert_eq!(paths(&taken.head), ["apps/a.yaml", "b.yaml"]);
    assert_eq!(text(&taken.head, "apps/a.yaml"), "a: 1\n");

    let taken = place
        .take(|request| {
            request.directory = Some("apps".into());
            request.source = Source::Revision("main".to_owned());
        })
        .expect("a revision");
    assert_eq!(paths(&taken.head), ["a.yaml"]);
}

#[test]
fn outside_git_there_is_no_index_no_revision_and_no_base() {
    let place = Place::new();
    place.write("a.yaml", "");
    let staged = place.take(|request| request.source = Source::Index);
    let revision = place.take(|request| request.source = Source::Revision("HEAD".to_owned()));
    let base = place.take(|request| request.base = BaseRequest::Revision("HEAD".to_owned()));
    for (result, option) in [(staged, "--staged"), (revision, "--rev"), (base, "--base")] {
        let message = result.err().expect("an error").to_string();
        assert!(message.contains("not in a git repository"), "{message}");
        assert!(message.contains(option), "{message}");
    }
}

#[test]
fn a_directory_that_is_none_is_an_error() {
    let place = Place::repository();
    place.commit("a.yaml", "");
    for (directory, said) in [("nowhere", "does not exist"), ("a.yaml", "not a directory")] {
        let error = place.take(|request| request.directory = Some(directory.into()));
        let message = error.err().expect("an error").to_string();
        assert!(message.contains(said), "{message}");
    }
    let error = place.take(|request| request.directory = Some(".git".into()));
    assert!(error.is_err());
}

#[test]
fn a_reftable_is_named_as_what_cannot_be_read() {
    let place = Place::new();
    let made = crate::support::git_command(&place.path())
        .args(["init", "-q", "--ref-format=reftable"])
        .output();
    if !made.expect("git runs").status.success() {
        // This git is older than reftables.
        return;
    }
    place.commit("a.yaml", "");
    for base in [
        BaseRequest::Default,
        BaseRequest::Revision("HEAD".to_owned()),
    ] {
        let error = place.take(|request| request.base = base);
        let message = error.err().expect("an error").to_string();
        assert!(message.contains("reftable"), "{message}");
        assert!(message.contains("git refs migrate"), "{message}");
    }
    let error = place.take(|request| request.source = Source::Revision("HEAD".to_owned()));
    let message = error.err().expect("an error").to_string();
    assert!(message.contains("reftable"), "{message}");
    // Without references there is nothing in the way.
    assert_eq!(paths(&place.work_tree().head), ["a.yaml"]);
    assert_eq!(paths(&place.index().head), ["a.yaml"]);
}

#[test]
fn a_damaged_repository_is_an_error_and_no_folder() {
    let place = Place::repository();
    place.commit("a.yaml", "");
    place.write(".git/config", "[core\nrepositoryformatversion = 0\n");
    assert!(place.take(|_| {}).is_err());
}

#[test]
#[cfg(unix)]
fn the_repository_of_another_user_is_not_read() {
    let place = Place::repository();
    place.commit("a.yaml", "");
    // Only the superuser can give a directory away.
    if std::os::unix::fs::chown(place.path(), Some(12345), None).is_err() {
        return;
    }
    // This machine may trust all repositories.
    let plain = std::process::Command::new("git")
        .current_dir(place.path())
        .arg("status")
        .output();
    if plain.expect("git runs").status.success() {
        assert!(place.take(|_| {}).is_ok());
        return;
    }
    let error = place.take(|_| {}).err().expect("an error");
    assert!(error.message.contains("another user"), "{error}");
    assert!(error.help.expect("help").contains("safe.directory"));
}

#[test]
fn remotes_are_told_without_credentials() {
    let place = Place::repository();
    place.commit("a.yaml", "");
    place.git(&[
        "remote",
        "add",
        "origin",
        "https://u:token@example.org/fleet.git",
    ]);
    place.git(&["remote", "add", "mirror", "ssh://git@example.org/fleet.git"]);
    let taken = place.work_tree();
    assert_eq!(
        taken.remotes,
        [
            "https://example.org/fleet.git",
            "ssh://git@example.org/fleet.git"
        ]
    );
    assert_eq!(taken.head.kind, Kind::Worktree);
}

#[test]
fn a_tree_that_stands_for_billions_of_files_is_refused() {
    let place = Place::repository();
    place.write("a", "");
    place.git(&["add", "a"]);
    let mut tree = place.git(&["write-tree"]);
    for _ in 0..12 {
        let lines: String = (0..10)
            .map(|name| format!("040000 tree {tree}\t{name}\n"))
            .collect();
        tree = place.make_tree(&lines);
    }
    let commit = place.git(&["commit-tree", "-m", "bomb", &tree]);
    let error = place.take(|request| request.source = Source::Revision(commit));
    let message = error.err().expect("an error").to_string();
    assert!(message.contains("more than 1000000 entries"), "{message}");
}

#[test]
fn directories_that_are_too_deep_are_left_out_with_a_note() {
    let place = Place::repository();
    place.write("a", "");
    place.git(&["add", "a"]);
    let file = place.git(&["rev-parse", ":a"]);
    let mut tree = place.git(&["write-tree"]);
    let name = "d".repeat(200);
    for _ in 0..30 {
        tree = place.make_tree(&format!(
            "100644 blob {file}\ta\n040000 tree {tree}\t{name}\n"
        ));
    }
    let commit = place.git(&["commit-tree", "-m", "deep", &tree]);
    let taken = place.revision(&commit);
    assert_eq!(taken.head.entries.len(), 21);
    assert_eq!(taken.notes.len(), 1);
}
