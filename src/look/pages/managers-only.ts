import { UsageError } from '../../core/errors.ts';
import type { PageReader } from '../data/reader.ts';

/**
 * Refuses a page that names people.
 * @throws {UsageError} unless the viewer is a manager.
 */
export function refuseOthers({ viewer }: PageReader, page: string): void {
  if (viewer.audience === 'managers') return;
  throw new UsageError(`${page} names people and is not made for the audience ${viewer.audience}`, {
    hint: 'make it for the audience managers',
  });
}
