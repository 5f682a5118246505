//! Go's text/template as a front-end: lexer, parser, AST, lowering to Tera source, source map.
//!
//! ```
//! use pintle::gotemplate::{Options, ast::{Arena, Source}, parse, print};
//!
//! let arena = Arena::new();
//! let source = Source { name: "chart/templates/a.yaml", text: b"{{ define \"x\" }}a{{ end }}b: {{ .Values.b | quote }}" };
//! let set = parse(&arena, source, &Options::new(&|function| function == "quote")).unwrap();
//! assert_eq!(set.trees.len(), 2);
//! assert_eq!(print(set.main().unwrap().root), "b: {{.Values.b | quote}}");
//! ```

pub mod ast;
mod lexer;
pub mod lower;
mod number;
mod parser;
mod print;
pub mod source_map;
mod unicode;

pub use parser::{MAX_NESTING, MAX_PARENTHESES, Options, ParseError, parse};
pub use print::{error_context, print, print_bytes};
