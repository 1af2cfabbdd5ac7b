import { UsageError } from '../../core/errors.ts';

/**
 * A path of a folder.
 * @throws {UsageError} when it is empty.
 */
export function parseFolder(text: string): string {
  if (text !== '') return text;
  throw new UsageError('the path is empty', { hint: 'give the path of a folder' });
}

/**
 * A text that is not empty.
 * @throws {UsageError} when it is.
 */
export function parseText(text: string): string {
  if (text !== '') return text;
  throw new UsageError('the text is empty', { hint: 'give a text, or leave the setting out' });
}
