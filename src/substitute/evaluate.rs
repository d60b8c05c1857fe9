//! Runs a parsed text against the variables. Upstream: fluxcd/pkg `envsubst/template.go`.

use super::functions::{self, Budget, Stop};
use super::grammar::{Operator, Reason, Step, SubstitutionError, Template};

/// What is known of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup<'a> {
    /// It has this value; an empty one counts as set.
    Value(&'a str),
    /// Nothing sets it.
    Unset,
    /// It comes, or may come, from outside the tree.
    Unknown,
}

/// What a text becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// This text.
    Text(String),
    /// It depends on a variable that is unknown, or is too large to be worked out.
    Unknown,
    /// Flux refuses it.
    Error(SubstitutionError),
}

/// What Flux's substitution makes of `text`. With `strict` (Flux 2.9 and later) a variable
/// that is not set and has no default is an error, before it was empty.
///
/// Time and space are linear in the text and in the values that are put in; a text whose
/// result would be larger than any object can be is [`Outcome::Unknown`].
pub fn evaluate<'v>(text: &str, strict: bool, lookup: &dyn Fn(&str) -> Lookup<'v>) -> Outcome {
    match Template::parse(text) {
        Ok(template) => Evaluation {
            text,
            strict,
            lookup,
            output: String::with_capacity(text.len()),
            budget: Budget::default(),
            open: Vec::new(),
            closing: 0,
            unknown: false,
        }
        .run(&template),
        Err(error) => Outcome::Error(error),
    }
}

/// An open reference: where its output and each of its arguments begin.
struct Frame {
    expression: usize,
    start: usize,
    arguments: [Option<usize>; 2],
    /// True if what it has put out so far depends on an unknown variable.
    unknown: bool,
}

struct Evaluation<'a, 'v> {
    text: &'a str,
    strict: bool,
    lookup: &'a dyn Fn(&str) -> Lookup<'v>,
    output: String,
    budget: Budget,
    open: Vec<Frame>,
    /// The reference that was closed last.
    closing: usize,
    unknown: bool,
}

impl Evaluation<'_, '_> {
    fn run(mut self, template: &Template<'_>) -> Outcome {
        let mut too_large = false;
        for step in &template.steps {
            match step {
                Step::Text(_) if too_large => {}
                Step::Text(text) => self.output.push_str(text),
                Step::Open(expression) => self.open.push(Frame {
                    expression: *expression,
                    start: self.output.len(),
                    arguments: [None; 2],
                    unknown: false,
                }),
                Step::Argument => {
                    let at = self.output.len();
                    if let Some(frame) = self.open.last_mut() {
                        match &mut frame.arguments {
                            [first @ None, _] => *first = Some(at),
                            [_, second] => *second = Some(at),
                        }
                    }
                }
                Step::Close => match self.close(template) {
                    Ok(()) => {}
                    // What follows may still be refused, and that is sure.
                    Err(Stop::TooLarge) => {
                        too_large = true;
                        self.mark_unknown();
                    }
                    Err(Stop::Refused(reason)) => {
                        let range = template.expressions[self.closing].range.clone();
                        let error = SubstitutionError::new(self.text, range, reason);
                        return Outcome::Error(error);
                    }
                },
            }
        }
        if self.unknown || too_large {
            Outcome::Unknown
        } else {
            Outcome::Text(self.output)
        }
    }

    fn mark_unknown(&mut self) {
        match self.open.last_mut() {
            Some(outer) => outer.unknown = true,
            None => self.unknown = true,
        }
    }

    fn close(&mut self, template: &Template<'_>) -> Result<(), Stop> {
        let Some(frame) = self.open.pop() else {
            return Ok(());
        };
        self.closing = frame.expression;
        let expression = &template.expressions[frame.expression];
        let value = match (self.lookup)(expression.name) {
            Lookup::Value(value) => value,
            Lookup::Unset if self.strict && expression.operator != Operator::Default => {
                return Err(Stop::Refused(Reason::NotSet));
            }
            Lookup::Unset => "",
            Lookup::Unknown => {
                self.output.truncate(frame.start);
                self.mark_unknown();
                return Ok(());
            }
        };
        if expression.operator == Operator::Default && value.is_empty() {
            // The default stands already where it belongs.
            if frame.unknown {
                self.mark_unknown();
            }
            return Ok(());
        }
        if frame.unknown && expression.operator != Operator::Default {
            self.output.truncate(frame.start);
            self.mark_unknown();
            return Ok(());
        }
        let result = {
            let end = self.output.len();
            let argument = |index: usize| {
                let start = frame.arguments[index]?;
                let end = frame.arguments.get(index + 1).copied().flatten();
                self.output.get(start..end.unwrap_or(self.output.len()))
            };
            self.budget.spend(value.len() + end - frame.start)?;
            functions::apply(
                expression.operator,
                value,
                argument(0),
                argument(1),
                &mut self.budget,
            )?
        };
        self.budget.spend(result.len())?;
        self.output.truncate(frame.start);
        self.output.push_str(&result);
        Ok(())
    }
}
