//! Go's text/template as a front-end: lexer, parser, AST, lowering to Tera source, source map.

pub mod ast;
