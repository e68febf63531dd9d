//! Reads the command line as getopt_long does: bundled letters, attached values, abbreviated names, and
//! operands anywhere between the options. Nothing behind a request for help is read, because Spatter ends there.

use super::Refused;
use super::table::{self, Key, Kind, Opt};
use crate::case::units::shown;
use crate::recipe::Nearest;

/// The parsed command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// Options with the values written after them, in order.
    pub options: Vec<(&'static Opt, Option<String>)>,
    /// Words that belong to no option.
    pub others: Vec<String>,
}

/// Splits the arguments into options and operands.
///
/// # Errors
/// An option is unknown or ambiguous, or a value is missing or not allowed.
pub fn read(arguments: &[String]) -> Result<Words, Refused> {
    let (mut words, mut rest) = (Words::default(), arguments.iter());
    while !asks_for_help(&words)
        && let Some(word) = rest.next()
    {
        if word == "--" {
            words.others.extend(rest.by_ref().cloned());
        } else if let Some(long) = word.strip_prefix("--") {
            words.options.push(read_long(long, &mut rest)?);
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            read_letters(letters, &mut rest, &mut words)?;
        } else {
            words.others.push(word.clone());
        }
    }
    Ok(words)
}

fn asks_for_help(words: &Words) -> bool {
    words.options.last().is_some_and(|(option, _)| option.key == Key::Help)
}

type Rest<'a> = std::slice::Iter<'a, String>;

fn read_long(text: &str, rest: &mut Rest) -> Result<(&'static Opt, Option<String>), Refused> {
    let (name, attached) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (text, None),
    };
    let option = match table::by_long(name).as_slice() {
        [one] => *one,
        [] => return Err(unknown(&format!("--{}", shown(name)), name)),
        several => {
            let names: Vec<String> = several.iter().map(|option| format!("--{}", option.long)).collect();
            return Err(Refused::usage(format!("--{name} is ambiguous: {}", names.join(", "))));
        }
    };
    let called = format!("--{}", option.long);
    if option.kind == Kind::Flag && attached.is_some() {
        return Err(Refused::usage(format!("{called} takes no value")));
    }
    let value = if attached.is_none() { following(option, &called, rest)? } else { attached };
    Ok((option, value))
}

/// Reads `-acl5`: flags without a value, then possibly an option with one.
fn read_letters(letters: &str, rest: &mut Rest, words: &mut Words) -> Result<(), Refused> {
    for (at, letter) in letters.char_indices() {
        let called = format!("-{}", shown(&letter.to_string()));
        let option = table::by_short(letter).ok_or_else(|| unknown(&called, ""))?;
        if option.kind == Kind::Flag {
            words.options.push((option, None));
            if option.key == Key::Help {
                break;
            }
            continue;
        }
        let attached = Some(&letters[at + letter.len_utf8()..]).filter(|value| !value.is_empty());
        let value = match attached {
            Some(value) => Some(value.to_owned()),
            None => following(option, &called, rest)?,
        };
        words.options.push((option, value));
        break;
    }
    Ok(())
}

/// The next word, if the option requires a value.
fn following(option: &Opt, called: &str, rest: &mut Rest) -> Result<Option<String>, Refused> {
    if matches!(option.kind, Kind::Flag | Kind::Switch | Kind::Seed) {
        return Ok(None);
    }
    let missing = || Refused::usage(format!("{called} needs a value: {}", option.kind.expected()));
    rest.next().cloned().map(Some).ok_or_else(missing)
}

fn unknown(called: &str, name: &str) -> Refused {
    let nearest = Nearest::among(name, table::OPTIONS.iter().map(|option| option.long)).0;
    let hint =
        nearest.map_or_else(|| "; --help lists them".to_owned(), |near| format!(" (did you mean --{near}?)"));
    Refused::usage(format!("unknown option {called}{hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(line: &str) -> Result<Vec<String>, String> {
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let words = read(&arguments).map_err(|refused| refused.message)?;
        let pair = |(option, value): (&Opt, Option<String>)| match value {
            Some(value) => format!("{}={value}", option.long),
            None => option.long.to_owned(),
        };
        Ok(words.options.into_iter().map(pair).chain(words.others).collect())
    }

    #[test]
    fn words_are_read_as_getopt_long_does() {
        let of = |line| pairs(line).expect(line).join(" ");
        assert_eq!(of("-p UNIFORM:8:1 -l5"), "pattern=UNIFORM:8:1 count=5");
        assert_eq!(of("-acl 5"), "aggregate compress count=5");
        assert_eq!(of("-acl5"), "aggregate compress count=5");
        assert_eq!(of("--count=5 --coun 6 --ker gs"), "count=5 count=6 kernel=gs");
        assert_eq!(of("--delta 3 --pattern 0"), "delta=3 pattern=0", "an exact name is no abbreviation");
        assert_eq!(of("-s 5"), "random 5", "an optional value is attached");
        assert_eq!(of("-s5 --random=6 --random 7"), "random=5 random=6 random 7");
        assert_eq!(of("-l -5"), "count=-5", "whatever follows is the value");
        assert_eq!(of("x -l 5 - -- -l 6"), "count=5 x - -l 6", "others go to the end");
        assert_eq!(of("--atomic-writes=0 --atomic-writes"), "atomic-writes=0 atomic-writes");
        assert_eq!(of("--at --atomic- --atomic-t"), "atomic-writes atomic-writes atomic-thread-fence");
        assert_eq!([of("-hx"), of("-ahq -q"), of("--he --nonsense")], ["help", "aggregate help", "help"]);
    }

    /// An abbreviation that is unambiguous among Spatter's options means the same with ours added.
    #[test]
    fn ours_take_no_abbreviation_of_theirs() {
        let theirs: Vec<&Opt> = table::OPTIONS.iter().filter(|option| !option.ours).collect();
        for option in &theirs {
            for end in 1..=option.long.len() {
                let cut = &option.long[..end];
                let exact = theirs.iter().any(|other| other.long == cut);
                let meant: Vec<_> = theirs.iter().filter(|other| other.long.starts_with(cut)).collect();
                let alike = meant.iter().all(|other| other.short.is_none());
                let found = table::by_long(cut);
                assert_eq!(found.len(), if exact || alike { 1 } else { meant.len() }, "--{cut}");
                assert!(found.iter().all(|found| !found.ours), "--{cut}");
            }
        }
        assert_eq!(pairs("--sta --dev 1").expect("ours").join(" "), "stats device=1");
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let error = |line| pairs(line).expect_err(line);
        assert_eq!(
            error("--pat 0"),
            "--pat is ambiguous: --pattern-gather, --pattern-size, --pattern, --pattern-scatter"
        );
        assert_eq!(error("--coutn 5"), "unknown option --coutn (did you mean --count?)");
        assert_eq!(error("-q"), "unknown option -q; --help lists them");
        assert_eq!(error("-l"), "-l needs a value: an integer of at least 1");
        assert_eq!(error("--compress=1"), "--compress takes no value");
    }
}
