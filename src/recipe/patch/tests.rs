use super::*;

/// The number of the node at a path of keys and indices.
fn number(text: &str, path: &[&str]) -> u32 {
    let root = read("", text).expect("YAML");
    let mut node = &root;
    for part in path {
        node = match &node.content {
            Content::Map(entries) => &entries.iter().find(|(key, _)| key.text == *part).expect("the key").1,
            Content::List(items) => &items[part.parse::<usize>().expect("an index")],
            _ => panic!("no {part}"),
        };
    }
    match node.place {
        Place::Recipe(number) => number,
        other => panic!("{other:?}"),
    }
}

fn node(text: &str) -> Node {
    read("", text).expect("YAML").placed(Place::Nowhere)
}

fn replaced(text: &str, path: &[&str], by: &str) -> String {
    patch(text, &[Edit::Replace { node: number(text, path), by: node(by) }]).expect("patched")
}

fn inserted(text: &str, path: &[&str], name: &str, value: &str) -> String {
    let edit = Edit::Insert { map: number(text, path), name: name.to_owned(), value: node(value) };
    patch(text, &[edit]).expect("patched")
}

#[test]
fn only_the_value_changes() {
    let table: [(&str, &[&str], &str, &str); 9] = [
        ("a: 1 # one\nb: 2 # two\n", &["a"], "3", "a: 3\nb: 2 # two\n"),
        ("a: 1\n# all\nb: 'x #1'\n", &["b"], "3", "a: 1\n# all\nb: 3\n"),
        ("a: {b: 1, c: 'x #1'} # z\n", &["a", "b"], "3", "a: {b: 3, c: 'x #1'} # z\n"),
        ("# π\na: {b: 1..64 x2, c: x} # z\n", &["a", "b"], "[1, 2]", "# π\na: {b: [1, 2], c: x}\n"),
        ("a: [x, {y: 1}, z]\n", &["a", "1"], "w", "a: [x, w, z]\n"),
        ("a: {b: 'it''s, }', c: 1}\n", &["a"], "2", "a: 2\n"),
        ("a: \"x\\\"}\" # c\n", &["a"], "y", "a: y\n"),
        (
            "e:\n  - a: 1\n    b: some words\n  - a: 2\n",
            &["e", "0", "b"],
            "9",
            "e:\n  - a: 1\n    b: 9\n  - a: 2\n",
        ),
        ("a: {b: 1, # }\n  c: 2}\n", &["a"], "{b: 3}", "a: {b: 3}\n"),
    ];
    for (text, path, by, wanted) in table {
        assert_eq!(replaced(text, path, by), wanted, "{text}");
    }
}

#[test]
fn an_entry_is_added_where_the_map_has_room() {
    assert_eq!(inserted("a: {b: 1} # c\n", &["a"], "d", "2%"), "a: {b: 1, d: 2%} # c\n");
    assert_eq!(inserted("a: {}\n", &["a"], "d", "2"), "a: {d: 2}\n");
    assert_eq!(
        inserted("a:\n  b: 1\n  # of c\n  c: 2\n", &["a"], "d", "3"),
        "a:\n  b: 1\n  # of c\n  c: 2\n  d: 3\n"
    );
    assert_eq!(inserted("e:\n  - a: 1\n", &["e", "0"], "d", "3"), "e:\n  - a: 1\n    d: 3\n");
    assert_eq!(inserted("a: 1\nb: {c: 2}\n", &[], "seed", "3"), "a: 1\nb: {c: 2}\nseed: 3\n");
    assert_eq!(inserted("a: 1\nb: {c: 2} # d", &[], "e", "3"), "a: 1\nb: {c: 2} # d\ne: 3");
}

#[test]
fn what_defeats_the_text_is_written_afresh() {
    let text = "# head\nx: &one {a: 1}\ny: *one\nexperiments:\n- b: first\n    second\n  c: 2\n";
    let wanted = "# head\nx: {a: 1}\ny: {a: 5}\nexperiments:\n  - b: first second\n    c: 2\n";
    assert_eq!(replaced(text, &["y", "a"], "5"), wanted);
    let removed = patch("a: 1\nb: 2\n", &[Edit::Remove { value: 2 }]).expect("patched");
    assert_eq!(removed, "b: 2\n");
}

#[test]
fn another_key_takes_the_place_of_one() {
    let text = "p: {uniform: {length: 8, stride: 1}, delta: 8} # c\n";
    let root = read("", text).expect("YAML");
    let Content::Map(entries) = &root.content else { panic!("a map") };
    let Content::Map(inner) = &entries[0].1.content else { panic!("a map") };
    let Place::Recipe(key) = inner[0].0.place else { panic!("a place") };
    let edit = Edit::Exchange { key, name: "custom".to_owned(), value: node("[0, 4]") };
    assert_eq!(patch(text, &[edit]).expect("patched"), "p: {custom: [0, 4], delta: 8}\n");
}

#[test]
fn a_comment_that_is_lost_is_noticed() {
    let block = "# head\na:\n  - 1 # one\n  - 2\nb: 'x#y'\n";
    let afresh = replaced(block, &["a"], "[3]");
    assert!(loses_comments(block, &afresh), "{afresh}");
    let kept = replaced(block, &["b"], "z");
    assert!(kept.contains("# one") && !loses_comments(block, &kept), "{kept}");
    assert!(!loses_comments("# head\na: 1\n", "# head\na: 2\n"));
    assert!(loses_comments("a: 1 # c\nb: 2 # c\n", "a: 1 # c\n"), "one of two alike");
}
