"""Leads schemathesis to what the emulator stores, and counts what it saw there.

Invented dates have no rows and invented computers get no session, so a run without these hooks proves nothing. Valid
values become stored ones; invalid values stay as they are. Needs DAYWALK_URL and DAYWALK_KEY; writes the counts to
DAYWALK_SEEN when the run ends.
"""

import atexit
import datetime
import json
import os
import re
import urllib.request
import zlib
from collections import Counter

import schemathesis

URL = os.environ["DAYWALK_URL"]
RANGE_DAYS_MAX = 7  # keeps answers small; the emulator allows 100


def ask(path):
    headers = {"authorization": f"Bearer {os.environ['DAYWALK_KEY']}"}
    with urllib.request.urlopen(urllib.request.Request(URL + path, headers=headers), timeout=10) as answer:
        return json.load(answer)


YESTERDAY = datetime.date.fromisoformat(ask("/__admin/today")["today"]) - datetime.timedelta(days=1)
FIRST = datetime.date(2026, 1, 14)
COMPUTERS = ask("/__admin/quirks")["computers"]
REPOSITORIES = [repository["repoId"] for repository in ask("/__admin/repositories")]
REPORTS = [report["reportId"] for report in ask("/api/organization/maturity-level-reports")["reports"]]
DAY = f"startDate={YESTERDAY}&endDate={YESTERDAY}"
# Not from the rows: a fault of theirs must be found by a check, and not here.
USERS = [ask(f"/api/v1/analytics/users?{DAY}&limit={limit}")["meta"]["next_cursor"] for limit in range(1, 6)]
SEEN = Counter()


def known(value, values):
    """The same one of `values` for the same value, and a value that is known already as it is."""
    return value if value in values else values[zlib.crc32(value.encode("utf-8", "surrogatepass")) % len(values)]


def day_of(value):
    if not isinstance(value, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        return None
    try:
        return datetime.date.fromisoformat(value)
    except ValueError:
        return None


def stored_range(query):
    """Both days as days that are stored, in order and not far apart; nothing where one of them is no day."""
    first, last = day_of(query.get("startDate")), day_of(query.get("endDate"))
    if first is None or last is None:
        return {}
    stored = (YESTERDAY - FIRST).days
    if not FIRST <= first <= YESTERDAY:
        first = FIRST + datetime.timedelta(days=first.toordinal() % stored)
    if not 0 <= (last - first).days < RANGE_DAYS_MAX or last > YESTERDAY:
        last = min(YESTERDAY, first + datetime.timedelta(days=last.toordinal() % RANGE_DAYS_MAX))
    return {"startDate": first.isoformat(), "endDate": last.isoformat()}


@schemathesis.hook
def before_call(context, case, kwargs):
    query, body = case.query or {}, case.body
    changes = stored_range(query)
    for name, values in (("startAfter", REPORTS), ("repoId", REPOSITORIES), ("cursor", USERS)):
        value = query.get(name)
        # Any text is a valid cursor of the emulator: half of those that are made up stay.
        if isinstance(value, str) and value != "" and (name != "cursor" or len(value) % 2 == 0):
            changes[name] = known(value, values)
    if changes:
        case.query = {**query, **changes}
    if isinstance(body, dict) and isinstance(body.get("computerId"), str):
        case.body = {**body, "computerId": known(body["computerId"], COMPUTERS)}


@schemathesis.hook
def after_call(context, case, response):
    if response.status_code not in (200, 201):
        SEEN[f"status {response.status_code}"] += 1
        return
    answer = response.json()
    name = case.operation.definition.raw["operationId"]
    if answer.get("data") and "group_key" in answer["data"][0]:
        name += " grouped"
    elif (case.query or {}).get("cursor") or (case.query or {}).get("startAfter"):
        name += " next page"
    SEEN[name] += len(answer.get("data", answer.get("reports", [answer])))


@atexit.register
def tell():
    with open(os.environ["DAYWALK_SEEN"], "w", encoding="utf-8") as file:
        json.dump(SEEN, file, indent=2, sort_keys=True)
