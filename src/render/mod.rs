//! The renderer: the Tera instance of a chart, its context, include, tpl, lookup, generated values, errors.
