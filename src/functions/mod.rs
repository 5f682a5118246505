//! The function library of charts (sprig's and Helm's), one file per family.
