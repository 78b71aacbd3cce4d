//! A strict reader of CSV (RFC 4180), so that the writer is not tested by itself.

/// A field: nothing where it is empty and unquoted, which is how NULL is written.
pub type Field = Option<String>;

/// Reads records that each end in CRLF; fails on anything that RFC 4180 does not allow.
pub fn parse_csv(text: &str, delimiter: char) -> Vec<Vec<Field>> {
    let mut rest = text;
    let mut records = Vec::new();
    while !rest.is_empty() {
        let mut record = Vec::new();
        loop {
            let (field, after) = field(rest, delimiter);
            record.push(field);
            if let Some(after) = after.strip_prefix(delimiter) {
                rest = after;
                continue;
            }
            rest = after.strip_prefix("\r\n").unwrap_or_else(|| {
                panic!(
                    "a record ends in CRLF, not in {:?}",
                    after.chars().take(8).collect::<String>()
                )
            });
            break;
        }
        records.push(record);
    }
    records
}

fn field(text: &str, delimiter: char) -> (Field, &str) {
    let Some(mut rest) = text.strip_prefix('"') else {
        let end = text.find([delimiter, '\r', '\n', '"']).unwrap_or(text.len());
        let (field, rest) = text.split_at(end);
        return ((!field.is_empty()).then(|| field.to_owned()), rest);
    };
    let mut field = String::new();
    loop {
        let quote = rest.find('"').expect("a quoted field is closed");
        field.push_str(&rest[..quote]);
        rest = &rest[quote + 1..];
        match rest.strip_prefix('"') {
            Some(after) => {
                field.push('"');
                rest = after;
            }
            None => return (Some(field), rest),
        }
    }
}
