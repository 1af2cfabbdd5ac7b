/**
 * Measures the cost of a day: rows, bytes in SQLite and PostgreSQL including indexes, and requests.
 * `npx node bench/size-of-a-user-day.ts` prints the table of docs/scaling.md and the constants of `bench/scaling/measured.ts`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fitted, formattedSizes } from './size/fit.ts';
import { measure, type Organization, type Size } from './size/measure.ts';
import { withSchema } from './size/postgres-size.ts';

/** Small organizations are measured over more days, because half-empty pages would distort the cost of a day. */
const ORGANIZATIONS: readonly Organization[] = [
  { users: 50, days: 120 },
  { users: 250, days: 60 },
  { users: 1_000, days: 20 },
  { users: 3_000, days: 10 },
];

const { values: given } = parseArgs({
  options: { url: { type: 'string', default: 'postgres://postgres@127.0.0.1:5432/test' } },
});

const folder = mkdtempSync(join(tmpdir(), 'daywalk-size-'));
try {
  const sizes: Size[] = [];
  for (const organization of ORGANIZATIONS) {
    const size = await withSchema(given.url, (postgres) => measure(organization, { folder, postgres }));
    sizes.push(size);
    process.stderr.write(`${JSON.stringify(size)}\n`);
  }
  process.stdout.write(`${formattedSizes(sizes)}\n\n${JSON.stringify(fitted(sizes), null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
