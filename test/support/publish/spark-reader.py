"""Reads a lake with Spark.

usage: spark-reader.py REQUEST.json ANSWER.json
REQUEST: {"lake": folder, "tables": [name, …], "queries": {name: SQL, …}}
ANSWER: {"types": {table: {column: type}}, "rows": {query: [[value, …], …]}, "plans": {query: text},
         "files": {query: number of files opened}}
"""
import json
import sys

from pyspark.sql import SparkSession

with open(sys.argv[1], encoding="utf-8") as file:
    request = json.load(file)

spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.sql.adaptive.enabled", "false")
    # As docs/lake.md says: months and IDs stay text.
    .config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")

types = {}
for table in request["tables"]:
    frame = spark.read.parquet(f"{request['lake']}/{table}")
    frame.createOrReplaceTempView(table)
    types[table] = dict(frame.dtypes)



def files_opened(plan):
    leaves = plan.collectLeaves()
    metrics = [leaves.apply(index).metrics().get("numFiles") for index in range(leaves.size())]
    return sum(metric.get().value() for metric in metrics if metric.isDefined())


rows, plans, files = {}, {}, {}
for name, query in request["queries"].items():
    frame = spark.sql(query)
    rows[name] = [list(row) for row in frame.collect()]
    plan = frame._jdf.queryExecution().executedPlan()
    plans[name], files[name] = plan.toString(), files_opened(plan)
spark.stop()

with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump({"types": types, "rows": rows, "plans": plans, "files": files}, file, default=str)
