//! A short name for an engine that is started by a shell command.

/// Options of ssh that take a value.
const SSH_WITH_VALUE: &str = "BbcDEeFIiJLlmOopQRSWw";

/// `ssh gpuhost` for `ssh -o BatchMode=yes gpuhost scatterlab engine`; the program's name for other commands,
/// such as `srun`.
pub fn name(command: &str) -> String {
    let mut words = command.split_whitespace().skip_while(|word| before_program(word));
    let program = words.next().map(base).unwrap_or_default();
    let host = if program == "ssh" { ssh_host(words) } else { None };
    let name = host.map_or_else(|| program.to_owned(), |host| format!("{program} {host}"));
    crate::case::units::shown(&name)
}

/// Whether a word is an assignment or a shell word that precedes the program.
fn before_program(word: &str) -> bool {
    ["exec", "env", "command", "time"].contains(&word) || word.contains('=')
}

fn base(word: &str) -> &str {
    let word = word.trim_matches(['\'', '"', ';']);
    word.rsplit('/').next().unwrap_or(word)
}

/// The first non-option word, without a user name.
fn ssh_host<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    while let Some(word) = words.next() {
        match word.strip_prefix('-') {
            None => return Some(word.rsplit('@').next().unwrap_or(word)),
            // The value may be attached: -p22. In a group of letters only the last may take a separate value.
            Some(letters) => {
                let takes = letters.find(|c| SSH_WITH_VALUE.contains(c));
                if takes.is_some_and(|at| at + 1 == letters.len()) {
                    words.next();
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn engines_are_called_by_their_host_or_their_program() {
        let table = [
            ("ssh -o BatchMode=yes gpuhost scatterlab engine", "ssh gpuhost"),
            ("ssh -oBatchMode=yes -p22 -Ap 22 me@gpu.example.org scatterlab engine", "ssh gpu.example.org"),
            ("/usr/bin/ssh -4 host 'cd x && scatterlab engine'", "ssh host"),
            ("srun --gres=gpu:1 scatterlab engine", "srun"),
            ("CUDA_VISIBLE_DEVICES=1 exec '/opt/bin/scatterlab' engine", "scatterlab"),
            ("ssh", "ssh"),
            ("", ""),
        ];
        for (command, wanted) in table {
            assert_eq!(name(command), wanted, "{command}");
        }
    }
}
