import { type Verification, type VerifyRequest, verifyWarehouse } from '../../../jobs/verify.ts';
import type { UtcDay } from '../../../src/core/day.ts';
import type { Finding } from '../../../src/verify/finding.ts';
import { contextOf, type Rig, TODAY } from '../rig/rig.ts';

/** Verifies the warehouse of a rig. */
export function verify(
  rig: Rig,
  { now = TODAY, ...request }: Partial<VerifyRequest> & { readonly now?: UtcDay } = {},
): Promise<Verification> {
  return verifyWarehouse(rig.settings, { againstApi: 0, ...request }, contextOf(now));
}

/** Findings as one line each: severity, stream, day, what. */
export function describeFindings(findings: readonly Finding[]): string[] {
  return findings.map(({ severity, stream, day, what }) => [severity, stream, day, what].join(' '));
}
