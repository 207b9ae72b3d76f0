use super::*;

fn parsed(line: &str) -> CommandLine {
    parse(line.split(' ').map(OsString::from).collect()).unwrap()
}

#[test]
fn the_parser_is_consistent() {
    CommandLine::command().debug_assert();
}

#[test]
fn run_is_the_verb_where_none_is_given() {
    for line in [
        "fencepost a/b.toml",
        "fencepost run a/b.toml",
        "fencepost --runs 30 a/b.toml",
        "fencepost --color never --format=json -q a/b.toml",
        "fencepost --color never run a/b.toml",
        "fencepost -o test a/b.toml",
        "fencepost a/b.toml -o test",
        "fencepost --set lock.ttl=1s a/b.toml",
    ] {
        let Command::Run(run) = parsed(line).command else { panic!("{line}") };
        assert_eq!(run.file, Path::new("a/b.toml"), "{line}");
    }
}

#[test]
fn a_misspelt_verb_is_no_file() {
    let error = parse(["fencepost", "rnu", "a.toml"].map(OsString::from).to_vec()).unwrap_err();
    assert_eq!(error.kind(), clap::error::ErrorKind::InvalidSubcommand);
}

#[test]
fn fewer_than_thirty_runs_are_no_sample() {
    let line = ["fencepost", "a.toml", "--runs", "29"];
    let error = parse(line.map(OsString::from).to_vec()).unwrap_err();
    assert_eq!(error.exit_code(), 2);
}
