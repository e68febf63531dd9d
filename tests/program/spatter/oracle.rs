//! Random configurations against a plain account of what Spatter makes of them: the indices, the deltas and the
//! bytes. The account starts from the numbers of a pattern, never from its text.

use std::fs;

use scatterlab::spatter::{CommandLine, Job};

use super::MACHINE;
use scatterlab_tests::program::{scatterlab, text};

/// Numbers that look random: those of a linear congruential generator.
struct Draws(u64);

impl Draws {
    /// A number from `least` to `most`.
    fn number(&mut self, least: u64, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        least + (self.0 >> 33) % (most - least + 1)
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.number(1, one_in) == 1
    }

    fn numbers(&mut self, count: u64, least: u64, most: u64) -> Vec<u64> {
        (0..count).map(|_| self.number(least, most)).collect()
    }
}

/// The delta that UNIFORM may set.
#[derive(Clone, Copy)]
enum Third {
    Nothing,
    NoReuse,
    Delta(u64),
}

enum Pattern {
    Uniform { length: u64, stride: u64, third: Third },
    Ms1 { length: u64, breaks: Vec<u64>, gaps: Vec<u64> },
    Laplacian { dimensions: u64, branch: u64, size: u64 },
    List(Vec<u64>),
}

impl Pattern {
    fn draw(draws: &mut Draws) -> Pattern {
        match draws.number(0, 3) {
            0 => {
                let third = match draws.number(0, 2) {
                    0 => Third::Nothing,
                    1 => Third::NoReuse,
                    _ => Third::Delta(draws.number(1, 40)),
                };
                Pattern::Uniform { length: draws.number(1, 20), stride: draws.number(1, 9), third }
            }
            1 => {
                // Few places, so that many breaks are equal or descend.
                let length = draws.number(1, 12);
                let count = draws.number(1, 5);
                let breaks = draws.numbers(count, 0, length + 1);
                let gaps = if draws.chance(2) { 1 } else { count };
                Pattern::Ms1 { length, breaks, gaps: draws.numbers(gaps, 1, 30) }
            }
            2 => Pattern::Laplacian {
                dimensions: draws.number(1, 3),
                branch: draws.number(1, 3),
                size: draws.number(1, 12),
            },
            _ => {
                let count = draws.number(1, 12);
                Pattern::List(draws.numbers(count, 0, 99))
            }
        }
    }

    /// As a user may write it: generators with blanks, signs and an end, lists without.
    fn text(&self, draws: &mut Draws) -> String {
        let mut number = |number: &u64| {
            let blank = |draws: &mut Draws| if draws.chance(3) { " " } else { "" };
            let sign = if draws.chance(6) { "+" } else { "" };
            format!("{}{sign}{number}{}", blank(draws), blank(draws))
        };
        let mut list = |numbers: &[u64]| numbers.iter().map(&mut number).collect::<Vec<_>>().join(",");
        let fields = match self {
            Pattern::List(indices) => {
                return indices.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
            }
            Pattern::Uniform { length, stride, third } => {
                let mut fields = vec!["UNIFORM".to_owned(), list(&[*length]), list(&[*stride])];
                match third {
                    Third::Nothing => {}
                    Third::NoReuse => fields.push("NR".to_owned()),
                    Third::Delta(delta) => fields.push(list(&[*delta])),
                }
                fields
            }
            Pattern::Ms1 { length, breaks, gaps } => {
                vec!["MS1".to_owned(), list(&[*length]), list(breaks), list(gaps)]
            }
            Pattern::Laplacian { dimensions, branch, size } => {
                vec!["LAPLACIAN".to_owned(), list(&[*dimensions]), list(&[*branch]), list(&[*size])]
            }
        };
        fields.join(":") + if draws.chance(5) { ":" } else { "" }
    }

    fn indices(&self) -> Vec<u64> {
        match self {
            Pattern::List(indices) => indices.clone(),
            Pattern::Uniform { length, stride, .. } => (0..*length).map(|i| i * stride).collect(),
            Pattern::Ms1 { length, breaks, gaps } => {
                let (mut indices, mut value, mut used) = (Vec::new(), -1i64, 0);
                for i in 0..*length {
                    if used < breaks.len() && breaks[used] == i {
                        value += if gaps.len() > 1 { gaps[used] } else { gaps[0] } as i64;
                        used += 1;
                    } else {
                        value += 1;
                    }
                    indices.push(value as u64);
                }
                indices
            }
            Pattern::Laplacian { dimensions, branch, size } => {
                let mut points = Vec::new();
                for dimension in 0..*dimensions {
                    for j in 1..=*branch {
                        points.push(j * size.pow(dimension as u32));
                    }
                }
                let middle = points[points.len() - 1];
                let mut indices: Vec<u64> = points.iter().rev().map(|point| middle - point).collect();
                indices.push(middle);
                indices.extend(points.iter().map(|point| middle + point));
                indices
            }
        }
    }

    fn delta(&self) -> Option<u64> {
        match self {
            Pattern::Uniform { length, stride, third: Third::NoReuse } => Some(length * stride),
            Pattern::Uniform { third: Third::Delta(delta), .. } => Some(*delta),
            Pattern::Laplacian { .. } => Some(1),
            _ => None,
        }
    }
}

/// What is known of one side: its pattern and the delta given beside it.
#[derive(Default)]
struct Side {
    pattern: Option<Pattern>,
    delta: Vec<u64>,
}

impl Side {
    fn draw(draws: &mut Draws, lists: bool) -> Side {
        let count = if lists && draws.chance(3) { draws.number(2, 4) } else { draws.number(0, 1) };
        Side { pattern: Some(Pattern::draw(draws)), delta: draws.numbers(count, 0, 30) }
    }

    fn indices(&self, size: Option<u64>, boundary: u64) -> Vec<u64> {
        let mut indices = self.pattern.as_ref().map(Pattern::indices).unwrap_or_default();
        indices.truncate(size.unwrap_or(u64::MAX) as usize);
        if boundary > 0 { indices.iter().map(|index| index % boundary).collect() } else { indices }
    }

    /// The delta in JSON, where the generator's counts.
    fn delta_of_json(&self) -> String {
        match (self.pattern.as_ref().and_then(Pattern::delta), self.delta.as_slice()) {
            (Some(delta), _) => delta.to_string(),
            (None, []) => "8".to_owned(),
            (None, [delta]) => delta.to_string(),
            (None, deltas) => list(deltas),
        }
    }
}

fn list(numbers: &[u64]) -> String {
    format!("[{}]", numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", "))
}

/// A configuration as JSON, what `-v2` prints of it, and its bytes.
fn drawn(id: usize, draws: &mut Draws) -> (String, String, u64) {
    let kernel = ["gather", "scatter", "gs", "multigather", "multiscatter"][draws.number(0, 4) as usize];
    let alone = matches!(kernel, "gather" | "scatter");
    let (mut outer, mut gather, mut scatter) = (Side::default(), Side::default(), Side::default());
    let same = |draws: &mut Draws, count: usize, most: u64| Side {
        pattern: Some(Pattern::List(draws.numbers(count as u64, 0, most))),
        delta: Vec::new(),
    };
    if kernel == "gs" {
        gather = Side::draw(draws, false);
        scatter = same(draws, gather.indices(None, 0).len(), 50);
        scatter.delta = draws.numbers(1, 0, 30);
    } else {
        outer = Side::draw(draws, true);
        let (length, inner) = (outer.indices(None, 0).len() as u64, draws.number(1, 6) as usize);
        match kernel {
            "multigather" => gather = same(draws, inner, length - 1),
            "multiscatter" => scatter = same(draws, inner, length - 1),
            _ => {}
        }
    }
    let whole = outer.indices(None, 0).len() as u64;
    let size = (alone && draws.chance(3)).then(|| draws.number(1, whole));
    let boundary = if draws.chance(3) { draws.number(1, 60) } else { 0 };
    let (count, wrap) = (draws.number(1, 40), draws.number(1, 5));
    let mut entries =
        vec![format!("\"kernel\": {kernel:?}, \"count\": {count}, \"wrap\": {wrap}, \"nruns\": 1")];
    entries.extend(size.map(|size| format!("\"pattern-size\": {size}")));
    entries.push(format!("\"boundary\": {boundary}"));
    for (side, name) in [(&outer, ""), (&gather, "-gather"), (&scatter, "-scatter")] {
        if let Some(pattern) = &side.pattern {
            entries.push(match pattern {
                Pattern::List(indices) if draws.chance(2) => format!("\"pattern{name}\": {}", list(indices)),
                _ => format!("\"pattern{name}\": {:?}", pattern.text(draws)),
            });
        }
        match side.delta.as_slice() {
            [] => {}
            [delta] => entries.push(format!("\"delta{name}\": {delta}")),
            deltas => entries.push(format!("\"delta{name}\": {}", list(deltas))),
        }
    }
    let [p, g, s] = [&outer, &gather, &scatter].map(|side| side.indices(size, boundary));
    let length = match kernel {
        "gs" => 2 * g.len(),
        "multigather" => g.len(),
        "multiscatter" => s.len(),
        _ => p.len(),
    };
    let shown = format!(
        "{{'id': {id}, 'kernel': '{kernel}', 'pattern': {}, 'pattern-gather': {}, 'pattern-scatter': {}, 'delta': {}, \
         'delta-gather': {}, 'delta-scatter': {}, 'count': {count}, 'wrap': {wrap}, 'threads': 1}}",
        list(&p),
        list(&g),
        list(&s),
        outer.delta_of_json(),
        gather.delta_of_json(),
        scatter.delta_of_json(),
    );
    (format!("{{{}}}", entries.join(", ")), shown, 8 * length as u64 * count)
}

/// Two hundred configurations in one suite, run and certified by the real program.
#[test]
fn random_suites_mean_what_the_oracle_says() {
    let (folder, mut draws) = (tempfile::tempdir().expect("a folder"), Draws(22));
    let drawn: Vec<_> = (0..200).map(|id| drawn(id, &mut draws)).collect();
    let suite: Vec<&str> = drawn.iter().map(|(json, ..)| json.as_str()).collect();
    fs::write(folder.path().join("suite.json"), format!("[{}]", suite.join(",\n"))).expect("a suite");
    let output = scatterlab(folder.path(), &["spatter", "-v2", "-b", "serial", "-f", "suite.json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let stdout = text(&output.stdout);
    let shown = stdout.lines().skip_while(|line| !line.starts_with("[ {'id'")).take(200);
    for (line, (json, expected, _)) in shown.zip(&drawn) {
        let line = line.trim_start_matches("[ ").trim().trim_end_matches(" ]").trim_end_matches(',');
        assert_eq!(line, expected, "{json}");
    }
    let rows: Vec<Vec<&str>> = stdout
        .lines()
        .skip_while(|line| !line.starts_with("config "))
        .skip(1)
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows.len(), drawn.len());
    for (row, (json, _, bytes)) in rows.iter().zip(&drawn) {
        assert_eq!(row[1], bytes.to_string(), "{json}");
    }
}

/// On the command line the last of a delta and a generator that sets one counts.
#[test]
fn random_command_lines_mean_what_the_oracle_says() {
    let mut draws = Draws(1);
    for _ in 0..200 {
        let pattern = Pattern::draw(&mut draws);
        let (mut words, mut delta) = (vec!["-b".to_owned(), "serial".to_owned()], 8);
        let before = draws.chance(2).then(|| draws.number(0, 30));
        words.extend(before.map(|delta| format!("-d {delta}")));
        delta = pattern.delta().or(before).unwrap_or(delta);
        words.extend(["-p".to_owned(), pattern.text(&mut draws)]);
        if draws.chance(2) {
            delta = draws.number(0, 30);
            words.extend(["--delta".to_owned(), format!(" +{delta} ")]);
        }
        let count = draws.number(1, 50);
        words.push(format!("-l{count}"));
        let job = CommandLine::read(&words).and_then(|line| Job::of(&line, None, &MACHINE));
        let config = job.unwrap_or_else(|refused| panic!("{words:?}: {refused}")).configs.remove(0);
        assert_eq!(config.pattern, pattern.indices(), "{words:?}");
        assert_eq!(config.delta, scatterlab::spatter::pattern::Delta::One(delta), "{words:?}");
        assert_eq!(config.bytes(), 8 * count * config.pattern.len() as u64, "{words:?}");
    }
}
