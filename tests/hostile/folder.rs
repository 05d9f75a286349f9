//! The data folder, and what lies in it.

use std::path::Path;

use serde_json::json;

use crate::site::{BINARY, exchange, get, publish, request, server, server_with};

#[test]
fn the_data_folder_is_private_and_an_old_one_is_mended() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (mut server, _) = server(folder.path());
    let data = folder.path().join("data");
    let is_private = || {
        let files = std::fs::read_dir(&data).unwrap().map(|e| e.unwrap().path());
        mode(&data) == 0o700
            && files
                .filter(|f| f.is_file())
                .all(|file| mode(&file) & 0o077 == 0)
    };
    assert!(is_private());
    server.kill();
    let open = |path: &Path, mode| {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap()
    };
    open(&data, 0o755);
    open(&data.join("dormouse.sqlite"), 0o644);
    server.start_again();
    assert!(is_private());
}

/// The rights of a folder or file.
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn a_shared_folder_stays_as_it_is() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::set_permissions(&data, PermissionsExt::from_mode(0o750)).unwrap();
    let (_server, _) = server_with(folder.path(), &["--shared-data"]);
    assert_eq!(mode(&data), 0o750);
}

#[test]
fn a_folder_with_other_files_is_not_closed_but_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("photo.jpg"), "of others").unwrap();
    std::fs::set_permissions(&data, PermissionsExt::from_mode(0o755)).unwrap();
    let ended = std::process::Command::new(BINARY)
        .args(["serve", "--port", "0", "--data"])
        .arg(&data)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(6), "{told}");
    assert!(told.contains("--shared-data"), "{told}");
    assert_eq!(mode(&data), 0o755);
}

#[test]
fn headers_that_an_operator_names_are_redacted() {
    let folder = tempfile::tempdir().unwrap();
    let (server, key) = server_with(folder.path(), &["--redact", "X-Partner-Token"]);
    let literal = |type_name: &str, value: &serde_json::Value| json!({ "typeName": type_name, "expression": { "type": "Literal", "value": value } });
    let endpoint = json!({
        "type": "Elsa.HttpEndpoint", "id": "in", "customProperties": { "canStartWorkflow": true },
        "path": literal("String", &"partner".into()),
        "supportedMethods": { "typeName": "String[]", "expression": { "type": "Object", "value": "[\"POST\"]" } },
        "headers": { "typeName": "Object", "memoryReference": { "id": "Headers" } },
    });
    let variable = json!({ "id": "Headers", "name": "Headers", "typeName": "Object" });
    let root = json!({ "type": "Elsa.Sequence", "id": "all", "activities": [endpoint] });
    let model = json!({ "definitionId": "partner", "variables": [variable], "root": root });
    publish(server.port, &key, &model);
    let headers = "X-Partner-Token: mark-secret\r\nX-Plain: mark-plain\r\n";
    let call = request("POST", "/workflows/partner", headers, b"{}");
    assert_eq!(exchange(server.port, &call).unwrap().0, 200);
    let list = get(server.port, &key, "/workflow-instances");
    let id = list["items"][0]["id"].as_str().unwrap().to_owned();
    let mut told = String::new();
    for path in [
        format!("/workflow-instances/{id}"),
        format!("/workflow-instances/{id}/journal"),
        format!("/workflow-instances/{id}/variables"),
        format!("/activity-executions/list?workflowInstanceId={id}"),
    ] {
        told += &get(server.port, &key, &path).to_string();
    }
    assert!(told.contains("mark-plain"), "{told}");
    assert!(!told.contains("mark-secret"), "{told}");
}
