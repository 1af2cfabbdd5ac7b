import { allTables } from '../../schema/tables.ts';
import type { Stream } from '../core/stream.ts';
import type { DaySums } from './day-sums.ts';
import type { FindingList } from './finding.ts';
import { RULES, type Rule } from './rules.ts';

/**
 * Whether the figures of a stream and day can be compared: `whole` if they are as the service sent them; `broken` if stored
 * rows were changed since, so that differences show by how much; `unclear` if rows are missing or in quarantine.
 */
export type Standing = 'whole' | 'broken' | 'unclear';

/** Relative difference up to which sums count as equal: sums of doubles depend on their order. */
const TOLERANCE = 1e-9;

const STREAMS = new Map<string, Stream | null>(allTables.map((table) => [table.name, table.stream]));

/** Compares the endpoints with each other on one day. Returns how many pairs of figures were compared. */
export function crossCheck(
  { orgId, day, sums }: { readonly orgId: string; readonly day: string; readonly sums: DaySums },
  standingOf: (stream: Stream) => Standing,
  findings: FindingList,
): number {
  let compared = 0;
  for (const rule of RULES) {
    const [expected, found] = [sums.of(rule.expected), sums.of(rule.found)];
    if (expected === null || found === null) continue;
    const streams = [streamOf(rule.found), streamOf(rule.expected)];
    const standings = streams.map(standingOf);
    if (standings.includes('unclear')) continue;
    compared += 1;
    if (holds(rule, expected, found)) continue;
    const severity = standings.includes('broken') ? 'broken' : 'oddity';
    const stream = streams[standings.indexOf('broken')] ?? streamOf(rule.found);
    findings.add({ severity, orgId, stream, day, what: rule.what, expected, found });
  }
  return compared;
}

function holds({ relation }: Rule, expected: number, found: number): boolean {
  if (relation === '≤') return found <= expected;
  return Math.abs(found - expected) <= TOLERANCE * Math.max(Math.abs(found), Math.abs(expected));
}

function streamOf(name: string): Stream {
  const stream = STREAMS.get(name.split('.', 1).join(''));
  if (stream === null || stream === undefined)
    throw new TypeError(`a rule names ${name}, which no stream fills`);
  return stream;
}
