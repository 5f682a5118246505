//! Tables and times, as kubectl prints them.

/// Columns of text, each as wide as its widest cell, two or more blanks between; the last is not filled up.
#[derive(Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    pub fn new(headings: &[&str]) -> Self {
        Table { rows: vec![headings.iter().map(ToString::to_string).collect()] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        // What a cluster says must not make lines.
        self.rows.push(cells.into_iter().map(|cell| cell.replace(char::is_control, " ")).collect());
    }

    /// Whether there is nothing but headings.
    pub fn is_empty(&self) -> bool {
        self.rows.len() < 2
    }

    /// The text.
    pub fn print(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let wide = |at: usize| {
            self.rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(wide).collect();
        let mut out = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                line.push_str(cell);
                let blanks = width - cell.chars().count() + 3;
                line.extend(std::iter::repeat_n(' ', blanks));
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

/// How long ago a time was, as kubectl's AGE column has it; nothing for what is no time.
pub fn ago(time: &str) -> String {
    let Ok(time) = time.parse::<jiff::Timestamp>() else { return String::new() };
    age(jiff::Timestamp::now().as_second() - time.as_second())
}

fn age(seconds: i64) -> String {
    let seconds = seconds.max(0);
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match () {
        () if seconds < 120 => format!("{seconds}s"),
        () if minutes < 10 && seconds % 60 != 0 => format!("{minutes}m{}s", seconds % 60),
        () if minutes < 180 => format!("{minutes}m"),
        () if hours < 8 && minutes % 60 != 0 => format!("{hours}h{}m", minutes % 60),
        () if hours < 48 => format!("{hours}h"),
        () if days < 8 && hours % 24 != 0 => format!("{days}d{}h", hours % 24),
        () if days < 730 => format!("{days}d"),
        () => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_as_kubectl_has_them() {
        let all =
            [0, 119, 120, 150, 3_599, 10_799, 10_800, 12_000, 100_000, 172_800, 200_000, 900_000, 90_000_000];
        let said: Vec<String> = all.into_iter().map(age).collect();
        insta::assert_snapshot!(said.join(" "), @"0s 119s 2m 2m30s 59m 179m 3h 3h20m 27h 2d 2d7h 10d 2y");
    }

    #[test]
    fn columns() {
        let mut table = Table::new(&["NAME", "AGE"]);
        table.row(vec!["a\nb".into(), "3d".into()]);
        table.row(vec!["├── ü".into(), String::new()]);
        insta::assert_snapshot!(table.print(), @r"
        NAME    AGE
        a b     3d
        ├── ü
        ");
    }
}
