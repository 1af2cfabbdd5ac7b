import type { Grain } from '../../../schema/metrics.ts';
import { finestGrainOf } from '../audience/audience.ts';
import type { PageReader } from './reader.ts';

/** Why the viewer may not see numbers of single days, weeks or months; undefined if they may. */
export function hiddenGrain({ viewer }: Pick<PageReader, 'viewer'>, grain: Grain): string | undefined {
  const finest = finestGrainOf(viewer);
  if (finest === 'date' || (finest === 'week' && grain !== 'date')) return undefined;
  const parts = { date: 'days', week: 'weeks', month: 'months' }[grain];
  return `Single ${parts} are not shown to these readers, because too few people are active in some of them.`;
}
