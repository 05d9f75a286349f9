//! Addresses and paths: `Uri`, `WebUtility`, `Path`.

use super::members::count;
use super::run::{Done, thrown};
use super::text_method::plain;
use super::value::V;

pub(super) fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = (*first == b'%').then(|| after.get(..2)).flatten();
        let code = code.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match code {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

pub(super) fn escaped(text: &str) -> String {
    let mut made = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                made.push(char::from(byte))
            }
            _ => made.push_str(&format!("%{byte:02X}")),
        }
    }
    made
}

/// A member of an address.
pub(super) fn uri_member<'p>(address: &str, name: &str) -> Option<V<'p>> {
    let (scheme, rest) = address.split_once("://")?;
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (path, fragment) = path.split_at(path.find('#').unwrap_or(path.len()));
    let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let path = if path.is_empty() { "/" } else { path };
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (host, port) = host.split_once(':').unwrap_or((host, ""));
    let usual = match scheme {
        "http" => 80,
        "https" => 443,
        "ftp" => 21,
        _ => -1,
    };
    let port = port.parse().unwrap_or(usual);
    let shown_port = if port == usual {
        String::new()
    } else {
        format!(":{port}")
    };
    Some(match name {
        "Scheme" => V::text(scheme.to_lowercase()),
        "Host" | "DnsSafeHost" | "IdnHost" => V::text(host.to_lowercase()),
        "Port" => V::Int(port),
        "IsDefaultPort" => V::Bool(port == usual),
        "Authority" => V::text(format!("{}{shown_port}", host.to_lowercase())),
        "AbsolutePath" | "LocalPath" => V::text(path),
        "PathAndQuery" => V::text(format!("{path}{query}")),
        "Query" => V::text(query),
        "Fragment" => V::text(fragment),
        "UserInfo" => V::text(user),
        "AbsoluteUri" => V::text(uri_text(address)),
        "OriginalString" => V::text(address),
        "IsAbsoluteUri" => V::Bool(true),
        "IsFile" => V::Bool(scheme == "file"),
        "IsLoopback" => V::Bool(matches!(host, "localhost" | "127.0.0.1")),
        "Segments" => V::array(path.split_inclusive('/').map(V::text).collect()),
        "HostNameType" => count(2),
        _ => return None,
    })
}

/// An address as it is shown: with a path.
pub(super) fn uri_text(address: &str) -> String {
    match address.split_once("://") {
        Some((_, rest)) if !rest.contains(['/', '?', '#']) => format!("{address}/"),
        _ => address.to_owned(),
    }
}

/// `WebUtility`'s methods.
pub(super) fn web_call<'p>(name: &str, text: &str) -> Done<'p, V<'p>> {
    const MARKS: [(&str, &str); 5] = [
        ("&", "&amp;"),
        ("<", "&lt;"),
        (">", "&gt;"),
        ("\"", "&quot;"),
        ("'", "&#39;"),
    ];
    Ok(V::text(match name {
        "UrlEncode" => {
            let kept = ["!", "(", ")", "*"]
                .iter()
                .fold(escaped(text), |made, mark| {
                    made.replace(&escaped(mark), mark)
                });
            kept.replace("%20", "+").replace('~', "%7E")
        }
        "UrlDecode" => unescaped(&text.replace('+', " ")),
        "HtmlEncode" => MARKS.iter().fold(text.to_owned(), |made, (mark, name)| {
            made.replace(mark, name)
        }),
        "HtmlDecode" => {
            let marks = MARKS.iter().rev();
            marks.fold(text.to_owned(), |made, (mark, name)| {
                made.replace(name, mark)
            })
        }
        _ => {
            let message = format!("'WebUtility' does not contain a definition for '{name}'");
            return thrown("CompilationErrorException", message);
        }
    }))
}

/// Methods of `Path` that look at the text alone.
pub(super) fn path_call<'p>(name: &str, arguments: &[V<'p>]) -> Done<'p, V<'p>> {
    let path = plain(arguments.first());
    let file = path
        .rsplit_once('/')
        .map_or(path.as_str(), |(_, file)| file);
    let dot = file.rfind('.').filter(|at| at + 1 < file.len());
    Ok(match name {
        "GetFileName" => V::text(file),
        "GetExtension" => V::text(dot.map_or("", |at| file.get(at..).unwrap_or_default())),
        "GetFileNameWithoutExtension" => V::text(
            file.rfind('.')
                .map_or(file, |at| file.get(..at).unwrap_or_default()),
        ),
        "GetDirectoryName" => V::text(path.rsplit_once('/').map_or("", |(folder, _)| folder)),
        "HasExtension" => V::Bool(dot.is_some()),
        "IsPathRooted" => V::Bool(path.starts_with('/')),
        "ChangeExtension" => {
            let stem = path.get(..path.len() - dot.map_or(0, |at| file.len() - at));
            let extension = plain(arguments.get(1));
            let extension = extension.trim_start_matches('.');
            V::text(format!("{}.{extension}", stem.unwrap_or_default()))
        }
        "Combine" | "Join" => {
            let mut made = String::new();
            for part in arguments.iter().map(V::shown) {
                if part.starts_with('/') && name == "Combine" {
                    made.clear();
                } else if !made.is_empty() && !made.ends_with('/') && !part.starts_with('/') {
                    made.push('/');
                }
                made.push_str(&part);
            }
            V::text(made)
        }
        _ => {
            return thrown(
                "CompilationErrorException",
                format!("'Path.{name}' is not run here"),
            );
        }
    })
}
