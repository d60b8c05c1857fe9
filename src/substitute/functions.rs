//! What each operator does with a value. Upstream: fluxcd/pkg `envsubst/funcs.go`.

use std::borrow::Cow;

use super::grammar::{Operator, Reason};

/// Bytes and comparisons that one text may cost; an object of Kubernetes has at most 1.5 MiB.
const MAX_WORK: usize = 1 << 26;

/// Why an evaluation ends early.
pub(super) enum Stop {
    /// It would cost more than is sensible.
    TooLarge,
    /// Flux refuses the reference.
    Refused(Reason),
}

/// What an evaluation has cost so far.
#[derive(Default)]
pub(super) struct Budget(usize);

impl Budget {
    pub(super) fn spend(&mut self, work: usize) -> Result<(), Stop> {
        self.0 = self.0.saturating_add(work);
        if self.0 > MAX_WORK {
            return Err(Stop::TooLarge);
        }
        Ok(())
    }
}

/// The value after the operator.
pub(super) fn apply<'v>(
    operator: Operator,
    value: &'v str,
    first: Option<&str>,
    second: Option<&str>,
    budget: &mut Budget,
) -> Result<Cow<'v, str>, Stop> {
    let first_text = first.unwrap_or_default();
    Ok(match operator {
        Operator::Value | Operator::Default => value.into(),
        Operator::Length => value.len().to_string().into(),
        Operator::Substring => substring(value, first_text, second)?.into(),
        Operator::Upper => value.chars().map(upper).collect(),
        Operator::Lower => value.chars().map(lower).collect(),
        Operator::UpperFirst => map_first(value, upper),
        Operator::LowerFirst => map_first(value, lower),
        Operator::TrimShortestPrefix => trim_prefix(value, first_text, false, budget)?.into(),
        Operator::TrimLongestPrefix => trim_prefix(value, first_text, true, budget)?.into(),
        Operator::TrimShortestSuffix => trim_suffix(value, first_text, false, budget)?,
        Operator::TrimLongestSuffix => trim_suffix(value, first_text, true, budget)?,
        Operator::ReplaceFirst => value
            .replacen(first_text, second.unwrap_or_default(), 1)
            .into(),
        Operator::ReplaceAll => {
            let replacement = second.unwrap_or_default();
            budget.spend(value.matches(first_text).count() * replacement.len())?;
            value.replace(first_text, replacement).into()
        }
        // Without a replacement these two do nothing.
        Operator::ReplacePrefix => match second {
            Some(replacement) if value.starts_with(first_text) => {
                value.replacen(first_text, replacement, 1).into()
            }
            _ => value.into(),
        },
        Operator::ReplaceSuffix => match (value.strip_suffix(first_text), second) {
            (Some(rest), Some(replacement)) => format!("{rest}{replacement}").into(),
            _ => value.into(),
        },
    })
}

/// Bytes of the value from an offset, counted from the end if negative. What is no
/// number leaves the value as it is.
fn substring<'v>(value: &'v str, offset: &str, length: Option<&str>) -> Result<&'v str, Stop> {
    let size = value.len() as i64;
    let Ok(offset) = offset.parse::<i64>() else {
        return Ok(value);
    };
    let start = if offset < 0 {
        offset.saturating_add(size).max(0)
    } else {
        offset
    };
    let end = match length.map(str::parse::<i64>) {
        None => size,
        Some(Err(_)) => return Ok(value),
        Some(Ok(length)) => {
            let end = start.saturating_add(length);
            if length < 0 && end < size {
                return Err(Stop::Refused(Reason::NegativeLength));
            }
            end.min(size)
        }
    };
    if start >= end {
        return Ok("");
    }
    value
        .get(start as usize..end as usize)
        .ok_or(Stop::Refused(Reason::CutsCharacter))
}

/// A character's upper case, if that is one character.
fn upper(c: char) -> char {
    let mut mapped = c.to_uppercase();
    match (mapped.next(), mapped.next()) {
        (Some(single), None) => single,
        _ => c,
    }
}

/// A character's lower case, if that is one character.
fn lower(c: char) -> char {
    let mut mapped = c.to_lowercase();
    match (mapped.next(), mapped.next()) {
        (Some(single), None) => single,
        _ => c,
    }
}

fn map_first(value: &str, map: fn(char) -> char) -> Cow<'_, str> {
    let mut rest = value.chars();
    match rest.next() {
        Some(first) => format!("{}{}", map(first), rest.as_str()).into(),
        None => value.into(),
    }
}

fn trim_prefix<'v>(
    value: &'v str,
    pattern: &str,
    longest: bool,
    budget: &mut Budget,
) -> Result<&'v str, Stop> {
    let pattern: Vec<char> = pattern.chars().collect();
    let matched = matching_prefix(value.chars(), value.len(), &pattern, longest, budget)?;
    let skipped: usize = value.chars().take(matched).map(char::len_utf8).sum();
    Ok(&value[skipped..])
}

/// As upstream does it: value and pattern are both turned round, so a class or an
/// escape in the pattern does not survive.
fn trim_suffix<'v>(
    value: &'v str,
    pattern: &str,
    longest: bool,
    budget: &mut Budget,
) -> Result<Cow<'v, str>, Stop> {
    let pattern: Vec<char> = pattern.chars().rev().collect();
    let matched = matching_prefix(value.chars().rev(), value.len(), &pattern, longest, budget)?;
    let skipped: usize = value.chars().rev().take(matched).map(char::len_utf8).sum();
    Ok(value[..value.len() - skipped].into())
}

/// One element of a shell pattern.
enum Element {
    /// `*`: any text, slashes included.
    Star,
    /// `?`
    Any,
    /// `[…]`: the ranges, and whether they are excluded.
    Class(bool, Vec<(char, char)>),
    /// A character.
    Char(char),
}

/// The number of characters of the shortest or longest prefix, not empty, that the
/// pattern matches; 0 if there is none or the pattern is malformed.
fn matching_prefix(
    value: impl Iterator<Item = char>,
    length: usize,
    pattern: &[char],
    longest: bool,
    budget: &mut Budget,
) -> Result<usize, Stop> {
    let Some(elements) = elements(pattern) else {
        return Ok(0);
    };
    budget.spend(length.saturating_mul(pattern.len() + 1))?;
    // reached[i]: the first i elements match what was read.
    let mut reached = vec![false; elements.len() + 1];
    let follow_stars = |reached: &mut Vec<bool>| {
        for (index, element) in elements.iter().enumerate() {
            if matches!(element, Element::Star) && reached[index] {
                reached[index + 1] = true;
            }
        }
    };
    let mut next = reached.clone();
    reached[0] = true;
    follow_stars(&mut reached);
    let mut found = 0;
    for (index, c) in value.enumerate() {
        next.fill(false);
        for (position, element) in elements.iter().enumerate() {
            if !reached[position] {
                continue;
            }
            match element {
                Element::Star => next[position] = true,
                Element::Any => next[position + 1] = true,
                Element::Char(wanted) => next[position + 1] |= *wanted == c,
                Element::Class(excluded, ranges) => {
                    let inside = ranges.iter().any(|(low, high)| *low <= c && c <= *high);
                    next[position + 1] |= inside != *excluded;
                }
            }
        }
        follow_stars(&mut next);
        std::mem::swap(&mut reached, &mut next);
        if reached[elements.len()] {
            found = index + 1;
            if !longest {
                break;
            }
        }
    }
    Ok(found)
}

/// The elements of a pattern; `None` if it is malformed.
fn elements(pattern: &[char]) -> Option<Vec<Element>> {
    let mut elements = Vec::new();
    let mut rest = pattern.iter().copied().peekable();
    while let Some(c) = rest.next() {
        elements.push(match c {
            '*' => Element::Star,
            '?' => Element::Any,
            '\\' => Element::Char(rest.next()?),
            '[' => {
                let excluded = rest.next_if_eq(&'^').is_some();
                let mut ranges = Vec::new();
                loop {
                    if !ranges.is_empty() && rest.next_if_eq(&']').is_some() {
                        break;
                    }
                    let mut class_char = || match rest.next()? {
                        '-' | ']' => None,
                        '\\' => rest.next(),
                        c => Some(c),
                    };
                    let low = class_char()?;
                    let high = if rest.next_if_eq(&'-').is_some() {
                        match rest.next()? {
                            '-' | ']' => return None,
                            '\\' => rest.next()?,
                            c => c,
                        }
                    } else {
                        low
                    };
                    ranges.push((low, high));
                }
                Element::Class(excluded, ranges)
            }
            c => Element::Char(c),
        });
    }
    Some(elements)
}
