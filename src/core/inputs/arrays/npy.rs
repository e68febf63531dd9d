//! NumPy's `.npy` format, as far as index arrays need it: a magic number, a version, the length of the header,
//! the header (a Python dictionary with the keys `descr`, `fortran_order` and `shape`), and the elements.

use super::{ArrayError, Place, check_count, checked, push, reserve};

/// The first bytes of every file.
pub const MAGIC: &[u8] = b"\x93NUMPY";

/// Longest header accepted, bytes; NumPy's own are below 200.
const LONGEST: usize = 1 << 16;

const ACCEPTED: &str = "accepted: integers of 1, 2, 4 or 8 bytes, such as numpy.uint64";

/// The element type, such as `<i8`.
#[derive(Clone, Copy)]
struct Type {
    signed: bool,
    bytes: usize,
    big_endian: bool,
}

pub fn parse(bytes: &[u8]) -> Result<Vec<u64>, ArrayError> {
    let (text, start) = header(bytes)?;
    let Header { descr, fortran, shape } = Header::read(text)?;
    let kind = Type::named(&descr)?;
    if shape.iter().filter(|&&n| n > 1).count() > 1 {
        let shape = shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let order = if fortran { "F" } else { "C" };
        return refuse(format!(
            "has the shape ({shape}), but an index array has one dimension: save a.ravel('{order}') to keep the \
             elements as they are stored, or save one of its rows"
        ));
    }
    let count = shape.iter().try_fold(1u64, |product, &n| product.checked_mul(n)).unwrap_or(u64::MAX);
    check_count(count)?;
    let data = &bytes[start..];
    let (wanted, found) = (count * kind.bytes as u64, data.len() as u64);
    if found != wanted {
        let what = if found < wanted { "is truncated: it" } else { "is too long: it" };
        let message = format!("{what} has {found} bytes of elements, but its header promises {wanted}");
        return Err(ArrayError::new(Place::Byte(start as u64), message));
    }
    let mut indices = Vec::new();
    reserve(&mut indices, data.len() / kind.bytes)?;
    for (i, element) in data.chunks_exact(kind.bytes).enumerate() {
        let place = Place::Byte((start + i * kind.bytes) as u64);
        push(&mut indices, checked(kind.value(element), i, place)?)?;
    }
    Ok(indices)
}

fn refuse<T>(message: impl Into<String>) -> Result<T, ArrayError> {
    Err(ArrayError::new(Place::Whole, message))
}

/// The text of the header, and the offset of the elements.
fn header(bytes: &[u8]) -> Result<(&str, usize), ArrayError> {
    if !bytes.starts_with(MAGIC) {
        return refuse("is not a .npy file: it does not begin with \\x93NUMPY");
    }
    let (start, length) = match bytes.get(6..) {
        Some([1, 0, low, high, ..]) => (10, usize::from(u16::from_le_bytes([*low, *high]))),
        Some([2 | 3, 0, a, b, c, d, ..]) => (12, u32::from_le_bytes([*a, *b, *c, *d]) as usize),
        Some([major, minor, ..]) if ![1, 2, 3].contains(major) || *minor != 0 => {
            return refuse(format!("is of .npy version {major}.{minor}; accepted: 1.0, 2.0, 3.0"));
        }
        _ => return refuse("is truncated: its header is incomplete"),
    };
    if length > LONGEST {
        return refuse(format!("has a header of {length} bytes; accepted: at most {LONGEST}"));
    }
    let Some(text) = bytes.get(start..start + length) else {
        return refuse("is truncated: its header is incomplete");
    };
    match std::str::from_utf8(text) {
        Ok(text) => Ok((text, start + length)),
        Err(_) => refuse("has a header that is not text"),
    }
}

impl Type {
    fn named(descr: &str) -> Result<Type, ArrayError> {
        let mut letters = descr.chars();
        let (order, kind, size) = (letters.next(), letters.next(), letters.as_str());
        let unacceptable = || refuse(format!("holds elements of type `{}`; {ACCEPTED}", shown(descr)));
        let bytes = match size {
            "1" => 1,
            "2" => 2,
            "4" => 4,
            "8" => 8,
            _ => return unacceptable(),
        };
        match (order, kind) {
            (Some('<' | '>' | '='), Some('i' | 'u')) => {}
            (Some('|'), Some('i' | 'u')) if bytes == 1 => {}
            _ => return unacceptable(),
        }
        Ok(Type { signed: kind == Some('i'), bytes, big_endian: order == Some('>') })
    }

    fn value(self, element: &[u8]) -> i128 {
        let shift = |value: u64, &byte: &u8| value << 8 | u64::from(byte);
        let word =
            if self.big_endian { element.iter().fold(0, shift) } else { element.iter().rev().fold(0, shift) };
        let sign = 1u64 << (8 * self.bytes - 1);
        // Two's complement: the highest bit counts negatively.
        let negative = if self.signed && word & sign != 0 { 2 * i128::from(sign) } else { 0 };
        i128::from(word) - negative
    }
}

fn shown(text: &str) -> String {
    crate::case::units::shown(text)
}

struct Header {
    descr: String,
    fortran: bool,
    shape: Vec<u64>,
}

impl Header {
    /// Parses the three keys of the dictionary, each exactly once in any order, and no others.
    fn read(text: &str) -> Result<Header, ArrayError> {
        let mut rest = Cursor { text, at: 0 };
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        rest.expect('{')?;
        while !rest.take('}') {
            let key = rest.string()?;
            rest.expect(':')?;
            match key {
                "descr" if descr.is_none() => descr = Some(rest.descr()?),
                "fortran_order" if fortran.is_none() => fortran = Some(rest.boolean()?),
                "shape" if shape.is_none() => shape = Some(rest.shape()?),
                _ => return refuse(format!("has the unexpected key `{}` in its header", shown(key))),
            }
            if !rest.take(',') {
                rest.expect('}')?;
                break;
            }
        }
        match (descr, fortran, shape) {
            (Some(descr), Some(fortran), Some(shape)) if rest.rest().is_empty() => {
                Ok(Header { descr, fortran, shape })
            }
            (Some(_), Some(_), Some(_)) => refuse("has more than a dictionary in its header"),
            _ => refuse("lacks descr, fortran_order or shape in its header"),
        }
    }
}

/// The unparsed rest of a header.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default().trim()
    }

    /// Consumes `token` if it comes next, ignoring blanks.
    fn take(&mut self, token: char) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let start = rest.trim_start();
        let found = start.starts_with(token);
        if found {
            self.at += rest.len() - start.len() + token.len_utf8();
        }
        found
    }

    fn expect(&mut self, token: char) -> Result<(), ArrayError> {
        if self.take(token) {
            return Ok(());
        }
        let found: String = self.rest().chars().take(20).collect();
        refuse(format!("has a header that cannot be read: expected `{token}`, found `{}`", shown(&found)))
    }

    fn string(&mut self) -> Result<&'a str, ArrayError> {
        let quote = if self.take('"') { '"' } else { '\'' };
        if quote == '\'' {
            self.expect(quote)?;
        }
        let rest = self.text.get(self.at..).unwrap_or_default();
        let Some(end) = rest.find(quote) else { return refuse("has a header with an open string") };
        self.at += end + 1;
        Ok(&rest[..end])
    }

    fn descr(&mut self) -> Result<String, ArrayError> {
        if self.rest().starts_with('[') {
            return refuse(format!("holds records of several fields; {ACCEPTED}: save one field"));
        }
        self.string().map(str::to_owned)
    }

    fn word(&mut self) -> &'a str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let start = rest.trim_start();
        let word = &start[..start.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(start.len())];
        self.at += rest.len() - start.len() + word.len();
        word
    }

    fn boolean(&mut self) -> Result<bool, ArrayError> {
        match self.word() {
            "True" => Ok(true),
            "False" => Ok(false),
            _ => refuse("has a fortran_order that is neither True nor False"),
        }
    }

    fn shape(&mut self) -> Result<Vec<u64>, ArrayError> {
        let mut shape = Vec::new();
        self.expect('(')?;
        while !self.take(')') {
            match self.word().parse() {
                Ok(n) => shape.push(n),
                Err(_) => return refuse("has a shape that is not a tuple of integers"),
            }
            if !self.take(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(shape)
    }
}
