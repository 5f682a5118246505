//! The judge: a Go program that answers what Helm and Go do (`main.go` beside this file and one file per operation).
//!
//! It is built once per change of its sources, with the `go` on the path.

#[allow(dead_code, reason = "not every test generates")]
pub mod choices;

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::OnceLock,
};

use serde_json::Value;

/// A running judge. It ends when it is dropped.
pub struct Judge {
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// What is answered where Go does not survive the question, a map that contains itself, printed, or takes more than a minute for it.
pub const DIED: &str = "the judge died";

impl Judge {
    /// Starts a judge, building it first if need be.
    pub fn start() -> Self {
        let mut child = Command::new(program())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // When Go dies, it says much.
            .stderr(Stdio::null())
            .spawn()
            .expect("the judge was built");
        let requests = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("it is piped"));
        Self { child, requests, answers }
    }

    /// Asks one question: what it is answered, or the text of the error.
    pub fn ask(&mut self, request: &Value) -> Result<Value, String> {
        let requests = self.requests.as_mut().expect("open until dropped");
        writeln!(requests, "{request}").expect("the judge reads");
        read_answer(&mut self.answers, request).unwrap_or_else(|| {
            *self = Self::start();
            Err(DIED.to_owned())
        })
    }

    /// Asks many questions at once, which takes far less time than one after another.
    #[allow(dead_code, reason = "not every test asks many")]
    pub fn ask_all(&mut self, requests: &[Value]) -> Vec<Result<Value, String>> {
        let mut answered = Vec::with_capacity(requests.len());
        while answered.len() < requests.len() {
            let rest = &requests[answered.len()..];
            let lines: String = rest.iter().map(|request| format!("{request}\n")).collect();
            let pipe = self.requests.as_mut().expect("open until dropped");
            let answers = &mut self.answers;
            let survived = std::thread::scope(|scope| {
                // The judge answers while it is asked: what nobody reads would block it. It may die of a question.
                scope.spawn(move || drop(pipe.write_all(lines.as_bytes())));
                let all = rest.iter().map_while(|request| read_answer(answers, request));
                answered.extend(all);
                answered.len() == requests.len()
            });
            if !survived {
                answered.push(Err(DIED.to_owned()));
                *self = Self::start();
            }
        }
        answered
    }
}

/// The next answer; none if the judge has died.
fn read_answer(answers: &mut BufReader<ChildStdout>, request: &Value) -> Option<Result<Value, String>> {
    let mut line = String::new();
    if answers.read_line(&mut line).expect("the judge answers") == 0 {
        return None;
    }
    let mut answer: Value =
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{request}: {line:?}: {error}"));
    Some(match answer.get("error") {
        Some(error) => Err(error.as_str().expect("an error is a text").to_owned()),
        None => Ok(answer["ok"].take()),
    })
}

impl Drop for Judge {
    fn drop(&mut self) {
        // It ends with its input.
        self.requests = None;
        let _ = self.child.wait();
    }
}

/// The built program, in a directory named by its sources.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judge");
        let mut hasher = DefaultHasher::new();
        let mut files: Vec<_> = fs::read_dir(&sources)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_none_or(|extension| extension != "rs"))
            .collect();
        files.sort();
        for file in files {
            file.file_name().hash(&mut hasher);
            fs::read(file).unwrap().hash(&mut hasher);
        }
        let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("judge-{:016x}", hasher.finish()));
        if !built.exists() {
            // Built aside and moved into place: another test may build, or run, the same one.
            let aside = built.with_extension(std::process::id().to_string());
            let status = Command::new("go")
                .args(["build", "-o"])
                .arg(&aside)
                .arg(".")
                .current_dir(&sources)
                .status()
                .expect("these tests need Go on the path");
            assert!(status.success(), "go build of {} failed", sources.display());
            fs::rename(&aside, &built).unwrap();
        }
        built
    })
}

/// How many cases a generator tries: `PROPTEST_CASES`, or as many as a quick run affords.
#[allow(dead_code, reason = "not every test generates")]
pub fn cases(quick: u32) -> proptest::test_runner::Config {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(quick);
    proptest::test_runner::Config { cases, failure_persistence: None, ..Default::default() }
}
