import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import type { Clock } from '../../core/clock.ts';
import { dayOf, FIRST_DAY, parseDay, type UtcDay, yesterdayOf } from '../../core/day.ts';
import { messageOf, nearestName, UsageError } from '../../core/errors.ts';
import type { Log } from '../output/log.ts';
import type { Flags } from './command.ts';

/** The days of `--from` and `--until`. Without them: the first day of the service, and yesterday. */
interface RequestedDays {
  readonly from: UtcDay | undefined;
  readonly until: UtcDay | undefined;
}

/**
 * Reads `--from` and `--until`. A start before the first day of the service is moved to that day, with a warning.
 * @throws {UsageError} for an invalid day, today or later, or a reversed range.
 */
export function readDayRange(flags: Flags, { clock, log }: { clock: Clock; log: Log }): RequestedDays {
  const from = flags.parse('--from', parseDay);
  const until = flags.parse('--until', parseDay);
  const yesterday = yesterdayOf(clock.now());
  if (until !== undefined) refuseUnfinished('--until', until, { yesterday, today: dayOf(clock.now()) });
  if (from !== undefined) refuseUnfinished('--from', from, { yesterday, today: dayOf(clock.now()) });
  if (from !== undefined && until !== undefined && from > until) {
    throw new UsageError(`the range is reversed: --from ${from} is after --until ${until}`, {
      hint: 'swap the two days',
    });
  }
  if (until !== undefined && until < FIRST_DAY) {
    throw new UsageError(`--until ${until} is before the first day of the service`, {
      hint: `the first day with data is ${FIRST_DAY}`,
    });
  }
  return { from: from === undefined ? undefined : clampToService(from, log), until };
}

function refuseUnfinished(
  flag: string,
  day: UtcDay,
  { yesterday, today }: { yesterday: UtcDay; today: UtcDay },
): void {
  if (day < today) return;
  const state = day === today ? 'is not over yet (UTC)' : 'is in the future (UTC)';
  throw new UsageError(`${flag} ${day} ${state}`, {
    hint: `the newest day with data is yesterday, ${yesterday}`,
  });
}

function clampToService(from: UtcDay, log: Log): UtcDay {
  if (from >= FIRST_DAY) return from;
  log.write({
    level: 'warn',
    event: 'clamped',
    message: `--from ${from} is before the first day of the service; starting at ${FIRST_DAY}`,
    fields: { from, clampedTo: FIRST_DAY },
  });
  return FIRST_DAY;
}

/**
 * The one of some names that a flag gives.
 * @param noun what one of them is: `a dimension`
 * @throws {UsageError} with the nearest one for any other name.
 */
export function oneNamed<Name extends string>(name: string, names: readonly Name[], noun: string): Name {
  const found = names.find((known) => known === name);
  if (found !== undefined) return found;
  const nearest = nearestName(name, names);
  throw new UsageError(`"${name}" is not ${noun}`, {
    hint: nearest === undefined ? `choose from ${names.join(', ')}` : `did you mean ${nearest}?`,
  });
}

/** The largest input: more than any service accepts as a request. */
const BYTES_MAX = 8 * 1024 * 1024;

/** Standard input, and the folder for relative paths. */
interface InputPlace {
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
