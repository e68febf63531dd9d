//! The real program on a real terminal: whatever happens, the terminal is restored and no process is left
//! running.

use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use scatterlab_tests::program::binary;
use scatterlab_tests::screen::{Rounds, Screen, run_folder, signal, state};
use tempfile::TempDir;

const CTRL_C: &str = "\x03";
const CTRL_Z: &str = "\x1a";
const ESC: &str = "\x1b";

/// Thirty thousand short rounds, so that the run can be interrupted in the middle, but not so short that
/// reporting them takes all the time.
const LONG: &str = "\
title: Long
stream: {kernel: [copy, triad], elements: 1000..4000 +10}
backend: scalar
chart: {x: elements, y: bandwidth, lines: kernel}
measure: {rounds: 50, samples: 100}
";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("temporary folder");
    fs::write(folder.path().join("long.yaml"), LONG).expect("recipe");
    folder
}

/// Starts the program on its home screen with the folder's recipe selected, which is last in the list.
fn home(folder: &Path, size: (u16, u16), arguments: &[&str]) -> Screen {
    let screen = Screen::start(folder, size, &[&[binary()], arguments].concat());
    opened(screen)
}

fn opened(mut screen: Screen) -> Screen {
    screen.wait("Recipes");
    screen.assert_taken();
    screen.keys("G");
    screen.wait("long.yaml");
    screen
}

/// Starts the program with its run under way.
fn running(folder: &Path, arguments: &[&str]) -> Screen {
    started(home(folder, (100, 30), arguments), folder)
}

fn started(mut screen: Screen, folder: &Path) -> Screen {
    screen.keys("\r");
    screen.wait("RUN ");
    Rounds::below(folder).more(&screen, 4);
    screen
}

fn assert_complete(folder: &Path) {
    let run = run_folder(folder);
    let samples = fs::read_to_string(run.join("samples.csv")).expect("samples");
    assert!(samples.lines().count() > 3, "{samples}");
}

#[test]
fn ctrl_c_quits_at_home() {
    let folder = folder();
    let mut screen = home(folder.path(), (80, 24), &[]);
    screen.keys(CTRL_C);
    assert_eq!(screen.ended(), 0);
    screen.assert_given_back();
    screen.assert_alone();
}

/// None of these files ends, or fits.
#[test]
fn files_that_cannot_be_read_are_listed_with_the_reason_and_nothing_waits_for_them() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink("/dev/zero", path("endless.yaml")).expect("a link");
    let pipe = std::ffi::CString::new(path("pipe.yml").display().to_string()).expect("a path");
    // SAFETY: the path is a string that ends with a zero byte.
    assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
    fs::File::create(path("vast.json")).and_then(|file| file.set_len(3 << 30)).expect("a sparse file");
    let mut screen = Screen::start(folder.path(), (160, 40), &[binary()]);
    screen.wait("Recipes");
    // The folder's recipes come while the screen is there already.
    for _ in 0..100 {
        if screen.text().contains("vast.json") {
            break;
        }
        screen.keys("G");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    for (keys, reason) in
        [("", "vast.json is 3.00 GiB long"), ("k", "pipe.yml is a pipe"), ("kk", "endless.yaml is a device")]
    {
        screen.keys(keys);
        screen.wait(reason);
    }
    let status = fs::read_to_string(format!("/proc/{}/status", screen.program())).expect("alive");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("its memory");
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
    assert!(peak < 200 << 10, "{peak} kB");
    screen.keys(CTRL_C);
    assert_eq!(screen.ended(), 0);
}

/// What a file or a generator would take is refused in one line in a process that may have half a gigabyte; the lab stays,
/// and gives the terminal back.
#[test]
fn what_takes_more_memory_than_there_is_leaves_the_lab_as_it_is() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let put = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("written");
    // Nearly a gigabyte of text from a megabyte.
    let bomb = |head: &str, line: &str| {
        let member = |text: &[u8]| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(text).and_then(|()| encoder.finish()).expect("compressed")
        };
        [member(head.as_bytes()), member(line.repeat((2 << 20) / line.len()).as_bytes()).repeat(450)].concat()
    };
    put("a.mtx.gz", &bomb("%%MatrixMarket matrix coordinate real general\n1 1 4000000000\n", "1 1 1\n"));
    put("b.el.gz", &bomb("", "0 1\n"));
    put("c.gr", b"p sp 1000000000 1\na 1 1000000000 1\n");
    for (name, work) in [
        ("zz-1", "spmv: {matrix: {file: a.mtx.gz}}"),
        ("zz-2", "sssp: {graph: {file: b.el.gz}}"),
        ("zz-3", "sssp: {graph: {file: c.gr}}"),
        ("zz-4", "spmv: {matrix: {rmat: {scale: 22, entries: 32}}}"),
    ] {
        let recipe = format!("{work}\nbackend: scalar\nchart: {{x: backend, y: time}}\n");
        put(&format!("{name}.yaml"), recipe.as_bytes());
    }
    let limited = format!("ulimit -v {}; exec '{}'", 512 << 10, binary());
    let mut screen = Screen::start(folder.path(), (160, 40), &["sh", "-c", &limited]);
    screen.wait("Recipes");
    // The folder's recipes come while the screen is there already.
    while !screen.text().contains("> zz-4") {
        screen.keys("G");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    screen.wait("n/a: needs ");
    for reason in ["c.gr:1:1: a graph", "b.el.gz: its first", "a.mtx.gz: its first"] {
        screen.keys("k");
        screen.wait(reason);
    }
    screen.keys("q");
    assert_eq!(screen.ended(), 0);
    screen.assert_given_back();
    screen.assert_alone();
}

#[test]
fn quitting_while_a_run_is_active_asks_and_then_cancels_it() {
    let folder = folder();
    let mut screen = running(folder.path(), &[]);
    screen.keys("q");
    screen.wait("A run is active");
    screen.keys(ESC);
    screen.until("the question is withdrawn", || !screen.text().contains("A run is active"));
    screen.keys(CTRL_C);
    screen.wait("A run is active");
    screen.keys(CTRL_C);
    assert_eq!(screen.ended(), 0);
    screen.assert_given_back();
    screen.assert_alone();
    assert_complete(folder.path());
}

/// Pseudo-random sizes, the same in every run.
fn sizes() -> impl Iterator<Item = (u16, u16)> {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state % 220) as u16 + 1, (state >> 32) as u16 % 70 + 1)
    })
}

#[test]
fn a_storm_of_resizes_while_running_leaves_a_whole_screen() {
    let folder = folder();
    let mut screen = running(folder.path(), &[]);
    for (columns, rows) in sizes().take(400).chain([(1, 1), (20, 1), (2, 90), (300, 2), (1, 1)]) {
        screen.resize(columns, rows);
    }
    Rounds::below(folder.path()).more(&screen, 4);
    // The whole storm may have passed between two frames. Then the last size drawn equals the first of these
    // sizes, and the program still has to notice that the screen's content is lost.
    for (columns, rows, text) in [(100, 30, " help"), (30, 1, " left"), (100, 30, " help")] {
        let before = screen.written();
        screen.resize(columns, rows);
        screen.until("it is drawn anew", || screen.place(before, "\x1b[2J").is_some());
        // Continuing redraws everything, even if the program was not stopped. Output from here on is for no
        // earlier size.
        signal(screen.program(), libc::SIGCONT);
        let mut taken = None;
        screen.until("it takes the terminal again", || {
            taken = screen.place(before, "\x1b[?1049h");
            taken.is_some()
        });
        screen.look_from(taken.expect("a place"), columns, rows);
        screen.wait(text);
    }
    screen.keys("qq");
    assert_eq!(screen.ended(), 0);
    screen.assert_given_back();
    screen.assert_alone();
}

/// Uses a shell with job control, as users have it.
#[test]
fn ctrl_z_gives_the_terminal_to_the_shell_and_fg_brings_everything_back() {
    let folder = folder();
    let mut screen = Screen::start(folder.path(), (100, 30), &["bash", "--norc", "--noprofile", "-i"]);
    screen.wait("$ ");
    // bash reads lines in a terminal mode of its own, so record the modes that a command sees.
    screen.keys(&format!("stty -a > before; '{binary}'\r", binary = binary()));
    let mut screen = started(opened(screen), folder.path());
    let (program, engine) = (screen.program(), screen.engine());
    screen.keys(CTRL_Z);
    screen.wait("Stopped");
    screen.until("it has stopped", || state(program) == Some('T'));
    assert!(
        screen.text().contains("scatterlab: suspended; the engine finishes its round"),
        "{}",
        screen.text()
    );
    assert_ne!(state(engine), Some('T'), "the engine goes on");
    screen.keys("stty -a > stopped; echo still'-'here\r");
    screen.wait("still-here");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect(name);
    assert_eq!(read("stopped"), read("before"), "the modes of the terminal");
    let mut rounds = Rounds::below(folder.path());
    screen.keys("fg\r");
    screen.wait("RUN ");
    screen.assert_taken();
    screen.until("nothing of the shell is left on the screen", || !screen.text().contains("still-here"));
    rounds.more(&screen, 4);
    assert_eq!(screen.engine(), engine, "the same engine");
    screen.keys("qq");
    screen.until("the shell is back", || {
        screen.text().contains("fg") && !screen.processes().iter().any(|(id, _)| *id == program)
    });
    screen.keys("exit\r");
    assert_eq!(screen.ended(), 0);
    screen.assert_given_back();
    screen.assert_alone();
    assert_complete(folder.path());
}

/// Another program stops and continues ours, without a key press.
#[test]
fn a_program_that_was_stopped_from_outside_draws_everything_again() {
    let folder = folder();
    let mut screen = running(folder.path(), &[]);
    let program = screen.program();
    signal(program, libc::SIGSTOP);
    screen.until("it has stopped", || state(program) == Some('T'));
    let before = screen.written();
    signal(program, libc::SIGCONT);
    screen.until("it takes the terminal again", || screen.place(before, "\x1b[?1049h").is_some());
    screen.wait("RUN ");
    screen.assert_taken();
    screen.keys("qq");
    assert_eq!(screen.ended(), 0);
    screen.assert_given_back();
}

#[test]
fn sigterm_and_sighup_end_the_run_and_give_the_terminal_back() {
    for end in [libc::SIGTERM, libc::SIGHUP] {
        let folder = folder();
        let mut screen = running(folder.path(), &[]);
        signal(screen.program(), end);
        assert_eq!(screen.ended(), 1);
        screen.assert_given_back();
        screen.wait("scatterlab: ended by a signal; the results so far are in reports/");
        screen.assert_alone();
        assert_complete(folder.path());
    }
}

/// SIGABRT is what a failed allocation ends in; nothing can be said or saved any more.
#[test]
fn sigabrt_and_sigquit_give_the_terminal_back() {
    for end in [libc::SIGABRT, libc::SIGQUIT] {
        let folder = folder();
        let mut screen = running(folder.path(), &[]);
        signal(screen.program(), end);
        assert_ne!(screen.ended(), 0);
        screen.assert_given_back();
        assert!(screen.place(0, "\x1b[?2004l").is_some(), "pasting is released");
        if end == libc::SIGABRT {
            screen.wait("scatterlab: aborted; the most frequent reason");
        }
        screen.assert_alone();
    }
}

/// Involves every part: keys, the run's thread, the engine's process, and the file.
#[test]
fn a_run_is_held_and_a_case_skipped_between_two_samples() {
    let folder = folder();
    let mut screen = running(folder.path(), &[]);
    screen.keys(" ");
    screen.wait("PAUSED ");
    let events = || fs::read_to_string(run_folder(folder.path()).join("events.ndjson")).expect("events");
    let held = events();
    assert!(held.lines().last().is_some_and(|line| line.contains("\"paused\"")), "nothing follows");
    // The last case has not been measured yet.
    screen.keys("Gs");
    screen.wait("n/a: skipped");
    screen.keys(" ");
    screen.wait("RUN ");
    Rounds::below(folder.path()).more(&screen, 2);
    let all = events();
    let said: Vec<&str> = ["\"skipped\"", "\"continued\"", "\"round\""]
        .into_iter()
        .filter(|word| all[held.len()..].contains(&format!("\"event\":{word}")))
        .collect();
    assert_eq!(said.len(), 3, "{said:?}");
    screen.keys("qq");
    assert_eq!(screen.ended(), 0);
    screen.wait(" is not complete; to resume it:");
    screen.wait("scatterlab run --resume reports/");
    let results = fs::read_to_string(run_folder(folder.path()).join("results.csv")).expect("results");
    assert!(results.contains(",n/a,skipped,"), "{results}");
    screen.assert_alone();
}

/// The engine is killed, and again after a fresh one has started.
#[test]
fn a_killed_engine_is_a_banner_and_r_goes_on() {
    let folder = folder();
    let mut screen = running(folder.path(), &[]);
    let first = screen.engine();
    signal(first, libc::SIGKILL);
    screen.wait("Engine died");
    screen.wait("killed by signal 9");
    screen.keys("r");
    screen.until("a fresh engine", || {
        screen.processes().iter().any(|(id, c)| c.ends_with(" engine") && *id != first)
    });
    Rounds::below(folder.path()).more(&screen, 1);
    signal(screen.engine(), libc::SIGKILL);
    screen.wait("Engine died");
    screen.keys("xx");
    screen.wait("CANCELLED");
    screen.keys("q");
    assert_eq!(screen.ended(), 0);
    screen.assert_given_back();
    screen.assert_alone();
}

/// A hung engine reacts to nothing: quitting waits for it and then kills it.
#[test]
fn a_hung_engine_does_not_outlive_the_program() {
    let folder = folder();
    let mut screen = running(folder.path(), &[]);
    signal(screen.engine(), libc::SIGSTOP);
    screen.keys("q");
    screen.wait("A run is active");
    screen.keys("q");
    screen.wait("Waiting for the run to end");
    screen.keys("q");
    assert_eq!(screen.ended(), 0);
    screen.assert_given_back();
    screen.assert_alone();
    assert_complete(folder.path());
}

/// The terminal's other end closes, as when its window is closed.
#[test]
fn a_terminal_that_goes_away_takes_the_engine_with_it() {
    let folder = folder();
    let mut screen = running(folder.path(), &[]);
    screen.close("j");
    assert_eq!(screen.ended(), 1);
    screen.assert_alone();
    assert_complete(folder.path());
}

#[test]
fn ten_thousand_lines_of_noise_do_not_stop_the_screen() {
    let folder = folder();
    let noise = "(i=0; while [ $i -lt 9999 ]; do i=$((i+1)); echo noise number $i; done; \
                 while [ ! -e stopped ]; do sleep 0.1; done; echo noise number 10000) >&2 &";
    fs::write(folder.path().join("noisy"), format!("{noise}\nexec '{binary}' engine\n", binary = binary()))
        .expect("script");
    let mut screen = running(folder.path(), &["--engine", "sh noisy"]);
    screen.wait("engine: sh · ");
    // Stop the engine, so that no later line, such as one about noise, displaces the last one.
    let engine = screen.engine();
    signal(engine, libc::SIGSTOP);
    fs::write(folder.path().join("stopped"), "").expect("written");
    // Go to the log, and to its end.
    screen.keys("\t\t\tG");
    screen.wait("noise number 10000");
    screen.keys("g");
    screen.until("its beginning", || !screen.text().contains("noise number 10000"));
    signal(engine, libc::SIGCONT);
    screen.keys("qq");
    assert_eq!(screen.ended(), 0);
    screen.assert_given_back();
    screen.assert_alone();
    assert_complete(folder.path());
}

#[test]
fn the_mouse_selects_and_runs() {
    let folder = folder();
    let mut screen = home(folder.path(), (100, 30), &[]);
    let at = |screen: &Screen, word: &str| {
        let text = screen.text();
        let (row, line) = text.lines().enumerate().filter(|(_, l)| l.contains(word)).last().expect("shown");
        (line.split(word).next().expect("before").chars().count() + 1, row + 1)
    };
    let click = |screen: &mut Screen, word: &str| {
        let (column, row) = at(screen, word);
        screen.keys(&format!("\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m"));
    };
    click(&mut screen, "gpu-tuning");
    // The keys below move when the recipe has been read.
    screen.wait("nothing can run here");
    click(&mut screen, "help");
    screen.wait("╭ Help ");
    screen.keys("\x1b[<65;10;10M");
    screen.keys(ESC);
    screen.until("the help is closed", || !screen.text().contains("╭ Help "));
    screen.keys("q");
    assert_eq!(screen.ended(), 0);
    screen.assert_given_back();
}

#[test]
fn a_configuration_changes_keys_and_leaves_the_mouse_alone() {
    let folder = folder();
    fs::create_dir(folder.path().join("scatterlab")).expect("folder");
    let file = folder.path().join("scatterlab/config.yaml");
    fs::write(&file, "mouse: false\nsymbols: ascii\nkeys: {quit: Q, last: Z}\n").expect("written");
    let mut screen = Screen::start(folder.path(), (80, 24), &[binary()]);
    screen.wait("Q quit");
    screen.keys("Z");
    screen.wait("long.yaml");
    assert!(screen.place(0, "\x1b[?1000h").is_none(), "the mouse is left to the terminal");
    assert!(screen.text().is_ascii(), "{}", screen.text());
    screen.keys("qQ");
    assert_eq!(screen.ended(), 0);
    screen.assert_given_back();
    fs::write(&file, "keys: {quit: j}\n").expect("written");
    let mut screen = Screen::start(folder.path(), (80, 24), &[binary()]);
    assert_eq!(screen.ended(), 1);
    screen.wait("config.yaml:1:8: keys.quit: `j` is already down in Recipes");
    assert!(screen.place(0, "\x1b[?1049h").is_none(), "the screen is not even opened");
}

#[test]
fn a_terminal_without_a_cursor_is_told_what_to_do_instead() {
    let folder = folder();
    let screen = Screen::start(folder.path(), (100, 30), &["env", "TERM=dumb", binary()]);
    screen.wait("scatterlab run quickstart");
}

#[test]
fn pasted_text_is_no_key() {
    let folder = folder();
    let mut screen = home(folder.path(), (100, 30), &[]);
    assert!(screen.place(0, "\x1b[?2004h").is_some(), "the terminal is asked to bracket what is pasted");
    screen.keys("\x1b[200~q\rq\x1b[201~");
    screen.wait("text can be pasted only");
    screen.keys("/");
    screen.keys("\x1b[200~long\x1b[201~");
    screen.wait("/ long");
    // Escape and a letter at once would be one key with Alt.
    screen.keys(CTRL_C);
    assert_eq!(screen.ended(), 0);
    assert!(screen.place(0, "\x1b[?2004l").is_some(), "and no longer, afterwards");
}
