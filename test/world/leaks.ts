import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import Sqlite from 'better-sqlite3';
import { createJsonLog, publicLog } from '../../src/cli/output/log.ts';
import { describeEvent } from '../../src/cli/output/reporting.ts';
import { appendDurably, encodeRecord } from '../../src/hooks/spool.ts';
import type { RunEvent } from '../../src/pipeline/index.ts';
import { FakeClock } from '../support/clock/fake-clock.ts';
import type { Event, Kind } from './events.ts';
import type { Fault } from './oracle.ts';
import type { Published } from './published.ts';
import { dateOf, dayOf, emailOf, type Night, userId } from './truth.ts';

/** Where the data of a world are, and by which policy. */
interface Place {
  readonly folder: string;
  readonly warehouse: string;
  readonly env: Readonly<Record<string, string>>;
}

/** One of so many nights has a new hook event in the spool, before its run or after it. */
const EVENT_EVERY = 4;

/** Files that stay as they are until they are made again, by the act that makes them. */
const MADE_BY: Readonly<Record<string, Kind>> = { backup: 'backup', copy: 'copy', published: 'publish' };
/** Acts after which such a file may hold what is excluded since. */
const EXCLUDING: ReadonlySet<Kind> = new Set<Kind>(['erase', 'policy', 'retain', 'restore', 'lost-volume']);

/** The IDs and addresses that nothing may hold any more. */
export function excludedWords(
  { size, erased }: Published,
  env: Place['env'],
  beside: readonly string[] = [],
): string[] {
  const everyone = Array.from({ length: size }, (_, id) => id);
  const gone = everyone.filter((id) => erased.has(userId(id)));
  const isHidden = env['DAYWALK_EMAILS'] !== undefined;
  return [...gone.map(userId), ...(isHidden ? everyone : gone).map(emailOf), ...(isHidden ? beside : [])];
}

/** I4: what a run prints, and what lies beside the warehouse: archive, spool, copies and published files. */
export class Leaks {
  readonly #place: Place;
  readonly #published: Published;
  readonly #beside: readonly string[];
  readonly #own: string[] = [];
  readonly #public: string[] = [];
  readonly #write: (event: RunEvent) => void;

  /** @param beside the addresses of another organization. */
  constructor(place: Place, published: Published, beside: readonly string[] = []) {
    this.#beside = beside;
    this.#place = place;
    this.#published = published;
    const clock = new FakeClock();
    const log = createJsonLog({ write: (text) => this.#own.push(text), clock });
    const collected = publicLog(createJsonLog({ write: (text) => this.#public.push(text), clock }));
    this.#write = (event) => {
      const entry = describeEvent(event);
      log.write(entry);
      collected.write(entry);
    };
  }

  /** Receives what a run reports. Days that are stored as usual have nothing of the service in them. */
  observe(event: RunEvent): void {
    if (event.type !== 'unit-done') this.#write(event);
  }

  /** The client tool of somebody sends an event, in some nights before the run and in others after it. */
  receive(seed: number, night: Night, time: 'before' | 'after'): void {
    if ((seed + night) % EVENT_EVERY !== (time === 'before' ? 1 : 3) || !existsSync(this.#place.warehouse))
      return;
    const id = (seed + 3 * night) % this.#published.size;
    const [prompt, cwd] = [`ask ${emailOf(id)} about ${userId(id)}`, `/home/${emailOf(id)}`];
    const text = JSON.stringify({ hook_event_name: 'UserPromptSubmit', session_id: 's-1', cwd, prompt });
    const receivedAt = `${dateOf(night)}T02:00:00.000Z`;
    appendDurably(`${this.#place.warehouse}.spool`, encodeRecord({ receivedAt, order: `1-${night}`, text }));
  }

  /** After a run: what it printed; and if it has ended, that the spool is empty and the archive has nobody for too long. */
  examineRun(night: Night, hasEnded: boolean): Fault[] {
    const words = excludedWords(this.#published, this.#place.env, this.#beside);
    const [own, collected] = [this.#own.splice(0).join(''), this.#public.splice(0).join('')];
    const named = /user_w\d{3}|person\.w\d{3}/.exec(collected)?.[0];
    return [
      ...found('the log of the run', own, words),
      ...(named === undefined ? [] : [`the log of the service has ${named}`]),
      ...(hasEnded ? [...this.#spoolFaults(['user_w', 'person.w']), ...this.#expiredFaults()] : []),
    ].map((text) => ({ invariant: 'I4', night, text }));
  }

  /** After people have acted: the spool, every answer in the archive, and the files that were made in this morning. */
  examineMorning(night: Night, events: readonly Event[]): Fault[] {
    const words = excludedWords(this.#published, this.#place.env, this.#beside);
    if (words.length === 0) return [];
    const kinds = new Set(events.map(({ kind }) => kind));
    // Under a stricter policy, events stay as they came until a run stores them.
    const gone = words.filter((word) => word.startsWith('user_w'));
    return [
      ...(kinds.has('erase') ? this.#spoolFaults(gone) : []),
      ...this.#archived().flatMap((text) => found('an answer in the archive', text, words)),
      ...([...kinds].some((kind) => EXCLUDING.has(kind)) ? [] : this.#madeFaults(kinds, words)),
    ].map((text) => ({ invariant: 'I4', night, text }));
  }

  #spoolFaults(words: readonly string[]): string[] {
    const spool = `${this.#place.warehouse}.spool`;
    const files = existsSync(spool) ? readdirSync(spool) : [];
    return files.flatMap((name) =>
      found(`${name} of the spool`, readFileSync(join(spool, name), 'utf8'), words),
    );
  }

  #madeFaults(kinds: ReadonlySet<Kind>, words: readonly string[]): string[] {
    const { folder } = this.#place;
    const files = readdirSync(folder).filter((name) => {
      const made = MADE_BY[name.split('.')[0] ?? ''];
      return made !== undefined && kinds.has(made);
    });
    return files.flatMap((name) => found(name, readFileSync(join(folder, name), 'latin1'), words));
  }

  /** Rows about people of days that are older than people are kept. */
  #expiredFaults(): string[] {
    if (!this.#published.isRetained || this.#published.isHappening('clock-behind')) return [];
    return this.#archived().flatMap((text) => {
      const days = Array.from(text.matchAll(/"date":"([^"]+)","user_id"/g), ([, date = '']) => date);
      const old = days.find((date) => this.#published.isExpired('users', dayOf(date)));
      return old === undefined ? [] : [`an answer in the archive has users of ${old}`];
    });
  }

  /** The texts of all answers. They are compressed, so their bytes show nothing. */
  #archived(): string[] {
    const path = this.#place.env['DAYWALK_ARCHIVE'];
    if (path === undefined || !existsSync(path)) return [];
    const archive = new Sqlite(path, { readonly: true });
    try {
      const rows = archive.prepare<[], { bytes: Buffer }>('SELECT bytes FROM objects').all();
      return rows.map(({ bytes }) => zstdDecompressSync(bytes).toString());
    } finally {
      archive.close();
    }
  }
}

function found(where: string, text: string, words: readonly string[]): string[] {
  const word = words.find((one) => text.includes(one));
  return word === undefined ? [] : [`${where} holds ${word}`];
}
