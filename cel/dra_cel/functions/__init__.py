"""The functions of the language, by library."""
