use super::*;
use proptest::prelude::*;

/// A `.npy` file as written by NumPy, with the header padded to a multiple of 64 bytes.
fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    npy_with(&dict, data)
}

fn npy_with(dict: &str, data: &[u8]) -> Vec<u8> {
    let padding = (64 - (10 + dict.len() + 1) % 64) % 64;
    let header = format!("{dict}{}\n", " ".repeat(padding));
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

fn read(name: &str, bytes: &[u8]) -> Result<Vec<u64>, String> {
    parse(Format::of(name, bytes), bytes, None).map_err(|e| e.of(name))
}

fn column(bytes: &str, name: &str) -> Result<Vec<u64>, String> {
    parse(Format::Text, bytes.as_bytes(), Some(name)).map_err(|e| e.of("t.csv"))
}

fn refusal(name: &str, bytes: impl AsRef<[u8]>) -> String {
    let message = read(name, bytes.as_ref()).expect_err("refused");
    assert!(!message.contains('\n'), "{message}");
    message
}

#[test]
fn every_integer_type_of_numpy() {
    let values = [0u64, 1, 100];
    for (letter, order) in [('i', '<'), ('u', '<'), ('i', '>'), ('u', '>')] {
        for bytes in [1usize, 2, 4, 8] {
            let element = |v: &u64| match order {
                '<' => v.to_le_bytes()[..bytes].to_vec(),
                _ => v.to_be_bytes()[8 - bytes..].to_vec(),
            };
            let data: Vec<u8> = values.iter().flat_map(element).collect();
            let order = if bytes == 1 { '|' } else { order };
            let file = npy(&format!("{order}{letter}{bytes}"), "(3,)", &data);
            assert_eq!(read("a.npy", &file), Ok(values.to_vec()), "{order}{letter}{bytes}");
        }
    }
}

#[test]
fn an_array_has_one_dimension() {
    for shape in ["(6,)", "(1, 6)", "(6, 1)", "(1, 1, 6)"] {
        let file = npy("|u1", shape, &[0, 1, 2, 3, 4, 5]);
        assert_eq!(read("a.npy", &file), Ok(vec![0, 1, 2, 3, 4, 5]), "{shape}");
    }
    assert_eq!(read("a.npy", &npy("|u1", "()", &[7])), Ok(vec![7]));
    let refused = refusal("a.npy", npy("|u1", "(2, 3)", &[0, 1, 2, 3, 4, 5]));
    assert!(refused.contains("the shape (2, 3)") && refused.contains("a.ravel('C')"), "{refused}");
    let fortran = |shape: &str| {
        npy_with(&format!("{{'descr': '|u1', 'fortran_order': True, 'shape': {shape}}}"), &[0, 1, 2, 3])
    };
    assert_eq!(read("a.npy", &fortran("(4,)")), Ok(vec![0, 1, 2, 3]));
    let refused = refusal("a.npy", fortran("(2, 2)"));
    assert!(refused.contains("the shape (2, 2)") && refused.contains("a.ravel('F')"), "{refused}");
}

#[test]
fn newer_versions_have_a_longer_length() {
    let first = npy("|u1", "(2,)", &[3, 4]);
    for version in [2, 3] {
        let mut file = b"\x93NUMPY".to_vec();
        file.extend([version, 0, first[8], first[9], 0, 0]);
        file.extend(&first[10..]);
        assert_eq!(read("a.npy", &file), Ok(vec![3, 4]), "{version}");
    }
    let mut newer = first.clone();
    newer[6] = 4;
    assert!(refusal("a.npy", newer).contains("version 4.0"));
}

#[test]
fn what_no_npy_file_may_be() {
    let refused = |file: Vec<u8>| refusal("a.npy", file);
    assert!(refused(npy("<f8", "(1,)", &[0; 8])).contains("`<f8`; accepted: integers"));
    assert!(refused(npy("|b1", "(1,)", &[0])).contains("accepted: integers"));
    assert!(refused(npy("<i16", "(1,)", &[0; 16])).contains("accepted: integers"));
    assert!(refused(npy("<i8", "(2,)", &[0; 12])).contains("truncated"));
    assert!(refused(npy("<i8", "(1,)", &[0; 12])).contains("too long"));
    assert!(refused(npy("<i8", "(0,)", &[])).contains("no index"));
    assert!(refused(npy("<i8", "(4611686018427387904,)", &[])).contains("at most"));
    let negative = refused(npy("<i4", "(2,)", &[5, 0, 0, 0, 0xFE, 0xFF, 0xFF, 0xFF]));
    assert!(negative.contains("index number 1, -2, is negative") && negative.contains("at byte 132"));
    assert!(refused(npy("<u8", "(1,)", &(1u64 << 40).to_le_bytes())).contains("too large"));
    assert!(refused(b"0,1,2".to_vec()).contains("does not begin with"));
    let file = npy("<i8", "(2,)", &[0; 16]);
    for end in 0..file.len() {
        let what = refused(file[..end].to_vec());
        assert!(end == 0 || end < 6 || what.contains("truncated"), "{end}: {what}");
    }
    for dict in ["", "{", "{}", "{'descr': 3}", "{'descr': '<i8'}", "{'x': 1}", "[1]"] {
        assert!(refused(npy_with(dict, &[])).starts_with("a.npy: "), "{dict}");
    }
    let records = "{'descr': [('a', '<i8')], 'fortran_order': False, 'shape': (1,)}";
    assert!(refused(npy_with(records, &[0; 8])).contains("several fields"));
}

#[test]
fn raw_words() {
    let bytes: Vec<u8> = [5u64, 0, END - 1].iter().flat_map(|v| v.to_le_bytes()).collect();
    for name in ["a.u64", "b.BIN", "c.idx"] {
        assert_eq!(read(name, &bytes), Ok(vec![5, 0, END - 1]));
    }
    assert!(refusal("a.u64", &bytes[..9]).contains("9 bytes"));
    let large = refusal("a.u64", [bytes.clone(), END.to_le_bytes().to_vec()].concat());
    assert!(large.contains("index number 3") && large.ends_with("(at byte 24)"), "{large}");
}

#[test]
fn lists() {
    for text in [
        "0,8,16",
        "0 8 16",
        "0\n8\n16\n",
        "0,\r\n8,\r\n16,\r\n",
        "[0, 8, 16]",
        "[0 8\n 16]\n",
        "(0, 8, 16,)",
        "\u{feff}0;8;16",
        "# made by hand\n0\t8\n\n# more\n16",
        "index\n0\n8\n16",
        "\"node id\"\n0\n8\n16\n",
        "node id\n0\n8\n16\n",
        "000,08 , 16",
    ] {
        assert_eq!(read("a.csv", text.as_bytes()), Ok(vec![0, 8, 16]), "{text}");
    }
    assert_eq!(read("a.txt", b"7"), Ok(vec![7]));
}

#[test]
fn tables() {
    let table = "id,to,\"a, b\"\n1,5,x\n2,\"6\",\"y,z\"\n\n3, 7,\n";
    assert_eq!(column(table, "to"), Ok(vec![5, 6, 7]));
    assert_eq!(column(table, "id"), Ok(vec![1, 2, 3]));
    assert_eq!(column("a;b\n1;2\n3;4", "b"), Ok(vec![2, 4]));
    assert_eq!(column("a\tb\n1\t2\n", "a"), Ok(vec![1]));
    assert_eq!(column("a\n1\n2", "a"), Ok(vec![1, 2]));
    assert_eq!(
        column(table, "from").unwrap_err(),
        "t.csv:1:1: there is no column `from`; accepted: id, to, a, b"
    );
    assert!(column(table, "a, b").unwrap_err().starts_with("t.csv:2:1: `x` is not an integer"));
    assert!(column("1,2", "a").unwrap_err().contains("no header line"));
    assert!(column("a,b\n1", "b").unwrap_err().starts_with("t.csv:2:1: the line has nothing in column 2"));
    assert!(refusal("t.csv", table).contains("3 columns; choose one: id, to, a, b"));
    assert!(refusal("t.txt", "a b\n1 2\n3 4").contains("blanks between its columns"));
    let npy = npy("|u1", "(1,)", &[1]);
    assert!(
        parse(Format::Npy, &npy, Some("a")).unwrap_err().message.contains("only text files have columns")
    );
}

#[test]
fn what_no_text_may_hold() {
    for (text, wanted) in [
        ("", "a.csv: is empty"),
        (" \n# nothing\n", "a.csv: holds no index"),
        ("index\n", "a.csv: holds no index"),
        ("1,2\n3,-4", "a.csv:2:3: index number 3, -4, is negative"),
        ("1,2.5", "a.csv:1:3: `2.5` is not an integer"),
        ("1e6", "a.csv:1:1: `1e6` is not an integer"),
        ("nan", "a.csv:1:1: `nan` is not an integer"),
        ("1\nNaN", "a.csv:2:1: `NaN` is not an integer"),
        ("1,,2", "a.csv:1:3: there is no index here"),
        ("1 + 2", "a.csv:1:3: `+` is not an integer"),
        ("0x10", "a.csv:1:1: `0x10` is not an integer"),
        ("-", "a.csv:1:1: `-` is not an integer"),
        ("1099511627776", "a.csv:1:1: index number 0, 1099511627776, is too large"),
        ("9999999999999999999999999999999999999999999", "a.csv:1:1: index number 0 is too large"),
        ("[1, 2", "a.csv:1:1: this bracket is never closed"),
        ("1, 2]", "a.csv:1:5: `]` is out of place"),
        ("[[1]]", "a.csv:1:2:"),
        ("\u{1}", "a.csv:1:1: `\\u{1}` is not an integer"),
    ] {
        let message = refusal("a.csv", text);
        assert!(message.starts_with(wanted), "{text:?}: {message}");
    }
}

#[test]
fn the_hash_is_that_of_the_raw_words() {
    let indices: Vec<u64> = (0..20_000).map(|i| i * 7).collect();
    let raw: Vec<u8> = indices.iter().flat_map(|v| v.to_le_bytes()).collect();
    assert_eq!(hash(&indices), blake3::hash(&raw).to_hex().to_string());
    assert_ne!(hash(&indices), hash(&indices[1..]));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes: Vec<u8>, wanted in prop::option::of("[a-c ]{0,3}")) {
        for format in [Format::Npy, Format::Text, Format::Raw] {
            if let Ok(indices) = parse(format, &bytes, wanted.as_deref()) {
                prop_assert!(!indices.is_empty() && indices.iter().all(|&i| i < END));
            }
        }
    }

    #[test]
    fn no_damaged_file_makes_it_panic(
        at in 0usize..200, byte: u8, cut in 0usize..200, descr in "[<>|=]?[iufb]?[0-9]{0,2}", shape in "\\(?[0-9, ]{0,30}\\)?",
    ) {
        let mut file = npy(&descr, &shape, &[1; 40]);
        if let Some(place) = file.get_mut(at) {
            *place = byte;
        }
        file.truncate(file.len().saturating_sub(cut));
        for name in ["a.npy", "a.csv", "a.bin"] {
            if let Err(message) = read(name, &file) {
                prop_assert!(!message.contains('\n'));
            }
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "[a-b0-9,;\\-\\[\\]() \t\r\n\"#.]{0,60}", name in prop::option::of("[ab]")) {
        let _ = parse(Format::Text, text.as_bytes(), name.as_deref());
    }

    /// The pieces may end anywhere, and may be shorter than a word.
    #[test]
    fn pieces_of_raw_words_are_the_whole(
        indices in prop::collection::vec(0..END, 1..20),
        lengths in prop::collection::vec(1..20usize, 1..8),
    ) {
        let bytes: Vec<u8> = indices.iter().flat_map(|v| v.to_le_bytes()).collect();
        let (mut raw, mut left) = (Raw::default(), bytes.as_slice());
        for length in lengths.into_iter().cycle() {
            let (piece, later) = left.split_at(length.min(left.len()));
            prop_assert_eq!(raw.take(piece), Ok(()));
            left = later;
            if left.is_empty() {
                break;
            }
        }
        prop_assert_eq!(raw.end(), Ok(indices));
    }

    #[test]
    fn every_format_gives_the_same_back(indices in prop::collection::vec(0..END, 1..60)) {
        let raw: Vec<u8> = indices.iter().flat_map(|v| v.to_le_bytes()).collect();
        let text = indices.iter().map(u64::to_string).collect::<Vec<_>>().join(",\n");
        let npy = npy("<u8", &format!("({},)", indices.len()), &raw);
        for (name, bytes) in [("a.u64", raw.as_slice()), ("a.csv", text.as_bytes()), ("a.npy", &npy)] {
            prop_assert_eq!(read(name, bytes), Ok(indices.clone()));
        }
    }
}
