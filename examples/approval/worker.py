"""Gives prices: a process outside, in another language, with nothing but its standard library.

    python3 worker.py http://127.0.0.1:4200 office            until it is stopped
    python3 worker.py http://127.0.0.1:4200 office --once     until one price is given

It looks for rendezvous whose key ends in ".quote", claims one, which gives it a token for
that one alone, and reports with it. If the process or the server ends in between, it begins again: a
rendezvous that it claims anew has another token, and only one report is taken in.
"""

import json
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

OPEN = {"pending", "ready", "late"}


def ask(url, body=None, token=None):
    """Sends one request; answers its status and JSON."""
    headers = {"content-type": "application/json"}
    if token is not None:
        headers["authorization"] = "Rendezvous " + token
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers=headers, method="GET" if body is None else "POST")
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def price(goods):
    """The work itself."""
    return 25 * len(goods)


def quotes(base):
    """The rendezvous that a price is wanted for."""
    after = ""
    while after is not None:
        _, page = ask(base + "/rv?limit=100" + ("" if after == "" else "&after=" + urllib.parse.quote(after)))
        for row in page["rendezvous"]:
            if row["key"].endswith(".quote") and row["state"] in OPEN:
                yield row
        after = page["next"]


def serve(base, row):
    """Claims one, works, and reports; answers whether the report was taken in."""
    place = base + "/rv/" + urllib.parse.quote(row["key"], safe="")
    status, claimed = ask(place + "/token", {})
    if status != 200:
        return False
    result = {"price": price(row["telemetry"]["goods"]), "by": "worker.py"}
    status, answer = ask(place + "/report", {"telemetry": result}, claimed["token"])
    print(json.dumps({"key": row["key"], "status": status, "answer": answer}), flush=True)
    return status == 200


def main(server, space, once):
    base = server + "/v1/spaces/" + space
    while True:
        try:
            for row in quotes(base):
                if serve(base, row) and once:
                    return
        except (urllib.error.URLError, ConnectionError):
            pass  # The server is away; it comes back with all that it accepted.
        time.sleep(0.2)


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"), sys.argv[2], "--once" in sys.argv[3:])
