//! The move that mends a misplaced manifest, where no order in which Flux may work deletes anything.

use std::collections::BTreeSet;

use super::slips::depends_uncertainly;
use crate::finding::{Edit, Fix, Move};
use crate::flux::Cluster;
use crate::kustomize::kustomization_file;
use crate::picture::Picture;
use crate::repo::Repo;
use crate::source::{FileId, Place, Span};
use crate::tree::split;
use crate::waves::{Placement, PlacementKind, WaveSet};
use crate::yaml::Node;

/// The move of a placement to another wave, with its entry in both lists; `None` unless all that matters
/// is known to stay as it is.
pub(super) fn mend(
    repo: &Repo,
    set: &WaveSet,
    number: u64,
    computed: u64,
    placement: &Placement,
) -> Option<Fix> {
    if placement.kind == PlacementKind::Listed || !set.waves.contains_key(&computed) {
        return None;
    }
    let (here, there) = (set.directory(number), set.directory(computed));
    let below = placement.path.strip_prefix(&format!("{here}/"))?;
    let target = format!("{there}/{below}");
    if repo.head.tree.child(&target).is_some() || leads_out(repo, placement) {
        return None;
    }
    let new = is_new(repo, placement);
    if !new && (computed > number || !came_from_above(repo, computed, placement)) {
        return None;
    }
    let safe = |picture: &Picture| {
        picture
            .flux
            .clusters
            .iter()
            .all(|cluster| adopts(cluster, &here, &there, new))
    };
    if !safe(&repo.head) || !new && repo.base.as_ref().is_some_and(|base| !safe(&base.picture)) {
        return None;
    }
    Some(Fix {
        safe: !depends_uncertainly(repo, placement.service?),
        title: format!("move {} to {target}", placement.path),
        edits: list_edits(repo, &here, &there, below)?,
        moves: moves(repo, placement, &target),
    })
}

/// The file, or all files of the directory.
fn moves(repo: &Repo, placement: &Placement, target: &str) -> Vec<Move> {
    if placement.kind == PlacementKind::File {
        return vec![Move {
            from: placement.path.clone(),
            to: target.to_owned(),
        }];
    }
    repo.head
        .tree
        .files_below(&placement.path)
        .map(|(path, _)| Move {
            from: path.to_owned(),
            to: format!("{target}{}", &path[placement.path.len()..]),
        })
        .collect()
}

/// True if a file of it names something by a relative path that a move could break.
fn leads_out(repo: &Repo, placement: &Placement) -> bool {
    repo.head
        .tree
        .files_below(&placement.path)
        .any(|(_, file)| repo.files.text(file).contains("../"))
}

/// True if the base has neither the files nor their objects, so that nothing can be deleted.
fn is_new(repo: &Repo, placement: &Placement) -> bool {
    let Some(base) = &repo.base else { return false };
    let identities: BTreeSet<(&str, &str)> = placement
        .files
        .iter()
        .flat_map(|file| repo.files.yaml(*file).seen())
        .filter_map(|document| {
            Some((
                document.root.str_at(&["kind"])?,
                document.root.str_at(&["metadata", "name"])?,
            ))
        })
        .collect();
    let clusters = &base.picture.flux.clusters;
    let known_before = clusters
        .iter()
        .flat_map(Cluster::objects)
        .map(|(_, object)| object.id())
        .any(|id| identities.contains(&(id.kind.as_str(), id.name.as_str())));
    !known_before
        && placement.files.iter().all(|file| {
            let path = repo.files.path(*file);
            base.picture.tree.child(path).is_none()
                && base.change.moved.iter().all(|moved| moved.to != path)
        })
}

/// True if no file of it comes from a wave below the one where it belongs.
fn came_from_above(repo: &Repo, computed: u64, placement: &Placement) -> bool {
    let Some(base) = &repo.base else { return true };
    placement.files.iter().all(|file| {
        let path = repo.files.path(*file);
        let before = base.change.moved.iter().find(|moved| moved.to == path);
        let before = before.map_or(path, |moved| moved.from.as_str());
        base.picture
            .waves
            .wave_of(before)
            .is_some_and(|(_, number)| number >= computed)
    })
}

/// True if a cluster applies neither wave, or both alike, and the one that takes over always comes first:
/// the other waits for it, over one source and without a `readyExpr`.
fn adopts(cluster: &Cluster, here: &str, there: &str, new: bool) -> bool {
    let owners = |directory: &str| -> Vec<usize> {
        let owns = |index: &usize| {
            let build = &cluster.kustomizations[*index].build;
            build.directories.iter().any(|entered| {
                entered.path == directory || entered.path.starts_with(&format!("{directory}/"))
            })
        };
        (0..cluster.kustomizations.len()).filter(owns).collect()
    };
    let (from, to) = match (owners(here).as_slice(), owners(there).as_slice()) {
        ([], []) => return true,
        ([from], [to]) => (*from, *to),
        _ => return false,
    };
    let (old, owner) = (&cluster.kustomizations[from], &cluster.kustomizations[to]);
    let exact = old.directory() == Some(here) && owner.directory() == Some(there);
    if from == to
        || !exact
        || old.fails()
        || owner.fails()
        || !same_settings(&old.node, &owner.node)
    {
        return false;
    }
    let graph = cluster.graph();
    new || graph.shortest_path(from, to).is_some_and(|path| {
        path.iter().all(|edge| {
            let edge = graph.edges()[*edge];
            let (waiting, gate) = (
                &cluster.kustomizations[edge.from],
                &cluster.kustomizations[edge.to],
            );
            waiting.spec.source.is_some()
                && waiting.spec.source == gate.spec.source
                && !waiting.spec.depends_on[edge.payload].ready_expression
        })
    })
}

/// True if two Kustomizations make the same objects of the same files.
fn same_settings(left: &Node, right: &Node) -> bool {
    const OWN: [&str; 11] = [
        "dependsOn",
        "path",
        "interval",
        "retryInterval",
        "timeout",
        "wait",
        "prune",
        "healthChecks",
        "healthCheckExprs",
        "force",
        "suspend",
    ];
    let shared = |node: &Node| {
        node.get("spec").map(|spec| {
            let mut spec = spec.clone();
            for key in OWN {
                spec.remove(key);
            }
            spec
        })
    };
    let suspended =
        |node: &Node| node.at(&["spec", "suspend"]).and_then(Node::as_bool) == Some(true);
    match (shared(left), shared(right)) {
        (Some(one), Some(other)) => {
            one.same_content(&other) && !suspended(left) && !suspended(right)
        }
        _ => false,
    }
}

/// The entry out of one list and into the other. Where Flux generates a kustomization file there is no list.
fn list_edits(repo: &Repo, here: &str, there: &str, below: &str) -> Option<Vec<Edit>> {
    let from = kustomization_file(&repo.head.tree, here);
    let to = kustomization_file(&repo.head.tree, there);
    let (Some(from), Some(to)) = (from, to) else {
        // One generated, one not: the entry would have to be made or lost.
        return (from.is_none() && to.is_none() && !is_last(repo, here, below)).then(Vec::new);
    };
    let (source, goal) = (list(repo, from)?, list(repo, to)?);
    if !same_apart_from_resources(source.root, goal.root) || repo.files.text(to).contains('\t') {
        return None;
    }
    let entry = source
        .entries
        .iter()
        .find(|entry| entry.name == below)
        .filter(|_| source.entries.len() > 1)?;
    let mentioned = repo.files.text(from).matches(split(below).1).count();
    if mentioned > 1
        && source
            .entries
            .iter()
            .filter(|one| one.name.contains(split(below).1))
            .count()
            < mentioned
    {
        return None;
    }
    Some(vec![
        Edit {
            place: Place {
                file: from,
                span: entry.line,
            },
            text: String::new(),
        },
        goal.insertion(repo, entry, below)?,
    ])
}

/// True if nothing else lies in a wave without a list: it would build to nothing.
fn is_last(repo: &Repo, directory: &str, below: &str) -> bool {
    let path = format!("{directory}/{below}");
    repo.head
        .tree
        .files_below(directory)
        .filter(|(other, _)| crate::flux::is_yaml(other))
        .all(|(other, _)| other == path || other.starts_with(&format!("{path}/")))
}

/// The `resources` of a kustomization file, one entry a line.
struct List<'a> {
    file: FileId,
    root: &'a Node,
    entries: Vec<ListEntry<'a>>,
}

/// One entry of a list.
struct ListEntry<'a> {
    /// The path, without `./`.
    name: &'a str,
    /// The value as written, quotes included.
    written: &'a str,
    /// The whole line, with its ending.
    line: Span,
    /// What stands before the value: indentation and `- `.
    before: &'a str,
    /// What stands behind it on the line: a comment.
    after: &'a str,
}

fn list<'a>(repo: &'a Repo, file: FileId) -> Option<List<'a>> {
    let [document] = repo.files.yaml(file).documents.as_slice() else {
        return None;
    };
    let root = &document.root;
    let text = repo.files.text(file);
    let entries = root
        .get("resources")?
        .items()
        .iter()
        .map(|item| {
            let span = item.place.span;
            let line = repo.files.line_span(file, repo.files.line(item.place));
            let end = text[line.end as usize..]
                .find('\n')
                .map_or(text.len(), |at| line.end as usize + at + 1);
            let before = text.get(line.start as usize..span.start as usize)?;
            let name = item.as_str()?;
            (before.trim() == "-" && item.place.file == file).then_some(ListEntry {
                name: name
                    .strip_prefix("./")
                    .unwrap_or(name)
                    .trim_end_matches('/'),
                written: text.get(span.range())?,
                line: Span::new(line.start as usize, end),
                before,
                after: text.get(span.end as usize..line.end as usize)?,
            })
        })
        .collect::<Option<Vec<_>>>()?;
    Some(List {
        file,
        root,
        entries,
    })
}

impl List<'_> {
    /// A new entry in this list: in its place, if the list is sorted, else at its end; written as its
    /// neighbours are, with the comment that it had.
    fn insertion(&self, repo: &Repo, entry: &ListEntry<'_>, below: &str) -> Option<Edit> {
        let sorted = self.entries.is_sorted_by_key(|entry| entry.name);
        let at = if sorted {
            self.entries.partition_point(|entry| entry.name < below)
        } else {
            self.entries.len()
        };
        let neighbour = match at {
            0 => self.entries.first()?,
            at => self.entries.get(at - 1)?,
        };
        let dotted = self.entries.iter().all(|entry| {
            entry
                .written
                .trim_start_matches(['"', '\''])
                .starts_with("./")
        });
        let name = if dotted {
            format!("./{below}")
        } else {
            below.to_owned()
        };
        let quote = neighbour
            .written
            .chars()
            .next()
            .filter(|character| matches!(character, '"' | '\''));
        let quote = quote.or(entry
            .written
            .chars()
            .next()
            .filter(|c| matches!(c, '"' | '\'')));
        let value = match quote {
            Some(quote) => format!("{quote}{name}{quote}"),
            None => name,
        };
        let text = repo.files.text(self.file);
        let line = &text[neighbour.line.range()];
        let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let new = format!("{}{value}{}", neighbour.before, entry.after);
        let (offset, text) = match at {
            0 => (neighbour.line.start, format!("{new}{ending}")),
            _ if line.ends_with('\n') => (neighbour.line.end, format!("{new}{ending}")),
            _ => (neighbour.line.end, format!("{ending}{new}")),
        };
        Some(Edit {
            place: Place {
                file: self.file,
                span: Span {
                    start: offset,
                    end: offset,
                },
            },
            text,
        })
    }
}

/// True if two kustomization files do the same to what they list.
fn same_apart_from_resources(left: &Node, right: &Node) -> bool {
    let rest = |node: &Node| {
        let mut node = node.clone();
        for key in ["resources", "apiVersion", "kind", "metadata"] {
            node.remove(key);
        }
        node
    };
    rest(left).same_content(&rest(right))
}
