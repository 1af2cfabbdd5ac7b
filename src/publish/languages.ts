import { compareUtf8 } from '../../schema/order.ts';
import { tables } from '../../schema/tables.ts';
import { ChunkReader } from '../core/chunk-reader.ts';
import type { Row } from '../warehouse/port.ts';
import type { Batch } from './parquet/column.ts';

/** The columns of `user_daily_languages` that {@link withLanguages} reads. */
export const LANGUAGE_COLUMNS = ['date', 'user_id', 'language'] as const;

const [LANGUAGE_DATE, LANGUAGE_USER, LANGUAGE] = [0, 1, 2];
const USER_COLUMNS = Object.keys(tables.userDaily.columns);
const DATE = USER_COLUMNS.indexOf('date');
const USER = USER_COLUMNS.indexOf('user_id');

/**
 * Adds to rows of `user_daily` of one organization the list of languages of each user and day, sorted; it is empty where
 * there are none. Both tables are read side by side in key order, `user_daily_languages` by {@link LANGUAGE_COLUMNS}.
 */
export async function* withLanguages(
  users: AsyncIterable<readonly Row[]>,
  languages: AsyncIterable<readonly Row[]>,
): AsyncGenerator<Batch> {
  const reader = new ChunkReader(languages);
  try {
    for await (const rows of users) {
      const lists: string[][] = [];
      for (const user of rows) {
        const list: string[] = [];
        for (;;) {
          // Not awaited for each user: there are hundreds of thousands.
          if (reader.isWaiting) await reader.fill();
          const { item } = reader;
          const order = item === undefined ? 1 : compareToUser(item, user);
          if (order > 0) break;
          if (order === 0) list.push(String(item?.[LANGUAGE]));
          reader.advance();
        }
        lists.push(list);
      }
      yield { rows, languages: lists };
    }
  } finally {
    await reader.close();
  }
}

function compareToUser(language: Row, user: Row): number {
  return (
    compareUtf8(String(language[LANGUAGE_DATE]), String(user[DATE])) ||
    compareUtf8(String(language[LANGUAGE_USER]), String(user[USER]))
  );
}
