//! Settings `KEY=VALUE` of the command line, which take the place of what the file says.

use std::borrow::Cow;
use std::mem;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Code, Replacement, ScenarioError, Source};
use super::reader::Reader;

/// Puts settings into a document.
///
/// The places of their parts count on behind the end of the file, one setting after the other,
/// until [`attribute`] gives each error its source.
pub(super) fn apply<'i>(
    document: &mut Spanned<DeTable<'i>>,
    file: usize,
    settings: &'i [String],
    reader: &mut Reader,
) {
    for (index, setting) in settings.iter().enumerate() {
        let start = start_of(index, file, settings);
        if let Err((span, message)) = apply_one(document.get_mut(), start, setting) {
            reader.report(
                ScenarioError::new(Code::BadValue, start + span.start..start + span.end, message)
                    .help("settings look like lock.ttl=10s or fault.1.pause.for=31s"),
            );
        }
    }
}

/// Gives an error its source, and counts its places from the source's start.
pub(super) fn attribute(error: &mut ScenarioError, file: usize, settings: &[String]) {
    let Some(index) = (0..settings.len())
        .rev()
        .find(|index| error.span.start >= start_of(*index, file, settings))
    else {
        return;
    };
    let start = start_of(index, file, settings);
    let end = start + settings[index].len();
    let shift = |span: &Range<usize>| span.start - start..span.end.clamp(span.start, end) - start;
    error.source = Source::Set(index);
    error.span = shift(&error.span);
    error.context = error
        .context
        .take()
        .filter(|(span, _)| span.start >= start)
        .map(|(span, label)| (shift(&span), label));
    let setting = &settings[index];
    let replacement = error.replacement.take().filter(|change| change.span.start >= start);
    error.replacement = replacement.map(|change| {
        let span = shift(&change.span);
        // A setting needs no quotes, so that none are put where there were none.
        let is_bare = setting.get(span.clone()).is_some_and(|old| !old.starts_with('"'));
        let text = change.text.trim_matches(|c| is_bare && c == '"').to_owned();
        Replacement { span, text }
    });
}

/// Returns where a setting starts: one byte behind what comes before, so that a place at the end
/// of the file is not taken for one in a setting.
fn start_of(index: usize, file: usize, settings: &[String]) -> usize {
    file + 1 + settings[..index].iter().map(|setting| setting.len() + 1).sum::<usize>()
}

fn apply_one<'i>(
    table: &mut DeTable<'i>,
    start: usize,
    setting: &'i str,
) -> Result<(), (Range<usize>, String)> {
    let Some((path, text)) = setting.split_once('=') else {
        return Err((0..setting.len(), "the setting has no `=`".to_owned()));
    };
    let value = value_of(text, start + path.len() + 1);
    let mut offset = 0;
    let mut keys = Vec::new();
    for key in path.split('.') {
        let span = offset..offset + key.len();
        offset = span.end + 1;
        if key.trim().is_empty() {
            return Err((span, "a part of the key is empty".to_owned()));
        }
        keys.push((key.trim(), span));
    }
    insert(table, &keys, start, value)
}

/// Reads the value as TOML if it is TOML, and as a text otherwise.
fn value_of(text: &str, start: usize) -> Spanned<DeValue<'_>> {
    let trimmed = text.trim();
    let start = start + text.len() - text.trim_start().len();
    match DeValue::parse(trimmed) {
        Ok(mut value) if !matches!(value.get_ref(), DeValue::Datetime(_)) => {
            shift(&mut value, start);
            value
        }
        _ => Spanned::new(start..start + trimmed.len(), DeValue::String(Cow::Borrowed(trimmed))),
    }
}

/// Counts the places of a value and of all its parts from somewhere else.
fn shift(value: &mut Spanned<DeValue<'_>>, start: usize) {
    let span = value.span();
    let mut inner = mem::replace(value.get_mut(), DeValue::Boolean(false));
    match &mut inner {
        DeValue::Array(items) => items.iter_mut().for_each(|item| shift(item, start)),
        DeValue::Table(table) => {
            for (key, mut item) in mem::take(table) {
                shift(&mut item, start);
                let place = start + key.span().start..start + key.span().end;
                table.insert(Spanned::new(place, key.into_inner()), item);
            }
        }
        DeValue::String(_)
        | DeValue::Integer(_)
        | DeValue::Float(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_) => {}
    }
    *value = Spanned::new(start + span.start..start + span.end, inner);
}

fn insert<'i>(
    table: &mut DeTable<'i>,
    keys: &[(&'i str, Range<usize>)],
    start: usize,
    value: Spanned<DeValue<'i>>,
) -> Result<(), (Range<usize>, String)> {
    let Some(((key, span), rest)) = keys.split_first() else { return Ok(()) };
    let place = start + span.start..start + span.end;
    if rest.is_empty() {
        table.remove(*key);
        table.insert(Spanned::new(place, Cow::Borrowed(*key)), value);
        return Ok(());
    }
    if !table.contains_key(*key) {
        let inner = DeValue::Table(DeTable::new());
        table.insert(Spanned::new(place.clone(), Cow::Borrowed(*key)), Spanned::new(place, inner));
    }
    let Some(inner) = table.get_mut(*key) else { return Ok(()) };
    let no_table = (span.clone(), format!("`{key}` is no table"));
    if let DeValue::Table(inner) = inner.get_mut() {
        return insert(inner, rest, start, value);
    }
    let DeValue::Array(items) = inner.get_mut() else { return Err(no_table) };
    let Some(((number, span), rest)) = rest.split_first() else { return Err(no_table) };
    let count = items.len();
    let item = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let Some(item) = item.and_then(|item| items.get_mut(item)) else {
        return Err((span.clone(), format!("`{key}` has items 1 to {count}, and no `{number}`")));
    };
    if rest.is_empty() {
        *item = value;
        return Ok(());
    }
    match item.get_mut() {
        DeValue::Table(inner) => insert(inner, rest, start, value),
        DeValue::String(_)
        | DeValue::Integer(_)
        | DeValue::Float(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_)
        | DeValue::Array(_) => Err((span.clone(), format!("`{key}.{number}` is no table"))),
    }
}
