//! Which objects a patch's target selects (upstream: api `types.SelectorRegex`, `resWrangler.Select`).

use regex::Regex;

use crate::go_regex;

use crate::kustomize::scope::effective_namespace;
use crate::kustomize::{Object, ObjectId, Problem, ProblemKind};
use crate::yaml::Node;

/// A target, ready to be asked.
pub(in crate::kustomize) struct Selector {
    group: Pattern,
    version: Pattern,
    kind: Pattern,
    name: Pattern,
    namespace: Pattern,
    labels: LabelSelector,
    annotations: LabelSelector,
}

/// An anchored regular expression; most are plain words, which need no expression.
enum Pattern {
    Any,
    Word(String),
    Expression(Regex),
}

impl Pattern {
    fn of(target: &Node, field: &str) -> Result<Self, Problem> {
        let Some(node) = target.get(field) else {
            return Ok(Self::Any);
        };
        let text = node.as_str().unwrap_or_default();
        if text.is_empty() {
            return Ok(Self::Any);
        }
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '/');
        if text.chars().all(plain) {
            return Ok(Self::Word(text.to_owned()));
        }
        go_regex::compile_anchored(text)
            .map(Self::Expression)
            .map_err(|error| Problem {
                kind: ProblemKind::Other,
                place: node.place,
                message: format!("{field} `{text}` is no regular expression: {error}"),
                related: Vec::new(),
                help: None,
            })
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Word(word) => word == text,
            Self::Expression(expression) => expression.is_match(text),
        }
    }
}

impl Selector {
    /// Reads a target as written in a kustomization file.
    ///
    /// # Errors
    /// If a pattern is no regular expression or a selector is none.
    pub(in crate::kustomize) fn new(target: &Node) -> Result<Self, Problem> {
        Ok(Self {
            group: Pattern::of(target, "group")?,
            version: Pattern::of(target, "version")?,
            kind: Pattern::of(target, "kind")?,
            name: Pattern::of(target, "name")?,
            namespace: Pattern::of(target, "namespace")?,
            labels: LabelSelector::of(target, "labelSelector")?,
            annotations: LabelSelector::of(target, "annotationSelector")?,
        })
    }

    /// The name, if the target names one and not a pattern.
    pub(in crate::kustomize) fn literal_name(&self) -> Option<&str> {
        match &self.name {
            Pattern::Word(word) => Some(word),
            _ => None,
        }
    }

    /// True if the kind, group and version fit.
    pub(in crate::kustomize) fn fits_kind(&self, id: &ObjectId) -> bool {
        self.group.matches(&id.group)
            && self.version.matches(&id.version)
            && self.kind.matches(&id.kind)
    }

    /// True if the object is selected: name and namespace by the original or the current value.
    pub(in crate::kustomize) fn selects(&self, object: &Object, id: &ObjectId) -> bool {
        if !self.fits_kind(id) {
            return false;
        }
        let original = object.previous.first().unwrap_or(id);
        (self.name.matches(&original.name) || self.name.matches(&id.name))
            && (matches!(self.namespace, Pattern::Any)
                || self.namespace.matches(effective_namespace(original))
                || self.namespace.matches(effective_namespace(id)))
            && self.labels.matches(object, "labels")
            && self.annotations.matches(object, "annotations")
    }
}

/// A Kubernetes label selector: all requirements must hold.
struct LabelSelector(Vec<Requirement>);

struct Requirement {
    key: String,
    test: Test,
}

enum Test {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    Missing,
    Greater(i64),
    Less(i64),
}

impl LabelSelector {
    fn of(target: &Node, field: &str) -> Result<Self, Problem> {
        let Some(node) = target.get(field) else {
            return Ok(Self(Vec::new()));
        };
        let text = node.as_str().unwrap_or_default();
        parse_selector(text).map(Self).map_err(|reason| Problem {
            kind: ProblemKind::Other,
            place: node.place,
            message: format!("{field} `{text}` is no selector: {reason}"),
            related: Vec::new(),
            help: None,
        })
    }

    fn matches(&self, object: &Object, field: &str) -> bool {
        self.0.iter().all(|requirement| {
            let value = object
                .node
                .at(&["metadata", field, &requirement.key])
                .map(|value| value.as_str().unwrap_or_default());
            match &requirement.test {
                Test::In(values) => value.is_some_and(|value| values.iter().any(|v| v == value)),
                Test::NotIn(values) => value.is_none_or(|value| values.iter().all(|v| v != value)),
                Test::Exists => value.is_some(),
                Test::Missing => value.is_none(),
                Test::Greater(bound) => number(value).is_some_and(|value| value > *bound),
                Test::Less(bound) => number(value).is_some_and(|value| value < *bound),
            }
        })
    }
}

fn number(value: Option<&str>) -> Option<i64> {
    value?.parse().ok()
}

/// The pieces of a selector.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Equal,
    NotEqual,
    Greater,
    Less,
    Not,
    Open,
    Close,
    Comma,
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let followed_by_equal = rest.peek() == Some(&'=');
        match c {
            ' ' | '\t' | '\r' | '\n' => {}
            ',' => tokens.push(Token::Comma),
            '(' => tokens.push(Token::Open),
            ')' => tokens.push(Token::Close),
            '>' => tokens.push(Token::Greater),
            '<' => tokens.push(Token::Less),
            '=' => {
                if followed_by_equal {
                    rest.next();
                }
                tokens.push(Token::Equal);
            }
            '!' if followed_by_equal => {
                rest.next();
                tokens.push(Token::NotEqual);
            }
            '!' => tokens.push(Token::Not),
            c => {
                let mut word = String::from(c);
                while let Some(next) = rest.next_if(|c| !" \t\r\n,()><=!".contains(*c)) {
                    word.push(next);
                }
                tokens.push(Token::Word(word));
            }
        }
    }
    tokens
}

fn parse_selector(text: &str) -> Result<Vec<Requirement>, String> {
    let tokens = tokens(text);
    let mut at = 0;
    let mut requirements = Vec::new();
    while at < tokens.len() {
        let negated = tokens[at] == Token::Not;
        at += usize::from(negated);
        let Some(Token::Word(key)) = tokens.get(at) else {
            return Err("a key is missing".to_owned());
        };
        check_key(key)?;
        at += 1;
        let test = if negated {
            Test::Missing
        } else {
            parse_test(&tokens, &mut at)?
        };
        requirements.push(Requirement {
            key: key.clone(),
            test,
        });
        match tokens.get(at) {
            None => break,
            Some(Token::Comma) if at + 1 < tokens.len() => at += 1,
            Some(_) => return Err(format!("`,` is missing behind `{key}`")),
        }
    }
    Ok(requirements)
}

fn parse_test(tokens: &[Token], at: &mut usize) -> Result<Test, String> {
    let operator = tokens.get(*at);
    let word = |at: usize| match tokens.get(at) {
        Some(Token::Word(word)) => Some(word.clone()),
        _ => None,
    };
    match operator {
        None | Some(Token::Comma) => Ok(Test::Exists),
        Some(operator @ (Token::Equal | Token::NotEqual)) => {
            *at += 1;
            let value = word(*at).unwrap_or_default();
            if !value.is_empty() {
                *at += 1;
            }
            check_value(&value)?;
            Ok(if *operator == Token::Equal {
                Test::In(vec![value])
            } else {
                Test::NotIn(vec![value])
            })
        }
        Some(operator @ (Token::Greater | Token::Less)) => {
            *at += 1;
            let value = word(*at).unwrap_or_default();
            *at += 1;
            let bound = value
                .parse()
                .map_err(|_| format!("`{value}` is no whole number"))?;
            Ok(if *operator == Token::Greater {
                Test::Greater(bound)
            } else {
                Test::Less(bound)
            })
        }
        Some(Token::Word(word)) if word == "in" || word == "notin" => {
            let within = word == "in";
            *at += 1;
            let values = parse_values(tokens, at)?;
            Ok(if within {
                Test::In(values)
            } else {
                Test::NotIn(values)
            })
        }
        Some(_) => Err("an operator is missing".to_owned()),
    }
}

fn parse_values(tokens: &[Token], at: &mut usize) -> Result<Vec<String>, String> {
    if tokens.get(*at) != Some(&Token::Open) {
        return Err("`(` is missing".to_owned());
    }
    *at += 1;
    let mut values = Vec::new();
    let mut current = String::new();
    loop {
        match tokens.get(*at) {
            Some(Token::Word(word)) if current.is_empty() => current.clone_from(word),
            Some(Token::Comma) => values.push(std::mem::take(&mut current)),
            Some(Token::Close) => break,
            _ => return Err("`)` is missing".to_owned()),
        }
        *at += 1;
    }
    *at += 1;
    values.push(current);
    values.iter().try_for_each(|value| check_value(value))?;
    Ok(values)
}

/// A qualified name: an optional DNS name and `/`, then at most 63 characters.
fn check_key(key: &str) -> Result<(), String> {
    let (prefix, name) = key
        .rsplit_once('/')
        .map_or((None, key), |(prefix, name)| (Some(prefix), name));
    let prefix_ok = prefix.is_none_or(|prefix| {
        !prefix.is_empty()
            && prefix.len() <= 253
            && prefix.split('.').all(|part| {
                !part.is_empty()
                    && part
                        .chars()
                        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
                    && !part.starts_with('-')
                    && !part.ends_with('-')
            })
    });
    if prefix_ok && !name.is_empty() && is_label_text(name) {
        Ok(())
    } else {
        Err(format!("`{key}` is no label key"))
    }
}

fn check_value(value: &str) -> Result<(), String> {
    if is_label_text(value) {
        Ok(())
    } else {
        Err(format!("`{value}` is no label value"))
    }
}

fn is_label_text(text: &str) -> bool {
    let alphanumeric = |c: char| c.is_ascii_alphanumeric();
    text.len() <= 63
        && text
            .chars()
            .all(|c| alphanumeric(c) || matches!(c, '-' | '_' | '.'))
        && (text.is_empty() || text.starts_with(alphanumeric) && text.ends_with(alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_read_as_kubernetes_reads_them() {
        for good in [
            "",
            "a",
            "!a",
            "a=b",
            "a==b,c!=d",
            "app in (a, b),tier notin (x)",
            "kustomize.toolkit.fluxcd.io/x=disabled",
            "a=",
            "n>3",
        ] {
            assert!(parse_selector(good).is_ok(), "{good}");
        }
        for bad in [
            "=b", "a b", "a in b", "a in (b", "a=b,", "a=b c", "-a=b", "a=x/y",
        ] {
            assert!(parse_selector(bad).is_err(), "{bad}");
        }
    }
}
