//! The meaning of options, and their precedence.

use scatterlab::primitives::pattern::spec::Kernel;
use scatterlab::recipe;
use scatterlab::recipe::plan::{self, Overrides};
use scatterlab::spatter::pattern::Delta;
use scatterlab::spatter::settings::{Backend, Format, OmpThreads};
use scatterlab::spatter::{Job, to_recipe};

use super::{MACHINE, config, job, job_with, line, refusal, suite};

/// The examples of Spatter's README and of lavin2020 §3.3, and edge cases of the generators.
#[test]
fn generators_give_the_documented_patterns() {
    let of = |pattern: &str| config(&format!("-p {pattern}")).pattern;
    assert_eq!(of("UNIFORM:8:4"), [0, 4, 8, 12, 16, 20, 24, 28]);
    assert_eq!(of("UNIFORM:4:1:NR"), [0, 1, 2, 3]);
    assert_eq!(of("MS1:8:4:32"), [0, 1, 2, 3, 35, 36, 37, 38]);
    assert_eq!(of("MS1:8:2,3:20"), [0, 1, 21, 41, 42, 43, 44, 45]);
    assert_eq!(of("MS1:8:2,3:20,22"), [0, 1, 21, 43, 44, 45, 46, 47]);
    assert_eq!(of("MS1:8:0:32"), [31, 32, 33, 34, 35, 36, 37, 38]);
    assert_eq!(of("LAPLACIAN:1:1:100"), [0, 1, 2]);
    assert_eq!(of("LAPLACIAN:2:1:100"), [0, 99, 100, 101, 200]);
    assert_eq!(of("LAPLACIAN:2:2:100"), [0, 100, 198, 199, 200, 201, 202, 300, 400]);
    assert_eq!(of("LAPLACIAN:3:1:100"), [0, 9900, 9999, 10000, 10001, 10100, 20000]);
    assert_eq!(of("LAPLACIAN:2:3:2"), [0, 2, 4, 3, 4, 5, 6, 7, 8, 9, 8, 10, 12]);
    assert_eq!(of("1,2,4,8,16,32"), [1, 2, 4, 8, 16, 32]);
    assert_eq!(of("4,4,4,4,4"), [4, 4, 4, 4, 4]);
}

#[test]
fn every_option_of_a_configuration_acts() {
    let c = config("-p 0,8 -k Scatter -d 3 -l 7 -w 2 -r 4 -n my -s9");
    assert_eq!((c.kernel, c.delta, c.count, c.wrap, c.runs), (Kernel::Scatter, Delta::One(3), 7, 2, 4));
    assert_eq!((c.name.as_str(), c.seed), ("my", Some(9)));
    let c = config("-p 0");
    assert_eq!((c.kernel, c.delta, c.count, c.wrap, c.runs), (Kernel::Gather, Delta::One(8), 1024, 1, 10));
    assert_eq!((c.delta_gather, c.delta_scatter, c.name.as_str(), c.seed), (8, 8, "", None));
    let c = config("-k GS -g 0,1 -u 1,0 -x 2 -y 5");
    assert_eq!((c.kernel, c.delta_gather, c.delta_scatter), (Kernel::Gs, 2, 5));
    assert_eq!((c.pattern_gather, c.pattern_scatter), (vec![0, 1], vec![1, 0]));
    assert_eq!(config("-k multigather -p 0,8,16 -g 2,0").length(), 2);
    assert_eq!(config("-k multiscatter -p 0,8,16 -u 2,0,1,1").length(), 4);
    assert_eq!(config("-p 0 -d 0").delta, Delta::One(0));
    assert_eq!(config("-p 0 -d 8,8,16").delta, Delta::List(vec![8, 8, 16]));
    assert_eq!(config("-p 0 -s").seed, Some(MACHINE.now));
}

#[test]
fn every_option_of_a_run_acts() {
    let of = |words: &str| job(&format!("-p 0 {words}")).settings;
    let backend = |words: &str| of(words).backend;
    assert_eq!(backend(""), Backend::OpenMp { threads: None });
    assert_eq!(backend("-b SERIAL"), Backend::Serial);
    assert_eq!(backend("-b openmp -t 2"), Backend::OpenMp { threads: Some(2) });
    assert_eq!(backend("-b cuda"), Backend::Cuda { device: 0 });
    assert_eq!(backend("-b cuda --device 3"), Backend::Cuda { device: 3 });
    assert_eq!(backend("-b cuda --device ALL"), Backend::AllCuda);
    assert_eq!((of("").verbosity, of("-v 3").verbosity, of("-v0").verbosity), (1, 3, 0));
    assert!(of("-a").aggregate && !of("").aggregate);
    assert!(of("--atomic-writes").atomic && !of("--atomic-writes=0").atomic && !of("").atomic);
    assert!(of("--atomic-thread-fence").fence && of("--cold-cache").cold && of("--stats").stats);
    assert!(!of("--no-verify").certify && of("").certify);
    assert!(of("--order random").random && !of("--order sequential").random);
    assert_eq!(
        [of("--format csv").format, of("--format JSON").format, of("").format],
        [Format::Csv, Format::Json, Format::Table]
    );
}

#[test]
fn a_gpu_is_used_where_there_is_one() {
    let with = |gpu, words: &str| {
        let line = line(words).expect("words");
        let machine = scatterlab::spatter::Machine { gpu, ..MACHINE };
        scatterlab::spatter::Job::of(&line, None, &machine).expect("a job").settings.backend
    };
    assert_eq!(with(true, "-p 0"), Backend::Cuda { device: 0 });
    assert_eq!(with(true, "-p 0 -b openmp"), Backend::OpenMp { threads: None });
    assert_eq!(with(false, "-p 0"), Backend::OpenMp { threads: None });
}

#[test]
fn threads_are_as_many_as_there_may_be() {
    let with = |omp_threads, words: &str| {
        let machine = scatterlab::spatter::Machine { omp_threads, ..MACHINE };
        let job = scatterlab::spatter::Job::of(&line(words).expect("words"), None, &machine).expect("a job");
        (job.settings.backend.threads(&machine), job.notes.iter().any(|note| note.starts_with("-t")))
    };
    assert_eq!(with(OmpThreads::Unset, "-p 0"), (4, false));
    assert_eq!(with(OmpThreads::Unset, "-p 0 -t 3"), (3, false));
    assert_eq!(with(OmpThreads::Unset, "-p 0 -t 5"), (4, true));
    assert_eq!(with(OmpThreads::Set(2), "-p 0"), (2, false));
    assert_eq!(with(OmpThreads::Set(2), "-p 0 -t 3"), (2, true));
    assert_eq!(with(OmpThreads::Set(64), "-p 0 -t 3"), (3, false));
    assert_eq!(with(OmpThreads::Unset, "-p 0 -b serial -t 2"), (1, true));
}

/// As OpenMP's library does it: a value that it cannot use has no effect, and is said.
#[test]
fn a_number_of_threads_that_cannot_be_used_is_ignored_with_a_word() {
    let with = |variable: &str, words: &str| {
        let omp_threads = OmpThreads::of(variable.as_ref());
        let machine = scatterlab::spatter::Machine { omp_threads, ..MACHINE };
        let job = Job::of(&line(words).expect("words"), None, &machine).expect("a job");
        let said = job.notes.into_iter().find(|note| note.starts_with("OMP_NUM_THREADS="));
        (job.settings.backend.threads(&machine), said)
    };
    for variable in ["0", "abc", "-1", "", "4,x", "4,0", "2.0", "99999999999999999999", "0x2", "2\u{1b}[2J"] {
        let (threads, said) = with(variable, "-b openmp -p 0");
        let said = said.unwrap_or_else(|| panic!("{variable} is dropped without a word"));
        assert!(threads == 4 && said.ends_with("; using 4") && !said.contains('\u{1b}'), "{said}");
    }
    let said = "OMP_NUM_THREADS=abc is ignored: it is no number of threads from 1 on; using 3";
    assert_eq!(with("abc", "-b openmp -p 0 -t 3"), (3, Some(said.to_owned())));
    for (variable, threads) in [("2", 2), (" 1 ", 1), ("3,2", 3), ("2, 8", 2)] {
        assert_eq!(with(variable, "-b openmp -p 0"), (threads, None), "{variable}");
    }
    assert_eq!(with("abc", "-b serial -p 0").1, None, "one thread, whatever the variable says");
}

/// A run's recipe has the requested number of rounds. A suite converted to a recipe has as many as judging it
/// takes, and no remark that would apply to every suite.
#[test]
fn rounds_are_one_or_as_many_as_are_asked_for() {
    let recipe = |words: &str| scatterlab::spatter::to_recipe(&job(&format!("-b openmp -p 0 {words}")));
    assert!(recipe("").contains("{rounds: 1, samples: 10, warm-up: 10, "));
    let several = recipe("--rounds 4 -r 7");
    assert!(several.contains("{rounds: 4, samples: 7, warm-up: 10, "), "{several}");
    assert!(several.contains("second-look: never"), "{several}");
    assert_eq!(job("-p 0 --rounds 1000").settings.rounds, 1000);
    assert_eq!(
        refusal("-p 0 --rounds 1001"),
        (255, "--rounds: 1001 is out of range; accepted: 1 to 1000".into())
    );
    assert_eq!(refusal("-p 0 --rounds 0").0, 255);
    let suite = scatterlab::spatter::recipe::of_suite("s.json", r#"[{"pattern": [0], "nruns": 7}]"#)
        .expect("a suite");
    assert!(suite.contains("{rounds: 3, samples: 7, warm-up: 10, ci: none, order: sequential}"), "{suite}");
    assert!(suite.contains("\ntitle: s\n"), "{suite}");
    let cut = scatterlab::spatter::recipe::of_suite("s.json", r#"[{"pattern": [0], "nruns": 7.5}]"#)
        .expect("a suite");
    assert!(cut.starts_with("# s.json:1:28: nruns: `7.5` is cut to 7"), "{cut}");
}

#[test]
fn all_gpus_run_each_configuration() {
    let recipe = scatterlab::spatter::to_recipe(&job("-b cuda --device all -p 0 --atomic-writes -k scatter"));
    assert!(recipe.contains("backend: {cuda: {gpus: all}}") && recipe.contains("method: atomic"), "{recipe}");
    let notes = job("-b cuda --device all -p 0").notes;
    assert!(notes.iter().any(|note| note.starts_with("gathers store what they read")), "{notes:?}");
}

/// On the command line the last one wins, in JSON the generator.
#[test]
fn deltas_have_their_precedence() {
    let of = |words: &str| config(words).delta;
    assert_eq!(of("-d 3 -p UNIFORM:4:2:NR"), Delta::One(8));
    assert_eq!(of("-p UNIFORM:4:2:NR -d 3"), Delta::One(3));
    assert_eq!(of("-d 3 -p UNIFORM:4:2:5"), Delta::One(5));
    assert_eq!(of("-d 3 -p UNIFORM:4:2"), Delta::One(3), "no third field, no delta");
    assert_eq!(of("-d 3 -p LAPLACIAN:1:1:9"), Delta::One(1));
    assert_eq!(of("-p LAPLACIAN:1:1:9 -d 3"), Delta::One(3));
    assert_eq!(of("-d 3 -d 4 -p 0"), Delta::One(4));
    let sides = |words: &str| {
        let c = config(words);
        (c.delta_gather, c.delta_scatter)
    };
    assert_eq!(sides("-k gs -x 3 -g UNIFORM:4:2:NR -u UNIFORM:4:2:NR -y 3"), (8, 3));
    let of = |entries: &str| suite(&format!("[{{{entries}}}]")).remove(0).delta;
    assert_eq!(of(r#""pattern": "UNIFORM:4:2:NR", "delta": 3"#), Delta::One(8));
    assert_eq!(of(r#""delta": 3, "pattern": "UNIFORM:4:2:NR""#), Delta::One(8));
    assert_eq!(of(r#""pattern": "LAPLACIAN:1:1:9", "delta": 3"#), Delta::One(1));
    assert_eq!(of(r#""pattern": "UNIFORM:4:2", "delta": 3"#), Delta::One(3));
    assert_eq!(of(r#""pattern": [0, 2], "delta": [3, 5]"#), Delta::List(vec![3, 5]));
    assert_eq!(of(r#""pattern": [0, 2]"#), Delta::One(8));
}

/// Truncated, then reduced modulo the boundary, then compressed; each pattern by itself.
#[test]
fn patterns_are_treated_in_spatters_order() {
    let of = |words: &str| config(words).pattern;
    assert_eq!(of("-p 10,2000,7,9999 -j 3"), [10, 2000, 7]);
    assert_eq!(of("-p 10,2000,7,9999 -e 1999"), [10, 1, 7, 4]);
    assert_eq!(of("-p 10,2000,7,9999 -e 0"), [10, 2000, 7, 9999]);
    assert_eq!(of("-p 10,2000,7,9999 -c"), [10, 976, 7, 1295]);
    assert_eq!(of("-c -j 3 -e 1999 -p 10,2000,7,9999"), [10, 1, 7]);
    let c = config("-k gs -g 5000,1 -u 9000,8999 -c");
    assert_eq!((c.pattern_gather, c.pattern_scatter), (vec![392, 513], vec![296, 295]));
    assert_eq!(
        suite(r#"[{"pattern": "UNIFORM:8:3", "pattern-size": 4, "boundary": 5}]"#)[0].pattern,
        [0, 3, 1, 4]
    );
    // Indices as large as Spatter's own boundary stay.
    assert_eq!(of("-p 5000000000"), [5_000_000_000]);
}

/// 8 bytes per index and use: of both sides for gs, of the inner pattern for the multi kernels.
#[test]
fn bytes_are_spatters() {
    let of = |words: &str| config(words).bytes();
    assert_eq!(of("-p UNIFORM:8:1 -l 100"), 6_400);
    assert_eq!(of("-k scatter -p 0,1,2 -l 1 -w 9"), 24);
    assert_eq!(of("-k gs -g 0,1 -u 1,0 -l 10"), 320);
    assert_eq!(of("-k multigather -p UNIFORM:8:1 -g 0,1,2 -l 10"), 240);
    assert_eq!(of("-k multiscatter -p UNIFORM:8:1 -u 0,1,2,3,4 -l 10"), 400);
}

/// A file supplies the keys of the command line's options, numbers lose their fractional part, kernels may be
/// in any case, and the command line cannot change a configuration.
#[test]
fn configurations_come_from_the_file_alone() {
    let text = r#"[{"kernel": "MultiScatter", "pattern": "0,8,16", "pattern-scatter": [2, 0], "count": 10.9, "nruns": 3,
        "wrap": 2.0, "name": "x", "seed": 4, "boundary": 0, "local-work-size": 32}, {"pattern": [5]}]"#;
    let job = job_with("-f suite.json -l 999 -r 3 -p 0 -c -b serial", Some(text)).expect("a job");
    let c = &job.configs[0];
    assert_eq!((c.id, c.kernel, c.count, c.runs, c.wrap), (0, Kernel::Multiscatter, 10, 3, 2));
    assert_eq!((c.name.as_str(), c.seed, c.pattern_scatter.as_slice()), ("x", Some(4), &[2, 0][..]));
    let c = &job.configs[1];
    assert_eq!(
        (c.id, c.kernel, c.count, c.runs, c.pattern.as_slice()),
        (1, Kernel::Gather, 1024, 10, &[5][..])
    );
    assert_eq!(
        job.notes,
        [
            "suite.json:1:86: count: `10.9` is cut to 10, as Spatter does",
            "-l, -r, -p: ignored, because with -f configurations come from the file alone",
            "configuration 0: local-work-size does nothing: blocks of threads have the size that suits the kernel",
        ]
    );
}

/// Any accepted option without effect, or with another effect than in Spatter, is reported once.
#[test]
fn what_does_nothing_is_said() {
    let notes = |words: &str| job(words).notes;
    let serial = |words: &str| notes(&format!("-b serial -p 0,1 {words}"));
    assert_eq!(serial(""), [""; 0]);
    assert_eq!(serial("-m 1"), ["-m does nothing: no kernel uses shared memory"]);
    assert_eq!(serial("-o 1"), ["-o does nothing: there is only one operation"]);
    assert_eq!(serial("-z 1"), ["-z does nothing: blocks of threads have the size that suits the kernel"]);
    assert_eq!(
        serial("--dense-buffers"),
        ["--dense-buffers does nothing: every thread already has a dense buffer of its own"]
    );
    assert_eq!(serial("--atomic-writes"), ["--atomic-writes does nothing: it is for the backend cuda"]);
    assert_eq!(
        serial("--atomic-thread-fence"),
        ["--atomic-thread-fence does nothing: it is for the backend openmp"]
    );
    assert_eq!(
        serial("-s 5"),
        ["`5` belongs to no option and is ignored; a seed is attached: -s5, --random=5"]
    );
    assert_eq!(
        serial("foo -- -l"),
        ["`foo` belongs to no option and is ignored", "`-l` belongs to no option and is ignored"]
    );
    assert_eq!(
        serial("--stats --format csv"),
        ["--stats does nothing with --format: only a table has statistics below it"]
    );
    assert_eq!(serial("--stats"), [""; 0]);
    let twice = job_with("-b serial -f a.json -f b.json", Some(r#"[{"pattern": [0]}]"#)).expect("a job");
    assert_eq!(twice.notes, ["-f is given 2 times; b.json counts"]);
    assert_eq!(serial("-x 1"), ["delta-gather does nothing with gather"]);
    assert_eq!(serial("-g 0"), ["pattern-gather does nothing with gather"]);
    assert_eq!(
        notes("-b serial -k gs -g 0 -u 0 -p 0 -d 1 -w 2"),
        ["delta does nothing with gs", "pattern does nothing with gs", "wrap does nothing with gs"]
    );
    assert_eq!(
        notes("-b openmp -p 0"),
        ["every thread has a dense buffer of its own; Spatter's threads share one"]
    );
    assert_eq!(notes("-b openmp -p 0 -t 1"), [""; 0]);
    assert_eq!(notes("-b cuda -p 0"), ["gathers store what they read; Spatter's on GPUs do not"]);
    assert_eq!(notes("-b cuda -k scatter -p 0"), [""; 0]);
}

/// Spatter reduces large indices modulo a boundary that depends on the number of configurations. We keep them,
/// and report that.
#[test]
fn no_boundary_comes_by_itself() {
    let notes = |words: &str| job(words).notes;
    assert_eq!(notes("-b serial -p 4062499998"), [""; 0]);
    assert_eq!(
        notes("-b serial -p 4062499999"),
        ["index 4062499999 stays as it is; Spatter would take it modulo 4062499999"]
    );
    assert_eq!(notes("-b serial -p 5000000000 -e 4999999999"), [""; 0]);
    // Compression comes later; Spatter checks the index itself.
    assert_eq!(notes("-b serial -p 4062499999 -c"), notes("-b serial -p 4062499999"));
    let text = r#"[{"pattern": [5000000000]}, {"pattern": [0]}]"#;
    let job = job_with("-b serial -f suite.json", Some(text)).expect("a job");
    assert_eq!(job.configs[0].pattern, [5_000_000_000]);
    assert_eq!(
        job.notes,
        ["configuration 0: index 5000000000 stays as it is; Spatter would take it modulo 2031249999"]
    );
}

/// A delta that moves nothing may have any value, also in the recipe.
#[test]
fn deltas_that_are_not_used_do_no_harm() {
    let runs = |job: &Job| {
        let recipe = recipe::parse("recipe", &to_recipe(job)).expect("a recipe");
        plan::resolve(&recipe, &Overrides::default()).expect("a plan").cases.len() == job.configs.len()
    };
    for words in [
        "-p 0,1 -l 1 -d 99999999999999",
        "-k gs -g 0 -u 0 -l 1 -x 99999999999999 -y 99999999999999",
        "-k gs -g 0 -u 0 -d 1,99999999999999",
        "-p 0 -l 2 -d 1,99999999999999",
    ] {
        assert!(runs(&job(words)), "{words}");
    }
    let long = |count| {
        let deltas = vec!["1"; 65_537].join(",");
        let text = format!(r#"[{{"pattern": [0], "delta": [{deltas}], "count": {count}}}]"#);
        job_with("-b serial -f suite.json", Some(&text))
    };
    assert!(runs(&long(65_537).expect("the last delta is not used")));
    let refused = long(65_538).expect_err("too long");
    assert_eq!(
        refused.message,
        "suite.json:1:2: a list of 65537 deltas is too long; accepted: at most 65536"
    );
}

/// Spatter would run more threads than there are CPUs; here each has one of its own.
#[test]
fn more_threads_than_cpus_are_not_started() {
    let of = |words: &str| {
        let machine = scatterlab::spatter::Machine { omp_threads: OmpThreads::Set(64), ..MACHINE };
        let job = Job::of(&line(words).expect("words"), None, &machine).expect("a job");
        (job.settings.backend, job.notes)
    };
    let said = "OMP_NUM_THREADS: 64 threads are more than the CPUs, which have one thread each here; using 4";
    for words in ["-k gs -g 0 -u 0", "-k gs -g 0 -u 0 -t 5"] {
        assert_eq!(of(words), (Backend::OpenMp { threads: Some(4) }, vec![said.to_owned()]), "{words}");
    }
}

/// A key that does not exist is ignored as by Spatter, and said, with the one that may be meant.
#[test]
fn keys_that_do_not_exist_are_said_once() {
    let text = r#"[{"pattern": [0], "runs": 3}, {"pattern": [1], "omp-threads": 2, "runs": 4},
        {"pattern": [2], "lenght": 3}]"#;
    let job = job_with("-b serial -f suite.json", Some(text)).expect("a job");
    assert_eq!(job.configs.iter().map(|c| (c.runs, c.count)).collect::<Vec<_>>(), [(10, 1024); 3]);
    assert_eq!(
        job.notes,
        [
            "suite.json:2:26: unknown key `lenght` is ignored, as by Spatter",
            "suite.json:1:48: unknown key `omp-threads` is ignored, as by Spatter (--omp-threads is for the command line)",
            "suite.json:1:19: unknown key `runs` is ignored, as by Spatter (did you mean `nruns`?); it occurs 2 times",
        ]
    );
}

#[test]
fn breaks_that_do_not_ascend_are_dropped_and_said() {
    let job = job("-b serial -p MS1:16:3,3:18");
    let expected: Vec<u64> = (0..16).map(|i| if i < 3 { i } else { i + 17 }).collect();
    assert_eq!(job.configs[0].pattern, expected);
    assert_eq!(job.notes, ["breaks of MS1 that do not ascend have no effect, as in Spatter: 1 of them"]);
}

#[test]
fn a_pattern_may_have_thousands_of_indices() {
    let indices: Vec<String> = (0..8000).map(|i| (i * 3 % 8000).to_string()).collect();
    let long = config(&format!("-p {}", indices.join(",")));
    assert_eq!((long.pattern.len(), long.pattern[7999]), (8000, 7999 * 3 % 8000));
}
