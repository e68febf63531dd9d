"""The kernels, each with everything that it refers to, and without parts that depend on its module."""

import collections
import re

from guard import TREE


def pieces(text):
    """The declarations of a module: functions and variables, each with its lines."""
    piece, depth = [], 0
    for line in text.splitlines():
        line = line.split("//")[0].rstrip()
        if not line or (not piece and re.match(r"\.(version|target|address_size)\b", line)):
            continue
        piece.append(line)
        depth += line.count("{") - line.count("}")
        if depth == 0 and line[-1] in ";}":
            yield "\n".join(piece) + "\n"
            piece = []


def named(piece):
    """The name that a piece declares, and whether it is an entry."""
    head = piece.split("{")[0]
    function = re.search(r"\.(entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)", head)
    if function:
        return function[2], function[1] == "entry"
    return re.search(r"([\w$]+)\s*(?:\[[^\]]*\]\s*)*[=;]", head)[1], False


def neutral_names(text):
    """The text with names stripped of function numbers and of the module's source name."""
    text = re.sub(r"\d+_INTERNAL_[0-9a-f]{8}_\d+_\w+?_cu_[0-9a-f]{8}", "INTERNAL", text)
    return re.sub(r"(\$L__BB|__local_depot|prototype_)\d+", r"\1", text)


def with_references(name, declared, seen):
    """A piece, preceded by everything that it refers to. PTX declares a shared variable of a single function
    inside it, and one of several functions before them; the output always has it before."""
    seen.add(name)
    inner = re.compile(r"^\s+(\.shared .*;\n)", re.M)
    parts = []
    for piece in declared[name]:
        used = set(re.findall(r"[A-Za-z_$][\w$]*", piece)) & declared.keys() - seen
        parts += [part for other in sorted(used) if other not in seen
                  for part in with_references(other, declared, seen)]
        parts += inner.findall(piece) + [inner.sub("", piece)]
    return parts


def ptx(guard):
    entries = set()
    for path in sorted(TREE.glob("kernels/ptx/*.ptx")):
        text = path.read_text()
        target = re.search(r"^\.target (\S+)", text, re.M)[1]
        declared, own = collections.defaultdict(list), []
        for piece in pieces(text):
            name, is_entry = named(piece)
            declared[name].append(piece)
            own += [name] if is_entry else []
        for name in own:
            *before, entry = [neutral_names(part) for part in with_references(name, declared, set())]
            entries.add((name, target, "".join(sorted(before)) + entry))
    for name, target, text in sorted(entries):
        guard.add(f"ptx/{name} {target}", text)
