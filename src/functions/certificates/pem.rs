//! PEM: DER between lines that say what it is.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use memchr::memmem;

/// A block of PEM.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) kind: String,
    pub(super) bytes: Vec<u8>,
}

/// Writes a block as Go does.
pub(super) fn encode(kind: &str, bytes: &[u8]) -> String {
    let base64 = STANDARD.encode(bytes);
    let mut out = String::with_capacity(base64.len() / 64 * 65 + 2 * kind.len() + 40);
    out.push_str(&format!("-----BEGIN {kind}-----\n"));
    let mut rest = base64.as_str();
    while !rest.is_empty() {
        let (line, more) = rest.split_at(rest.len().min(64));
        out.push_str(line);
        out.push('\n');
        rest = more;
    }
    out.push_str(&format!("-----END {kind}-----\n"));
    out
}

/// The first block of a text. What is before it, and blocks that are damaged, are passed over.
pub(super) fn decode(text: &[u8]) -> Option<Block> {
    const BEGIN: &[u8] = b"-----BEGIN ";
    let mut rest = text;
    loop {
        let at = memmem::find_iter(rest, BEGIN).find(|at| *at == 0 || rest[at - 1] == b'\n')?;
        rest = &rest[at + BEGIN.len()..];
        let line_end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let Some(kind) = rest[..line_end].trim_ascii_end().strip_suffix(b"-----") else { continue };
        let body = rest.get(line_end + 1..).unwrap_or_default();
        let end = [b"-----END ", kind, b"-----"].concat();
        let Some(stop) = memmem::find_iter(body, &end).find(|at| *at == 0 || body[at - 1] == b'\n') else {
            continue;
        };
        let inside = without_headers(&body[..stop]);
        let base64: Vec<u8> = inside.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        if let (Ok(bytes), Ok(kind)) = (STANDARD.decode(base64), String::from_utf8(kind.to_vec())) {
            return Some(Block { kind, bytes });
        }
    }
}

/// The part after lines such as `Proc-Type: 4,ENCRYPTED`.
fn without_headers(mut body: &[u8]) -> &[u8] {
    while let Some(line_end) = memchr::memchr(b'\n', body) {
        if !body[..line_end].contains(&b':') {
            break;
        }
        body = &body[line_end + 1..];
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for length in [0, 1, 47, 48, 49, 500] {
            let bytes = vec![b'x'; length];
            let text = encode("A KEY", &bytes);
            assert!(text.lines().all(|line| line.len() <= 64));
            let block = decode(format!("before\n{text}after").as_bytes()).unwrap();
            assert_eq!(block, Block { kind: "A KEY".to_owned(), bytes });
        }
    }

    #[test]
    fn damaged_blocks_are_passed_over() {
        let whole = encode("B", b"b");
        let text = format!("-----BEGIN A-----\n?\n-----END A-----\n-----BEGIN C-----\n{whole}");
        assert_eq!(decode(text.as_bytes()).unwrap().kind, "B");
        assert_eq!(decode(b"x-----BEGIN A-----\n"), None);
        assert_eq!(decode(b""), None);
        let headers = whole.replace("-----BEGIN B-----\n", "-----BEGIN B-----\nProc-Type: 4\n\n");
        assert_eq!(decode(headers.as_bytes()).unwrap().bytes, b"b");
    }
}
