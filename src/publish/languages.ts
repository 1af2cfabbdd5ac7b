import { compareUtf8 } from '../../schema/order.ts';
import { readerOf } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { ChunkReader } from '../core/chunk-reader.ts';
import type { Values } from '../warehouse/port.ts';
import type { Batch } from './parquet/column.ts';

/** The columns of `user_daily_languages` that {@link withLanguages} reads. */
export const LANGUAGE_COLUMNS = ['date', 'user_id', 'language'] as const;

const dateOf = readerOf(tables.userDaily, 'date');
const userIdOf = readerOf(tables.userDaily, 'user_id');

/**
 * Adds to rows of `user_daily` of one organization the list of languages of each user and day, sorted; it is empty if
 * there are none. Both tables are read side by side in key order, `user_daily_languages` by {@link LANGUAGE_COLUMNS}.
 */
export async function* withLanguages(
  users: AsyncIterable<readonly Values[]>,
  languages: AsyncIterable<readonly Values[]>,
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
          const [, , language] = item ?? [];
          if (order === 0) list.push(String(language));
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

function compareToUser([date, userId]: Values, user: Values): number {
  return (
    compareUtf8(String(date), String(dateOf(user))) || compareUtf8(String(userId), String(userIdOf(user)))
  );
}
