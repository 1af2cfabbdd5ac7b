import type { AutonomyRatio } from '../../../api/shapes/tools.ts';
import { DELEGATION } from '../../dataset/catalog.ts';

/** Shares are published with four digits. */
const PARTS = 10_000;

/**
 * The shares of tool calls by autonomy level. They sum to 1 exactly in ten-thousandths, and there is no `spec` share:
 * what runs under a spec counts as auto_low.
 */
export function autonomyShares(callsByDelegation: ArrayLike<number>): AutonomyRatio {
  const calls = (level: (typeof DELEGATION)[number]) => callsByDelegation[DELEGATION.indexOf(level)] ?? 0;
  const [high = 0, medium = 0, low = 0, manual = 0] = largestRemainder([
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

/** Splits {@link PARTS} in proportion; what rounding leaves over goes to the largest remainders. */
function largestRemainder(amounts: readonly number[]): number[] {
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
