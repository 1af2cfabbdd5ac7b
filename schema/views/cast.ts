/** Gives an expression of a view its type, in the dialect of a database. */
export type Cast = (expression: string, type: 'INTEGER' | 'REAL' | 'TEXT') => string;

/** In SQLite an expression has no type, and tools that ask for the type treat the column as text. */
export const castInSqlite: Cast = (expression, type) => `CAST(${expression} AS ${type})`;

/** In PostgreSQL the expressions of the views have the types of their columns. */
export const plain: Cast = (expression) => expression;
