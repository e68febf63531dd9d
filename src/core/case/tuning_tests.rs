use super::*;

const OFFERED: Offered = Offered {
    block: 512,
    items: &[1, 2, 4],
    hints: &[Hint::None, Hint::Streaming],
    fetch: &[32, 64],
    ..Offered::NOTHING
};

fn set(name: &str, value: &str) -> Params {
    let value = value.parse().map_or_else(|_| Value::Text(value.to_owned()), Value::Int);
    Params::default().with("backend", Value::Text("cuda".into())).with(&key(name), value)
}

fn refusal(name: &str, value: &str, offered: &Offered) -> String {
    let tuning = Tuning::of(&set(name, value));
    tuning.and_then(|t| t.within("stream", offered)).expect_err("refused").to_string()
}

#[test]
fn nothing_is_set_unless_a_recipe_sets_it() {
    let tuning = Tuning::of(&Params::default()).unwrap();
    assert_eq!(tuning, Tuning::default());
    assert_eq!((tuning.within("stream", &Offered::NOTHING), tuning.resolved()), (Ok(tuning), vec![]));
}

#[test]
fn what_is_set_is_read_and_goes_into_the_record() {
    let all = [("block", "128"), ("items", "4"), ("grid", "resident"), ("hint", "no-l1")];
    let all = all.into_iter().chain([("vector", "8"), ("fetch", "32"), ("persist", "4096")]);
    let params = Params(all.flat_map(|(name, value)| set(name, value).0).collect());
    let tuning = Tuning::of(&params).unwrap();
    assert_eq!((tuning.block, tuning.items, tuning.vector), (Some(128), Some(4), Some(8)));
    assert_eq!((tuning.grid, tuning.hint), (Some(Grid::Resident), Some(Hint::NoL1)));
    assert_eq!((tuning.fetch, tuning.persist), (Some(32), Some(4096)));
    for (key, value) in tuning.resolved() {
        assert_eq!(params.get(&key), Some(&value), "{key}");
    }
    assert_eq!(tuning.resolved().len(), 7);
}

#[test]
fn what_a_primitive_lacks_is_not_applicable_and_says_what_it_has() {
    assert_eq!(refusal("items", "8", &OFFERED), "n/a: stream takes items 1, 2, 4, not 8");
    assert_eq!(refusal("hint", "no-l1", &OFFERED), "n/a: stream takes hint none, streaming, not no-l1");
    assert_eq!(refusal("fetch", "128", &OFFERED), "n/a: stream takes fetch 32B, 64B, not 128B");
    assert_eq!(refusal("block", "1024", &OFFERED), "n/a: stream has blocks of up to 512 threads, not 1024");
    for (name, value) in [("grid", "tiles"), ("vector", "16"), ("persist", "1")] {
        let reason = format!("n/a: stream has no {name} to choose: leave it unset");
        assert_eq!(refusal(name, value, &OFFERED), reason);
    }
    assert_eq!(
        refusal("block", "32", &Offered::NOTHING),
        "n/a: stream has no block to choose: leave it unset"
    );
}

#[test]
fn a_block_is_whole_warps() {
    assert_eq!(refusal("block", "48", &OFFERED), "backend.cuda.block: 48 is not a multiple of 32");
    assert_eq!(refusal("grid", "all", &OFFERED), "backend.cuda.grid: `all` is not one of tiles, resident");
}
