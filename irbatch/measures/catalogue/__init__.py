"""The measures: each one short formula and one declaration beside it, a module a family."""
