//! Child processes that cannot outlive this one, whatever ends it.
//!
//! Each child asks the kernel for SIGKILL at the death of its parent (`setpriv --pdeathsig`). To the kernel the parent
//! is the thread that forked, and threads of tests end early, so one thread that never ends starts all children. A
//! [`Janitor`] waits on a pipe for the end of this process and then removes what is on the disk, and any process that
//! slipped through between its fork and its request to the kernel.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{
        LazyLock, Mutex,
        mpsc::{self, Sender},
    },
    thread,
};

use anyhow::{Context as _, Result, anyhow};
use rustix::process::{Pid, PidfdFlags, Signal};
use tokio::sync::watch;

/// What to start, and where its output goes.
#[derive(Debug, Clone)]
pub struct Spec {
    /// The program's file.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables added to this process's environment.
    pub env: Vec<(String, String)>,
    /// The working directory. Inside a [`Janitor`]'s directory the janitor watches over the process, too.
    pub dir: PathBuf,
    /// The file that gets stdout and stderr, appended to.
    pub log: PathBuf,
}

/// A running child. Dropping it kills it and waits for its end.
#[derive(Debug)]
pub struct Process {
    name: String,
    pid: Pid,
    /// Signals go through this and so never to another process that got the same number later.
    handle: std::os::fd::OwnedFd,
    log: PathBuf,
    ended: watch::Receiver<Option<ExitStatus>>,
}

type Job = (Command, Sender<io::Result<Child>>);

static SPAWNER: LazyLock<Mutex<Sender<Job>>> = LazyLock::new(|| {
    let (sender, jobs) = mpsc::channel::<Job>();
    thread::Builder::new()
        .name("spawner".into())
        .spawn(move || {
            for (mut command, reply) in jobs {
                // The one who asked may have gone meanwhile; then the child is killed and reaped here.
                if let Err(mpsc::SendError(Ok(mut child))) = reply.send(command.spawn()) {
                    let _ = child.kill();
                    let _ = child.wait();
                }
            }
        })
        .expect("a thread can be started");
    Mutex::new(sender)
});

impl Process {
    /// Starts a child in a process group of its own, so that a Ctrl-C in the terminal reaches this process first.
    pub fn start(spec: &Spec) -> Result<Self> {
        use std::os::unix::process::CommandExt as _;

        let name =
            spec.program.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let log = File::options()
            .create(true)
            .append(true)
            .open(&spec.log)
            .with_context(|| format!("open {}", spec.log.display()))?;
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "KILL", "--"])
            // What a shell starts in the background ignores Ctrl-C, and so would all that it starts.
            .args(["env", "--default-signal"])
            .arg(&spec.program)
            .args(&spec.args)
            .envs(spec.env.iter().cloned())
            .current_dir(&spec.dir)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        let (reply, answer) = mpsc::channel();
        SPAWNER
            .lock()
            .expect("no holder of the lock panics")
            .send((command, reply))
            .expect("the spawner never ends");
        let mut child = answer
            .recv()
            .expect("the spawner answers")
            .with_context(|| format!("start {name} through setpriv (of util-linux)"))?;

        let pid = Pid::from_child(&child);
        let handle = rustix::process::pidfd_open(pid, PidfdFlags::empty()).context("pidfd_open")?;
        let (sender, ended) = watch::channel(None);
        thread::spawn(move || {
            if let Ok(status) = child.wait() {
                sender.send_replace(Some(status));
            }
        });
        Ok(Self { name, pid, handle, log: spec.log.clone(), ended })
    }

    /// The process's number.
    pub fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// The file that gets its output.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// How it ended, if it did.
    pub fn status(&self) -> Option<ExitStatus> {
        *self.ended.borrow()
    }

    /// Waits for its end.
    pub async fn wait(&self) -> Result<ExitStatus> {
        let mut ended = self.ended.clone();
        let status =
            ended.wait_for(Option::is_some).await.map_err(|_| anyhow!("{} was not waited for", self.name))?;
        Ok(status.expect("waited until it is there"))
    }

    /// Sends SIGTERM and waits for the end.
    pub async fn terminate(&self) -> Result<ExitStatus> {
        self.signal(Signal::TERM)?;
        self.wait().await
    }

    /// Sends SIGKILL and waits for the end.
    pub async fn kill(&self) -> Result<ExitStatus> {
        self.signal(Signal::KILL)?;
        self.wait().await
    }

    /// Sends a signal. A process that has ended already is no error.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        match rustix::process::pidfd_send_signal(&self.handle, signal) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(error) => Err(error).with_context(|| format!("signal {}", self.name)),
        }
    }

    /// An error that says how the process ended and shows the end of its log; nothing while it runs.
    pub fn check(&self) -> Result<()> {
        match self.status() {
            None => Ok(()),
            Some(status) => Err(anyhow!("{} ended ({status}):\n{}", self.name, tail(&self.log, 30))),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.signal(Signal::KILL);
        // The end of a killed process is a matter of milliseconds, and its port and files are free only then.
        while self.status().is_none() && self.ended.has_changed().is_ok() {
            thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}

/// The last lines of a file, for an error message.
pub fn tail(path: &Path, lines: usize) -> String {
    let text = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

/// Waits for the end of this process, or for its own drop, and then removes a directory and all processes that work
/// in it.
#[derive(Debug)]
pub struct Janitor {
    child: Child,
    /// Closing the pipe is the sign. Only this process holds its end, so its death closes it.
    pipe: Option<ChildStdin>,
}

impl Janitor {
    /// Starts one for a directory. With `keep` the directory is left, for a look at the logs.
    pub fn start(dir: &Path, keep: bool) -> Result<Self> {
        use std::os::unix::process::CommandExt as _;

        let script = r#"
            trap '' INT TERM HUP
            read -r
            for process in /proc/[0-9]*; do
                [[ $(readlink "$process/cwd") != "$1" ]] || kill -KILL "${process#/proc/}"
            done
            for _ in {1..100}; do
                [[ $2 == keep ]] || rm -rf -- "$1" && break
                sleep 0.05
            done
        "#;
        let mut child = Command::new("bash")
            .args(["-c", script, "janitor"])
            .arg(dir)
            .arg(if keep { "keep" } else { "remove" })
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("start the janitor (bash)")?;
        let pipe = child.stdin.take();
        Ok(Self { child, pipe })
    }
}

impl Drop for Janitor {
    fn drop(&mut self) {
        drop(self.pipe.take());
        let _ = self.child.wait();
    }
}

/// The numbers of the processes that work in a directory.
pub fn working_in(dir: &Path) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == dir))
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}
