//! The kustomization file: found, decoded as kustomize decodes it, its older fields made new.
//!
//! Upstream: api `target.KustTarget.Load`, `types.Kustomization`.

use super::fields::{Field, KUSTOMIZATION, Type};
use super::{Problem, ProblemKind};
use crate::near;
use crate::source::{FileId, Place};
use crate::tree::{Child, Files, Tree};
use crate::yaml::{Entry, Node, Scalar, Style, Typed, Value, YamlFile, typed_yaml_1_1};

use super::recognized::KUSTOMIZATION_FILE_NAMES;

/// A kustomization file, decoded.
#[derive(Clone, Debug)]
pub(super) struct KustomizationFile {
    /// The file; `None` if Flux generates it.
    pub(super) file: Option<FileId>,
    /// Where findings about the file as a whole point.
    pub(super) place: Place,
    /// True for kind Component.
    pub(super) component: bool,
    /// The fields under their right names, all of the right types, nulls left out.
    pub(super) fields: Node,
}

/// What reading one kustomization file tells beside its content.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// Why kustomize refuses it.
    pub(super) problems: Vec<Problem>,
    /// Unknown fields, where they are dropped.
    pub(super) ignored: Vec<(Place, String)>,
}

/// How a kustomization file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strictness {
    /// As kustomize reads: an unknown field is an error, an empty file too.
    Strict,
    /// As Flux reads the file at a Kustomization's path: unknown fields are dropped.
    Lenient,
}

/// The kustomization files in a directory; more than one is an error.
pub(super) fn find(tree: &Tree, directory: &str) -> Vec<FileId> {
    KUSTOMIZATION_FILE_NAMES
        .iter()
        .filter_map(|name| tree.file(&inside(directory, name)))
        .collect()
}

/// `name` in `directory`.
pub(super) fn inside(directory: &str, name: &str) -> String {
    if directory.is_empty() {
        name.to_owned()
    } else {
        format!("{directory}/{name}")
    }
}

/// True if the directory holds a symbolic link with a recognised name, which Flux does not see.
pub(super) fn has_linked_file(tree: &Tree, directory: &str) -> bool {
    KUSTOMIZATION_FILE_NAMES
        .iter()
        .any(|name| tree.child(&inside(directory, name)) == Some(Child::Symlink))
}

impl KustomizationFile {
    /// A file that holds nothing but these fields.
    pub(super) fn generated(place: Place, fields: Vec<Entry>) -> Self {
        Self {
            file: None,
            place,
            component: false,
            fields: Node::mapping(place, fields),
        }
    }

    /// Reads a file; `None` if nothing of it is usable.
    pub(super) fn read(
        files: &Files,
        file: FileId,
        strictness: Strictness,
        reading: &mut Reading,
    ) -> Option<Self> {
        let place = Place::file_start(file);
        let yaml = files.yaml(file);
        let null = Node::plain(place, "");
        let root = match first_document(files.text(file), yaml) {
            Ok(root) => root.unwrap_or(&null),
            Err(problem) => {
                reading.problems.push(problem);
                return None;
            }
        };
        if root.as_mapping().is_none() && !root.is_null() {
            reading.problems.push(other(
                root.place,
                "a kustomization file holds a map at its top level".to_owned(),
            ));
            return None;
        }
        if let Some(problem) = flux_object(root) {
            reading.problems.push(problem);
            return None;
        }
        let mut decoder = Decoder {
            lenient: strictness == Strictness::Lenient,
            reading,
        };
        let entries = decoder.fields(root, KUSTOMIZATION);
        let mut kustomization = Self {
            file: Some(file),
            place,
            component: false,
            fields: Node::mapping(root.place, entries),
        };
        kustomization.renew_fields();
        if strictness == Strictness::Strict
            && reading.problems.is_empty()
            && kustomization.is_empty()
        {
            reading.problems.push(Problem {
                help: Some("write `resources: []` if nothing is meant to be built".to_owned()),
                ..other(place, "the kustomization file is empty".to_owned())
            });
            return None;
        }
        kustomization.check_kind(strictness, reading)?;
        Some(kustomization)
    }

    /// A field's value; `None` if it is absent or null.
    pub(super) fn field(&self, name: &str) -> Option<&Node> {
        self.fields
            .as_mapping()?
            .entries
            .iter()
            .find(|entry| entry.key.is_key(name))
            .map(|entry| &entry.value)
    }

    /// The items of a list field.
    pub(super) fn items(&self, name: &str) -> &[Node] {
        self.field(name).map(Node::items).unwrap_or_default()
    }

    /// A field's text if it is not empty.
    pub(super) fn text(&self, name: &str) -> Option<&Node> {
        self.field(name).filter(|node| {
            node.as_scalar()
                .is_some_and(|scalar| !scalar.text.is_empty())
        })
    }

    /// Sets a field.
    pub(super) fn set(&mut self, name: &str, value: Node) {
        let place = value.place;
        self.fields.set(name, place, value);
    }

    /// Adds items to a list field.
    pub(super) fn append(&mut self, name: &str, items: &[Node]) {
        if items.is_empty() {
            return;
        }
        let mut all = self.items(name).to_vec();
        all.extend_from_slice(items);
        let place = self.field(name).map_or(items[0].place, |field| field.place);
        self.set(name, Node::sequence(place, all));
    }

    /// `bases` are resources, `imageTags` are images, a chart of the older form is a chart.
    fn renew_fields(&mut self) {
        for (old, new) in [
            ("bases", "resources"),
            ("imageTags", "images"),
            ("helmChartInflationGenerator", "helmCharts"),
        ] {
            let items = self.items(old).to_vec();
            self.fields.remove(old);
            self.append(new, &items);
        }
    }

    fn is_empty(&self) -> bool {
        self.fields
            .as_mapping()
            .into_iter()
            .flat_map(|mapping| &mapping.entries)
            .filter(|entry| !entry.key.is_key("apiVersion") && !entry.key.is_key("kind"))
            .all(|entry| {
                entry
                    .value
                    .as_scalar()
                    .is_some_and(|scalar| scalar.text.is_empty())
            })
    }

    fn check_kind(&mut self, strictness: Strictness, reading: &mut Reading) -> Option<()> {
        let kind = self.text("kind").cloned();
        let kind_text = kind
            .as_ref()
            .and_then(Node::as_str)
            .unwrap_or("Kustomization");
        self.component = kind_text == "Component";
        if !matches!(kind_text, "Kustomization" | "Component") {
            let place = kind.as_ref().map_or(self.place, |kind| kind.place);
            reading.problems.push(other(
                place,
                format!("kind `{kind_text}` is not Kustomization or Component"),
            ));
            return None;
        }
        let required = if self.component {
            "kustomize.config.k8s.io/v1alpha1"
        } else {
            "kustomize.config.k8s.io/v1beta1"
        };
        let version = self.text("apiVersion");
        let preset = strictness == Strictness::Lenient && self.component && version.is_none();
        let wrong = version.filter(|version| version.as_str() != Some(required));
        if wrong.is_none() && !preset {
            return Some(());
        }
        let (place, written) = match wrong {
            Some(version) => (version.place, version.as_str().unwrap_or_default()),
            None => (
                kind.as_ref().map_or(self.place, |kind| kind.place),
                "kustomize.config.k8s.io/v1beta1",
            ),
        };
        reading.problems.push(Problem {
            help: Some(format!("write `apiVersion: {required}`")),
            ..other(
                place,
                format!("apiVersion `{written}` of a {kind_text} is not {required}"),
            )
        });
        None
    }
}

/// The first document of a kustomization file; the others are not read.
fn first_document<'y>(text: &str, yaml: &'y YamlFile) -> Result<Option<&'y Node>, Problem> {
    let first = yaml.documents.first().map(|document| &document.root);
    let Some(error) = &yaml.error else {
        return Ok(first);
    };
    // An error behind the end of the first document is never met.
    let ended = first.is_some_and(|first| {
        let between = text
            .get(first.place.span.end as usize..error.place.span.start as usize)
            .unwrap_or_default();
        between.contains("\n---") || between.contains("\n...")
    });
    if ended {
        return Ok(first);
    }
    Err(Problem {
        kind: ProblemKind::InvalidYaml,
        place: error.place,
        message: format!("the kustomization file is no YAML: {}", error.message),
        related: Vec::new(),
        help: None,
    })
}

fn flux_object(root: &Node) -> Option<Problem> {
    let version = root.get("apiVersion")?;
    let text = version.as_str()?;
    if !text.contains(".fluxcd.io/") {
        return None;
    }
    let kind = root.str_at(&["kind"]).unwrap_or("object");
    Some(Problem {
        kind: ProblemKind::FluxObjectInKustomizationFile,
        place: version.place,
        message: format!(
            "a Flux {kind} stands in a file that kustomize takes for its own kustomization file"
        ),
        related: Vec::new(),
        help: Some("rename the file, to `ks.yaml` for example".to_owned()),
    })
}

fn other(place: Place, message: String) -> Problem {
    Problem {
        kind: ProblemKind::Other,
        place,
        message,
        related: Vec::new(),
        help: None,
    }
}

/// Decodes by type as Go's JSON decoder does: names in any case, the last of equal keys wins,
/// YAML 1.1 booleans, null as nothing.
struct Decoder<'r> {
    lenient: bool,
    reading: &'r mut Reading,
}

impl Decoder<'_> {
    fn fields(&mut self, node: &Node, fields: &'static [Field]) -> Vec<Entry> {
        let mut result: Vec<Entry> = Vec::new();
        for entry in last_of_equal_keys(node) {
            let written = entry.key.as_scalar().map_or("", |scalar| &scalar.text);
            let found = fields
                .iter()
                .find(|(name, _)| *name == written)
                .or_else(|| {
                    fields
                        .iter()
                        .find(|(name, _)| name.eq_ignore_ascii_case(written))
                });
            let Some((name, kind)) = found else {
                self.unknown(entry, written, fields);
                continue;
            };
            if let Some(value) = self.value(&entry.value, *kind, name) {
                result.retain(|other| !other.key.is_key(name));
                result.push(Entry {
                    key: Node::plain(entry.key.place, *name),
                    value,
                });
            }
        }
        result
    }

    fn unknown(&mut self, entry: &Entry, written: &str, fields: &'static [Field]) {
        if self.lenient {
            self.reading
                .ignored
                .push((entry.key.place, written.to_owned()));
            return;
        }
        let near = near::nearest(written, fields.iter().map(|(name, _)| *name));
        self.reading.problems.push(Problem {
            help: near.map(|near| format!("write `{near}`")),
            ..other(entry.key.place, format!("unknown field `{written}`"))
        });
    }

    /// The value if it has its type; null is nothing, a wrong type is a problem.
    fn value(&mut self, node: &Node, kind: Type, name: &str) -> Option<Node> {
        if node.is_null() {
            return None;
        }
        match kind {
            Type::Any => Some(node.clone()),
            Type::Text => self.text(node, name),
            Type::Bool => self.plain(node, name, "a boolean", |typed| match typed {
                Typed::Bool(value) => Some(value.to_string()),
                _ => None,
            }),
            Type::Whole => self.plain(node, name, "a whole number", |typed| match typed {
                Typed::Int(value) => Some(value.to_string()),
                _ => None,
            }),
            Type::Texts => self.list(node, name, |decoder, item| {
                if item.is_null() {
                    return Some(Node::string(item.place, ""));
                }
                decoder.text(item, name)
            }),
            Type::Structs(fields) => self.list(node, name, |decoder, item| {
                if item.as_mapping().is_none() && !item.is_null() {
                    decoder.wrong(item, name, "a list of maps");
                    return None;
                }
                Some(Node::mapping(item.place, decoder.fields(item, fields)))
            }),
            Type::Struct(fields) => {
                if node.as_mapping().is_none() {
                    self.wrong(node, name, "a map");
                    return None;
                }
                Some(Node::mapping(node.place, self.fields(node, fields)))
            }
            Type::TextMap => {
                if node.as_mapping().is_none() {
                    self.wrong(node, name, "a map of strings");
                    return None;
                }
                let entries = last_of_equal_keys(node)
                    .into_iter()
                    .filter_map(|entry| {
                        let value = if entry.value.is_null() {
                            Node::string(entry.value.place, "")
                        } else {
                            self.text(&entry.value, entry.key.as_str().unwrap_or(name))?
                        };
                        Some(Entry {
                            key: entry.key.clone(),
                            value,
                        })
                    })
                    .collect();
                Some(Node::mapping(node.place, entries))
            }
        }
    }

    fn list(
        &mut self,
        node: &Node,
        name: &str,
        mut decode: impl FnMut(&mut Self, &Node) -> Option<Node>,
    ) -> Option<Node> {
        let Some(items) = node.as_sequence() else {
            self.wrong(node, name, "a list");
            return None;
        };
        let items = items.iter().filter_map(|item| decode(self, item)).collect();
        Some(Node::sequence(node.place, items))
    }

    /// A string; one that another reader would take for something else is kept as if quoted.
    fn text(&mut self, node: &Node, name: &str) -> Option<Node> {
        let is_text = node
            .as_scalar()
            .is_some_and(|scalar| typed_yaml_1_1(scalar) == Typed::String);
        if !is_text {
            self.wrong(node, name, "a string");
            return None;
        }
        let scalar = node.as_scalar()?;
        if scalar.style == Style::Plain && scalar.typed() != Typed::String {
            return Some(Node::string(node.place, scalar.text.clone()));
        }
        Some(node.clone())
    }

    fn plain(
        &mut self,
        node: &Node,
        name: &str,
        expected: &str,
        read: impl Fn(Typed) -> Option<String>,
    ) -> Option<Node> {
        let read = node
            .as_scalar()
            .and_then(|scalar| read(typed_yaml_1_1(scalar)));
        if read.is_none() {
            self.wrong(node, name, expected);
        }
        Some(Node {
            place: node.place,
            value: Value::Scalar(Scalar::plain(read?)),
        })
    }

    fn wrong(&mut self, node: &Node, name: &str, expected: &str) {
        let is = match &node.value {
            Value::Sequence(_) => "a list",
            Value::Mapping(_) => "a map",
            Value::Scalar(scalar) => match typed_yaml_1_1(scalar) {
                Typed::Bool(_) => "a boolean",
                Typed::Int(_) | Typed::Float(_) => "a number",
                Typed::Null => "null",
                Typed::String => "a string",
            },
        };
        let quote = expected.contains("string") && matches!(is, "a boolean" | "a number");
        self.reading.problems.push(Problem {
            help: quote.then(|| {
                let text = node.as_str().unwrap_or_default();
                format!("write `\"{text}\"`")
            }),
            ..other(node.place, format!("`{name}` is {is}, not {expected}"))
        });
    }
}

/// The pairs of a map, merge keys resolved; of equal keys the last.
fn last_of_equal_keys(node: &Node) -> Vec<&Entry> {
    let mut result: Vec<&Entry> = Vec::new();
    let mut at = std::collections::HashMap::new();
    for entry in node.pairs() {
        let key = entry.key.as_scalar().map_or("", |scalar| &scalar.text);
        match at.entry(key) {
            std::collections::hash_map::Entry::Occupied(index) => result[*index.get()] = entry,
            std::collections::hash_map::Entry::Vacant(vacant) => {
                vacant.insert(result.len());
                result.push(entry);
            }
        }
    }
    result
}
