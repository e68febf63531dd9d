//! `spatter` as the ranks of an MPI job: its output is right, and it never hangs.

mod others {
    use std::fs;

    use scatterlab_tests::program::{program, text};

    /// Commands that measure, write or look at the machine.
    const COMMANDS: [&[&str]; 7] = [
        &["run", "r.yaml", "--out", "out"],
        &["calibrate", "--quick"],
        &["replay", "r.yaml"],
        &["verify", "--backend", "scalar"],
        &["report", "out"],
        &["devices"],
        &["doctor"],
    ];
    const LAUNCHERS: [(&str, &str); 4] = [
        ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
        ("PMI_SIZE", "PMI_RANK"),
        ("MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"),
        ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
    ];

    #[test]
    fn no_other_command_runs_as_copies_side_by_side() {
        let folder = tempfile::tempdir().expect("a folder");
        let recipe = "gather: {tuples: 1Ki}\nbackend: scalar\nmeasure: {rounds: 3}\nchart: {x: tuple}\n";
        fs::write(folder.path().join("r.yaml"), recipe).expect("recipe");
        let as_rank = |command: &[&str], (size, rank): (&str, &str), number: &str| {
            let mut run = program(folder.path());
            let output = run.args(command).env(size, "2").env(rank, number).output().expect("starts");
            (output.status.code(), text(&output.stdout), text(&output.stderr))
        };
        for (at, command) in COMMANDS.into_iter().enumerate() {
            let launcher = LAUNCHERS[at % LAUNCHERS.len()];
            let (status, printed, said) = as_rank(command, launcher, "0");
            assert_eq!(
                (status, printed.as_str(), said.lines().count()),
                (Some(1), "", 1),
                "{command:?}: {said}"
            );
            assert!(
                said.starts_with("scatterlab: started as 2 ranks (") && said.contains(launcher.0),
                "{said}"
            );
            assert!(said.contains("only `scatterlab spatter` runs as ranks"), "{said}");
        }
        for launcher in LAUNCHERS {
            let (status, printed, said) = as_rank(COMMANDS[0], launcher, "1");
            assert_eq!((status, printed + &said), (Some(1), String::new()), "rank 0 speaks for all");
        }
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing was written");
        let (size, rank) = LAUNCHERS[0];
        let alone = program(folder.path()).args(["devices"]).env(size, "1").env(rank, "0").output();
        assert!(alone.expect("starts").status.success(), "a single rank disturbs nobody");
    }
}

#[cfg(not(feature = "mpi"))]
mod without {
    use std::time::Instant;

    use scatterlab_tests::program::{program, text};

    fn started_as(rank: &str) -> (Option<i32>, String, String) {
        let folder = tempfile::tempdir().expect("a folder");
        let output = program(folder.path())
            .args(["spatter", "-p", "UNIFORM:8:1", "-b", "serial"])
            .env("OMPI_COMM_WORLD_SIZE", "4")
            .env("OMPI_COMM_WORLD_RANK", rank)
            .output()
            .expect("starts");
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    #[test]
    fn copies_do_not_run_side_by_side() {
        let (status, printed, said) = started_as("0");
        assert_eq!((status, printed.as_str()), (Some(1), ""));
        assert!(said.contains("4 ranks") && said.contains("--features mpi"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }

    #[test]
    fn rank_0_speaks_for_all() {
        let began = Instant::now();
        assert_eq!(started_as("3"), (Some(1), String::new(), String::new()));
        assert!(began.elapsed().as_secs_f64() > 0.5, "rank 0 would be killed before it has spoken");
    }
}

#[cfg(feature = "mpi")]
mod with {
    use std::collections::BTreeMap;
    use std::fs;
    use std::io::{BufRead, BufReader};
    use std::path::Path;
    use std::process::{Child, Command, Output, Stdio};
    use std::thread;
    use std::time::{Duration, Instant};

    use scatterlab::device::cpu::affinity;

    use scatterlab_tests::program::{binary, signal, text};

    /// Bytes of one rank: 8·1000·8, 4·500·8, and (3 + 3)·200·8.
    const SUITE: &str = r#"[
        {"name": "first", "pattern": "UNIFORM:8:1:NR", "count": 1000, "nruns": 4},
        {"kernel": "Scatter", "pattern": [0, 3, 6, 9], "delta": 12, "count": 500},
        {"kernel": "GS", "pattern-gather": [0, 2, 4], "pattern-scatter": [1, 0, 2], "count": 200}
    ]"#;
    const BYTES: [u64; 3] = [64_000, 16_000, 9_600];

    /// One of many configurations that together take longer than any test.
    const LONG: &str = r#"{"pattern": "UNIFORM:8:1:NR", "count": 1000000, "nruns": 1000}"#;

    /// Time limit for a job to end after it has lost a rank.
    const SOON: Duration = Duration::from_secs(5);

    /// Whether a launcher is installed; in CI, where tests may not be skipped, there must be one.
    fn launcher() -> bool {
        let there = Command::new("mpirun").arg("--version").output().is_ok();
        assert!(there || std::env::var_os("CI").is_none(), "no mpirun");
        if !there {
            println!("skipped: no mpirun");
        }
        there
    }

    /// Allows more ranks than CPUs, runs as root if necessary, and hides the GPU: the result of a test must not
    /// depend on the machine.
    fn mpirun(folder: &Path) -> Command {
        let mut command = Command::new("mpirun");
        command
            .current_dir(folder)
            .env("SCATTERLAB_LIBCUDA", "/nonexistent/libcuda.so.1")
            .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        command
    }

    fn spatter(folder: &Path, ranks: &str, suite: &str, arguments: &[&str]) -> Output {
        fs::write(folder.join("suite.json"), suite).expect("a suite");
        let mut command = mpirun(folder);
        command.args(["-n", ranks, binary(), "spatter", "-f", "suite.json"]).args(arguments);
        command.output().expect("mpirun starts")
    }

    /// The table's rows, with cells keyed by the header's columns.
    fn table(printed: &str) -> Vec<BTreeMap<String, String>> {
        let mut lines = printed.lines().skip_while(|line| !line.starts_with("config"));
        let header = lines.next().expect("a header");
        let mut starts = vec![0];
        starts.extend((15..header.len()).step_by(30));
        let cells = |line: &str| -> Vec<String> {
            let end = |at: usize| starts.get(at + 1).copied().unwrap_or(line.len());
            (0..starts.len()).map(|at| line[starts[at]..end(at)].trim().to_owned()).collect()
        };
        let names = cells(header);
        lines.map(|line| names.iter().cloned().zip(cells(line)).collect()).collect()
    }

    #[test]
    fn the_table_sums_over_the_ranks() {
        if !launcher() {
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        for ranks in [2, 4] {
            let output = spatter(folder.path(), &ranks.to_string(), SUITE, &["-b", "serial", "-v0"]);
            let (printed, said) = (text(&output.stdout), text(&output.stderr));
            assert!(output.status.success(), "{printed}{said}");
            assert!(printed.starts_with("config "), "nothing else is printed: {printed}");
            let rows = table(&printed);
            assert_eq!(rows.len(), BYTES.len(), "one row a configuration: {printed}");
            for (row, bytes) in rows.iter().zip(BYTES) {
                let number = |name: &str| row[name].parse::<f64>().expect("a number");
                assert_eq!(number("average bytes per rank"), bytes as f64);
                assert_eq!(row["total bytes"], (bytes * ranks).to_string());
                let (total, average) = (number("total bw(MB/s)"), number("average bw per rank(MB/s)"));
                assert!((total / average - ranks as f64).abs() < 1e-4, "{row:?}");
                assert!(number("average time per rank(s)") > 0.0);
            }
        }
    }

    #[test]
    fn rows_of_ranks_add_up() {
        if !launcher() {
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let output = spatter(folder.path(), "4", SUITE, &["--format", "csv"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let mut reader = csv::Reader::from_reader(output.stdout.as_slice());
        let rows: Vec<BTreeMap<String, String>> =
            reader.deserialize().map(|row| row.expect("a row")).collect();
        assert_eq!(rows.len(), 5 * BYTES.len());
        let number = |row: &BTreeMap<String, String>, name: &str| row[name].parse::<f64>().expect("a number");
        let times = |row: &BTreeMap<String, String>| -> Vec<f64> {
            row["times_s"].split(' ').map(|time| time.parse().expect("a time")).collect()
        };
        for (group, bytes) in rows.chunks(5).zip(BYTES) {
            let (all, ranks) = group.split_last().expect("a row of all");
            let names: Vec<&str> = group.iter().map(|row| row["rank"].as_str()).collect();
            assert_eq!(names, ["0", "1", "2", "3", "all"]);
            assert_eq!(all["bytes"], (4 * bytes).to_string());
            assert!(group.iter().all(|row| row["certificate"] == "certified"));
            let run = all["run"].parse::<usize>().expect("a run");
            let sum = |run: usize| ranks.iter().map(|row| times(row)[run]).sum::<f64>();
            assert!((0..times(all).len()).all(|other| sum(run) <= sum(other)), "the run with the least sum");
            let mut total = 0.0;
            for row in ranks {
                assert_eq!(row["bytes"], bytes.to_string());
                assert_eq!(number(row, "time_s"), times(row)[run]);
                assert_eq!(number(row, "bw_mb_s"), bytes as f64 / times(row)[run] / 1e6);
                total += number(row, "bw_mb_s");
            }
            assert!((number(all, "bw_mb_s") / total - 1.0).abs() < 1e-12);
            assert!((number(all, "time_s") * 4.0 / sum(run) - 1.0).abs() < 1e-12);
        }
    }

    /// Starts a job, waits until it has begun to measure, and returns it with the processes of its ranks.
    fn begun(folder: &Path, ranks: usize, options: &[&str]) -> (Child, Vec<u32>) {
        fs::write(folder.join("long.json"), format!("[{}]", [LONG; 30].join(","))).expect("a suite");
        let mut command = mpirun(folder);
        command.args(options).args(["-n", &ranks.to_string(), binary()]);
        command.args(["spatter", "-f", "long.json", "-b", "serial", "-v0"]);
        let mut job = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("mpirun starts");
        let printed = job.stdout.take().expect("its output");
        let header = BufReader::new(printed).lines().next().expect("a header").expect("text");
        assert!(header.starts_with("config"), "{header}");
        let started = children(job.id());
        assert_eq!(started.len(), ranks);
        (job, started)
    }

    fn children(process: u32) -> Vec<u32> {
        let tasks = fs::read_dir(format!("/proc/{process}/task")).expect("it runs");
        let lists = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok());
        lists
            .flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
            .map(|id| id.parse().expect("a process"))
            .collect()
    }

    fn runs(process: u32) -> bool {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
    }

    /// Waits until none of these processes runs any more, and returns the time that took.
    fn gone(processes: &[u32]) -> Duration {
        let began = Instant::now();
        while processes.iter().any(|process| runs(*process)) {
            assert!(began.elapsed() < SOON, "ranks still run after {SOON:?}");
            thread::sleep(Duration::from_millis(20));
        }
        began.elapsed()
    }

    #[test]
    fn a_rank_that_is_killed_ends_the_job() {
        if !launcher() {
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        for (ranks, victim) in [(2, 1), (4, 0)] {
            let (job, started) = begun(folder.path(), ranks, &[]);
            signal(started[victim], "-KILL");
            let all: Vec<u32> = started.iter().copied().chain([job.id()]).collect();
            println!("rank {victim} of {ranks} killed: over after {:?}", gone(&all));
            let output = job.wait_with_output().expect("it has ended");
            assert!(!output.status.success());
            assert!(!output.stderr.is_empty(), "the launcher says why");
        }
    }

    #[test]
    fn ranks_that_nobody_bound_have_their_own_cpus() {
        if !launcher() || thread::available_parallelism().map_or(1, usize::from) < 2 {
            return println!("skipped: needs mpirun and two CPUs");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let (mut job, started) = begun(folder.path(), 2, &["--bind-to", "none"]);
        let cpus = |process: &u32| {
            let status = fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
            let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
            affinity::parse_list(list.expect("a list").trim()).expect("CPUs")
        };
        let [first, second] = [cpus(&started[0]), cpus(&started[1])];
        signal(job.id(), "-TERM");
        gone(&started);
        job.wait().expect("it has ended");
        assert_eq!(first.len(), second.len());
        assert!(!first.is_empty() && first.iter().all(|cpu| !second.contains(cpu)), "{first:?} {second:?}");
    }

    /// Under a launcher that lets the other ranks continue, they notice the loss themselves.
    #[test]
    fn ranks_see_that_another_is_dead() {
        if !launcher() {
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let help = mpirun(folder.path()).args(["--help", "full"]).output().expect("mpirun");
        if !(text(&help.stdout) + &text(&help.stderr)).contains("enable-recovery") {
            return println!("skipped: mpirun has no --enable-recovery");
        }
        let (mut job, started) = begun(folder.path(), 2, &["--enable-recovery"]);
        signal(started[0], "-KILL");
        println!("rank 0 of 2 killed: the other left after {:?}", gone(&started));
        job.kill().expect("mpirun is ours");
        let said = text(&job.wait_with_output().expect("it has ended").stderr);
        assert!(said.contains(&format!("rank 1: rank 0 (process {}) has died", started[0])), "{said}");
    }

    /// One rank has less memory than its arrays need.
    #[test]
    fn an_error_in_one_rank_ends_the_job() {
        if !launcher() {
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let arguments = ["spatter", "-p", "0", "-d", "250000000", "-l", "2", "-b", "serial", "-v0"];
        let limited = format!("ulimit -v {}; exec \"$@\"", 1_900_000);
        let mut command = mpirun(folder.path());
        command.args(["-n", "1", binary()]).args(arguments).arg(":");
        command.args(["-n", "1", "sh", "-c", &limited, "sh", binary()]).args(arguments);
        let began = Instant::now();
        let output = command.output().expect("mpirun starts");
        let (printed, said) = (text(&output.stdout), text(&output.stderr));
        assert!(!output.status.success(), "{printed}{said}");
        assert!(began.elapsed() < 2 * SOON, "start and end took {:?}", began.elapsed());
        let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("spatter: ")).collect();
        assert!(lines.len() == 1 && lines[0].starts_with("spatter: rank 1: configuration 0: "), "{said}");
    }

    #[test]
    fn ranks_with_other_arguments_are_refused() {
        if !launcher() {
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = mpirun(folder.path());
        command.args(["-n", "1", binary(), "spatter", "-p", "UNIFORM:8:1", "-l", "10", ":"]);
        command.args(["-n", "1", binary(), "spatter", "-p", "UNIFORM:8:1", "-l", "20"]);
        let output = command.output().expect("mpirun starts");
        let (printed, said) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(printed, "");
        assert!(!output.status.success() && said.contains("rank 1 has other arguments"), "{said}");
    }

    #[test]
    fn mistakes_are_told_once() {
        if !launcher() {
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let output = spatter(folder.path(), "2", r#"[{"pattern": "UNIFORM:8"}]"#, &[]);
        let said = text(&output.stderr);
        assert_eq!(
            (output.status.code(), said.matches("`UNIFORM:8` is not a pattern").count()),
            (Some(1), 1),
            "{said}"
        );
        let output = spatter(folder.path(), "2", SUITE, &["--out", "kept"]);
        assert!(text(&output.stderr).contains("--out"), "{}", text(&output.stderr));
        let output = spatter(folder.path(), "2", SUITE, &["--to-recipe"]);
        assert_eq!(
            (output.status.code(), text(&output.stdout).matches("title: suite").count()),
            (Some(0), 1)
        );
    }

    /// Simulates a launch by another MPI, whose processes do not find each other through ours.
    #[test]
    fn copies_that_do_not_find_each_other_are_refused() {
        let output = Command::new(binary())
            .args(["spatter", "-p", "UNIFORM:8:1"])
            .env("PMI_SIZE", "4")
            .output()
            .expect("starts");
        let said = text(&output.stderr);
        assert!(!output.status.success() && said.contains("MPI sees 1"), "{said}");
    }
}
