//! HTTP requests as a shell describes them to the engine, and forms for them.

pub use dormouse_sandbox::{Request, request};

/// A part of a multipart form: its field's name, a file name and type if it is a file, its bytes.
pub type Part<'a> = (&'a str, Option<(&'a str, &'a str)>, &'a str);

/// A multipart form with the boundary `part`, for `multipart/form-data; boundary=part`.
#[must_use]
pub fn multipart(parts: &[Part<'_>]) -> Vec<u8> {
    let mut out = String::new();
    for (name, file, content) in parts {
        out.push_str("--part\r\nContent-Disposition: form-data; name=\"");
        out.push_str(name);
        out.push('"');
        if let Some((file_name, content_type)) = file {
            out.push_str(&format!(
                "; filename=\"{file_name}\"\r\nContent-Type: {content_type}"
            ));
        }
        out.push_str("\r\n\r\n");
        out.push_str(content);
        out.push_str("\r\n");
    }
    out.push_str("--part--\r\n");
    out.into_bytes()
}
