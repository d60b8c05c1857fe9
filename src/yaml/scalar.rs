//! The type of a plain scalar, as the readers in Kubernetes' tools decide it.
//!
//! Resources are read by yaml.v3 (kustomize's kyaml): YAML 1.2 booleans, old
//! octal and underscores in numbers. Kustomization files, JSON patches and
//! objects after Flux's substitution are read by yaml.v2 rules (sigs.k8s.io/yaml),
//! where `yes`, `on` and their kin are booleans too.

use smol_str::SmolStr;

/// A scalar: its text after unescaping, and how it was written, which decides its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// The text.
    pub text: SmolStr,
    /// The notation; only a plain scalar can be anything but a string.
    pub style: Style,
    /// The explicit tag, if any.
    pub tag: Tag,
}

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// `'…'`
    SingleQuoted,
    /// `"…"`
    DoubleQuoted,
    /// `|`
    Literal,
    /// `>`
    Folded,
}

/// An explicit tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// None written.
    None,
    /// `!!str`: a string whatever the text.
    String,
    /// `!!binary`.
    Binary,
    /// Another of YAML's own (`!!int`, `!!bool`, …): typed by its text all the same.
    Core,
    /// A tag of somebody's own (`!reference`, `!vault`).
    Custom,
}

impl Scalar {
    /// A string that stays one whatever its text.
    pub fn string(text: impl Into<SmolStr>) -> Self {
        Self {
            text: text.into(),
            style: Style::DoubleQuoted,
            tag: Tag::None,
        }
    }

    /// A plain scalar, typed by its text.
    pub fn plain(text: impl Into<SmolStr>) -> Self {
        Self {
            text: text.into(),
            style: Style::Plain,
            tag: Tag::None,
        }
    }

    /// True if it is typed as null, without the work of typing anything else.
    pub fn is_null(&self) -> bool {
        self.style == Style::Plain
            && matches!(self.tag, Tag::None | Tag::Core)
            && matches!(self.text.as_str(), "" | "~" | "null" | "Null" | "NULL")
    }

    /// The typed value, as Kubernetes' resource readers (yaml.v3) type it.
    pub fn typed(&self) -> Typed {
        typed_core(self)
    }
}

/// A typed scalar. A string's text stays in the [`Scalar`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Typed {
    /// null
    Null,
    /// A boolean.
    Bool(bool),
    /// A whole number that fits 64 bits.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A string.
    String,
}

/// The type that yaml.v3 gives a scalar when it decodes without a schema.
pub fn typed_core(scalar: &Scalar) -> Typed {
    typed(scalar, false)
}

/// The type that yaml.v2 gives it, where `yes`, `no`, `on`, `off`, `y` and `n` are booleans.
pub fn typed_yaml_1_1(scalar: &Scalar) -> Typed {
    typed(scalar, true)
}

/// True if the text, written plain, reads back as the same string under both rule sets.
pub fn plain_text_is_string(text: &str) -> bool {
    let scalar = Scalar::plain(text);
    typed_core(&scalar) == Typed::String && typed_yaml_1_1(&scalar) == Typed::String
}

fn typed(scalar: &Scalar, yaml_1_1: bool) -> Typed {
    let quoted = scalar.style != Style::Plain && scalar.tag != Tag::Core;
    if quoted || matches!(scalar.tag, Tag::String | Tag::Binary | Tag::Custom) {
        return Typed::String;
    }
    let text = scalar.text.as_str();
    let Some(first) = text.bytes().next() else {
        return Typed::Null;
    };
    match first {
        b'~' if text == "~" => return Typed::Null,
        b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'y' | b'Y' | b'o' | b'O' => {
            return match text {
                "null" | "Null" | "NULL" => Typed::Null,
                "true" | "True" | "TRUE" => Typed::Bool(true),
                "false" | "False" | "FALSE" => Typed::Bool(false),
                "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" if yaml_1_1 => {
                    Typed::Bool(true)
                }
                "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" if yaml_1_1 => {
                    Typed::Bool(false)
                }
                _ => Typed::String,
            };
        }
        b'0'..=b'9' | b'+' | b'-' | b'.' => {}
        _ => return Typed::String,
    }
    number(text).unwrap_or(Typed::String)
}

/// A number as Go's yaml reads it: underscores, signs, `0x`, `0o`, `0b`, old octal, floats, `.inf`.
fn number(text: &str) -> Option<Typed> {
    match text {
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return Some(Typed::Float(f64::INFINITY));
        }
        "-.inf" | "-.Inf" | "-.INF" => return Some(Typed::Float(f64::NEG_INFINITY)),
        ".nan" | ".NaN" | ".NAN" => return Some(Typed::Float(f64::NAN)),
        _ => {}
    }
    let clean: String = text.chars().filter(|c| *c != '_').collect();
    if let Some(integer) = integer(&clean) {
        return Some(integer);
    }
    // What no number of 64 bits can hold is a string for Go.
    let value: f64 = is_float(&clean).then(|| clean.parse().ok())??;
    value.is_finite().then_some(Typed::Float(value))
}

fn integer(text: &str) -> Option<Typed> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if !digits.as_bytes().first()?.is_ascii_digit() {
        return None;
    }
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    if let Ok(value) = i64::from_str_radix(digits, radix) {
        return Some(Typed::Int(if negative { -value } else { value }));
    }
    let large = u64::from_str_radix(digits, radix).ok()?;
    Some(Typed::Float(if negative {
        -(large as f64)
    } else {
        large as f64
    }))
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_float(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let mantissa_ok = match mantissa.split_once('.') {
        Some(("", fraction)) => !fraction.is_empty() && digits(fraction),
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => !mantissa.is_empty() && digits(mantissa),
    };
    let exponent_ok = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    mantissa_ok && exponent_ok
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_typed_as_the_go_readers_type_them() {
        let cases = [
            ("", Typed::Null),
            ("~", Typed::Null),
            ("null", Typed::Null),
            ("true", Typed::Bool(true)),
            ("yes", Typed::String),
            ("010", Typed::Int(8)),
            ("0o10", Typed::Int(8)),
            ("0x1F", Typed::Int(31)),
            ("1_000", Typed::Int(1000)),
            ("-1", Typed::Int(-1)),
            ("1.5", Typed::Float(1.5)),
            ("1e3", Typed::Float(1000.0)),
            ("1:20", Typed::String),
            ("2024-01-01", Typed::String),
            ("09", Typed::Float(9.0)),
            ("1.2.3", Typed::String),
            ("1e400", Typed::String),
            ("-1e999", Typed::String),
            ("-", Typed::String),
            (".", Typed::String),
            ("5Gi", Typed::String),
        ];
        for (text, expected) in cases {
            assert_eq!(typed_core(&Scalar::plain(text)), expected, "{text}");
        }
        assert_eq!(typed_yaml_1_1(&Scalar::plain("yes")), Typed::Bool(true));
        assert_eq!(typed_yaml_1_1(&Scalar::plain("off")), Typed::Bool(false));
        assert_eq!(typed_core(&Scalar::string("1")), Typed::String);
    }
}
