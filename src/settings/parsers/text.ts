import { UsageError } from '../../core/errors.ts';

/**
 * Parses the path of a folder.
 * @throws {UsageError} if it is empty
 */
export function parseFolder(text: string): string {
  if (text !== '') return text;
  throw new UsageError('the path is empty', { hint: 'give the path of a folder' });
}

/**
 * Parses a text.
 * @throws {UsageError} if it is empty
 */
export function parseText(text: string): string {
  if (text !== '') return text;
  throw new UsageError('the text is empty', { hint: 'give a text, or leave the setting out' });
}
