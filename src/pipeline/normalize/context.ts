import type { ExactText } from '../../api/exact.ts';
import type { Privacy } from '../../privacy/email.ts';
import type { Value } from '../../warehouse/port.ts';
import type { Findings } from '../findings.ts';

/** What normalizing a page needs besides its rows. */
export interface NormalizeContext {
  readonly orgId: string;
  readonly findings: Findings;
  readonly privacy: Privacy;
  /** Texts of the page that is normalized. */
  readonly exact: ExactText;
}

/** A published number or text, NULL where it is absent. */
export function orNull(value: number | string | null | undefined): Value {
  return value ?? null;
}

/** A yes or no as 1 or 0, NULL where it is absent. */
export function flagOf(value: boolean | null | undefined): Value {
  return value === null || value === undefined ? null : Number(value);
}
