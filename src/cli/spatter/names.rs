//! Names of files and folders on Spatter's command line. They are bytes, where everything else on it is text.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::shell::quoted;
use crate::spatter::Refused;
use crate::spatter::options::Options;
use crate::spatter::table::Key;

/// The file and the folder that the options name.
#[derive(Debug, PartialEq, Eq)]
pub struct Names {
    /// The suite.
    pub file: Option<PathBuf>,
    /// The folder in which to keep the run.
    pub out: Option<PathBuf>,
}

/// The arguments as text, with a substitute for each byte that is none.
pub fn words(arguments: &[OsString]) -> Vec<String> {
    arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// The names that the options of these arguments hold, to the byte.
///
/// # Errors
/// A byte that is not text stands elsewhere.
pub fn names(options: &Options, arguments: &[OsString]) -> Result<Names, Refused> {
    let odd: Vec<&OsStr> =
        arguments.iter().map(OsString::as_os_str).filter(|word| word.to_str().is_none()).collect();
    let [file, out] = [Key::File, Key::Out].map(|key| options.text(key));
    // A name is a whole word, or stands at the end of one, behind text: -fNAME, --file=NAME.
    let within = |word: &&OsStr, name: &str| Some(word.to_string_lossy().strip_suffix(name)?.len());
    for word in &odd {
        if ![file, out].into_iter().flatten().any(|name| within(word, name).is_some()) {
            let word = quoted(word);
            return Err(Refused::usage(format!(
                "{word} is not UTF-8; only names of files and folders may be so"
            )));
        }
    }
    let bytes = |name: &str| {
        let found = odd.iter().find_map(|word| word.as_bytes().get(within(word, name)?..));
        PathBuf::from(found.map_or(OsStr::new(name), OsStr::from_bytes))
    };
    Ok(Names { file: file.map(bytes), out: out.map(bytes) })
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;
    use crate::spatter::CommandLine;

    fn of(arguments: &[&[u8]]) -> Result<Names, String> {
        let arguments: Vec<OsString> =
            arguments.iter().map(|word| OsString::from_vec(word.to_vec())).collect();
        let line = CommandLine::read(&words(&arguments)).map_err(|refused| refused.message)?;
        names(&line.options, &arguments).map_err(|refused| refused.message)
    }

    fn path(bytes: &[u8]) -> Option<PathBuf> {
        Some(PathBuf::from(OsStr::from_bytes(bytes)))
    }

    #[test]
    fn a_name_is_kept_to_the_byte_however_it_is_attached() {
        let odd = || path(b"b\xff.json");
        for line in [
            &[b"-f".as_slice(), b"b\xff.json"][..],
            &[b"-fb\xff.json"],
            &[b"--file=b\xff.json"],
            &[b"-f", b"a.json", b"--file", b"b\xff.json"],
        ] {
            assert_eq!(of(line).map(|names| names.file), Ok(odd()), "{line:?}");
        }
        let both = of(&[b"-f", b"a.json", b"--out", b"\xfe\xff"]);
        assert_eq!(both, Ok(Names { file: path(b"a.json"), out: path(b"\xfe\xff") }));
        assert_eq!(of(&[b"-l", b"8"]), Ok(Names { file: None, out: None }));
    }

    #[test]
    fn other_words_are_text() {
        for line in [&[b"-f".as_slice(), b"a.json", b"\xff"][..], &[b"-l8", b"\xff"]] {
            let refused = of(line).expect_err("refused");
            assert_eq!(refused, r"$'\377' is not UTF-8; only names of files and folders may be so");
        }
    }
}
