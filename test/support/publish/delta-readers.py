"""Reads Delta tables with delta-rs, Polars and DuckDB.

usage: delta-readers.py REQUEST.json ANSWER.json
REQUEST: {"lake": folder, "versions": {table: version or null, …}, "queries": {name: SQL over these tables, …}}
ANSWER: {engine: {query: [[value, …], …], …}, …}; DuckDB is asked only if no version is named: it reads the newest
"""
import json
import pathlib
import sys

import deltalake
import duckdb
import duckdb_extension_delta
import polars

with open(sys.argv[1], encoding="utf-8") as file:
    request = json.load(file)

paths = {name: f"{request['lake']}/{name}" for name in request["versions"]}


def delta_rs():
    builder = deltalake.QueryBuilder()
    for name, version in request["versions"].items():
        builder.register(name, deltalake.DeltaTable(paths[name], version=version))
    return lambda query: polars.DataFrame(builder.execute(query).read_all()).rows()


def polars_sql():
    frames = {name: polars.scan_delta(paths[name], version=version) for name, version in request["versions"].items()}
    context = polars.SQLContext(frames)
    return lambda query: context.execute(query, eager=True).rows()


def duck_db():
    # The extension comes as a wheel of the same version, because nothing may be downloaded.
    (extension,) = pathlib.Path(duckdb_extension_delta.__file__).parent.rglob("delta.duckdb_extension")
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    connection.execute(f"LOAD '{extension}'")
    for name, path in paths.items():
        connection.execute(f"CREATE VIEW {name} AS SELECT * FROM delta_scan('{path}')")
    return lambda query: connection.sql(query).fetchall()


engines = {"delta-rs": delta_rs, "Polars": polars_sql}
if not any(version is not None for version in request["versions"].values()):
    engines["DuckDB"] = duck_db
answer = {}
for engine, open_tables in engines.items():
    run = open_tables()
    answer[engine] = {name: [list(row) for row in run(query)] for name, query in request["queries"].items()}

with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(answer, file, default=str)
