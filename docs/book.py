#!/usr/bin/env python3
"""Builds the documents as one book with a search: python3 docs/book.py [OUT], by default target/book.

Links of pages are paths of the checkout. mdbook therefore gets the pages of SUMMARY.md, and whatever they link to, at
the same paths in a folder of their own. Fails on a link that leads nowhere. `bash .ci/run book` installs the right
mdbook and calls this.
"""
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(\]\()([^)#\s]+)")


def targets(page):
    """The files and folders to which a page of the checkout links, by their paths in it."""
    prose = "".join((ROOT / page).read_text("utf-8").split("```")[::2])
    local = (link for _, link in LINK.findall(prose) if "://" not in link)
    return [os.path.normpath(os.path.join(os.path.dirname(page), link)) for link in local]


def at_the_top(text):
    """The text of a page of docs with the links of a page at the top of the checkout."""
    return LINK.sub(lambda link: link[1] + (link[2] if "://" in link[2] else os.path.normpath("docs/" + link[2])), text)


def lay_out(book):
    """Copies the pages, the files that they link to, and those of the folders that they link to."""
    book.mkdir(parents=True)
    shutil.copy(ROOT / "docs/book.toml", book)
    pages = targets("docs/SUMMARY.md")
    linked = {target for page in pages for target in targets(page)}
    tracked = subprocess.check_output(["git", "-C", ROOT, "ls-files", "-z", *pages, *linked], text=True)
    for path in tracked.split("\0")[:-1]:
        (book / "src" / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, book / "src" / path)
    for folder in (book / "src" / target for target in linked if (ROOT / target).is_dir()):
        # Pages that the book does not have stay behind.
        names = sorted(path.name for path in folder.iterdir() if path.suffix != ".md")
        rows = "".join(f'<li><a href="{name}">{name}</a></li>' for name in names)
        (folder / "index.html").write_text(f'<meta charset="utf-8"><title>{folder.name}</title><ul>{rows}</ul>\n', "utf-8")
    (book / "src/SUMMARY.md").write_text(at_the_top((ROOT / "docs/SUMMARY.md").read_text("utf-8")), "utf-8")
    # The first page also has what the lab says about itself.
    claims = at_the_top((ROOT / "docs/claims.md").read_text("utf-8"))
    with open(book / "src/README.md", "a", encoding="utf-8") as first:
        first.write("\n" + re.sub(r"^#", "##", claims, flags=re.MULTILINE))


class Page(HTMLParser):
    """The links and the places of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.places.add(attributes.get("id"))
        self.links += [attributes[name] for name in ("href", "src") if attributes.get(name)]


def astray(book):
    """The links of the book that lead nowhere."""
    pages = {path: Page(path) for path in book.rglob("*.html")}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            target = Path(os.path.normpath(path.parent / unquote(parts.path))) if parts.path else path
            places = pages[target].places if parts.fragment and target in pages else {unquote(parts.fragment)}
            if not parts.scheme and not (target.exists() and unquote(parts.fragment) in places):
                yield f"{path.relative_to(book)}: {link}"


def main(out):
    if out.exists() and not (out / "book.toml").exists():
        sys.exit(f"{out} exists, and is no book")
    shutil.rmtree(out, ignore_errors=True)
    lay_out(out)
    subprocess.run(["mdbook", "build", out, "--dest-dir", out / "html"], check=True)
    lost = list(astray(out / "html"))
    if lost:
        sys.exit("links that lead nowhere:\n" + "\n".join(lost))
    print(f"{out / 'html/index.html'}: {len(list((out / 'html').rglob('*.html')))} pages")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/book").absolute())
