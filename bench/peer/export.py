"""The export of Daywalk, as a user would write it with dlt: five analytics endpoints and the readiness reports.

Analytics are requested 28 days at a time and merged on their natural keys. Without --whole, a later run requests only the
last days again (an incremental cursor with a lag). The API key comes from the environment, ANALYTICS_API_KEY.
"""

import argparse
import json
import os
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import dlt
from dlt.sources.helpers.rest_client import RESTClient
from dlt.sources.helpers.rest_client.auth import BearerTokenAuth
from dlt.sources.helpers.rest_client.paginators import JSONResponseCursorPaginator, SinglePagePaginator

FIRST_DAY = "2026-01-14"
WINDOW_DAYS = 28
# A cursor with a lag of two days requests the last three days again, like DAYWALK_SETTLE_DAYS=3.
LAG_DAYS = 2
KEYS = {
    "tokens": ["date"],
    "tools": ["date"],
    "activity": ["date"],
    "productivity": ["date"],
    "users": ["date", "user_id"],
}


def windows(first: str, last: str) -> Iterator[dict[str, str]]:
    """The ranges of at most WINDOW_DAYS days from the first to the last day, both included."""
    start, end = date.fromisoformat(first), date.fromisoformat(last)
    while start <= end:
        stop = min(start + timedelta(days=WINDOW_DAYS - 1), end)
        yield {"startDate": start.isoformat(), "endDate": stop.isoformat()}
        start = stop + timedelta(days=1)


def analytics(client: RESTClient, name: str, until: str, whole: bool) -> Any:
    """One analytics endpoint, merged on its natural key."""
    paginator = SinglePagePaginator()
    limit: dict[str, int] = {}
    if name == "users":
        paginator = JSONResponseCursorPaginator(
            cursor_path="meta.next_cursor", cursor_param="cursor", has_more_path="meta.has_more"
        )
        limit = {"limit": 100}

    @dlt.resource(name=name, primary_key=KEYS[name], write_disposition="merge", parallelized=True)
    def rows(day: dlt.sources.incremental[str] | None = None) -> Iterator[Any]:
        for window in windows(day.last_value if day else FIRST_DAY, until):
            yield from client.paginate(
                f"/api/v1/analytics/{name}", params={**window, **limit}, paginator=paginator, data_selector="data"
            )

    return rows() if whole else rows(dlt.sources.incremental("date", initial_value=FIRST_DAY, lag=LAG_DAYS))


def listed(report: dict[str, Any]) -> dict[str, Any]:
    """A report whose maps are lists, so that criteria become rows of a table and not hundreds of columns."""
    apps = [{"app_path": path, **app} for path, app in report["apps"].items()]
    criteria = [{"criterion_id": name, **result} for name, result in report["report"].items()]
    return {**report, "apps": apps, "report": criteria}


def readiness(client: RESTClient) -> Any:
    """All readiness reports; the API has no filter for new ones."""

    @dlt.resource(name="readiness", primary_key="reportId", write_disposition="merge", parallelized=True)
    def reports() -> Iterator[Any]:
        yield from client.paginate(
            "/api/organization/maturity-level-reports",
            params={"limit": 100},
            paginator=JSONResponseCursorPaginator(cursor_path="reports[-1].reportId", cursor_param="startAfter"),
            data_selector="reports",
        )

    return reports().add_map(listed)


@dlt.source(name="platform", max_table_nesting=3)
def platform(url: str, until: str, whole: bool) -> Any:
    client = RESTClient(base_url=url, auth=BearerTokenAuth(os.environ["ANALYTICS_API_KEY"]))
    return [*(analytics(client, name, until, whole) for name in KEYS), readiness(client)]


def counted(pipeline: dlt.Pipeline) -> dict[str, int]:
    """The number of stored rows of each table, without the tables of dlt itself."""
    with pipeline.sql_client() as client:
        tables = pipeline.default_schema.data_table_names(seen_data_only=True)
        count = "SELECT count(*) FROM {}"
        return {
            name: client.execute_sql(count.format(client.make_qualified_table_name(name)))[0][0] for name in tables
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--until", required=True, help="last day, YYYY-MM-DD")
    parser.add_argument("--to", choices=["sqlite", "duckdb"], required=True)
    parser.add_argument("--folder", required=True, help="holds the database and the state of dlt")
    parser.add_argument("--whole", action="store_true", help="request all days again, not only the last ones")
    parser.add_argument(
        "--tuned", action="store_true", help="options that help: primary keys in SQLite, files of JSON lines for DuckDB"
    )
    parser.add_argument("--count", action="store_true", help="print the stored rows of each table; request nothing")
    given = parser.parse_args()
    if given.to == "sqlite":
        # SQLite takes one writer; with more workers, loads fail with a locked database and are retried.
        os.environ["LOAD__WORKERS"] = "1"
        path = f"sqlite:///{given.folder}/export.db"
        target = dlt.destinations.sqlalchemy(path, create_primary_keys=given.tuned)
    else:
        target = dlt.destinations.duckdb(f"{given.folder}/export.duckdb")
    pipeline = dlt.pipeline(
        "export", destination=target, dataset_name="main", pipelines_dir=f"{given.folder}/state"
    )
    if given.count:
        print(json.dumps(counted(pipeline)))
        return
    files = "jsonl" if given.tuned and given.to == "duckdb" else None
    pipeline.run(platform(given.url, given.until, given.whole), loader_file_format=files).raise_on_failed_jobs()


if __name__ == "__main__":
    os.environ["RUNTIME__DLTHUB_TELEMETRY"] = "false"
    main()
