/** Statements that replace a table that has rows by a view of them, whose statements never end. */
export const endless = (table: string) => `
  ALTER TABLE ${table} RENAME TO kept_rows;
  CREATE VIEW ${table} AS SELECT kept_rows.* FROM kept_rows,
    (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT x FROM n WHERE x < 0) AS never`;
