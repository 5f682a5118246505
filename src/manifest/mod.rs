//! Rendered text to objects: document split, hooks, install and uninstall order.
