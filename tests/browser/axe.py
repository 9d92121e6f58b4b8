"""Run axe-core on a page that is open: what it finds serious or critical, in words that name the
rule and the element.

Nothing is excused: what of JupyterLab is around our outputs is not looked at, and reveal.js and
furo have no such finding.
"""

from axe_playwright_python.base import AXE_SCRIPT

GRAVE = ("serious", "critical")
RUN = """async ([within, runOnly]) => {
    const context = within.length ? { include: within.map((one) => [one]) } : document;
    const options = { resultTypes: ["violations", "passes"], preload: false }; // else it asks for style sheets
    const { violations, passes } = await axe.run(context, runOnly.length ? { ...options, runOnly } : options);
    return { passes: passes.length, found: violations.flatMap(({ id, impact, help, nodes }) =>
        nodes.map((node) => [impact, `${id}: ${help}: ${node.target.join(" ")}: ${node.html.slice(0, 160)}`])) };
}"""


def grave(page, *within, rules=()):
    """Return what is serious or critical in a page, or only inside of what selectors name."""
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(AXE_SCRIPT)
    said = page.evaluate(RUN, [list(within), list(rules)])
    assert said["passes"], "axe found nothing that it could judge"
    return [words for impact, words in said["found"] if impact in GRAVE]


def grave_in_both_themes(page, *within):
    """Return what is grave in the light theme, and what of its colours is in the dark one."""
    page.emulate_media(color_scheme="light")
    found = grave(page, *within)
    page.emulate_media(color_scheme="dark")
    return found + [f"dark: {one}" for one in grave(page, *within, rules=["color-contrast"])]


def grave_by_the_switch(page):
    """Return what is grave in the colours of a page of the site that is dark by its own switch,
    where the system asks for light.
    """
    page.emulate_media(color_scheme="light")
    page.evaluate("document.body.dataset.theme = 'dark'")
    return [f"switched: {one}" for one in grave(page, rules=["color-contrast"])]
