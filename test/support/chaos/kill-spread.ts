import { expect } from 'vitest';
import { seeded } from '../random/seed.ts';
import { killsMax, spread } from '../suite/campaign-length.ts';
import { countUp } from '../suite/campaign-totals.ts';
import type { Database } from '../warehouse/each-database.ts';
import { layerPointsOf, runKilledInLayerAt, type Subject } from './run-and-kill.ts';

/** Kills of each scene where the campaign is not asked for. */
const FEW: Readonly<Record<string, number>> = { SQLite: 2, PostgreSQL: 1 };

/** Kills a command at points that are spread over all that it writes. `check` follows each kill. */
export async function killSpread(
  database: Database,
  name: string,
  subject: Subject,
  steps: { readonly reset: () => Promise<void>; readonly check: () => Promise<void> },
): Promise<void> {
  await steps.reset();
  const all = await layerPointsOf(subject);
  await steps.check();
  const points = spread(
    all,
    killsMax(all.length, FEW[database.name] ?? 0),
    seeded(`${database.name}, ${name}`),
  );
  let kills = 0;
  for (const point of points) {
    await steps.reset();
    const { isKilled, code, said } = await runKilledInLayerAt(subject, point);
    if (isKilled) kills += 1;
    else expect(code, said).toBe(subject.exitCode);
    await steps.check();
  }
  countUp('kill points', `in ${name} on ${database.name}`, kills);
  expect(kills).toBeGreaterThanOrEqual(Math.floor(points.length / 4));
}
