use std::ffi::CString;
use std::fs;
use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

const SMALL: Kind = regular("a word", 8);
const STREAM: Kind = Kind { stream: Some(8), ..SMALL };

fn pipe(path: &Path) {
    let name = CString::new(path.display().to_string()).expect("a path");
    // SAFETY: the path is a string that ends with a zero byte.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
}

fn refused(path: &Path, kind: &Kind) -> String {
    text(path, kind).expect_err("refused").to_string()
}

#[test]
fn only_what_ends_is_read() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("eight"), "12345678").expect("written");
    assert_eq!(text(&path("eight"), &SMALL).expect("a text"), "12345678");
    fs::write(path("nine"), "123456789").expect("written");
    assert!(refused(&path("nine"), &SMALL).ends_with("nine is 9 B long; a word of at most 8 B is read"));
    assert!(refused(folder.path(), &SMALL).ends_with(" is a folder; accepted: a regular file"));
    assert!(refused(folder.path(), &STREAM).ends_with(" is a folder; accepted: a regular file or a pipe"));
    assert_eq!(
        refused(Path::new("/dev/zero"), &STREAM),
        "/dev/zero is a device; accepted: a regular file or a pipe"
    );
    assert_eq!(text(Path::new("/dev/null"), &SMALL).expect("nothing"), "");
    let missing = text(&path("none"), &SMALL).expect_err("missing");
    assert!(missing.is_missing() && missing.to_string().starts_with("cannot read "), "{missing}");
}

#[test]
fn what_is_no_text_has_a_place_or_a_name() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("t");
    for (bytes, told) in [
        (&b"ab\xff"[..], "/t:1:3: the byte 0xff is not UTF-8 text"),
        (b"a\n\nb\xe9\n", "/t:3:2: the byte 0xe9 is not UTF-8 text"),
        (b"a\n\xc3", "/t:2:1: the byte 0xc3 is not UTF-8 text"),
        (b"\x1f\x8b\x08\0", "/t is compressed with gzip; accepted: UTF-8 text"),
        (b"PK\x03\x04", "/t is a zip archive; accepted: UTF-8 text"),
        (b"\xff\xfet\0:\0", "/t is text in UTF-16; accepted: UTF-8 text"),
    ] {
        fs::write(&path, bytes).expect("written");
        assert!(refused(&path, &SMALL).ends_with(told), "{}", refused(&path, &SMALL));
    }
}

#[test]
fn a_loop_of_links_is_called_one() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink("b", path("a")).expect("a link");
    std::os::unix::fs::symlink("a", path("b")).expect("a link");
    assert!(refused(&path("a"), &SMALL).ends_with("/a: its symbolic links form a loop; accepted: a file"));
    assert!(is_there(&path("a")) && !is_there(&path("c")) && !path("a").exists());
    std::os::unix::fs::symlink("nowhere", path("c")).expect("a link");
    assert!(!is_there(&path("c")), "what a link leads to is missing");
}

#[test]
fn what_no_way_leads_to_is_missing() {
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().expect("temporary folder");
    let path = |name: &str| folder.path().join(name);
    let told = |path: &Path| text(path, &SMALL).expect_err("missing").is_missing();
    symlink(path("b"), path("a")).and_then(|()| symlink(path("a"), path("b"))).expect("a loop");
    fs::write(path("file"), "").expect("written");
    for way in ["none", "file/config", "file/a/config", "a", "a/config"] {
        assert!(told(&path(way)), "{way}");
    }
    assert!(told(Path::new("/dev/null/.config")) && told(&path(&"x".repeat(5_000))));
    let denied = |path: PathBuf| {
        Problem::Unreadable { path, error: io::Error::from(ErrorKind::PermissionDenied) }.is_missing()
    };
    assert!(denied(path("none")) && !denied(path("file")), "what is there and closed to us is an error");
    assert!(!told(folder.path()), "a folder is there");
}

/// Nothing would ever open the other end.
#[test]
fn a_pipe_is_not_waited_for() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("pipe");
    pipe(&path);
    let began = Instant::now();
    assert!(refused(&path, &SMALL).ends_with("pipe is a pipe; accepted: a regular file"));
    assert!(append(&path, true).is_err() && update(&path).is_err());
    assert_eq!(text(&path, &STREAM).expect("nothing"), "", "nobody writes");
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_stream_is_read_to_its_end_or_its_limit() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("pipe");
    pipe(&path);
    let said = |words: &'static [&'static str]| {
        let end = path.clone();
        let writer = thread::spawn(move || {
            let mut end = OpenOptions::new().write(true).open(end).expect("a reader");
            for word in words {
                // The reader may have given up.
                let _ = end.write_all(word.as_bytes());
                thread::sleep(Duration::from_millis(30));
            }
        });
        let read = text(&path, &STREAM).map_err(|problem| problem.to_string());
        writer.join().expect("no panic");
        read
    };
    assert_eq!(said(&["1234", "5678"]), Ok("12345678".to_owned()));
    let long = said(&["12345678", "9"]).expect_err("too long");
    assert!(long.ends_with("pipe: it is longer than 8 B, the most that is read"), "{long}");
}

#[test]
fn what_never_ends_is_given_up_and_so_is_what_unpacks_to_it() {
    let error = Bounded::new(io::repeat(1), 1000).rest().expect_err("too long").to_string();
    assert!(error.contains("longer than 1000 B"), "{error}");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&[0; 1001]).expect("compressed");
    let packed = encoder.finish().expect("compressed");
    let unpacked = |packed: &[u8], most, times| {
        gzip(packed, most, times).rest().map(|bytes| bytes.len()).map_err(|error| error.to_string())
    };
    assert_eq!(unpacked(&packed, 1001, TEXT), Ok(1001));
    assert!(unpacked(&packed, 1000, TEXT).is_err_and(|error| error.contains("longer than 1000 B")));
    let cut = unpacked(&packed[..9], 1000, TEXT).expect_err("not whole");
    assert!(cut.starts_with("it is not a complete gzip file: "), "{cut}");
}

/// A short file may shrink to nothing, and a long one only to what text and words can shrink to.
#[test]
fn what_unpacks_to_far_more_than_itself_is_refused() {
    let zeros = |pieces: usize| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        (0..pieces).try_for_each(|_| encoder.write_all(&[0; 1 << 20])).expect("compressed");
        encoder.finish().expect("compressed")
    };
    assert_eq!(gzip(&zeros(16)[..], 1 << 30, TEXT).rest().expect("short").len(), 16 << 20);
    let told = gzip(&zeros(17)[..], 1 << 30, TEXT).rest().expect_err("a bomb").to_string();
    assert!(
        told.contains(" unpack to more than 16777216 bytes, and to more than 20 for each of them"),
        "{told}"
    );
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&b"1,".repeat((4 << 20) + 1)).expect("compressed");
    let words = encoder.finish().expect("compressed");
    let told = gzip(&words[..], 1 << 30, TEXT).rest().expect_err("a bomb").to_string();
    assert!(
        told.contains(" unpack to more than 4194304 words, and to more than 4 for each of them"),
        "{told}"
    );
    assert_eq!(gzip(&words[..], 1 << 30, WORDS).rest().expect("short").len(), (8 << 20) + 2);
    // Bytes without a pattern take as much as before.
    let mut noise = vec![0u8; 20 << 20];
    let mut word = 1u64;
    for bytes in noise.chunks_mut(8) {
        word = word.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        bytes.copy_from_slice(&(word ^ (word >> 33)).to_le_bytes());
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&noise).expect("compressed");
    let packed = encoder.finish().expect("compressed");
    assert!(gzip(&packed[..], 1 << 30, TEXT).rest().expect("all of it") == noise);
}
