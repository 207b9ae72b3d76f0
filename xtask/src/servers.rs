//! Real servers: started on 127.0.0.1 on a free port in a temporary folder, ended by their
//! process id whatever happens.

mod relay;
mod wire;

pub(crate) use relay::{Link, Relay};
pub(crate) use wire::{Connection, Received, encoded};

use anyhow::{Context, Result, bail, ensure};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a server may take to answer its first PING.
const START: Duration = Duration::from_secs(10);

/// A server program on the search path, or at a path.
#[derive(Clone, Debug)]
pub(crate) struct Program(PathBuf);

impl Program {
    /// Finds the program; a missing one is an error that says what to install.
    pub(crate) fn find(name: &str) -> Result<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders = vec![PathBuf::new()];
        if !name.contains('/') {
            folders = std::env::split_paths(&path).collect();
        }
        let found = folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file());
        found.map(Self).with_context(|| {
            format!("no program {name}: install the package redis-server, or give --server PROGRAM")
        })
    }
}

/// A running server, or one that was ended and can be started again.
pub(crate) struct Server {
    program: Program,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    /// A configuration file that it reads and may rewrite.
    config: Option<PathBuf>,
    folder: TempDir,
    port: u16,
    process: Option<Child>,
}

impl Server {
    /// Prepares a server without data; the options follow those that every server here has.
    pub(crate) fn prepare(program: &Program, options: &[String]) -> Result<Self> {
        let (folder, port) = (tempfile::tempdir()?, free_port()?);
        let program = program.clone();
        let (arguments, environment) = (options.to_vec(), Vec::new());
        let (config, process) = (None, None);
        Ok(Self { program, arguments, environment, config, folder, port, process })
    }

    /// Starts a server without data and waits until it answers.
    pub(crate) fn start(program: &Program, options: &[String]) -> Result<Self> {
        let mut server = Self::prepare(program, options)?;
        server.launch(&["--save", ""].map(str::to_owned))?;
        server.await_answer(false)?;
        Ok(server)
    }

    /// Starts the process with these options before its own.
    pub(crate) fn launch(&mut self, base: &[String]) -> Result<()> {
        ensure!(self.process.is_none(), "the server runs already");
        let mut command = Command::new(&self.program.0);
        command.args(&self.config);
        command.args(["--port", &self.port.to_string(), "--bind", "127.0.0.1"]);
        command.args(["--daemonize", "no", "--dir"]).arg(self.folder.path());
        command.arg("--logfile").arg(self.folder.path().join("log"));
        command.args(base).args(&self.arguments);
        command.envs(self.environment.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let program = self.program.0.display();
        self.process = Some(command.spawn().with_context(|| format!("cannot start {program}"))?);
        Ok(())
    }

    /// Waits until the server answers a PING, or says that it still loads where that will do.
    pub(crate) fn await_answer(&mut self, loading: bool) -> Result<()> {
        let started = Instant::now();
        while started.elapsed() < START {
            let process = self.process.as_mut().context("the server is not running")?;
            if let Some(status) = process.try_wait()? {
                bail!("the server ended at its start with {status}\n{}", self.log());
            }
            let answer = self.connect().and_then(|mut connection| connection.call(&["PING"]));
            if let Ok(lines) = answer {
                let first = lines.first().map_or("", String::as_str);
                let answers = ["+PONG", "-NOAUTH", "-MASTERDOWN"];
                if answers.iter().any(|answer| first.starts_with(answer))
                    || (loading && first.starts_with("-LOADING"))
                {
                    return Ok(());
                }
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        bail!("the server does not answer\n{}", self.log())
    }

    /// Gives it a configuration file.
    pub(crate) fn configure(&mut self, text: &str) -> Result<()> {
        let path = self.folder.path().join("server.conf");
        std::fs::write(&path, text)?;
        self.config = Some(path);
        Ok(())
    }

    /// Adds options for the next start.
    pub(crate) fn add_options(&mut self, options: impl IntoIterator<Item = String>) {
        self.arguments.extend(options);
    }

    /// Sets a variable of the environment for the next start.
    pub(crate) fn set_variable(&mut self, name: &str, value: String) {
        self.environment.push((name.to_owned(), value));
    }

    /// Opens a connection.
    pub(crate) fn connect(&self) -> Result<Connection> {
        Connection::open(self.port)
    }

    /// Returns the port that it listens on.
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// Returns its folder.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Sends a signal, by the process id.
    pub(crate) fn signal(&self, name: &str) -> Result<()> {
        let process = self.process.as_ref().context("the server is not running")?;
        let id = process.id().to_string();
        let status = Command::new("sh").args(["-c", "kill -\"$0\" \"$1\"", name, &id]).status()?;
        ensure!(status.success(), "cannot send SIG{name} to process {id}");
        Ok(())
    }

    /// Ends the process at once.
    pub(crate) fn kill(&mut self) -> Result<()> {
        if let Some(mut process) = self.process.take() {
            process.kill()?;
            process.wait()?;
        }
        Ok(())
    }

    /// Waits until the process has ended by itself.
    pub(crate) fn await_exit(&mut self, patience: Duration) -> Result<()> {
        let started = Instant::now();
        while let Some(process) = &mut self.process {
            if process.try_wait()?.is_some() {
                self.process = None;
            } else {
                ensure!(started.elapsed() < patience, "the server does not end");
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        Ok(())
    }

    /// The end of its log.
    fn log(&self) -> String {
        let text = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        text.chars().rev().take(600).collect::<Vec<_>>().into_iter().rev().collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // There is nobody to tell; a process that has ended already is as good.
        let _ = self.kill();
    }
}

/// Finds a port that nobody listens on.
pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
