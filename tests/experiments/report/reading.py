"""Reading reports again."""

import re
from xml.etree import ElementTree

from liebn.experiments.report.compose import Experiment, report
from tests.experiments.report.synthetic import protocol

X = "{http://www.w3.org/1999/xhtml}"


def page_of(records, own=None):
    return report(Experiment("table", own or protocol(), "table", records), "results", "out")


def parse(text):
    return ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>\n"))  # noqa: S314


def tables_of_html(text):
    def words(element):
        return "".join(element.itertext())

    return [
        [[words(cell) for cell in row if cell.tag in (X + "th", X + "td")]
         for row in own.iter(X + "tr")]
        for own in parse(text).iter(X + "table")
    ]  # fmt: skip


def tables_of_markdown(text):
    found = [[]]
    for line in text.splitlines():
        if line.startswith("| "):
            cells = re.split(r"(?<!\\)\|", line)[1:-1]
            found[-1].append(
                [
                    re.sub(r"\\(.)", r"\1", cell.strip()).strip("*").replace("\u00a0", " ")
                    for cell in cells
                ]
            )
        elif found[-1]:
            found.append([])
    return [[own[0], *own[2:]] for own in found if own]
