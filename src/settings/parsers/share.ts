import { UsageError } from '../../core/errors.ts';

const DECIMAL = /^\d{1,6}(\.\d{1,9})?$/;

/**
 * Parses a share: 0.2 is a fifth.
 * @throws {UsageError} if it is not a decimal number of at least 0
 */
export function parseShare(text: string): number {
  if (DECIMAL.test(text)) return Number(text);
  throw new UsageError(`"${text}" is not a share`, { hint: 'write a decimal number: 0.2 is a fifth' });
}
