use super::*;
use crate::kustomize::GapEffect;
use crate::kustomize::hash::add_suffixes;
use crate::kustomize::transform::names::prefix;
use crate::kustomize::transform::namespace;
use crate::kustomize::transform::testing;
use crate::snapshot::Snapshot;
use crate::source::Revision;
use crate::tree::Tree;

/// A directory with a kustomization file, and what its generators make.
struct Run {
    files: Files,
    tree: Tree,
    objects: Vec<Object>,
    gaps: Vec<Gap>,
    encrypted: Vec<EncryptedInput>,
    problems: Vec<Problem>,
}

impl Run {
    fn new(inputs: &[(&str, &[u8])]) -> Self {
        let mut files = Files::default();
        let snapshot = Snapshot::memory(
            inputs
                .iter()
                .map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec())),
        );
        let tree = files.add(snapshot, Revision::Head, None);
        Self {
            files,
            tree,
            objects: Vec::new(),
            gaps: Vec::new(),
            encrypted: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Runs the generators of the file `path`, ConfigMaps first.
    fn generate(&mut self, path: &str) -> &mut Self {
        let file = self
            .tree
            .file(path)
            .expect("the kustomization file is there");
        let root = self.files.yaml(file).documents[0].root.clone();
        for (field, kind) in [
            ("configMapGenerator", GeneratorKind::ConfigMap),
            ("secretGenerator", GeneratorKind::Secret),
        ] {
            for entry in root.get(field).map(Node::items).unwrap_or_default() {
                let outcome = generate(
                    kind,
                    entry,
                    root.get("generatorOptions"),
                    &mut |path| {
                        let text = path.as_str().unwrap_or_default();
                        self.tree
                            .file(text)
                            .ok_or_else(|| refusal(path.place, format!("{text} is missing")))
                    },
                    &self.files,
                    &mut self.objects,
                    &mut self.gaps,
                    &mut self.encrypted,
                );
                if let Err(problems) = outcome {
                    self.problems.extend(problems);
                }
            }
        }
        self
    }

    fn finish(&mut self) -> String {
        add_suffixes(&mut self.objects, &mut self.gaps);
        testing::text(&self.objects)
    }

    fn names(&self) -> Vec<SmolStr> {
        self.objects.iter().map(|object| object.id().name).collect()
    }

    fn messages(&self) -> Vec<&str> {
        self.problems
            .iter()
            .map(|problem| problem.message.as_str())
            .collect()
    }
}

fn run(kustomization: &str, inputs: &[(&str, &[u8])]) -> Run {
    let mut all = vec![("kustomization.yaml", kustomization.as_bytes())];
    all.extend_from_slice(inputs);
    let mut run = Run::new(&all);
    run.generate("kustomization.yaml");
    run
}

#[test]
fn literals_env_files_and_files_become_data() {
    let mut run = run(
        "configMapGenerator:\n- name: diet\n  literals: [\"a='x y'\", 'b=\"z\"', \"c=d=e\"]\n  envs: [diet.env]\n  files: [notes/reed.txt, alias=notes/reed.txt]\n",
        &[
            ("notes/reed.txt", b"tall\n"),
            (
                "diet.env",
                b"# comment\nFISH=1\nQUOTED=\"two\"\n SPACED = 3\nBARE\n",
            ),
        ],
    );
    assert!(run.messages().is_empty());
    assert_eq!(
        run.finish(),
        "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: diet-h872gf56t7
data:
  BARE: \"\"
  FISH: \"1\"
  QUOTED: \"\\\"two\\\"\"
  \"SPACED \": \" 3\"
  a: x y
  alias: |
    tall
  b: z
  c: d=e
  reed.txt: |
    tall
"
    );
    let alias = run.objects[0].node.at(&["data", "alias"]).unwrap();
    assert_eq!(run.files.path(alias.place.file), "notes/reed.txt");
    let literal = run.objects[0].node.at(&["data", "c"]).unwrap();
    assert_eq!(run.files.slice(literal.place), "\"c=d=e\"");
}

#[test]
fn odd_env_files_and_keys_are_taken_as_kustomize_takes_them() {
    let mut run = run(
        "configMapGenerator:\n- name: a\n  env: a.env\n  literals: [\"q='\", \"r='a\\\"\", 'bad key/=1']\n  options: {immutable: true}\n",
        &[("a.env", b"\xef\xbb\xbfA=1\r\n=novalue\nB\n")],
    );
    run.finish();
    assert!(run.messages().is_empty());
    assert_eq!(run.names(), ["a-9fc2gdgdcd"]);
    assert_eq!(run.objects[0].node.str_at(&["immutable"]), Some("true"));
}

#[test]
fn binary_files_and_secrets_are_base64_in_lines() {
    let a = |count: usize| vec![b'a'; count];
    let mut run = run(
        "configMapGenerator:\n- name: binary\n  files: [b.bin, t=k.txt]\nsecretGenerator:\n- name: a\n  files: [f50, f51, f52, f105]\n- name: sempty\n- name: typed\n  type: kubernetes.io/tls\n  literals: [tls.crt=x, tls.key=y]\n",
        &[
            ("b.bin", b"bin\xff\xfe\x00"),
            ("k.txt", format!("{}\n", "0123456789".repeat(12)).as_bytes()),
            ("f50", &a(50)),
            ("f51", &a(51)),
            ("f52", &a(52)),
            ("f105", &a(105)),
        ],
    );
    run.finish();
    assert_eq!(
        run.names(),
        [
            "binary-94dg76c2bg",
            "a-bhhm9k29df",
            "sempty-46f8b28mk5",
            "typed-f4c6k54dt5"
        ]
    );
}

#[test]
fn a_file_wide_switch_for_hashes_cannot_be_undone_and_options_add_up() {
    let mut run = run(
        "generatorOptions: {disableNameSuffixHash: true, labels: {pond: north, own: no-}}\nconfigMapGenerator:\n- {name: diet, literals: [fish=1]}\n- {name: nest, literals: [reed=1], options: {disableNameSuffixHash: false, labels: {own: yes-}, annotations: {seen: \"yes\"}}}\n",
        &[],
    );
    run.finish();
    assert_eq!(run.names(), ["diet", "nest"]);
    assert_eq!(run.objects[1].metadata("labels", "pond"), Some("north"));
    assert_eq!(run.objects[1].metadata("labels", "own"), Some("yes-"));
    assert_eq!(run.objects[1].metadata("annotations", "seen"), Some("yes"));
}

#[test]
fn merge_and_replace_find_the_object_by_an_earlier_identity() {
    let mut run = Run::new(&[
        (
            "base",
            b"configMapGenerator:\n- {name: diet, literals: [fish=1, frog=1]}\n- {name: nest, literals: [reed=1]}\n",
        ),
        (
            "top",
            b"configMapGenerator:\n- {name: diet, behavior: merge, literals: [frog=2]}\n- {name: nest, behavior: replace, literals: [twig=2]}\n",
        ),
    ]);
    run.generate("base");
    namespace::apply(&mut run.objects, &testing::node("marsh"), &mut Vec::new()).unwrap();
    prefix(&mut run.objects, &testing::node("grey-"));
    run.generate("top");
    assert!(run.messages().is_empty());
    assert_eq!(
        run.finish(),
        "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: grey-diet-46hg7g58bc
  namespace: marsh
data:
  fish: \"1\"
  frog: \"2\"
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: grey-nest-kb2m8f62fb
  namespace: marsh
data:
  twig: \"2\"
"
    );
}

#[test]
fn what_a_generator_does_not_state_is_lost_when_it_merges_or_replaces() {
    let mut run = Run::new(&[(
        "top",
        b"secretGenerator:\n- {name: s, behavior: merge, literals: [n=v]}\n- {name: e, behavior: merge}\n- {name: rp, behavior: replace, type: x, literals: [z=1], options: {labels: {b: new}}}\n",
    )]);
    run.objects = testing::objects(
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s, labels: {a: b}}\ntype: kubernetes.io/tls\nimmutable: true\nstringData: {x: z}\ndata: {old: Yg==, n: eA==}\n---\n\
         apiVersion: v1\nkind: Secret\nmetadata: {name: e}\n---\n\
         apiVersion: v1\nkind: Secret\nmetadata: {name: rp, namespace: default, labels: {a: b, b: o}}\ndata: {old: Yg==}\n",
    );
    run.generate("top");
    assert_eq!(
        run.finish(),
        "\
apiVersion: v1
kind: Secret
metadata:
  name: s
  labels:
    a: b
type: Opaque
data:
  \"n\": dg==
  old: Yg==
---
apiVersion: v1
kind: Secret
metadata:
  name: e
type: Opaque
---
apiVersion: v1
kind: Secret
metadata:
  name: rp
  labels:
    a: b
    b: new
  namespace: default
type: x
data:
  z: MQ==
"
    );
}

#[test]
fn a_hash_remains_only_if_both_sides_want_one() {
    let mut run = Run::new(&[
        ("base", b"configMapGenerator:\n- {name: hashed, literals: [a=1]}\n"),
        (
            "top",
            b"configMapGenerator:\n- {name: plain, behavior: merge, literals: [b=2]}\n- {name: hashed, behavior: merge, literals: [b=2], options: {disableNameSuffixHash: true}}\n",
        ),
    ]);
    run.objects = testing::objects(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\ndata: {a: \"1\"}\n",
    );
    run.generate("base").generate("top");
    run.finish();
    assert_eq!(run.names(), ["plain", "hashed"]);
}

#[test]
fn what_cannot_be_generated_is_refused() {
    let run = run(
        "configMapGenerator:\n- {name: a, behavior: merge}\n- {name: b, behavior: typo}\n- {name: b}\n- {name: c, literals: [k=1, k=2, novalue, =v], files: [a=b=c, '=x', 'x=', missing]}\n- {literals: [a=b]}\n",
        &[],
    );
    assert_eq!(
        run.messages(),
        [
            "ConfigMap a is not there, so nothing can be merged into it or replaced",
            "ConfigMap b is there already",
            "a generated ConfigMap has the key k twice",
            "literal novalue is not of the form key=value",
            "literal =v is not of the form key=value",
            "file source a=b=c is neither a path nor of the form key=path",
            "file source =x is neither a path nor of the form key=path",
            "file source x= is neither a path nor of the form key=path",
            "missing is missing",
            "a generated ConfigMap has no name",
        ]
    );
    assert_eq!(run.names(), ["b", "c"]);
    assert_eq!(run.problems[1].kind, ProblemKind::DuplicateObject);
}

#[test]
fn remote_inputs_are_gaps() {
    let run = run(
        "configMapGenerator:\n- {name: a, files: ['https://example.com/x']}\n- {name: b, files: ['k=http://example.com/x'], options: {disableNameSuffixHash: true}}\n",
        &[],
    );
    assert!(run.messages().is_empty());
    let gaps: Vec<_> = run
        .gaps
        .iter()
        .map(|gap| (run.files.slice(gap.place), gap.effect))
        .collect();
    assert_eq!(
        gaps,
        [
            ("'https://example.com/x'", GapEffect::Identities),
            ("http://example.com/x", GapEffect::Content)
        ]
        .map(|(text, effect)| (text.trim_matches('\''), effect))
    );
}

#[test]
fn encrypted_inputs_are_reported_with_what_flux_makes_of_them() {
    let yaml: &[u8] = b"a: ENC[x]\nsops:\n    mac: ENC[y]\n";
    let env: &[u8] = b"A=ENC[x]\nsops_mac=ENC[y]\n";
    let run = run(
        "configMapGenerator:\n- {name: m, files: [s.yaml]}\nsecretGenerator:\n- {name: a, files: [s.yaml, raw=s.yaml], envs: [s.env]}\n- {name: b, env: s.env}\n- {name: c, files: [s.yaml], options: {disableNameSuffixHash: true}}\n",
        &[("s.yaml", yaml), ("s.env", env)],
    );
    let listed: Vec<_> = run
        .encrypted
        .iter()
        .map(|input| (run.files.slice(input.listed), input.decrypted_by_flux))
        .collect();
    assert_eq!(
        listed,
        [
            ("s.yaml", false),
            ("s.env", true),
            ("s.yaml", true),
            ("s.yaml", false),
            ("s.env", false),
            ("s.yaml", true)
        ]
    );
    let effects: Vec<_> = run.gaps.iter().map(|gap| gap.effect).collect();
    assert_eq!(effects, [GapEffect::Identities, GapEffect::Identities]);
}
