from __future__ import annotations

import pytest

from scheduler.server.page.bundle import BundleError, bundle


def joined(modules, entry="main.js"):
    return bundle({name: "\n".join(lines) + "\n" for name, lines in modules.items()}, entry)


def test_what_is_needed_comes_before_its_user_once_and_nothing_else_comes():
    text = joined(
        {
            "main.js": ['import { b } from "./b.js";', 'import { c, d } from "./c.js";', "b(c, d);"],
            "b.js": ['import { c } from "./c.js";', "export function b() {", "  return c;", "}"],
            "c.js": ["const hidden = 1;", "export const c = hidden;", "export class d {}"],
            "unused.js": ["export const e = 1;"],
        }
    )
    assert [line for line in text.splitlines() if line.startswith("// ")] == ["// c.js", "// b.js", "// main.js"]
    assert "const { c, d } = module0;" in text
    assert "return { c, d };" in text
    assert "import" not in text
    assert "export" not in text


def test_names_stay_their_modules_own():
    text = joined(
        {
            "main.js": ['import { b } from "./b.js";', "const mine = b;"],
            "b.js": ["const mine = 1;", "export const b = mine;"],
        }
    )
    assert text.count("(() => {") == 2


@pytest.mark.parametrize(
    ("modules", "problem"),
    [
        ({"main.js": ['import { b } from "./b.js";']}, "there is no module b.js, which main.js imports from"),
        ({}, "there is no module main.js"),
        ({"main.js": ['import { a } from "./main.js";']}, "main.js imports itself: main.js -> main.js"),
        ({"main.js": ['import { b } from "./b.js";'], "b.js": ["const b = 1;"]}, "main.js:1: b.js does not export b"),
        ({"main.js": ['import b from "./b.js";'], "b.js": []}, "main.js:1: this form can't be joined: import b from"),
        ({"main.js": ["", "export default 1;"]}, "main.js:2: this form can't be joined: export default 1;"),
        ({"main.js": ['const a = "</SCRIPT>";']}, "main.js: </SCRIPT can't be in a script element"),
        ({"main.js": ["// <!-- a comment"]}, "main.js: <!-- can't be in a script element"),
    ],
)
def test_what_cant_be_joined_is_refused_with_its_place(modules, problem):
    with pytest.raises(BundleError) as caught:
        joined(modules)
    assert str(caught.value).startswith(problem)
