//! The environment variables that say what is linted and what it is compared with.

use std::path::PathBuf;

use serde_json::Value;

/// What git, pre-commit and Actions (GitHub's, Gitea's, Forgejo's) put into the environment.
/// A variable that is empty counts as not set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// `GIT_DIR`, which git sets for hooks in linked work trees.
    pub git_dir: Option<PathBuf>,
    /// `GIT_WORK_TREE`.
    pub git_work_tree: Option<PathBuf>,
    /// `GIT_INDEX_FILE`: while `git commit -a` and `git commit PATH` run hooks, not the usual one.
    pub git_index_file: Option<PathBuf>,
    /// `PRE_COMMIT_FROM_REF`: the older end of what is pushed or checked.
    pub pre_commit_from_ref: Option<String>,
    /// `PRE_COMMIT_TO_REF`: its newer end.
    pub pre_commit_to_ref: Option<String>,
    /// Whether `GITHUB_ACTIONS` or `GITEA_ACTIONS` is `true`.
    pub actions: bool,
    /// `GITHUB_EVENT_NAME`: `push`, `pull_request`, …
    pub github_event_name: Option<String>,
    /// `GITHUB_EVENT_PATH`: the file with the event as JSON.
    pub github_event_path: Option<PathBuf>,
    /// `GITHUB_BASE_REF`: the branch that a pull request is for.
    pub github_base_ref: Option<String>,
}

impl Environment {
    /// Reads the variables of this process.
    pub fn from_process() -> Self {
        let path = |name| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let text = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let is_true = |name| text(name).is_some_and(|value| value == "true");
        Self {
            git_dir: path("GIT_DIR"),
            git_work_tree: path("GIT_WORK_TREE"),
            git_index_file: path("GIT_INDEX_FILE"),
            pre_commit_from_ref: text("PRE_COMMIT_FROM_REF"),
            pre_commit_to_ref: text("PRE_COMMIT_TO_REF"),
            actions: is_true("GITHUB_ACTIONS") || is_true("GITEA_ACTIONS"),
            github_event_name: text("GITHUB_EVENT_NAME"),
            github_event_path: path("GITHUB_EVENT_PATH"),
            github_base_ref: text("GITHUB_BASE_REF"),
        }
    }

    /// The base that the environment implies; `None` if it says nothing about one.
    pub(super) fn base(&self) -> Option<ImpliedBase> {
        self.pre_commit_base().or_else(|| self.actions_base())
    }

    fn pre_commit_base(&self) -> Option<ImpliedBase> {
        let from = self.pre_commit_from_ref.clone()?;
        if is_null_id(&from) {
            return Some(ImpliedBase::Nothing("PRE_COMMIT_FROM_REF is no commit"));
        }
        Some(ImpliedBase::Fork {
            from,
            to: self.pre_commit_to_ref.clone().filter(|to| !is_null_id(to)),
            what: "PRE_COMMIT_FROM_REF",
        })
    }

    fn actions_base(&self) -> Option<ImpliedBase> {
        if !self.actions {
            return None;
        }
        let event = self.github_event_path.as_ref().map(|path| {
            let bytes = std::fs::read(path).ok()?;
            serde_json::from_slice::<Value>(&bytes)
                .ok()
                .filter(Value::is_object)
        });
        let unreadable = event == Some(None);
        let event = event.flatten();
        let text = |pointer: &str| {
            let value = event.as_ref()?.pointer(pointer)?.as_str()?;
            Some(value.to_owned())
        };
        let fork = |from, what| ImpliedBase::Fork {
            from,
            to: None,
            what,
        };
        if let Some(from) = text("/pull_request/base/sha") {
            return Some(fork(from, "the pull request's base"));
        }
        if let Some(from) = text("/merge_group/base_sha") {
            return Some(fork(from, "the merge group's base"));
        }
        if self.github_event_name.as_deref() == Some("push")
            && let Some(commit) = text("/before")
        {
            return Some(if is_null_id(&commit) {
                ImpliedBase::Nothing("the push made the branch or tag")
            } else {
                ImpliedBase::Exact {
                    commit,
                    what: "what was there before the push",
                }
            });
        }
        if let Some(branch) = &self.github_base_ref {
            return Some(fork(
                format!("refs/remotes/origin/{branch}"),
                "the pull request's base branch",
            ));
        }
        if unreadable {
            return Some(ImpliedBase::Nothing(
                "the event's file, GITHUB_EVENT_PATH, cannot be read",
            ));
        }
        let has = |key: &str| {
            let value = event.as_ref().and_then(|event| event.get(key));
            value.is_some_and(|value| !value.is_null())
        };
        (has("pull_request") || has("merge_group")).then_some(ImpliedBase::Nothing(
            "the event's file, GITHUB_EVENT_PATH, names no base of its pull request",
        ))
    }
}

/// A base that nobody asked for by name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ImpliedBase {
    /// Where `to` (or what is linted) left `from`.
    Fork {
        from: String,
        to: Option<String>,
        what: &'static str,
    },
    /// This very commit, also after a forced push: it is what Flux had reconciled.
    Exact { commit: String, what: &'static str },
    /// There is none, and why.
    Nothing(&'static str),
}

/// Whether these are the zeros that git writes for "no commit".
fn is_null_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte == b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actions(name: &str, event: &str) -> (tempfile::TempDir, Environment) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("event.json");
        std::fs::write(&path, event).expect("a file");
        let environment = Environment {
            actions: true,
            github_event_name: Some(name.to_owned()),
            github_event_path: Some(path),
            ..Environment::default()
        };
        (folder, environment)
    }

    #[test]
    fn a_pull_request_counts_before_the_before_of_its_synchronization() {
        let event = r#"{"before": "b", "pull_request": {"base": {"sha": "a"}}}"#;
        let (_folder, environment) = actions("pull_request", event);
        let Some(ImpliedBase::Fork { from, to, .. }) = environment.base() else {
            panic!("a fork");
        };
        assert_eq!((from.as_str(), to), ("a", None));
    }

    #[test]
    fn a_push_is_compared_with_exactly_what_was_there() {
        let (_folder, environment) = actions("push", r#"{"before": "b"}"#);
        let Some(ImpliedBase::Exact { commit, .. }) = environment.base() else {
            panic!("a commit");
        };
        assert_eq!(commit, "b");
        let event = format!(r#"{{"before": "{}"}}"#, "0".repeat(40));
        let (_folder, environment) = actions("push", &event);
        assert!(matches!(environment.base(), Some(ImpliedBase::Nothing(_))));
    }

    #[test]
    fn an_event_without_commits_implies_nothing() {
        let (_folder, environment) = actions("schedule", r#"{"schedule": "0 0 * * *"}"#);
        assert_eq!(environment.base(), None);
    }

    #[test]
    fn an_event_that_cannot_be_read_is_not_passed_over() {
        for event in ["", "{", "[]", "null", "3"] {
            let (_folder, environment) = actions("push", event);
            let base = environment.base();
            assert!(matches!(base, Some(ImpliedBase::Nothing(_))), "{event}");
        }
    }

    #[test]
    fn a_pull_request_that_names_no_base_is_not_passed_over() {
        let (_folder, environment) = actions("pull_request", r#"{"pull_request": 3}"#);
        assert!(matches!(environment.base(), Some(ImpliedBase::Nothing(_))));
        let (_folder, environment) = actions("push", r#"{"pull_request": null}"#);
        assert_eq!(environment.base(), None);
    }

    #[test]
    fn outside_actions_its_variables_say_nothing() {
        let (_folder, mut environment) = actions("push", r#"{"before": "b"}"#);
        environment.actions = false;
        assert_eq!(environment.base(), None);
    }

    #[test]
    fn without_an_event_file_the_base_branch_counts() {
        let environment = Environment {
            actions: true,
            github_base_ref: Some("main".to_owned()),
            ..Environment::default()
        };
        let Some(ImpliedBase::Fork { from, .. }) = environment.base() else {
            panic!("a fork");
        };
        assert_eq!(from, "refs/remotes/origin/main");
    }
}
