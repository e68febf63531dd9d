//! Cases on several GPUs of one host: which GPUs take part, and how the arrays are distributed. Pure.

use crate::case::schema::{Kind, Param, ParamDefault};
use crate::case::{Params, Value};

/// Most GPUs that a case may use.
pub const MOST: u64 = 64;

/// Full key of the device number of the first or only GPU.
pub const DEVICE_KEY: &str = "backend.cuda.device";

/// Full key of [`COUNT`].
pub const COUNT_KEY: &str = "backend.cuda.gpus";

/// The parameter `gpus`: number of GPUs.
pub const COUNT: Param = Param {
    name: "gpus",
    kind: Kind::CountOr { min: 1, max: MOST, words: &["all"], list: 0 },
    default: ParamDefault::Unset,
    doc: "number of GPUs that take part, beginning with `device`; all: every GPU from there on; unset: one",
};

/// The parameter `memory`: distribution of the arrays.
pub const MEMORY: Param = Param {
    name: "memory",
    kind: Kind::Word(&["own", "spanning"]),
    default: ParamDefault::Unset,
    doc: "own: each GPU has all arrays, and the bytes of each count; spanning: the arrays of one case are spread over \
          the GPUs",
};

/// Number of GPUs requested by a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    Exactly(u64),
    /// All GPUs there are.
    All,
}

/// The GPUs of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gpus {
    /// Device number of the first GPU; the others follow consecutively.
    pub first: u64,
    /// Number of GPUs; `None` (not specified) means one.
    pub count: Option<Count>,
    /// True if the arrays span the GPUs instead of being replicated on each.
    pub spanning: bool,
}

impl Gpus {
    /// The GPUs of a case with these parameters.
    pub fn of(params: &Params) -> Gpus {
        let count = match params.get(COUNT_KEY) {
            Some(Value::Int(count)) => Some(Count::Exactly(*count)),
            Some(Value::Text(_)) => Some(Count::All),
            _ => None,
        };
        let first = params.int("backend.cuda.device").unwrap_or(0);
        Gpus { first, count, spanning: params.text("backend.cuda.memory") == Some("spanning") }
    }

    /// Device numbers, given that there are `there` GPUs.
    ///
    /// # Errors
    /// When there are too few GPUs.
    pub fn numbers(&self, there: u64) -> Result<Vec<u64>, String> {
        let count = match self.count {
            None => 1,
            Some(Count::Exactly(count)) => count,
            Some(Count::All) => there.saturating_sub(self.first).max(1),
        };
        let end = self.first.saturating_add(count);
        if end <= there || count == 1 {
            return Ok((self.first..end).collect());
        }
        let from = if self.first > 0 { format!(" from {} on", self.first) } else { String::new() };
        let are = if there == 1 { "1 is".to_owned() } else { format!("{there} are") };
        Err(format!("needs {count} GPUs{from}, {are} here"))
    }

    /// True if there may be more than one GPU.
    pub fn several(&self) -> bool {
        self.count.is_some_and(|count| count != Count::Exactly(1))
    }

    /// True if the GPU with this number takes part, as far as the case determines it.
    pub fn takes(&self, number: u64) -> bool {
        match self.count {
            Some(Count::All) => number >= self.first,
            Some(Count::Exactly(count)) => (self.first..self.first.saturating_add(count)).contains(&number),
            None => number == self.first,
        }
    }

    /// Number of GPUs among which the arrays are divided, as far as the case determines it.
    pub fn shares(&self) -> u64 {
        match self.count {
            Some(Count::Exactly(count)) if self.spanning => count.max(1),
            _ => 1,
        }
    }
}

/// Number of GPUs that run a case. `resolved` holds the values chosen for its open parameters; an unresolved
/// `all` counts as one.
pub fn taking_part(params: &Params, resolved: &[(String, Value)]) -> u64 {
    let became = resolved.iter().find(|(key, _)| key == COUNT_KEY).map(|(_, value)| value);
    match (Gpus::of(params).count, became) {
        (Some(Count::Exactly(count)), _) => count,
        (Some(Count::All), Some(Value::Int(count))) => *count,
        (Some(Count::All) | None, _) => 1,
    }
}

/// Number of concurrent executions of a case on separate arrays, by which its bytes are multiplied.
pub fn replicas(params: &Params, resolved: &[(String, Value)]) -> u64 {
    if Gpus::of(params).spanning { 1 } else { taking_part(params, resolved) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(count: Option<Value>, memory: Option<&str>) -> Params {
        let params = count.into_iter().fold(Params::default(), |p, count| p.with(COUNT_KEY, count));
        let memory = memory.map(|word| Value::Text(word.to_owned()));
        memory.into_iter().fold(params, |p, word| p.with("backend.cuda.memory", word))
    }

    #[test]
    fn gpus_follow_the_first() {
        let of = |params: Params, there| Gpus::of(&params).numbers(there);
        assert_eq!(of(case(None, None), 2), Ok(vec![0]));
        assert_eq!(of(case(Some(Value::Int(2)), None), 2), Ok(vec![0, 1]));
        assert_eq!(of(case(Some(Value::Text("all".into())), None), 3), Ok(vec![0, 1, 2]));
        let second = case(Some(Value::Text("all".into())), None).with("backend.cuda.device", Value::Int(1));
        assert_eq!(of(second.clone(), 3), Ok(vec![1, 2]));
        assert_eq!(of(case(Some(Value::Int(2)), None), 1), Err("needs 2 GPUs, 1 is here".to_owned()));
        let far = second.with(COUNT_KEY, Value::Int(4));
        assert_eq!(of(far, 3), Err("needs 4 GPUs from 1 on, 3 are here".to_owned()));
    }

    #[test]
    fn a_case_takes_the_gpus_from_its_first_on() {
        let takes = |params: &Params| [0, 1, 2].map(|number| Gpus::of(params).takes(number));
        let (one, two) = (case(None, None), case(Some(Value::Int(2)), None));
        let all = case(Some(Value::Text("all".into())), None).with("backend.cuda.device", Value::Int(1));
        assert_eq!((takes(&one), Gpus::of(&one).several()), ([true, false, false], false));
        assert_eq!((takes(&two), Gpus::of(&two).several()), ([true, true, false], true));
        assert_eq!((takes(&all), Gpus::of(&all).several()), ([false, true, true], true));
    }

    #[test]
    fn bytes_count_once_for_each_that_has_its_own() {
        let became = [(COUNT_KEY.to_owned(), Value::Int(4))];
        assert_eq!(replicas(&case(None, None), &became), 1);
        assert_eq!(replicas(&case(Some(Value::Int(2)), Some("own")), &[]), 2);
        assert_eq!(replicas(&case(Some(Value::Int(2)), Some("spanning")), &[]), 1);
        let all = case(Some(Value::Text("all".into())), None);
        assert_eq!((replicas(&all, &[]), replicas(&all, &became)), (1, 4));
    }

    #[test]
    fn only_arrays_that_span_are_shared_out() {
        let shares = |memory| Gpus::of(&case(Some(Value::Int(2)), memory)).shares();
        assert_eq!((shares(None), shares(Some("own")), shares(Some("spanning"))), (1, 1, 2));
    }
}
