import { constants, createReadStream } from 'node:fs';
import { LINE_BYTES_MAX } from '../limits.ts';
import { openRegular } from './open-regular.ts';

const LINE_BREAK = 0x0a;

/**
 * Yields the lines of a file one by one, so that a large spool is never in memory as a whole. Skips empty lines. Stops
 * keeping a line once it is longer than {@link LINE_BYTES_MAX}, because receivers write no such line.
 * @throws {Error} of the file system, or because the path is not a regular file.
 */
export async function* linesOf(path: string): AsyncGenerator<string> {
  let held: Buffer[] = [];
  let length = 0;
  const keep = (part: Buffer) => {
    if (length < LINE_BYTES_MAX) held.push(part);
    length += part.length;
  };
  for await (const chunk of createReadStream(path, { fd: openRegular(path, constants.O_RDONLY) })) {
    if (!Buffer.isBuffer(chunk)) continue;
    let start = 0;
    for (let end = chunk.indexOf(LINE_BREAK); end >= 0; end = chunk.indexOf(LINE_BREAK, start)) {
      keep(chunk.subarray(start, end));
      if (length > 0) yield Buffer.concat(held).toString('utf8');
      held = [];
      length = 0;
      start = end + 1;
    }
    keep(chunk.subarray(start));
  }
  if (length > 0) yield Buffer.concat(held).toString('utf8');
}
