//! Text with `${…}` → a flat program. Upstream: fluxcd/pkg `envsubst/parse/`.
//!
//! The program is flat, and the parser keeps its own stack, so that nesting of any
//! depth costs no more than its length.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use smol_str::SmolStr;

/// A variable named in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The variable.
    pub name: SmolStr,
    /// The bytes of the text from `$` to behind `}`.
    pub range: Range<usize>,
    /// True if an unset or empty variable is replaced by a default, be it an empty one:
    /// `:-`, `:=`, `=`, and also `:+` and `:?`, which Flux reads alike.
    pub has_default: bool,
    /// True if the text is this reference and nothing else.
    pub whole: bool,
    /// True if it stands inside another reference's default or argument. It is looked
    /// up in any case, also if that default is not needed.
    pub nested: bool,
}

/// Why a text cannot be substituted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubstitutionError {
    /// The bytes of the text from the `$` of the reference to where reading it stopped.
    pub range: Range<usize>,
    /// Which kind of fault.
    pub reason: Reason,
    /// What is wrong; lower case, no full stop.
    pub message: String,
}

/// The kinds of fault, as Flux tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No variable name follows `${`.
    VariableName,
    /// What follows the name is neither an operator nor `}`.
    ClosingBrace,
    /// An operator's form is broken.
    BadSubstitution,
    /// An operator's argument is missing or never ends.
    WithinFunction,
    /// The variable is not set, and strict.
    NotSet,
    /// A substring of negative length that ends inside the value; Flux panics.
    NegativeLength,
    /// A substring that starts or ends inside a character; Flux cannot read the result.
    CutsCharacter,
}

/// Every variable that a text names, also inside defaults, in the order of the text.
///
/// # Errors
/// When Flux's grammar rejects the text.
pub fn references(text: &str) -> Result<Vec<Reference>, SubstitutionError> {
    let template = Template::parse(text)?;
    Ok(template
        .expressions
        .into_iter()
        .map(|expression| Reference {
            name: expression.name.into(),
            has_default: expression.operator == Operator::Default,
            whole: expression.range == (0..text.len()),
            nested: expression.nested,
            range: expression.range,
        })
        .collect())
}

/// What a reference does with the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// `${v}`
    Value,
    /// `${v:-d}` and its kin.
    Default,
    /// `${#v}`
    Length,
    /// `${v:offset}`, `${v:offset:length}`
    Substring,
    /// `${v^}`
    UpperFirst,
    /// `${v^^}`
    Upper,
    /// `${v,}`
    LowerFirst,
    /// `${v,,}`
    Lower,
    /// `${v#p}`
    TrimShortestPrefix,
    /// `${v##p}`
    TrimLongestPrefix,
    /// `${v%p}`
    TrimShortestSuffix,
    /// `${v%%p}`
    TrimLongestSuffix,
    /// `${v/a/b}`
    ReplaceFirst,
    /// `${v//a/b}`
    ReplaceAll,
    /// `${v/#a/b}`
    ReplacePrefix,
    /// `${v/%a/b}`
    ReplaceSuffix,
}

#[derive(Debug)]
pub(super) struct Expression<'a> {
    pub(super) name: &'a str,
    pub(super) operator: Operator,
    pub(super) range: Range<usize>,
    nested: bool,
}

/// One step of the program. What stands between `Open` and `Close` makes the arguments.
#[derive(Debug)]
pub(super) enum Step<'a> {
    /// Text to be put out.
    Text(&'a str),
    /// The reference of that index begins.
    Open(usize),
    /// Its next argument begins; a default's parts are one.
    Argument,
    /// The innermost open reference ends.
    Close,
}

/// A parsed text.
#[derive(Debug, Default)]
pub(super) struct Template<'a> {
    pub(super) expressions: Vec<Expression<'a>>,
    pub(super) steps: Vec<Step<'a>>,
}

impl<'a> Template<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Self, SubstitutionError> {
        let mut parser = Parser {
            text,
            at: 0,
            open: Vec::new(),
            template: Self::default(),
        };
        loop {
            match parser.open.last() {
                Some(frame) => parser.advance(frame.expression, frame.stage)?,
                None if parser.at == text.len() => return Ok(parser.template),
                None => parser.outer_text()?,
            }
        }
    }
}

/// What an open reference expects next.
#[derive(Clone, Copy)]
enum Stage {
    Default,
    Offset,
    AfterOffset,
    Pattern,
    ReplacePattern,
    AfterReplacePattern,
    ClosingBrace,
}

struct Frame {
    expression: usize,
    stage: Stage,
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    open: Vec<Frame>,
    template: Template<'a>,
}

impl<'a> Parser<'a> {
    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Text outside any reference, up to and including the next `${`; `$$` gives `$`.
    fn outer_text(&mut self) -> Result<(), SubstitutionError> {
        let bytes = self.text.as_bytes();
        let mut search = self.at;
        while let Some(found) = self.text[search..].find('$') {
            let dollar = search + found;
            match bytes.get(dollar + 1) {
                Some(b'{') => {
                    self.push_text(self.at, dollar);
                    return self.open_reference(dollar);
                }
                Some(b'$') => {
                    self.push_text(self.at, dollar + 1);
                    self.at = dollar + 2;
                    search = self.at;
                }
                _ => search = dollar + 1,
            }
        }
        self.push_text(self.at, self.text.len());
        self.at = self.text.len();
        Ok(())
    }

    fn push_text(&mut self, start: usize, end: usize) {
        if start < end {
            self.template.steps.push(Step::Text(&self.text[start..end]));
        }
    }

    /// Reads `${`, the name and the operator; `start` is the place of `$`.
    fn open_reference(&mut self, start: usize) -> Result<(), SubstitutionError> {
        self.at = start + 2;
        if self.next() == Some(b'#') {
            self.at += 1;
            let name = self.name();
            self.begin(start, name, Operator::Length);
            if name.is_empty() {
                return Err(self.error(Reason::BadSubstitution));
            }
            return self.close(Reason::BadSubstitution);
        }
        let name = self.name();
        let operator_at = self.at;
        let rest = &self.text[self.at..];
        if name.is_empty() {
            self.begin(start, name, Operator::Value);
            return Err(self.error(Reason::VariableName));
        }
        let (length, operator, stage) = match rest.as_bytes() {
            [b':', b'=' | b'-' | b'?' | b'+', ..] => (2, Operator::Default, Some(Stage::Default)),
            [b':', next, ..] if next.is_ascii() => (1, Operator::Substring, Some(Stage::Offset)),
            [b':', ..] => {
                self.begin(start, name, Operator::Substring);
                return Err(self.error(Reason::BadSubstitution));
            }
            [b'=', ..] => (1, Operator::Default, Some(Stage::Default)),
            [b'^' | b',', ..] => {
                let (length, operator) = casing(rest.as_bytes());
                (length, operator, None)
            }
            [b'/', b'/', ..] => (2, Operator::ReplaceAll, Some(Stage::ReplacePattern)),
            [b'/', b'#', ..] => (2, Operator::ReplacePrefix, Some(Stage::ReplacePattern)),
            [b'/', b'%', ..] => (2, Operator::ReplaceSuffix, Some(Stage::ReplacePattern)),
            [b'/', ..] => (1, Operator::ReplaceFirst, Some(Stage::ReplacePattern)),
            [b'#', b'#', ..] => (2, Operator::TrimLongestPrefix, Some(Stage::Pattern)),
            [b'#', ..] => (1, Operator::TrimShortestPrefix, Some(Stage::Pattern)),
            [b'%', b'%', ..] => (2, Operator::TrimLongestSuffix, Some(Stage::Pattern)),
            [b'%', ..] => (1, Operator::TrimShortestSuffix, Some(Stage::Pattern)),
            _ => {
                self.begin(start, name, Operator::Value);
                return self.close(Reason::ClosingBrace);
            }
        };
        self.at = operator_at + length;
        self.begin(start, name, operator);
        match stage {
            None => self.close(Reason::BadSubstitution),
            Some(stage) => {
                if let Some(frame) = self.open.last_mut() {
                    frame.stage = stage;
                }
                Ok(())
            }
        }
    }

    /// Letters, digits and `_`, as Unicode has them.
    fn name(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let length = rest.find(|c| !is_name_char(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn begin(&mut self, start: usize, name: &'a str, operator: Operator) {
        let expression = self.template.expressions.len();
        self.template.expressions.push(Expression {
            name,
            operator,
            range: start..start,
            nested: !self.open.is_empty(),
        });
        self.template.steps.push(Step::Open(expression));
        self.open.push(Frame {
            expression,
            stage: Stage::ClosingBrace,
        });
    }

    /// One step inside the innermost open reference.
    fn advance(&mut self, expression: usize, stage: Stage) -> Result<(), SubstitutionError> {
        debug_assert!(expression < self.template.expressions.len());
        let (next_stage, stops, escapes): (Stage, &[u8], bool) = match stage {
            Stage::Default if self.next() == Some(b'}') => {
                return self.close(Reason::BadSubstitution);
            }
            Stage::Default => (Stage::Default, b"}", false),
            Stage::ClosingBrace => return self.close(Reason::BadSubstitution),
            Stage::Offset => (Stage::AfterOffset, b":}", false),
            Stage::AfterOffset if self.next() == Some(b'}') => {
                return self.close(Reason::BadSubstitution);
            }
            Stage::AfterOffset => {
                self.delimiter(b':')?;
                (Stage::ClosingBrace, b"}", false)
            }
            Stage::Pattern => (Stage::ClosingBrace, b"}", false),
            Stage::ReplacePattern => (Stage::AfterReplacePattern, b"/", true),
            Stage::AfterReplacePattern => {
                self.delimiter(b'/')?;
                if self.next() == Some(b'}') {
                    return self.close(Reason::BadSubstitution);
                }
                (Stage::ClosingBrace, b"}", true)
            }
        };
        if !matches!(stage, Stage::Default) {
            self.template.steps.push(Step::Argument);
        }
        if let Some(frame) = self.open.last_mut() {
            frame.stage = next_stage;
        }
        self.parameter(stops, escapes)
    }

    /// One or more delimiters; more count as one.
    fn delimiter(&mut self, delimiter: u8) -> Result<(), SubstitutionError> {
        let start = self.at;
        while self.next() == Some(delimiter) {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.error(Reason::BadSubstitution));
        }
        Ok(())
    }

    /// One argument: a nested reference, or text up to one of `stops` or the next `${`.
    /// With `escapes`, `$$` gives `$`, `\/` gives `/` and `\\` gives `\`.
    fn parameter(&mut self, stops: &[u8], escapes: bool) -> Result<(), SubstitutionError> {
        let bytes = self.text.as_bytes();
        let mut start = self.at;
        let mut search = self.at;
        loop {
            match (bytes.get(search), bytes.get(search + 1)) {
                (Some(b'$'), Some(b'{')) if search == self.at => {
                    return self.open_reference(search);
                }
                (None, _) | (Some(b'$'), Some(b'{')) => break,
                (Some(b'$'), Some(b'$')) if escapes => {
                    self.push_text(start, search);
                    start = search + 1;
                    search += 2;
                }
                (Some(b'\\'), Some(b'/' | b'\\')) if escapes => {
                    self.push_text(start, search);
                    start = search + 1;
                    search += 2;
                }
                (Some(byte), _) if stops.contains(byte) => break,
                _ => search += 1,
            }
        }
        if search == self.at {
            return Err(self.error(Reason::WithinFunction));
        }
        self.push_text(start, search);
        self.at = search;
        Ok(())
    }

    /// Expects `}` and ends the innermost open reference.
    fn close(&mut self, reason: Reason) -> Result<(), SubstitutionError> {
        if self.next() != Some(b'}') {
            return Err(self.error(reason));
        }
        self.at += 1;
        if let Some(frame) = self.open.pop() {
            self.template.expressions[frame.expression].range.end = self.at;
            self.template.steps.push(Step::Close);
        }
        Ok(())
    }

    /// The fault of the innermost open reference.
    fn error(&self, reason: Reason) -> SubstitutionError {
        let start = self.open.last().map_or(self.at, |frame| {
            self.template.expressions[frame.expression].range.start
        });
        let mut end = (self.at + 1).min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        SubstitutionError::new(self.text, start..end.max(start), reason)
    }
}

impl SubstitutionError {
    pub(super) fn new(text: &str, range: Range<usize>, reason: Reason) -> Self {
        let found = shorten(&text[range.clone()]);
        let what = match reason {
            Reason::VariableName => "a variable name must follow `${`",
            Reason::ClosingBrace => "neither `}` nor an operator follows the name",
            Reason::BadSubstitution => "the operator's form is broken",
            Reason::WithinFunction => "an argument of the operator is missing or has no end",
            Reason::NotSet => "the variable is not set",
            Reason::NegativeLength => "a substring cannot have a negative length",
            Reason::CutsCharacter => "the substring cuts a character in two",
        };
        Self {
            range,
            reason,
            message: format!("`{found}`: {what}"),
        }
    }
}

/// The first line of a fragment, at most 60 characters of it.
fn shorten(fragment: &str) -> String {
    let line = fragment.lines().next().unwrap_or_default();
    match line.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None if line.len() < fragment.len() => format!("{line}…"),
        None => line.to_owned(),
    }
}

/// The operator of a run of `^` and `,`, at most two of them; a mixed pair does nothing.
fn casing(rest: &[u8]) -> (usize, Operator) {
    match rest {
        [b'^', b'^', ..] => (2, Operator::Upper),
        [b',', b',', ..] => (2, Operator::Lower),
        [b'^', b',', ..] | [b',', b'^', ..] => (2, Operator::Value),
        [b'^', ..] => (1, Operator::UpperFirst),
        _ => (1, Operator::LowerFirst),
    }
}

fn is_name_char(c: char) -> bool {
    static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[\p{L}\p{Nd}]$").ok());
    if c.is_ascii() {
        return c == '_' || c.is_ascii_alphanumeric();
    }
    let mut buffer = [0; 4];
    let text = c.encode_utf8(&mut buffer);
    WORD.as_ref()
        .map_or(c.is_alphanumeric(), |word| word.is_match(text))
}
