import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf, UsageError } from '../../core/errors.ts';

/** The largest input: more than any service accepts as a request. */
const BYTES_MAX = 8 * 1024 * 1024;

/** Standard input, and the folder for relative paths. */
export interface InputPlace {
  input(): AsyncIterable<Uint8Array>;
  readonly directory: string;
}

/**
 * Reads the JSON document of a flag from a file, or from standard input if the path is `-`.
 * @throws {UsageError} that names the flag, when it cannot be read, is larger than 8 MiB, or is not JSON.
 */
export async function readJsonInput(
  flag: string,
  path: string,
  { input, directory }: InputPlace,
): Promise<unknown> {
  const name = path === '-' ? 'standard input' : path;
  try {
    return JSON.parse(await readAll(path === '-' ? input() : createReadStream(resolve(directory, path))));
  } catch (error) {
    throw new UsageError(`${flag}: read ${name}: ${messageOf(error)}`, {
      cause: error,
      hint: `give ${flag} the path of a file with one JSON document, or - for standard input`,
    });
  }
}

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > BYTES_MAX) throw new UsageError(`larger than ${BYTES_MAX} bytes`);
    parts.push(chunk);
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts));
}
