import type { UtcDay } from '../core/day.ts';
import { canonicalJson } from '../core/json.ts';
import type { Stream } from '../core/stream.ts';
import { dateOf, type LedgerUnit, unitName } from '../warehouse/port.ts';
import type { Sides } from './sides.ts';

/** A unit in the ledgers of both sides; null on a side that lacks it. */
export interface UnitPair {
  readonly stream: Stream;
  /** '' for readiness. */
  readonly day: UtcDay | '';
  readonly source: LedgerUnit | null;
  readonly stored: LedgerUnit | null;
}

/** Returns the organizations of both sides. */
export async function organizationsOf({ source, stored }: Sides): Promise<string[]> {
  return [...new Set([...(await source.organizations()), ...(await stored.organizations())])].sort();
}

/**
 * Returns the units of an organization on both sides, oldest day first. The ledger of an organization fits into memory: it
 * has at most six rows a day.
 */
export async function unitPairs({ source, stored }: Sides, orgId: string): Promise<UnitPair[]> {
  const pairs = new Map<string, UnitPair>();
  for (const unit of await source.units(orgId)) {
    pairs.set(unitName(unit), { stream: unit.stream, day: dateOf(unit), source: unit, stored: null });
  }
  for (const unit of await stored.units(orgId)) {
    const known = pairs.get(unitName(unit))?.source ?? null;
    pairs.set(unitName(unit), { stream: unit.stream, day: dateOf(unit), source: known, stored: unit });
  }
  return [...pairs.values()].sort((a, b) => (a.day < b.day ? -1 : Number(a.day > b.day)));
}

/** Returns true when both ledgers have the same row for the unit: then its rows are equal too, because they moved with it. */
export function isSamePair({ stream, source, stored }: UnitPair): boolean {
  if (source === null || stored === null) return false;
  // An interrupted copy leaves the readiness unit pending, maybe with reports that the source has meanwhile lost.
  if (stream === 'readiness' && stored.state === 'pending') return false;
  return textOf(source) === textOf(stored);
}

function textOf({ cursor, ...unit }: LedgerUnit): string {
  return canonicalJson({ ...unit, cursor: cursor === null ? null : JSON.parse(cursor) });
}
