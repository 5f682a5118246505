//! Runs helm and pintle as processes, and measures them.

use std::{
    fs,
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};

use crate::charts::Chart;

/// How much a pipe of Linux holds.
const PIPE: usize = 64 << 10;
/// The clock that `/proc` counts CPU by, in ticks a second.
const TICKS: f64 = 100.0;

/// Which program.
#[derive(Clone, Copy, Debug)]
pub enum Tool {
    Helm,
    Pintle,
}

/// The programs, and a home folder without anybody's configuration.
pub struct Programs {
    helm: PathBuf,
    home: tempfile::TempDir,
}

/// One run.
pub struct Ran {
    /// From the start of the process to its end.
    pub wall: Duration,
    /// The seconds of CPU that it took, to a hundredth: sums over many runs are exact.
    pub cpu: f64,
}

impl Programs {
    /// Finds helm among the programs of the test cluster, or where `PINTLE_HELM` says.
    pub fn find() -> Result<Self> {
        let helm = match std::env::var_os("PINTLE_HELM") {
            Some(path) => path.into(),
            None => {
                let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cluster/build");
                let output = Command::new(script).arg("--path").output()?;
                ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr).trim());
                Path::new(String::from_utf8(output.stdout)?.trim_end()).join("helm")
            }
        };
        Ok(Self { helm, home: tempfile::tempdir()? })
    }

    /// Has helm make its example chart.
    pub fn create(&self, path: &Path) -> Result<()> {
        let made = self.bare(Tool::Helm).arg("create").arg(path).output()?;
        ensure!(made.status.success(), "helm create: {}", String::from_utf8_lossy(&made.stderr));
        Ok(())
    }

    /// Whether a program renders a chart.
    pub fn renders(&self, tool: Tool, chart: &Chart) -> Result<bool> {
        Ok(self.command(tool, chart).stdout(Stdio::null()).status()?.success())
    }

    /// Renders a chart once.
    pub fn run(&self, tool: Tool, chart: &Chart) -> Result<Ran> {
        let mut command = self.command(tool, chart);
        command.stdout(Stdio::null());
        let before = cpu_of_children()?;
        let start = Instant::now();
        let status = command.status()?;
        let wall = start.elapsed();
        ensure!(status.success(), "{tool:?} does not render {}", chart.name);
        Ok(Ran { wall, cpu: cpu_of_children()? - before })
    }

    /// The most memory that rendering a chart takes, in MB.
    ///
    /// The kernel tells the peak only while a process lives. So the program writes into a pipe that is full: it is
    /// looked at when it has done everything else and waits there.
    pub fn peak(&self, tool: Tool, chart: &Chart) -> Result<f64> {
        let (mut reader, mut writer) = std::io::pipe()?;
        writer.write_all(&[b'\n'; PIPE])?;
        let mut child = self.command(tool, chart).stdout(writer).spawn()?;
        let peak = peak_at_rest(&mut child);
        let mut output = Vec::new();
        reader.read_to_end(&mut output)?;
        let status = child.wait()?;
        ensure!(status.success() && output.len() > PIPE, "{tool:?} does not render {}", chart.name);
        peak
    }

    fn command(&self, tool: Tool, chart: &Chart) -> Command {
        let mut command = self.bare(tool);
        command.args(["template", "rel", "--namespace", "ns"]).arg(&chart.path).stderr(Stdio::null());
        if let Some(values) = &chart.values {
            command.arg("--values").arg(values);
        }
        command
    }

    fn bare(&self, tool: Tool) -> Command {
        let mut command = match tool {
            Tool::Helm => Command::new(&self.helm),
            Tool::Pintle => Command::new(env!("CARGO_BIN_EXE_pintle")),
        };
        command.env_clear().env("HOME", self.home.path()).stdin(Stdio::null());
        command
    }
}

/// The peak of a process that is going to wait for its output to be read: when it takes no CPU any more.
fn peak_at_rest(child: &mut Child) -> Result<f64> {
    let (mut last, mut since) = ((0, 0), Instant::now());
    loop {
        std::thread::sleep(Duration::from_millis(5));
        if child.try_wait()?.is_some() {
            bail!("the program wrote nothing");
        }
        let status = fs::read_to_string(format!("/proc/{}/status", child.id()))?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        };
        let peak = field("VmHWM:").context("the kernel tells no peak of memory")?;
        let ran = running_time(child.id())?;
        if (peak, ran) != last {
            (last, since) = ((peak, ran), Instant::now());
        } else if since.elapsed() > Duration::from_millis(150) && peak > 0 {
            return Ok(peak as f64 * 1024.0 / 1e6);
        }
    }
}

/// How long the threads of a process have run, in nanoseconds.
fn running_time(process: u32) -> Result<u64> {
    let mut sum = 0;
    for task in fs::read_dir(format!("/proc/{process}/task"))? {
        let Ok(text) = fs::read_to_string(task?.path().join("schedstat")) else { continue };
        sum += text.split(' ').next().and_then(|first| first.parse::<u64>().ok()).unwrap_or_default();
    }
    Ok(sum)
}

/// The seconds of CPU of all processes that were waited for.
fn cpu_of_children() -> Result<f64> {
    cpu_fields(13)
}

/// The seconds of CPU of this process.
pub fn own_cpu() -> Result<f64> {
    cpu_fields(11)
}

/// The sum of two fields of `/proc/self/stat`, counted from that after the name, in seconds.
fn cpu_fields(first: usize) -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(") ").context("/proc/self/stat")?;
    let ticks: u64 =
        fields.split(' ').skip(first).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Ok(ticks as f64 / TICKS)
}
