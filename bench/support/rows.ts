import Sqlite from 'better-sqlite3';

/** The tables of the stream users. */
export const USER_TABLES = ['user_daily', 'user_daily_languages'];

/** Total number of rows in some tables of a SQLite file. */
export function rowsOf(path: string, tables: readonly string[]): number {
  const db = new Sqlite(path, { readonly: true });
  try {
    const counts = tables.map((table) => `(SELECT count(*) FROM ${table})`);
    return (
      db
        .prepare<[], number>(`SELECT ${counts.join(' + ')}`)
        .pluck()
        .get() ?? 0
    );
  } finally {
    db.close();
  }
}

/**
 * Checks that both lanes did the same work; otherwise the comparison means nothing.
 * @throws {Error} if they did not.
 */
export function expectSameCount(own: number, reference: number): void {
  if (own === 0 || own !== reference) {
    throw new Error(`${own} rows were stored, and ${reference} by the reference`);
  }
}
