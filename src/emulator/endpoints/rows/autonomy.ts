import type { AutonomyRatio } from '../../../api/shapes/tools.ts';
import { DELEGATION } from '../../dataset/catalog.ts';

/** Shares are published with four decimal places. */
const PARTS = 10_000;

/**
 * Computes the shares of tool calls by autonomy level. They sum to exactly 1 in ten-thousandths. There is no `spec`
 * share: calls in that mode count as auto_low.
 */
export function splitByAutonomy(callsByDelegation: ArrayLike<number>): AutonomyRatio {
  const calls = (level: (typeof DELEGATION)[number]) => callsByDelegation[DELEGATION.indexOf(level)] ?? 0;
  const [high = 0, medium = 0, low = 0, manual = 0] = apportion([
    calls('auto-high'),
    calls('auto-medium'),
    calls('auto-low') + calls('spec'),
    calls('manual'),
  ]);
  return {
    auto_high: high / PARTS,
    auto_medium: medium / PARTS,
    auto_low: low / PARTS,
    manual: manual / PARTS,
  };
}

/** Splits {@link PARTS} in proportion. The largest remainders get what rounding leaves. */
function apportion(amounts: readonly number[]): number[] {
  const total = amounts.reduce((sum, amount) => sum + amount, 0);
  if (total === 0) return amounts.map(() => 0);
  const parts = amounts.map((amount) => Math.floor((amount * PARTS) / total));
  const byRemainder = amounts
    .map((amount, index) => ({ index, remainder: (amount * PARTS) % total }))
    .sort((a, b) => b.remainder - a.remainder || a.index - b.index);
  const missing = PARTS - parts.reduce((sum, part) => sum + part, 0);
  for (const { index } of byRemainder.slice(0, missing)) parts[index] = (parts[index] ?? 0) + 1;
  return parts;
}
