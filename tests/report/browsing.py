"""A page in a real browser: its requests and its console messages."""


def opened(browser, path, width, scheme, *, script=True):
    """Return a page, its requests and its console messages."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        java_script_enabled=script,
        reduced_motion="reduce",
    )
    page = context.new_page()
    asked, logged = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: logged.append(message.text))
    page.on("pageerror", lambda problem: logged.append(str(problem)))
    page.goto(path.as_uri())
    return page, asked, logged
