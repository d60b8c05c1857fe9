//! The fields of a kustomization file and their types (upstream: api `types.Kustomization`).

/// The type of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Type {
    /// A string.
    Text,
    /// A boolean.
    Bool,
    /// A whole number.
    Whole,
    /// A list of strings.
    Texts,
    /// A map of strings to strings.
    TextMap,
    /// A map with these fields.
    Struct(&'static [Field]),
    /// A list of maps with these fields.
    Structs(&'static [Field]),
    /// Anything; not looked into.
    Any,
}

/// A field's name and type.
pub(super) type Field = (&'static str, Type);

use Type::{Any, Bool, Struct, Structs, Text, TextMap, Texts, Whole};

/// The top level.
pub(super) const KUSTOMIZATION: &[Field] = &[
    ("apiVersion", Text),
    ("kind", Text),
    ("metadata", Struct(OBJECT_META)),
    ("openapi", TextMap),
    ("namePrefix", Text),
    ("nameSuffix", Text),
    ("namespace", Text),
    ("commonLabels", TextMap),
    ("labels", Structs(LABEL)),
    ("commonAnnotations", TextMap),
    ("patchesStrategicMerge", Texts),
    ("patchesJson6902", Structs(PATCH)),
    ("patches", Structs(PATCH)),
    ("images", Structs(IMAGE)),
    ("imageTags", Structs(IMAGE)),
    ("replacements", Structs(REPLACEMENT)),
    ("replicas", Structs(REPLICA)),
    ("vars", Structs(VAR)),
    ("sortOptions", Struct(SORT_OPTIONS)),
    ("resources", Texts),
    ("components", Texts),
    ("crds", Texts),
    ("bases", Texts),
    ("configMapGenerator", Structs(CONFIG_MAP)),
    ("secretGenerator", Structs(SECRET)),
    ("helmGlobals", Any),
    ("helmCharts", Any),
    ("helmChartInflationGenerator", Any),
    ("generatorOptions", Struct(GENERATOR_OPTIONS)),
    ("configurations", Texts),
    ("generators", Texts),
    ("transformers", Texts),
    ("validators", Texts),
    ("buildMetadata", Texts),
];

const OBJECT_META: &[Field] = &[
    ("name", Text),
    ("namespace", Text),
    ("labels", TextMap),
    ("annotations", TextMap),
];

const LABEL: &[Field] = &[
    ("pairs", TextMap),
    ("includeSelectors", Bool),
    ("includeTemplates", Bool),
    ("fields", Structs(FIELD_SPEC)),
];

const FIELD_SPEC: &[Field] = &[
    ("group", Text),
    ("version", Text),
    ("kind", Text),
    ("path", Text),
    ("create", Bool),
];

const PATCH: &[Field] = &[
    ("path", Text),
    ("patch", Text),
    ("target", Struct(SELECTOR)),
    ("options", Struct(PATCH_OPTIONS)),
];

const PATCH_OPTIONS: &[Field] = &[("allowNameChange", Bool), ("allowKindChange", Bool)];

const SELECTOR: &[Field] = &[
    ("group", Text),
    ("version", Text),
    ("kind", Text),
    ("name", Text),
    ("namespace", Text),
    ("annotationSelector", Text),
    ("labelSelector", Text),
];

const IMAGE: &[Field] = &[
    ("name", Text),
    ("newName", Text),
    ("tagSuffix", Text),
    ("newTag", Text),
    ("digest", Text),
];

const REPLACEMENT: &[Field] = &[
    ("source", Struct(SOURCE)),
    ("targets", Structs(TARGET)),
    ("sourceValue", Text),
    ("path", Text),
];

const SOURCE: &[Field] = &[
    ("group", Text),
    ("version", Text),
    ("kind", Text),
    ("name", Text),
    ("namespace", Text),
    ("fieldPath", Text),
    ("options", Struct(FIELD_OPTIONS)),
];

const TARGET: &[Field] = &[
    ("select", Struct(SELECTOR)),
    ("reject", Structs(SELECTOR)),
    ("fieldPaths", Texts),
    ("options", Struct(FIELD_OPTIONS)),
];

const FIELD_OPTIONS: &[Field] = &[
    ("delimiter", Text),
    ("index", Whole),
    ("encoding", Text),
    ("create", Bool),
];

const REPLICA: &[Field] = &[("name", Text), ("count", Whole)];

const VAR: &[Field] = &[
    ("name", Text),
    ("objref", Struct(OBJECT_REFERENCE)),
    ("fieldref", Struct(&[("fieldPath", Text)])),
];

const OBJECT_REFERENCE: &[Field] = &[
    ("apiVersion", Text),
    ("group", Text),
    ("version", Text),
    ("kind", Text),
    ("name", Text),
    ("namespace", Text),
];

const SORT_OPTIONS: &[Field] = &[
    ("order", Text),
    (
        "legacySortOptions",
        Struct(&[("orderFirst", Texts), ("orderLast", Texts)]),
    ),
];

const CONFIG_MAP: &[Field] = &[
    ("namespace", Text),
    ("name", Text),
    ("behavior", Text),
    ("literals", Texts),
    ("files", Texts),
    ("envs", Texts),
    ("env", Text),
    ("options", Struct(GENERATOR_OPTIONS)),
];

const SECRET: &[Field] = &[
    ("namespace", Text),
    ("name", Text),
    ("behavior", Text),
    ("literals", Texts),
    ("files", Texts),
    ("envs", Texts),
    ("env", Text),
    ("options", Struct(GENERATOR_OPTIONS)),
    ("type", Text),
];

const GENERATOR_OPTIONS: &[Field] = &[
    ("labels", TextMap),
    ("annotations", TextMap),
    ("disableNameSuffixHash", Bool),
    ("immutable", Bool),
];
