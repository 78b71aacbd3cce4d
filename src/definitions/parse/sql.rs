//! The text of a `sql` definition, which is to stand between the brackets of a `WITH`.
//!
//! Its author is trusted; what is checked is what would break out of the brackets by mistake, and
//! with it out of the scope that is bound after them, or take an argument that is not its own.

/// What is wrong, and how to put it right.
type Complaint = (String, String);

/// Checks that `sql` is one `select` or `with`, closed in itself and without placeholders, and
/// takes the semicolon off its end.
pub(super) fn checked(sql: &str) -> Result<String, Complaint> {
    let mut scanner = Scanner { sql, at: 0, depth: 0, first: None, ended: None };
    while scanner.at < sql.len() {
        scanner.step()?;
    }
    scanner.verdict()
}

struct Scanner<'s> {
    sql: &'s str,
    at: usize,
    depth: usize,
    /// Where the first word begins.
    first: Option<usize>,
    /// Where the statement was ended by a semicolon.
    ended: Option<usize>,
}

impl<'s> Scanner<'s> {
    fn rest(&self) -> &'s str {
        self.sql.get(self.at..).unwrap_or_default()
    }

    /// Passes over one comment, quoted text, or character.
    fn step(&mut self) -> Result<(), Complaint> {
        let rest = self.rest();
        let Some(char) = rest.chars().next() else {
            self.at = self.sql.len();
            return Ok(());
        };
        if rest.starts_with("--") {
            self.at += rest.find('\n').unwrap_or(rest.len());
            return Ok(());
        }
        if rest.starts_with("/*") {
            let end = rest.find("*/").ok_or_else(|| unclosed("a comment /* … */"))?;
            self.at += end + 2;
            return Ok(());
        }
        if char.is_whitespace() {
            self.at += char.len_utf8();
            return Ok(());
        }
        if self.ended.is_some() {
            return Err((
                "\"sql\" has more than one statement".into(),
                "keep one select, without a semicolon".into(),
            ));
        }
        self.first.get_or_insert(self.at);
        match char {
            '\'' | '"' | '`' => self.quoted(char),
            '$' => self.dollar(),
            '(' => self.bracket(1),
            ')' => self.bracket(-1),
            ';' => {
                self.ended = Some(self.at);
                self.at += 1;
                Ok(())
            }
            '?' => Err((
                "\"sql\" has a \"?\", which the database would take for a placeholder".into(),
                "put the condition into [[filters]]; for the JSON operator write jsonb_exists(…)"
                    .into(),
            )),
            _ => {
                self.at += char.len_utf8();
                Ok(())
            }
        }
    }

    /// A doubled quote inside is two quoted texts side by side, which comes to the same.
    fn quoted(&mut self, quote: char) -> Result<(), Complaint> {
        let backslash = quote == '\'' && self.is_escape_string();
        let mut escaped = false;
        let body = self.rest().char_indices().skip(1);
        for (index, char) in body {
            if escaped {
                escaped = false;
            } else if backslash && char == '\\' {
                escaped = true;
            } else if char == quote {
                self.at += index + 1;
                return Ok(());
            }
        }
        Err(unclosed(&format!("a quotation {quote}…{quote}")))
    }

    /// PostgreSQL's `E'…'`, in which a backslash keeps the next quote from closing.
    fn is_escape_string(&self) -> bool {
        let mut before = self.sql.get(..self.at).unwrap_or_default().chars().rev();
        let prefix = before.next().is_some_and(|char| matches!(char, 'e' | 'E'));
        prefix && !before.next().is_some_and(|char| char.is_alphanumeric() || char == '_')
    }

    /// A placeholder `$1`, a quotation `$tag$ … $tag$`, or a sign within a name.
    fn dollar(&mut self) -> Result<(), Complaint> {
        let rest = self.rest();
        let tag_length = rest
            .char_indices()
            .skip(1)
            .find(|(_, char)| !(char.is_alphanumeric() || *char == '_'))
            .map_or(rest.len(), |(index, _)| index);
        if rest[1..].starts_with(|char: char| char.is_ascii_digit()) {
            return Err((
                format!("\"sql\" has the placeholder {}", &rest[..tag_length]),
                "put the condition into [[filters]]".into(),
            ));
        }
        if rest[tag_length..].starts_with('$') {
            let tag = &rest[..=tag_length];
            let end = rest[tag.len()..]
                .find(tag)
                .ok_or_else(|| unclosed(&format!("a quotation {tag}…{tag}")))?;
            self.at += tag.len() + end + tag.len();
        } else {
            self.at += tag_length;
        }
        Ok(())
    }

    fn bracket(&mut self, change: isize) -> Result<(), Complaint> {
        self.at += 1;
        self.depth = self.depth.checked_add_signed(change).ok_or_else(|| {
            (
                "\"sql\" closes a bracket that it did not open".to_owned(),
                "take the bracket out".to_owned(),
            )
        })?;
        Ok(())
    }

    fn verdict(self) -> Result<String, Complaint> {
        if self.depth > 0 {
            return Err(unclosed("a bracket ( … )"));
        }
        let end = self.ended.unwrap_or(self.sql.len());
        let statement = self.sql.get(self.first.unwrap_or(end)..end).unwrap_or_default();
        let word: String = statement.chars().take_while(char::is_ascii_alphabetic).collect();
        if word.eq_ignore_ascii_case("select") || word.eq_ignore_ascii_case("with") {
            Ok(statement.trim_end().to_owned())
        } else {
            Err((
                "\"sql\" does not begin with select or with".into(),
                "write one select; for a table or view use from".into(),
            ))
        }
    }
}

fn unclosed(what: &str) -> Complaint {
    (format!("\"sql\" does not close {what}"), "close it".into())
}
