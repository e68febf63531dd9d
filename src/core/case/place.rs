//! Paths in what processes tell each other: text, or a list of bytes where a path is none. For `#[serde(with = …)]`.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Written {
    Text(String),
    Bytes(Vec<u8>),
}

/// Writes a path, or null.
///
/// # Errors
/// Those of the serialiser.
pub fn serialize<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    let written = |path: &PathBuf| match path.to_str() {
        Some(text) => Written::Text(text.to_owned()),
        None => Written::Bytes(path.as_os_str().as_bytes().to_owned()),
    };
    path.as_ref().map(written).serialize(serializer)
}

/// Reads what [`serialize`] has written.
///
/// # Errors
/// Anything but text, a list of bytes and null.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PathBuf>, D::Error> {
    let path = |written| match written {
        Written::Text(text) => PathBuf::from(text),
        Written::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
    };
    Ok(Option::deserialize(deserializer)?.map(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Holder {
        #[serde(with = "super", default, skip_serializing_if = "Option::is_none")]
        path: Option<PathBuf>,
    }

    #[test]
    fn a_path_is_read_back_to_the_byte() {
        let bytes = |bytes: &[u8]| Some(PathBuf::from(OsString::from_vec(bytes.to_vec())));
        for (path, json) in [
            (bytes(b"/a/b.txt"), r#"{"path":"/a/b.txt"}"#),
            (bytes("/ä\n".as_bytes()), r#"{"path":"/ä\n"}"#),
            (bytes(b"/\xff"), r#"{"path":[47,255]}"#),
            (None, "{}"),
        ] {
            let holder = Holder { path };
            assert_eq!(serde_json::to_string(&holder).expect("JSON"), json);
            assert_eq!(serde_json::from_str::<Holder>(json).expect("a path"), holder);
        }
        for json in [r#"{"path":3}"#, r#"{"path":[256]}"#, r#"{"path":{"a":1}}"#] {
            assert!(serde_json::from_str::<Holder>(json).is_err(), "{json}");
        }
    }
}
