//! Renders in this process, with the chart compiled: what the operator does.

use std::{
    fs,
    sync::Barrier,
    time::{Duration, Instant},
};

use anyhow::{Result, anyhow};
use pintle::{
    chart::{self, Limits},
    render::{Inputs, Program, Release},
    threads::on_large_stack,
    values::{coalesce, process_dependencies},
    yaml,
};
use tera::Value;

use crate::{charts::Chart, median, process::own_cpu};

/// How long each number of threads renders in each comparison of them.
const SPAN: Duration = Duration::from_millis(400);
/// How many such comparisons there are.
const COMPARISONS: usize = 9;

/// A chart and what it is rendered with.
struct Compiled {
    program: Program,
    inputs: Inputs,
}

impl Compiled {
    fn of(chart: &Chart) -> Result<Self> {
        let user = match &chart.values {
            Some(path) => yaml::parse(&fs::read_to_string(path)?)?,
            None => Value::from(tera::Map::new()),
        };
        let loaded = chart::load(&chart.path, &Limits::default())?;
        let loaded = process_dependencies(&loaded, &user).map_err(|error| anyhow!("{error}"))?;
        let values = coalesce(&loaded, &user)?;
        let program = Program::new(&loaded)?;
        Ok(Self { program, inputs: Inputs::offline(values, Release::install("rel", "ns")) })
    }

    fn render(&self) -> Result<()> {
        self.program.render(&self.inputs)?;
        Ok(())
    }
}

/// How long a render takes in the median.
pub fn render(chart: &Chart, rounds: usize) -> Result<Duration> {
    let compiled = Compiled::of(chart)?;
    let times = on_large_stack(|| {
        compiled.render()?;
        let mut times = Vec::new();
        for _ in 0..rounds.max(3) * 3 {
            let start = Instant::now();
            compiled.render()?;
            times.push(start.elapsed());
        }
        anyhow::Ok(times)
    })??;
    Ok(median(times.into_iter()))
}

/// Two threads against one.
pub struct Threads {
    /// How much more they render in the same time.
    pub throughput: f64,
    /// How much more CPU a render takes.
    pub cpu: f64,
}

/// Renders all charts over and over on one thread and on two.
pub fn two_threads(charts: &[Chart]) -> Result<Threads> {
    let compiled: Vec<Compiled> = charts.iter().map(Compiled::of).collect::<Result<_>>()?;
    let (mut throughput, mut cpu) = (Vec::new(), Vec::new());
    for _ in 0..COMPARISONS {
        let one = rate(&compiled, 1)?;
        let two = rate(&compiled, 2)?;
        throughput.push(two.0 / one.0);
        cpu.push(two.1 / one.1);
    }
    Ok(Threads { throughput: median(throughput.into_iter()), cpu: median(cpu.into_iter()) })
}

/// How often all charts are rendered in a second, and the seconds of CPU of one such round.
fn rate(compiled: &[Compiled], threads: usize) -> Result<(f64, f64)> {
    let barrier = Barrier::new(threads);
    let before = own_cpu()?;
    let rounds: Vec<f64> = std::thread::scope(|scope| {
        // As in the operator, the threads that render have the stack for it.
        let thread = || on_large_stack(|| rounds(compiled, &barrier))?;
        let started: Vec<_> = (0..threads).map(|_| scope.spawn(thread)).collect();
        started.into_iter().map(|thread| thread.join().expect("no render panics")).collect::<Result<_>>()
    })?;
    let cpu = own_cpu()? - before;
    let sum: f64 = rounds.iter().sum();
    Ok((sum, cpu / (sum * SPAN.as_secs_f64())))
}

/// How many rounds over all charts one thread makes in a second.
fn rounds(compiled: &[Compiled], barrier: &Barrier) -> Result<f64> {
    barrier.wait();
    let start = Instant::now();
    let mut renders = 0;
    for chart in compiled.iter().cycle() {
        chart.render()?;
        renders += 1;
        if renders % 8 == 0 && start.elapsed() > SPAN {
            break;
        }
    }
    Ok(f64::from(renders) / compiled.len() as f64 / start.elapsed().as_secs_f64())
}
