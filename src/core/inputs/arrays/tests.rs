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
        "t.csv:1:1: the header has no column `from`; accepted: id, to, a, b"
    );
    assert!(column(table, "a, b").unwrap_err().starts_with("t.csv:2:1: `x` is not an integer"));
    assert!(refusal("t.csv", table).contains("3 columns; choose one: id, to, a, b"));
    assert!(refusal("t.txt", "a b\n1 2\n3 4").contains("blanks between its columns"));
    let npy = npy("|u1", "(1,)", &[1]);
    assert!(
        parse(Format::Npy, &npy, Some("a")).unwrap_err().message.contains("only text files have columns")
    );
}

/// What pandas and R write by default: the names of rows are a column, whose own name is empty.
#[test]
fn a_column_without_a_name_shifts_no_other() {
    for (text, name, cells) in [
        ("\ta\tb\n0\t7\t1\n1\t3\t2\n", "a", [7, 3]),
        ("\ta\tb\r\n0\t7\t1\r\n1\t3\t2\r\n", "b", [1, 2]),
        (",a\n0,5\n1,7\n", "a", [5, 7]),
        ("\"\",\"x\"\n\"1\",5\n\"2\",9\n", "x", [5, 9]),
        (",0\n0,5\n1,7\n", "0", [5, 7]),
        ("2020,2021\n4,5\n6,7\n", "2021", [5, 7]),
        ("a,\n4,5\n6,7\n", "", [5, 7]),
        (" ;a\n4;5\n6;7\n", "a", [5, 7]),
        ("1st;2nd\n4;5\n6;7\n", "1st", [4, 6]),
    ] {
        assert_eq!(column(text, name), Ok(cells.to_vec()), "{text:?}");
    }
}

#[test]
fn an_empty_cell_is_never_data_of_the_first_line() {
    for text in [",0\n0,5\n1,7\n", "\t0\n0\t5\n", "0,,2\n1,2,3\n", "\"\",0\n1,2\n", "# x\n;0;\n1;2;\n"] {
        let told = refusal("t.csv", text);
        assert!(told.contains(" as a line of data has no empty cell; choose one: "), "{text:?}: {told}");
    }
    // A list may be broken behind a comma.
    for text in ["0,\n8,\n", "0,8,\n16", "0\t8\t\n16"] {
        assert!(read("t.csv", text.as_bytes()).is_ok_and(|all| all[..2] == [0, 8]), "{text:?}");
    }
}

#[test]
fn a_row_has_as_many_cells_as_the_header() {
    let wrong = |text: &str, name: &str| column(text, name).expect_err(text);
    assert_eq!(
        wrong("a,b\n1,2\n\n# more\n3\n", "a"),
        "t.csv:5:1: 1 cell below a header of 2 cells in line 1; accepted: as many in each line"
    );
    for (text, name, line) in [
        ("n\n5,6\n7,8\n", "n", 2),
        ("a,b,c\n1,2\n", "a", 2),
        ("a,b\n1,2\n3,4,\n", "b", 3),
        ("\"x\"\t\"y\"\n\"1\"\t5\t6\n", "x", 2),
        ("# made by hand\r\nx;y\r\n1;2\r\n\r\n3;4;5\r\n", "x", 5),
        ("a,b\r1,2\r3\r", "a", 3),
        ("a,b\n\"1\n\",2\n3\n", "b", 4),
    ] {
        let told = wrong(text, name);
        assert!(
            told.starts_with(&format!("t.csv:{line}:1: ")) && told.contains(" below a header of "),
            "{told}"
        );
    }
    assert!(refusal("t.txt", "n\n5,6\n").starts_with("t.txt:2:1: 2 cells below a header of 1 cell"));
    assert!(
        refusal("t.txt", "index\n0 8 16\n").starts_with("t.txt:2:1: this looks like a table with blanks")
    );
    assert_eq!(column("a,b\n1,\"2\"", "b"), Ok(vec![2]));
    assert!(wrong("a\n1\n\"\"\n", "a").starts_with("t.csv:3:1: the line has nothing in column 1"));
    assert_eq!(column("a\n1\n  \n # a comment\n2", "a"), Ok(vec![1, 2]));
}

/// A quote that nobody closes, or the next one does, hides rows.
#[test]
fn a_torn_quote_is_refused() {
    for (text, line) in [
        ("a,b\n1,2\n3,\"4\n5,6\n", 3),
        ("a,b\n1,2\n3,\"4", 3),
        ("a\tb\n\n# x\n1\t\"torn\n2\tb\n3\t\"whole\"\n", 4),
        ("a,b\r\n1,\"5\r\n2,x\r\n3,\" 7\r\n", 2),
    ] {
        let told = column(text, "a").expect_err(text);
        let what = "a quote that is opened in this row does not close a cell";
        assert!(told.starts_with(&format!("t.csv:{line}:1: {what}")), "{told}");
    }
    for text in [
        "a,b\n1,\"x\ny\"\n2,\"\"\"x\"\"\n\" \n",
        "a,b\r\n1,\"x,\r\n\r\ny\"\r\n\r\n\r\n2,z\r\n",
        "\"b\nb\",a\nx,1\n\"\n\n\" ,2",
        "a;b\n1;5\" pipe\n2;\"x\"\n",
    ] {
        assert_eq!(column(text, "a"), Ok(vec![1, 2]), "{text:?}");
    }
}

#[test]
fn a_name_of_several_columns_is_refused() {
    let told = column("x,y,x\n1,2,3\n", "x").unwrap_err();
    assert_eq!(told, "t.csv:1:1: 2 columns are called `x`; accepted: a name of one among x, y, x");
    assert_eq!(column("x,y,x\n1,2,3\n", "y"), Ok(vec![2]));
    for (text, name) in [("x, x \n1,2\n", "x"), ("\tx\t\n1\t2\t3\n", ""), ("x;\"x\";x\n1;2;3\n", "x")] {
        assert!(column(text, name).unwrap_err().contains(" columns are called "), "{text:?}");
    }
}

/// The mark and the ends of lines are not part of what a text says, in any format.
#[test]
fn marks_and_line_ends_of_every_system_are_read() {
    let matrix = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.5\n2 2 1\n";
    for (name, text, indices) in [
        ("g.el", "0 1\n1 2\n", vec![1, 2]),
        ("g.wel", "0 1 5\n1 2 5\n", vec![1, 2]),
        ("g.gr", "p sp 3 2\na 1 2 5\na 2 3 5\n", vec![1, 2]),
        ("m.mtx", matrix, vec![0, 1]),
        ("m.txt", matrix, vec![0, 1]),
        ("l.txt", "1\n2\n", vec![1, 2]),
        ("t.csv", "index\n1\n2\n", vec![1, 2]),
    ] {
        for (mark, end) in [("", "\r"), ("\u{feff}", "\n"), ("\u{feff}", "\r\n"), ("\u{feff}", "\r")] {
            let text = format!("{mark}{}", text.replace('\n', end));
            assert_eq!(read(name, text.as_bytes()), Ok(indices.clone()), "{name} {text:?}");
        }
    }
    let torn = refusal("g.el", "\u{feff}0 1\r1 x\r");
    assert!(torn.starts_with("g.el:2:3: the head `x`"), "{torn}");
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
        ("1,2\n1,,2", "a.csv:2:3: there is no index here"),
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
