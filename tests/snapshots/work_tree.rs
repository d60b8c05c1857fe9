use wavelint::snapshot::{EntryKind, Kind};

use crate::support::{Place, blob_id, git_in, ids, kind, paths, staged, text};

#[test]
fn a_work_tree_holds_tracked_and_untracked_files_but_no_ignored_or_deleted_ones() {
    let place = Place::repository();
    place.commit(".gitignore", "*.tmp\n/secret/\n");
    place.commit("apps/a.yaml", "a: 1\n");
    place.commit("apps/gone.yaml", "b: 1\n");
    place.write("tracked.tmp", "");
    place.git(&["add", "-f", "tracked.tmp"]);
    place.remove("apps/gone.yaml");
    place.write("apps/new.yaml", "c: 1\n");
    place.write("apps/ignored.tmp", "");
    place.write("secret/key", "");
    place.write(".git/info/exclude", "/mine\n");
    place.write("mine", "");

    let taken = place.work_tree();
    assert_eq!(taken.head.kind, Kind::Worktree);
    assert_eq!(taken.head.revision, None);
    assert_eq!(taken.root, place.path());
    assert_eq!(taken.notes, Vec::<String>::new());
    assert_eq!(
        paths(&taken.head),
        [".gitignore", "apps/a.yaml", "apps/new.yaml", "tracked.tmp"]
    );
    assert_eq!(text(&taken.head, "apps/new.yaml"), "c: 1\n");
}

#[test]
fn files_are_ignored_as_git_ignores_them() {
    let place = Place::repository();
    let rules = [
        (
            ".gitignore",
            "*.log\n!keep.log\n/build\ndocs/*.md\n**/cache/\nsub/*\n!sub/two/\n\\#x\ntrail \n",
        ),
        ("one/.gitignore", "!*.log\n/local\n*.md\n"),
        ("sub/two/.gitignore", "*\n!*.yaml\n!.gitignore\n"),
    ];
    for (path, content) in rules {
        place.write(path, content);
    }
    let names = [
        "a.log",
        "keep.log",
        "a.md",
        "a.yaml",
        "local/a.yaml",
        "build/a.yaml",
        "cache/a.yaml",
        "docs/a.md",
        "#x",
        "trail",
        "ä b.yaml",
    ];
    for directory in ["", "one/", "one/deep/", "sub/", "sub/two/", "sub/three/"] {
        for name in names {
            place.write(&format!("{directory}{name}"), "");
        }
    }
    for tracked in ["sub/three/a.log", "build/a.yaml", "one/cache/a.yaml"] {
        place.git(&["add", "-f", tracked]);
    }
    let list = [
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ];
    let listed = place.git(&list);
    let mut expected: Vec<_> = listed.split_terminator('\0').collect();
    expected.sort_unstable();
    assert!(expected.len() > 20);
    assert_eq!(paths(&place.work_tree().head), expected);
}

#[test]
fn the_excludes_file_of_the_configuration_is_read() {
    let place = Place::repository();
    let excludes = Place::new();
    excludes.write("excludes", "*.orig\n");
    let file = excludes.path().join("excludes");
    let file = file.to_str().expect("a UTF-8 path");
    place.git(&["config", "core.excludesFile", file]);
    place.write("a.yaml", "");
    place.write("a.yaml.orig", "");
    assert_eq!(paths(&place.work_tree().head), ["a.yaml"]);
}

#[test]
fn edits_are_seen_in_the_work_tree_as_they_are() {
    let place = Place::repository();
    place.commit("a.yaml", "a: 1\n");
    place.write("a.yaml", "a: 2\n");
    place.git(&["add", "a.yaml"]);
    place.write("a.yaml", "a: 3\n");
    assert_eq!(text(&place.work_tree().head, "a.yaml"), "a: 3\n");
    assert_eq!(text(&place.index().head, "a.yaml"), "a: 2\n");
    assert_eq!(text(&place.revision("HEAD").head, "a.yaml"), "a: 1\n");
}

#[test]
fn the_top_of_the_work_tree_is_the_root_wherever_one_stands() {
    let place = Place::repository();
    place.commit("apps/deep/a.yaml", "");
    let taken = place
        .take(|request| request.current_directory = place.path().join("apps/deep"))
        .expect("a work tree");
    assert_eq!(taken.root, place.path());
    assert_eq!(paths(&taken.head), ["apps/deep/a.yaml"]);
}

#[test]
fn a_named_directory_is_the_root() {
    let place = Place::repository();
    place.commit("apps/a.yaml", "");
    place.commit("apps-too/b.yaml", "");
    place.write("apps/new.yaml", "");
    for directory in ["apps", "./apps/", "apps-too/../apps"] {
        let taken = place
            .take(|request| request.directory = Some(directory.into()))
            .expect("a work tree");
        assert_eq!(taken.root, place.path().join("apps"));
        assert_eq!(paths(&taken.head), ["a.yaml", "new.yaml"]);
        assert!(blob_id(&taken.head, "a.yaml").is_some());
        assert_eq!(text(&taken.head, "new.yaml"), "");
    }
}

#[test]
#[cfg(unix)]
fn symbolic_links_are_kept_and_never_followed() {
    use std::os::unix::fs::symlink;
    let place = Place::repository();
    place.commit("real/a.yaml", "a: 1\n");
    symlink("real", place.path().join("directory")).expect("a link");
    symlink("real/a.yaml", place.path().join("file")).expect("a link");
    place.git(&["add", "directory"]);

    let head = place.work_tree().head;
    assert_eq!(paths(&head), ["directory", "file", "real/a.yaml"]);
    assert_eq!(kind(&head, "directory"), EntryKind::Symlink);
    assert_eq!(kind(&head, "file"), EntryKind::Symlink);
    assert_eq!(text(&head, "file"), "real/a.yaml");
    place.git(&["add", "file"]);
    assert_eq!(ids(&head), staged(&place));
    let index = place.index().head;
    assert_eq!(text(&index, "directory"), "real");
    assert_eq!(kind(&index, "directory"), EntryKind::Symlink);
}

#[test]
#[cfg(unix)]
fn tracked_files_behind_a_linked_directory_are_gone() {
    use std::os::unix::fs::symlink;
    let place = Place::repository();
    place.commit("apps/a.yaml", "");
    std::fs::rename(place.path().join("apps"), place.path().join("real")).expect("a move");
    symlink("real", place.path().join("apps")).expect("a link");
    let head = place.work_tree().head;
    assert_eq!(paths(&head), ["apps", "real/a.yaml"]);
    assert_eq!(kind(&head, "apps"), EntryKind::Symlink);
}

#[test]
fn a_file_that_became_a_directory_is_what_it_is_now() {
    let place = Place::repository();
    place.commit("a", "file\n");
    place.commit("b/c", "file\n");
    place.remove("a");
    place.write("a/new", "x\n");
    place.remove("b/c");
    std::fs::remove_dir(place.path().join("b")).expect("an empty directory");
    place.write("b", "y\n");
    let head = place.work_tree().head;
    assert_eq!(paths(&head), ["a/new", "b"]);
    assert_eq!(text(&head, "b"), "y\n");
}

#[test]
#[cfg(unix)]
fn pipes_are_no_files() {
    let place = Place::repository();
    place.commit("a.yaml", "");
    place.remove("a.yaml");
    let made = std::process::Command::new("mkfifo")
        .arg(place.path().join("a.yaml"))
        .arg(place.path().join("b.yaml"))
        .status();
    assert!(made.expect("mkfifo runs").success());
    assert_eq!(paths(&place.work_tree().head), [""; 0]);
}

#[test]
fn a_pipe_that_came_later_is_not_waited_for() {
    let place = Place::repository();
    place.commit("a.yaml", "");
    let head = place.work_tree().head;
    place.remove("a.yaml");
    assert!(head.read(0).is_err());
    assert_eq!(head.blob_id(0), None);
    #[cfg(unix)]
    {
        let path = place.path().join("a.yaml");
        let made = std::process::Command::new("mkfifo").arg(path).status();
        assert!(made.expect("mkfifo runs").success());
        assert!(head.read(0).is_err());
        assert_eq!(head.blob_id(0), None);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn names_that_are_not_utf8_are_left_out_with_a_note() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let place = Place::repository();
    place.write("a.yaml", "");
    let odd = place.path().join(OsStr::from_bytes(b"b\xff.yaml"));
    std::fs::write(odd, "").expect("a file");
    place.git(&["add", "."]);
    for taken in [place.work_tree(), place.index()] {
        assert_eq!(paths(&taken.head), ["a.yaml"]);
        assert_eq!(
            taken.notes,
            [r"b\xff.yaml: left out, its name is not valid UTF-8"]
        );
    }
}

#[test]
fn repositories_inside_are_submodules() {
    let place = Place::repository();
    place.commit("a.yaml", "");
    let other = Place::repository();
    let other_head = other.commit("b.yaml", "");
    let url = other.path();
    let url = url.to_str().expect("a UTF-8 path");
    place.git(&["submodule", "add", "-q", url, "sub"]);
    place.git(&["commit", "-q", "-m", "submodule"]);
    place.git(&["clone", "-q", url, "untracked"]);

    let head = place.work_tree().head;
    assert_eq!(paths(&head), [".gitmodules", "a.yaml", "sub", "untracked"]);
    for path in ["sub", "untracked"] {
        assert_eq!(kind(&head, path), EntryKind::Submodule);
        assert_eq!(blob_id(&head, path).as_ref(), Some(&other_head));
    }
    assert!(head.read(2).is_err());
    for taken in [place.index(), place.revision("HEAD")] {
        assert_eq!(kind(&taken.head, "sub"), EntryKind::Submodule);
        assert_eq!(blob_id(&taken.head, "sub").as_ref(), Some(&other_head));
        assert!(taken.head.read(2).is_err());
    }

    let inside = place
        .take(|request| request.directory = Some("sub".into()))
        .expect("the submodule's work tree");
    assert_eq!(paths(&inside.head), ["b.yaml"]);
    assert_eq!(inside.remotes, [url]);

    place.git(&["submodule", "deinit", "-q", "-f", "sub"]);
    let head = place.work_tree().head;
    assert_eq!(kind(&head, "sub"), EntryKind::Submodule);
    assert_eq!(blob_id(&head, "sub").as_ref(), Some(&other_head));
    let error = place.take(|request| request.directory = Some("sub".into()));
    let message = error.err().expect("an error").to_string();
    assert!(
        message.contains("git submodule update --init sub"),
        "{message}"
    );
}

#[test]
fn what_a_sparse_checkout_left_out_comes_from_the_index() {
    for more in [&["--no-sparse-index"], &["--sparse-index"]] {
        let place = Place::repository();
        place.commit("apps/a.yaml", "a\n");
        place.commit("infra/deep/b.yaml", "b\n");
        place.commit("top.yaml", "t\n");
        let all = staged(&place);
        place.git(&[&["sparse-checkout", "set", "apps"][..], more].concat());
        assert!(!place.path().join("infra").exists());
        for taken in [place.work_tree(), place.index()] {
            assert_eq!(ids(&taken.head), all);
            assert_eq!(text(&taken.head, "infra/deep/b.yaml"), "b\n");
        }
        for source in [
            wavelint::snapshot::Source::WorkTree,
            wavelint::snapshot::Source::Index,
        ] {
            std::fs::create_dir_all(place.path().join("infra/deep")).expect("directories");
            let taken = place
                .take(|request| {
                    request.source = source;
                    request.directory = Some("infra/deep".into());
                })
                .expect("a snapshot");
            assert_eq!(paths(&taken.head), ["b.yaml"]);
        }
    }
}

#[test]
fn files_that_are_intended_to_be_added_are_in_the_work_tree_only() {
    let place = Place::repository();
    place.commit("a.yaml", "");
    place.write("b.yaml", "b: 1\n");
    place.git(&["add", "-N", "b.yaml"]);
    let head = place.work_tree().head;
    assert_eq!(paths(&head), ["a.yaml", "b.yaml"]);
    let expected = place.git(&["hash-object", "b.yaml"]);
    assert_eq!(blob_id(&head, "b.yaml"), Some(expected));
    assert_eq!(paths(&place.index().head), ["a.yaml"]);
}

#[test]
fn a_file_in_conflict_is_there_once() {
    let place = Place::repository();
    place.commit("a.yaml", "a: 1\n");
    place.git(&["switch", "-q", "-c", "theirs"]);
    place.commit("a.yaml", "a: theirs\n");
    place.git(&["switch", "-q", "main"]);
    place.commit("a.yaml", "a: ours\n");
    let merged = crate::support::git_command(&place.path())
        .args(["merge", "-q", "theirs"])
        .output();
    assert!(!merged.expect("git runs").status.success());

    let taken = place.work_tree();
    assert_eq!(paths(&taken.head), ["a.yaml"]);
    assert!(text(&taken.head, "a.yaml").contains("<<<<<<<"));
    let expected = place.git(&["hash-object", "a.yaml"]);
    assert_eq!(blob_id(&taken.head, "a.yaml"), Some(expected));

    let taken = place.index();
    assert_eq!(paths(&taken.head), ["a.yaml"]);
    assert_eq!(text(&taken.head, "a.yaml"), "a: ours\n");
    assert_eq!(taken.notes, ["a.yaml: not merged yet, read as on our side"]);
}

#[test]
fn a_directory_that_git_ignores_is_a_folder() {
    let place = Place::repository();
    place.commit(".gitignore", "out/\n");
    place.write("out/rendered/a.yaml", "a\n");
    let taken = place
        .take(|request| {
            request.directory = Some("out/rendered".into());
            request.base = wavelint::snapshot::BaseRequest::Default;
        })
        .expect("a folder");
    assert_eq!(taken.head.kind, Kind::Folder);
    assert_eq!(paths(&taken.head), ["a.yaml"]);
    assert!(taken.base.is_none());

    place.git(&["add", "-f", "out/rendered/a.yaml"]);
    place.write("out/rendered/b.yaml", "b\n");
    let taken = place
        .take(|request| request.directory = Some("out".into()))
        .expect("a work tree");
    assert_eq!(taken.head.kind, Kind::Worktree);
    assert_eq!(paths(&taken.head), ["rendered/a.yaml"]);
}

#[test]
fn many_threads_read_at_once() {
    use rayon::prelude::*;
    let place = Place::repository();
    for number in 0..200 {
        place.write(
            &format!("d{}/{number}.yaml", number % 7),
            format!("n: {number}\n"),
        );
    }
    place.git(&["add", "."]);
    place.git(&["commit", "-q", "-m", "all"]);
    let expected = staged(&place);
    for taken in [place.work_tree(), place.index(), place.revision("HEAD")] {
        let head = &taken.head;
        let found: Vec<_> = (0..head.entries.len())
            .into_par_iter()
            .map(|index| {
                let path = head.entries[index].path.clone();
                let number = path.split(['/', '.']).nth(1).expect("a number").to_owned();
                let bytes = head.read(index).expect("readable");
                assert_eq!(bytes, format!("n: {number}\n").into_bytes());
                (path, head.blob_id(index).expect("an id").to_string())
            })
            .collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn a_folder_outside_git_is_walked() {
    let place = Place::new();
    place.write("a/b.yaml", "b\n");
    place.write("a.yaml", "a\n");
    place.write(".git/odd", "not a repository\n");
    git_in(&place.path(), &["init", "-q", "nested"]);
    place.write("nested/c.yaml", "c\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("a", place.path().join("link")).expect("a link");

    let taken = place
        .take(|request| request.base = wavelint::snapshot::BaseRequest::Default)
        .expect("a folder");
    assert_eq!(taken.head.kind, Kind::Folder);
    assert_eq!(taken.root, place.path());
    assert!(taken.base.is_none());
    assert_eq!(paths(&taken.head), ["a.yaml", "a/b.yaml", "link", "nested"]);
    assert_eq!(kind(&taken.head, "link"), EntryKind::Symlink);
    assert_eq!(kind(&taken.head, "nested"), EntryKind::Submodule);
    assert_eq!(text(&taken.head, "a/b.yaml"), "b\n");
    assert_eq!(text(&taken.head, "link"), "a");
    let expected = place.git(&["hash-object", "--no-filters", "a.yaml"]);
    assert_eq!(blob_id(&taken.head, "a.yaml"), Some(expected));
}
