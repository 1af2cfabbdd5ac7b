// DuckDB reads the rows from NDJSON and writes them as Parquet.
import { DuckDBInstance } from '@duckdb/node-api';

const [from, to] = process.argv.slice(2);
const text = (value) => `'${value.replaceAll("'", "''")}'`;
const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();
await connection.run(
  `COPY (SELECT * FROM read_json(${text(from)}, format = 'newline_delimited')) TO ${text(to)} (FORMAT parquet)`,
);
connection.closeSync();
instance.closeSync();
