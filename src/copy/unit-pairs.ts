import type { UtcDay } from '../core/day.ts';
import { canonicalJson } from '../core/json.ts';
import type { Stream } from '../core/stream.ts';
import { dateOf, type LedgerUnit, unitName } from '../warehouse/port.ts';
import type { Sides } from './sides.ts';

/** What the ledger's row of readiness tells while its reports are being copied, and not all there. */
export const COPY_UNDER_WAY = 'reports are being copied; daywalk copy goes on where it was';

/** A unit as the ledgers of both sides know it; null on the side that does not. */
export interface UnitPair {
  readonly stream: Stream;
  /** '' for readiness. */
  readonly day: UtcDay | '';
  readonly source: LedgerUnit | null;
  readonly stored: LedgerUnit | null;
}

/** The organizations that either side knows. */
export async function organizationsOf({ source, stored }: Sides): Promise<string[]> {
  return [...new Set([...(await source.organizations()), ...(await stored.organizations())])].sort();
}

/**
 * The units of an organization on both sides, oldest day first. An organization's ledger is all in memory: it has six
 * rows a day at most, and no more days than have passed since the first.
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

/** True when the ledgers say the same of the unit, which they do only when its rows were moved with it. */
export function isSamePair({ source, stored }: UnitPair): boolean {
  if (source === null || stored?.lastError === COPY_UNDER_WAY) return false;
  return stored !== null && textOf(source) === textOf(stored);
}

function textOf({ cursor, ...unit }: LedgerUnit): string {
  return canonicalJson({ ...unit, cursor: cursor === null ? null : JSON.parse(cursor) });
}
