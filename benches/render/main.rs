//! What a render costs, against helm in the same run: `make bench`, or `cargo bench --bench render -- [rounds=N]`.
//!
//! It renders the charts of `charts/`, the one that `helm create` makes, and every chart below the folder that the
//! environment variable `PINTLE_CHARTS` names. Each is rendered with its defaults, or, if those do not render, with the
//! first of its `ci/*values.yaml` that does.
//!
//! Whole processes are run in turn, helm, ours, helm, ours…, and compared pair by pair, so that a machine whose speed
//! changes changes both. Peak memory is of a run of its own. Warm renders happen here, in the bench's own process, with
//! the chart compiled; they are compared with helm's process, which is what an operator that runs helm would start.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "it prints its figures, and stops at the first surprise"
)]

mod charts;
mod process;
mod warm;

use std::time::Duration;

use anyhow::{Result, ensure};

use charts::Chart;
use process::{Programs, Tool};

/// So often each chart is rendered by each program, if the command line says nothing else.
const ROUNDS: usize = 9;

fn main() -> Result<()> {
    let rounds = std::env::args().find_map(|argument| argument.strip_prefix("rounds=")?.parse().ok());
    let rounds: usize = rounds.unwrap_or(ROUNDS);
    let programs = Programs::find()?;
    let charts = charts::all(&programs)?;
    ensure!(!charts.is_empty(), "no chart renders");

    println!("\n{} charts, each rendered {rounds} times by helm and by pintle in turn\n", charts.len());
    println!("  {:<36}{:^23}   {:^23}   {:^14}", "", "process", "peak memory", "warm");
    println!(
        "  {:<36}{:>8}{:>8}{:>7}   {:>8}{:>8}{:>7}   {:>8}{:>7}",
        "", "helm ms", "ms", "ratio", "helm MB", "MB", "ratio", "ms", "ratio"
    );
    let mut figures = Vec::new();
    for chart in &charts {
        let figure = Figures::of(&programs, chart, rounds)?;
        figure.print(&chart.name);
        figures.push(figure);
    }
    println!();
    summary("whole process, times as fast as helm", figures.iter().map(|f| f.ratio));
    summary("warm, times as fast as helm's process", figures.iter().map(|f| f.warm_ratio));
    summary("peak memory, helm's as a multiple of ours", figures.iter().map(|f| f.memory.0 / f.memory.1));
    let cpu = figures.iter().fold((0.0, 0.0), |sum, f| (sum.0 + f.cpu.0, sum.1 + f.cpu.1));
    println!("  {:<44} {:.1}", "CPU of all runs, helm's as a multiple of ours", cpu.0 / cpu.1);
    let threads = warm::two_threads(&charts)?;
    println!(
        "  {:<44} {:.2} times one thread ({:.2} times the CPU a render)",
        "two threads", threads.throughput, threads.cpu
    );
    Ok(())
}

/// What was measured of a chart. Pairs are helm's figure and ours.
struct Figures {
    process: (Duration, Duration),
    /// The median of the pairs' ratios.
    ratio: f64,
    /// Seconds of CPU, of all rounds.
    cpu: (f64, f64),
    /// Megabytes.
    memory: (f64, f64),
    warm: Duration,
    warm_ratio: f64,
}

impl Figures {
    fn of(programs: &Programs, chart: &Chart, rounds: usize) -> Result<Self> {
        let mut runs = Vec::with_capacity(rounds);
        let mut cpu = (0.0, 0.0);
        for _ in 0..rounds {
            let helm = programs.run(Tool::Helm, chart)?;
            let ours = programs.run(Tool::Pintle, chart)?;
            cpu = (cpu.0 + helm.cpu, cpu.1 + ours.cpu);
            runs.push((helm.wall, ours.wall));
        }
        let process = (median(runs.iter().map(|r| r.0)), median(runs.iter().map(|r| r.1)));
        let ratio = median(runs.iter().map(|(helm, ours)| helm.as_secs_f64() / ours.as_secs_f64()));
        let memory = (programs.peak(Tool::Helm, chart)?, programs.peak(Tool::Pintle, chart)?);
        let warm = warm::render(chart, rounds)?;
        let warm_ratio = process.0.as_secs_f64() / warm.as_secs_f64();
        Ok(Self { process, ratio, cpu, memory, warm, warm_ratio })
    }

    fn print(&self, name: &str) {
        let ms = |d: Duration| d.as_secs_f64() * 1000.0;
        println!(
            "  {:<36}{:>8.1}{:>8.1}{:>7.1}   {:>8.1}{:>8.1}{:>7.1}   {:>8.2}{:>7.0}",
            name,
            ms(self.process.0),
            ms(self.process.1),
            self.ratio,
            self.memory.0,
            self.memory.1,
            self.memory.0 / self.memory.1,
            ms(self.warm),
            self.warm_ratio,
        );
    }
}

/// The one in the middle.
fn median<T: PartialOrd + Copy>(values: impl Iterator<Item = T>) -> T {
    let mut values: Vec<T> = values.collect();
    values.sort_by(|a, b| a.partial_cmp(b).unwrap());
    values[values.len() / 2]
}

fn summary(what: &str, ratios: impl Iterator<Item = f64> + Clone) {
    let worst = ratios.clone().fold(f64::INFINITY, f64::min);
    println!("  {what:<44} {:.1} in the median, {worst:.1} at the worst", median(ratios));
}
