"""Runs several commands of MetricFlow in one process: to start it takes longer than to answer.

usage: metricflow-queries.py COMMANDS.json   a list of lists of arguments of the program mf
"""
import json
import sys

from dbt_metricflow.cli.main import cli

with open(sys.argv[1], encoding="utf-8") as file:
    for arguments in json.load(file):
        cli.main(args=arguments, standalone_mode=False)
