"""All overloads of the environment, from the modules of this package."""

from __future__ import annotations

from dra_cel.functions import (
    arithmetic,
    clocks,
    conversions,
    formats,
    formatting,
    lists,
    networks,
    operators,
    optionals,
    quantities,
    regexes,
    semvers,
    sets,
    text,
    urls,
)

OVERLOADS = [
    entry
    for library in (
        operators,
        arithmetic,
        conversions,
        clocks,
        text,
        regexes,
        lists,
        sets,
        quantities,
        semvers,
        optionals,
        networks,
        urls,
        formats,
        formatting,
    )
    for entry in library.OVERLOADS
]
