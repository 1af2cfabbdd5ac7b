import type { Stream } from '../core/stream.ts';

/**
 * The kinds of findings:
 *
 * - `broken`: stored content differs from what the ledger says was stored.
 * - `impossible`: stored values cannot be true, see `schema/invariants.ts`.
 * - `hole`: days that were never pulled, between days that were.
 * - `difference`: the service now sends other content than what is stored.
 * - `unanswered`: a unit could not be pulled again.
 * - `oddity`: figures of the service, or the loaded people, do not agree with each other as one would expect.
 */
export const SEVERITIES = ['broken', 'impossible', 'hole', 'difference', 'unanswered', 'oddity'] as const;

/** One of {@link SEVERITIES}. */
export type Severity = (typeof SEVERITIES)[number];

/** A discrepancy, with the figures that show it. */
export interface Finding {
  readonly severity: Severity;
  readonly orgId: string;
  readonly stream: Stream;
  /** '' for readiness. */
  readonly day: string;
  /** Names the comparison. */
  readonly what: string;
  readonly expected: string | number | null;
  readonly found: string | number | null;
}

/** The most findings of each severity that are listed; all are counted. */
const LISTED_MAX = 500;

/** Collects findings in bounded memory. Many findings of one severity do not displace those of another. */
export class FindingList {
  readonly listed: Finding[] = [];
  readonly counts: Record<Severity, number> = {
    broken: 0,
    impossible: 0,
    hole: 0,
    difference: 0,
    unanswered: 0,
    oddity: 0,
  };

  add(finding: Finding): void {
    this.counts[finding.severity] += 1;
    if (this.counts[finding.severity] <= LISTED_MAX) this.listed.push(finding);
  }
}
