//! The servers of a case: their options, links, clocks and files.

use crate::servers::{Link, Program, Relay, Server};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The options of every server: no snapshots, no log, and replicas that come back at once.
const BASE: &[&str] = &[
    "--save",
    "",
    "--appendonly",
    "no",
    "--repl-diskless-sync-delay",
    "0",
    "--repl-ping-replica-period",
    "1",
];

/// A library that is loaded into a server: it steps the wall clock and slows fsync.
pub(crate) struct Shim {
    folder: TempDir,
}

impl Shim {
    /// Builds it, where there is a C compiler.
    pub(crate) fn build() -> Result<Option<Self>> {
        if !crate::shell::has("cc") {
            return Ok(None);
        }
        let folder = tempfile::tempdir()?;
        let source = folder.path().join("shim.c");
        std::fs::write(&source, include_str!("shim.c"))?;
        let library = folder.path().join("shim.so");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O2", "-o"]).arg(library).arg(source);
        ensure!(compiler.status()?.success(), "cc does not build the shim");
        Ok(Some(Self { folder }))
    }

    fn library(&self) -> PathBuf {
        self.folder.path().join("shim.so")
    }
}

/// A server of a case.
pub(crate) struct Node {
    pub(crate) server: Server,
    /// The node it copies.
    pub(crate) copies: Option<String>,
    relay: Option<Relay>,
    /// Nanoseconds by which its wall clock is off.
    step: i64,
}

impl Node {
    /// Starts a server as `@node` says; `master` gives the port of a node.
    pub(crate) fn start(
        program: &Program,
        shim: Option<&Shim>,
        words: &[String],
        master: impl Fn(&str) -> Result<u16>,
    ) -> Result<Self> {
        let mut server = Server::prepare(program, &[])?;
        let (mut copies, mut relay, mut loading) = (None, None, false);
        for word in words {
            if let Some(of) = word.strip_prefix("replicaof=") {
                let link = Relay::to(master(of)?)?;
                let to = ["--replicaof", "127.0.0.1", &link.port().to_string()];
                server.add_options(to.map(str::to_owned));
                (copies, relay) = (Some(of.to_owned()), Some(link));
            } else if word == "wallclock" {
                let file = server.folder().join("wall");
                std::fs::write(&file, 0_i64.to_le_bytes())?;
                server.set_variable("WALLSTEP_FILE", shown(&file));
                preload(&mut server, shim)?;
            } else if let Some(millis) = word.strip_prefix("slowsync=") {
                server.set_variable("SLOW_FSYNC_MS", millis.to_owned());
                preload(&mut server, shim)?;
            } else if word == "loading" {
                loading = true;
            } else {
                server.add_options([word.clone()]);
            }
        }
        let mut node = Self { server, copies, relay, step: 0 };
        node.launch(loading)?;
        Ok(node)
    }

    /// Starts the process, again perhaps.
    pub(crate) fn launch(&mut self, loading: bool) -> Result<()> {
        let base: Vec<String> = BASE.iter().map(|word| (*word).to_owned()).collect();
        self.server.launch(&base)?;
        self.server.await_answer(loading)
    }

    /// Changes the link to its master.
    pub(crate) fn set_link(&self, link: Link) -> Result<()> {
        self.relay.as_ref().context("the node has no link to a master")?.set(link);
        Ok(())
    }

    /// Steps its wall clock.
    pub(crate) fn step_clock(&mut self, millis: i64) -> Result<()> {
        self.step += millis * 1_000_000;
        // In place: the library has the file mapped.
        let file =
            std::fs::OpenOptions::new().write(true).open(self.server.folder().join("wall"))?;
        std::io::Write::write_all(&mut &file, &self.step.to_le_bytes())?;
        Ok(())
    }

    /// The incremental files of its append-only log, in order.
    pub(crate) fn log_files(&self) -> Result<Vec<PathBuf>> {
        let folder = self.server.folder().join("appendonlydir");
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if shown(&path).ends_with(".incr.aof") {
                files.push(path);
            }
        }
        files.sort();
        Ok(files)
    }
}

fn preload(server: &mut Server, shim: Option<&Shim>) -> Result<()> {
    let shim = shim.context("there is no C compiler to build the shim")?;
    server.set_variable("LD_PRELOAD", shown(&shim.library()));
    Ok(())
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
