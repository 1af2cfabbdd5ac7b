import Sqlite from 'better-sqlite3';
import { onTestFinished } from 'vitest';
import type { Found, Place } from '../warehouse/each-database.ts';

/**
 * Returns a way to query a place over a connection that may only read. On PostgreSQL, its session is on an island 14 hours ahead
 * of UTC. It is closed when the test ends.
 */
export async function readOnlyAbroad(place: Place): Promise<(sql: string) => Promise<Found[]>> {
  if (place.location.startsWith('postgres')) {
    const { query, execute } = await place.connect();
    await execute(`SET TimeZone = 'Pacific/Kiritimati'`);
    await execute('SET default_transaction_read_only = on');
    return (sql) => query(sql);
  }
  const database = new Sqlite(place.location, { readonly: true });
  onTestFinished(() => void database.close());
  return async (sql) => {
    const statement = database.prepare<unknown[], Found>(sql);
    return statement.reader ? statement.all() : [statement.run()].map(() => ({}));
  };
}
