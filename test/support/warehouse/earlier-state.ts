import type { Found, Place } from './each-database.ts';

/** All rows of a warehouse, so that an older state of it can be put back, in either database. */
export async function copyOf(place: Place): Promise<() => Promise<void>> {
  const tables = (await place.relations()).filter(({ isView }) => !isView).map(({ name }) => name);
  const rows = new Map<string, Found[]>();
  for (const table of tables) rows.set(table, await place.query(`SELECT * FROM ${table}`));
  return async () => {
    for (const table of tables) {
      await place.execute(`DELETE FROM ${table}`);
      for (const some of chunksOf(rows.get(table) ?? [])) {
        const names = Object.keys(some[0] ?? {});
        const places = some.map(() => `(${names.map(() => '?').join(', ')})`).join(', ');
        const list = names.map((name) => `"${name}"`).join(', ');
        await place.execute(
          `INSERT INTO ${table} (${list}) VALUES ${places}`,
          ...some.flatMap((row) => names.map((name) => row[name] ?? null)),
        );
      }
    }
  };
}

function chunksOf<Item>(items: readonly Item[], size = 100): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
