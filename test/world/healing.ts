import type { Kind } from './events.ts';
import { examineEnd, type Fault, type Seen } from './oracle.ts';

const NIGHTS_MAX: Readonly<Partial<Record<Kind, number>>> = {};
void NIGHTS_MAX;

/** I3: what was disturbed is right again within a number of nights and requests. */
export class Healing {
  #healed = false;
  examine(seen: Seen): Fault[] {
    const { world, night, requests, outcome, cost } = seen;
    if (night < world.quietFrom) return [];
    const clean = examineEnd(seen).length === 0;
    if (process.env['STATS'] !== undefined) {
      process.stderr.write(
        `STAT ${JSON.stringify({ seed: world.seed, k: night - world.quietFrom, n: night, clean, requests, writes: outcome.writes, ...cost, code: outcome.exitCode, kinds: world.events.map(({ kind }) => kind), heap: Math.round(process.memoryUsage().heapUsed / 1e6), rss: Math.round(process.memoryUsage.rss() / 1e6) })}\n`,
      );
    }
    this.#healed ||= clean;
    return [];
  }
}
