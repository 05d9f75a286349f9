//! From a response to an answer in payload format 2.0.

use axum::body::Body;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{Response, StatusCode, header};
use http_body_util::BodyExt as _;
use serde_json::{Map, Value, json};

/// The largest body, in bytes, as it is sent: Lambda takes 6 MB, and the rest of the answer needs some of it.
const BODY_BYTES_MAX: usize = 6 * 1_024 * 1_024 - 64 * 1_024;

/// Writes a response as an answer.
pub(crate) async fn write(response: Response<Body>) -> Value {
    let (parts, body) = response.into_parts();
    let Ok(body) = body.collect().await else {
        return problem("answerBroken", "the answer could not be read to its end");
    };
    let body = body.to_bytes();
    let is_encoded = parts.headers.contains_key(header::CONTENT_ENCODING);
    let text = std::str::from_utf8(&body).ok().filter(|_| !is_encoded);
    let (body, is_base64) = match text {
        Some(text) => (text.to_owned(), false),
        None => (STANDARD.encode(&body), true),
    };
    if body.len() > BODY_BYTES_MAX {
        let detail =
            "the answer is larger than the 6 MB that a function may answer; ask for less at once";
        return problem("answerTooLarge", detail);
    }
    let mut headers: Map<String, Value> = Map::new();
    let mut cookies = Vec::new();
    for (name, value) in &parts.headers {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        if name == header::SET_COOKIE {
            cookies.push(value);
            continue;
        }
        // One text for each name: several values are one list, as HTTP has it.
        let all = match headers.get(name.as_str()).and_then(Value::as_str) {
            Some(before) => format!("{before}, {value}"),
            None => value,
        };
        headers.insert(name.as_str().to_owned(), all.into());
    }
    json!({
        "statusCode": parts.status.as_u16(),
        "headers": headers,
        "cookies": cookies,
        "body": body,
        "isBase64Encoded": is_base64,
    })
}

fn problem(code: &str, detail: &str) -> Value {
    let status = StatusCode::INTERNAL_SERVER_ERROR.as_u16();
    let body = json!({ "status": status, "code": code, "title": "Internal Server Error", "detail": detail });
    json!({
        "statusCode": status,
        "headers": { "content-type": "application/problem+json" },
        "body": body.to_string(),
        "isBase64Encoded": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn text_is_text_and_all_else_is_base64() {
        let response = |body: Vec<u8>| Response::new(Body::from(body));
        let text = write(response("grün".into())).await;
        assert_eq!(
            (&text["body"], &text["isBase64Encoded"]),
            (&json!("grün"), &json!(false))
        );
        let bytes = write(response(vec![0, 255])).await;
        assert_eq!(
            (&bytes["body"], &bytes["isBase64Encoded"]),
            (&json!("AP8="), &json!(true))
        );
        let mut packed = response(b"abc".to_vec());
        let gzip = header::HeaderValue::from_static("gzip");
        packed.headers_mut().insert(header::CONTENT_ENCODING, gzip);
        assert_eq!(write(packed).await["isBase64Encoded"], true);
    }

    #[tokio::test]
    async fn headers_that_come_twice_are_lists_and_cookies_stay_apart() {
        let response = Response::builder()
            .status(202)
            .header("vary", "a")
            .header("vary", "b")
            .header("set-cookie", "a=1; Path=/")
            .header("set-cookie", "b=2")
            .body(Body::empty());
        let answer = write(response.unwrap()).await;
        assert_eq!(answer["statusCode"], 202);
        assert_eq!(answer["headers"], json!({ "vary": "a, b" }));
        assert_eq!(answer["cookies"], json!(["a=1; Path=/", "b=2"]));
    }

    #[tokio::test]
    async fn an_answer_that_is_too_large_says_so() {
        let response = Response::new(Body::from(vec![b'x'; 7 << 20]));
        let answer = write(response).await;
        assert_eq!(answer["statusCode"], 500);
        assert!(answer["body"].as_str().unwrap().contains("answerTooLarge"));
    }
}
