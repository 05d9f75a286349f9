//! Lines of the values of a JSON text, by their paths.

use std::collections::BTreeMap;

/// Lines by path: `root.activities[2].text`. The text is valid JSON; of anything else as much as can be read.
pub(super) fn of(text: &str) -> BTreeMap<String, usize> {
    let mut reader = Reader {
        bytes: text.as_bytes(),
        at: 0,
        line: 1,
        found: BTreeMap::new(),
    };
    reader.value(&mut String::new(), 0);
    reader.found
}

/// The line of a path, else of the nearest value around it.
pub(super) fn find(lines: &BTreeMap<String, usize>, path: &str) -> usize {
    let mut path = path;
    loop {
        if let Some(line) = lines.get(path) {
            return *line;
        }
        match path.rfind(['.', '[']) {
            Some(end) => path = path.get(..end).unwrap_or_default(),
            None => return 1,
        }
    }
}

/// Deepest nesting that is read, as deep as the parser of definitions goes.
const DEPTH_MAX: u32 = 500;

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    found: BTreeMap<String, usize>,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => self.line += 1,
                b' ' | b'\t' | b'\r' | b',' | b':' => {}
                other => return Some(*other),
            }
            self.at += 1;
        }
        None
    }

    fn value(&mut self, path: &mut String, depth: u32) {
        let Some(first) = self.peek() else {
            return;
        };
        if !path.is_empty() {
            self.found.entry(path.clone()).or_insert(self.line);
        }
        match first {
            b'{' | b'[' if depth < DEPTH_MAX => self.inside(first == b'{', path, depth),
            b'"' => {
                self.text();
            }
            _ => self.plain(),
        }
    }

    fn inside(&mut self, is_object: bool, path: &mut String, depth: u32) {
        self.at += 1;
        let before = path.len();
        let mut place = 0;
        while let Some(next) = self.peek() {
            if matches!(next, b'}' | b']') {
                self.at += 1;
                return;
            }
            if is_object {
                let line = self.line;
                let name = self.text();
                if before > 0 {
                    path.push('.');
                }
                path.push_str(&name);
                self.found.entry(path.clone()).or_insert(line);
            } else {
                path.push_str(&format!("[{place}]"));
                place += 1;
            }
            let at = self.at;
            self.value(path, depth + 1);
            path.truncate(before);
            if self.at == at {
                return;
            }
        }
    }

    /// Reads a text; escapes stay as they are, no path of interest has any.
    fn text(&mut self) -> String {
        self.at += 1;
        let begin = self.at;
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' => self.at += 1,
                b'"' => break,
                _ => {}
            }
            self.at += 1;
        }
        let text = self.bytes.get(begin..self.at).unwrap_or_default();
        self.at += 1;
        String::from_utf8_lossy(text).into_owned()
    }

    fn plain(&mut self) {
        let is_end = |byte: u8| byte.is_ascii_whitespace() || b",}]".contains(&byte);
        while self.bytes.get(self.at).is_some_and(|byte| !is_end(*byte)) {
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_its_line() {
        let text = "{\n \"a\\\"b\": [1,\n  {\"c\":\n true}],\n \"d\": \"x\\\\\",\n \"e\": {} }";
        let lines = of(text);
        for (path, line) in [
            ("a\\\"b", 2),
            ("a\\\"b[0]", 2),
            ("a\\\"b[1]", 3),
            ("a\\\"b[1].c", 3),
            ("d", 5),
            ("e", 6),
        ] {
            assert_eq!(lines.get(path), Some(&line), "{path} in {lines:?}");
        }
        assert_eq!(find(&lines, "e.missing[3].x"), 6);
        assert_eq!(find(&lines, "nowhere"), 1);
    }
}
