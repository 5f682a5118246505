// Without an assembly file, Go does not let a package declare the functions that others define.
