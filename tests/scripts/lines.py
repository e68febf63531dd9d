#!/usr/bin/env python3
"""Lines of code by room: neither blank, nor comment, nor test.

    python3 tests/scripts/lines.py [TREE [OLDER]]

Counts `src`, `build`, `crates` and `kernels`, CUDA too; with an older tree both, side by side.
"""
import re, sys
from collections import Counter
from pathlib import Path

def without_comments(text):
    """The text with comments blanked; strings and line breaks are kept."""
    pattern = re.compile(
        r'r(#*)".*?"\1'                      # raw strings
        r'|b?"(?:\\.|[^"\\])*"'              # strings
        r"|'(?:\\.|[^'\\\n])'"               # characters
        r'|//[^\n]*|/\*.*?\*/', re.S)
    keep = lambda m: re.sub(r'[^\n]', '', m[0]) if m[0].startswith('/') else re.sub(r'[{}]', '_', m[0])
    return pattern.sub(keep, text)

TEST = re.compile(r'^[ \t]*#\[cfg\((?:all\()?test[^\n]*\]\s*((?:#\[[^\n]*\]\s*)*)', re.M)

def without_tests(text):
    """The text without items under `cfg(test)`, and the names of modules among them that have their own files."""
    named = []
    while found := TEST.search(text):
        end = found.end()
        semicolon, brace = text.find(';', end), text.find('{', end)
        if brace < 0 or 0 <= semicolon < brace:
            path = re.search(r'path = "([^"]+)"', found[1])
            name = re.match(r'(?:pub(?:\([a-z]+\))? )?mod (\w+);', text[end:])
            if name: named.append(path[1] if path else name[1])
            end = semicolon + 1
        else:
            depth, end = 1, brace + 1
            while depth:
                step = re.compile(r'[{}]').search(text, end)
                depth += 1 if step[0] == '{' else -1
                end = step.end()
        text = text[:found.start()] + text[end:]
    return text, named

def lines_of(tree):
    files = [f for folder in ('src', 'build', 'crates', 'kernels') for f in Path(tree, folder).rglob('*.rs')]
    files += [f for f in (Path(tree, 'build.rs'),) if f.exists()]
    texts, tests = {}, set()
    for file in files:
        text, named = without_tests(without_comments(file.read_text()))
        texts[file] = text
        own = file.parent if file.name in ('mod.rs', 'lib.rs', 'main.rs') else file.with_suffix('')
        for name in named:
            tests |= {file.parent / name} if name.endswith('.rs') else {own / f'{name}.rs', own / name}
    for file in Path(tree, 'kernels').rglob('*.cu*'):
        texts[file] = without_comments(file.read_text())
    count = Counter()
    for file, text in texts.items():
        if tests & {file, *file.parents}: continue
        parts = file.relative_to(tree).parts
        depth = 1 if parts[0] != 'src' else 3 if parts[1] == 'core' else 2
        room = '/'.join(parts[:depth]).removesuffix('.rs')
        count[room] += sum(1 for line in text.splitlines() if line.strip())
    return count

def main(now='.', before=None):
    now = lines_of(now)
    older = lines_of(before) if before else now
    for room in sorted(now | older):
        print(f'{room:16}' + (f'{older[room]:8}' if before else '') + f'{now[room]:8}' + (f'{now[room]-older[room]:+8}' if before else ''))
    print(f'{"all":16}' + (f'{older.total():8}' if before else '') + f'{now.total():8}' + (f'{now.total()-older.total():+8}' if before else ''))

main(*sys.argv[1:])
