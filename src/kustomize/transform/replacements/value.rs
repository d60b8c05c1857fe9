//! The value of a replacement: taken apart at the source, put together at the target.

use smol_str::SmolStr;

use crate::kustomize::fieldspec::FieldError;
use crate::yaml::{Node, Scalar, Tag, Typed, Value};

const NOT_SCALAR: &str = "a delimiter is given for what is no scalar";

/// The piece `index` of a source's value, or all of it without a delimiter.
pub(super) fn part_of(source: &Node, delimiter: &str, index: i64) -> Result<Node, FieldError> {
    if delimiter.is_empty() {
        return Ok(source.clone());
    }
    let Value::Scalar(scalar) = &source.value else {
        return Err(FieldError::new(source, NOT_SCALAR));
    };
    let piece = usize::try_from(index)
        .ok()
        .and_then(|index| scalar.text.split(delimiter).nth(index))
        .ok_or_else(|| {
            FieldError::new(
                source,
                format!("{} has no piece {index} between {delimiter:?}", scalar.text),
            )
        })?;
    Ok(Node {
        place: source.place,
        value: Value::Scalar(Scalar {
            text: piece.into(),
            ..scalar.clone()
        }),
    })
}

/// Writes a value into a field. A scalar keeps its type, and takes only text: nothing of a list or map.
pub(super) fn set(
    field: &mut Node,
    value: &Node,
    delimiter: &str,
    index: i64,
    created: bool,
) -> Result<(), FieldError> {
    let Value::Scalar(old) = &field.value else {
        if !delimiter.is_empty() {
            return Err(FieldError::new(field, NOT_SCALAR));
        }
        *field = value.clone();
        return Ok(());
    };
    let text = value.as_scalar().map_or("", |scalar| scalar.text.as_str());
    let text = if delimiter.is_empty() {
        text.to_owned()
    } else {
        spliced(&old.text, text, delimiter, index)
    };
    let new = if created {
        untyped(text)
    } else {
        retyped(old, text).map_err(|message| FieldError::new(field, message))?
    };
    *field = Node {
        place: value.place,
        value: Value::Scalar(new),
    };
    Ok(())
}

/// `old` with piece `index` replaced; an index below 0 puts `new` in front, one past the end behind.
fn spliced(old: &str, new: &str, delimiter: &str, index: i64) -> String {
    let mut pieces: Vec<&str> = old.split(delimiter).collect();
    match usize::try_from(index) {
        Err(_) => pieces.insert(0, new),
        Ok(index) => match pieces.get_mut(index) {
            Some(piece) => *piece = new,
            None => pieces.push(new),
        },
    }
    pieces.join(delimiter)
}

/// A scalar that a replacement made: typed by its text only when all is done, so that a
/// later replacement may write anything into it. The core tag says so.
pub(super) fn untyped(text: impl Into<SmolStr>) -> Scalar {
    Scalar {
        tag: Tag::Core,
        ..Scalar::plain(text)
    }
}

/// The text as a scalar of the old one's type; kustomize fails to print what does not fit.
fn retyped(old: &Scalar, text: String) -> Result<Scalar, String> {
    if old.tag == Tag::Core {
        return Ok(untyped(text));
    }
    let new = Scalar::plain(text);
    let kind = match (old.typed(), new.typed()) {
        (Typed::String, _) => return Ok(Scalar::string(new.text)),
        (Typed::Int(_), Typed::Int(_))
        | (Typed::Bool(_), Typed::Bool(_))
        | (Typed::Float(_), Typed::Int(_) | Typed::Float(_))
        | (Typed::Null, Typed::Null) => return Ok(new),
        (Typed::Int(_), _) => "a whole number",
        (Typed::Bool(_), _) => "a boolean",
        (Typed::Float(_), _) => "a number",
        (Typed::Null, _) => "null",
    };
    Err(format!(
        "the field is {kind}, {:?} is not",
        new.text.as_str()
    ))
}
