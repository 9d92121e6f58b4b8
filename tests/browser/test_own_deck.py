"""Decks and pages of strangers' notebooks in a real browser: formulas, what fits, what stays inert."""

import json

import hostile_outputs
import pytest
from deck import opened, states
from driver import watched

from course.publish import publish
from course.publishing.assets import scripts

pytestmark = [pytest.mark.browser]
LOADS = "iframe, object, embed, foreignObject, form, base, link, meta[http-equiv=refresh], input, video, audio"
FOREIGN = """[...document.querySelectorAll("*")].flatMap((one) => [...one.attributes])
    .filter((one) => one.name.startsWith("on") || /^\\s*(javascript|vbscript|data:text)/i.test(one.value) || /far[.]example/.test(one.value))
    .map((one) => `${one.name}=${one.value}`)"""
STYLED = """[...document.querySelectorAll("section [style], .cell [style]")].map((one) => one.getAttribute("style"))
    .filter((style) => /url|position|expression|import/.test(style))"""


@pytest.mark.parametrize("to", ["slides", "page"])
def test_nothing_of_hostile_outputs_runs_or_is_fetched_and_the_deck_starts(chromium, tmp_path, to):
    (tmp_path / "given.ipynb").write_text(json.dumps(hostile_outputs.notebook()))
    publish(tmp_path / "given.ipynb", to, tmp_path / "made.html")
    with watched(chromium) as watch:
        page, dialogs = watch.page, []
        page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        if to == "slides":
            opened(watch, tmp_path / "made.html")
            assert len(list(states(page))) == len(hostile_outputs.outputs()) + 1
        else:
            page.goto((tmp_path / "made.html").as_uri())
        page.mouse.move(640, 360)
        assert page.evaluate("window.hit") is None
        assert page.locator(LOADS).count() == 0
        assert page.evaluate(FOREIGN) == []
        assert page.evaluate(STYLED) == []
        assert page.locator("main").count() == 1
        ours = [text for _, text in scripts("deck" if to == "slides" else "page")]
        found = page.locator("script").all()
        assert [one.text_content() for one in found] == ours
        assert dialogs == []
