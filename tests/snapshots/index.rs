use wavelint::snapshot::{Kind, Source};

use crate::support::{Place, git_command, ids, paths, staged, text};

#[test]
fn the_index_is_what_git_lists() {
    let place = Place::repository();
    place.commit("apps/a.yaml", "a: 1\n");
    place.commit("apps.yaml", "b: 1\n");
    place.write("apps/a.yaml", "a: 2\n");
    place.git(&["add", "apps/a.yaml"]);
    place.write("apps/a.yaml", "a: 3\n");
    place.write("apps/untracked.yaml", "");
    place.git(&["rm", "-q", "--cached", "apps.yaml"]);

    let head = place.index().head;
    assert_eq!(head.kind, Kind::Index);
    assert_eq!(ids(&head), staged(&place));
    assert_eq!(paths(&head), ["apps/a.yaml"]);
    assert_eq!(text(&head, "apps/a.yaml"), "a: 2\n");
}

#[test]
fn staged_files_stay_when_the_work_tree_lost_them() {
    let place = Place::repository();
    place.commit("apps/a.yaml", "a: 1\n");
    std::fs::remove_dir_all(place.path().join("apps")).expect("a directory");
    let taken = place
        .take(|request| {
            request.source = Source::Index;
            request.directory = Some("apps".into());
        })
        .expect("an index");
    assert_eq!(paths(&taken.head), ["a.yaml"]);
    let error = place.take(|request| {
        request.source = Source::Index;
        request.directory = Some("nowhere".into());
    });
    let message = error.err().expect("an error").to_string();
    assert_eq!(message, "directory `nowhere` is not in the index");
}

#[test]
fn the_index_that_a_partial_commit_shows_its_hook_is_read() {
    let place = Place::repository();
    place.commit("a.yaml", "a: 1\n");
    place.commit("b.yaml", "b: 1\n");
    place.write("a.yaml", "a: 2\n");
    place.write("b.yaml", "b: 2\n");
    place.git(&["add", "a.yaml"]);
    // The hook keeps the index that git made for it, and where git said that it is.
    place.write(
        ".git/hooks/pre-commit",
        "#!/bin/sh\ncp \"$GIT_INDEX_FILE\" kept-index\nprintf %s \"$GIT_INDEX_FILE\" > kept-path\nexit 1\n",
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let hook = place.path().join(".git/hooks/pre-commit");
        std::fs::set_permissions(hook, PermissionsExt::from_mode(0o755)).expect("a hook");
    }
    for (arguments, expected) in [
        (
            &["commit", "-q", "-m", "b", "b.yaml"][..],
            ["a: 1\n", "b: 2\n"],
        ),
        (
            &["commit", "-q", "-a", "-m", "all"][..],
            ["a: 2\n", "b: 2\n"],
        ),
    ] {
        let output = git_command(&place.path()).args(arguments).output();
        assert!(!output.expect("git runs").status.success());
        let said = std::fs::read_to_string(place.path().join("kept-path")).expect("a path");
        assert!(said.contains(".git/"), "{said}");
        std::fs::rename(
            place.path().join("kept-index"),
            place.path().join(".git/other-index"),
        )
        .expect("an index");
        let taken = place
            .take(|request| {
                request.source = Source::Index;
                request.environment.git_index_file = Some(".git/other-index".into());
            })
            .expect("an index");
        let found = ["a.yaml", "b.yaml"].map(|path| text(&taken.head, path));
        assert_eq!(found, expected);
    }
}

#[test]
fn the_index_of_a_hook_says_nothing_about_another_repository() {
    let place = Place::repository();
    place.commit("a.yaml", "");
    let other = Place::repository();
    other.commit("b.yaml", "");
    let taken = place
        .take(|request| {
            request.source = Source::Index;
            request.directory = Some(other.path());
            request.environment.git_index_file = Some(".git/index".into());
        })
        .expect("an index");
    assert_eq!(paths(&taken.head), ["b.yaml"]);
}

#[test]
fn a_split_index_is_read() {
    let place = Place::repository();
    place.commit("a.yaml", "a\n");
    place.commit("b.yaml", "b\n");
    place.git(&["update-index", "--split-index"]);
    place.write("c.yaml", "c\n");
    place.git(&["add", "c.yaml"]);
    assert_eq!(ids(&place.index().head), staged(&place));
}

#[test]
fn a_damaged_index_is_an_error() {
    let place = Place::repository();
    place.commit("a.yaml", "a\n");
    place.write(".git/index", "DIRC what is this");
    let error = place.take(|request| request.source = Source::Index);
    let message = error.err().expect("an error").to_string();
    assert!(message.contains("index"), "{message}");
    assert!(place.take(|_| {}).is_err());
}
