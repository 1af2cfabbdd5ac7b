import { createHash } from 'node:crypto';
import { isObject } from '../../../src/core/json.ts';
import { pick, type Random, sequence } from '../random/seed.ts';
import type { Clean, CleanAnswers } from './service.ts';

/** Well-formed answers that are wrong. */
const LIES = [
  'nothing',
  'days dropped',
  'range trimmed',
  'users dropped',
  'pages dropped',
  'reports dropped',
  'zeros',
  'stale numbers',
  'another day',
] as const;

/** The share of the requests of a night with a false answer. */
export interface Night {
  /** Share of the answers; 0 is an honest night. */
  readonly share: number;
  /** The same lie to the same request in every night that has the same seed. */
  readonly seed: number;
}

/** The answers of the emulator, some of them replaced by plausible wrong ones. */
export class PlausibleAnswers {
  readonly #clean: CleanAnswers;
  readonly #night: Night;
  lies = 0;

  constructor(clean: CleanAnswers, night: Night) {
    this.#clean = clean;
    this.#night = night;
  }

  /** The answer to a path with its query. */
  async to(path: string): Promise<Clean> {
    const clean = await this.#clean.get(path);
    const hash = createHash('sha256').update(`${this.#night.seed} ${path}`).digest();
    const random = sequence(hash.readInt32LE());
    if (clean.status !== 200 || random() >= this.#night.share) return clean;
    const sent: unknown = JSON.parse(clean.body.toString());
    if (!isObject(sent)) return clean;
    const body = Buffer.from(JSON.stringify(await this.#lie(pick(random, LIES), sent, path, random)));
    if (body.equals(clean.body)) return clean;
    this.lies += 1;
    return { ...clean, body };
  }

  async #lie(
    kind: (typeof LIES)[number],
    sent: Record<string, unknown>,
    path: string,
    random: Random,
  ): Promise<unknown> {
    const { reports, data, meta } = sent;
    if (Array.isArray(reports))
      return { ...sent, reports: kind === 'nothing' ? [] : reports.filter(() => random() < 0.5) };
    if (!Array.isArray(data) || !isObject(meta)) return sent;
    const ended = 'has_more' in meta ? { ...meta, has_more: false, next_cursor: null } : meta;
    const keeping = (isKept: (row: Record<string, unknown>) => boolean) => ({
      ...sent,
      data: data.filter((row) => isObject(row) && isKept(row)),
    });
    const share = random();
    const salt = Math.floor(random() * 1e9);
    switch (kind) {
      case 'nothing':
        return { ...sent, data: [], meta: ended };
      case 'days dropped':
        return keeping((row) => drawn(salt, row['date']) < share);
      case 'range trimmed': {
        const days = [
          ...new Set(data.flatMap((row) => (isObject(row) ? [String(row['date'])] : []))),
        ].toSorted();
        const kept = new Set(share < 0.5 ? days.slice(days.length / 2) : days.slice(0, days.length / 2));
        return keeping((row) => kept.has(String(row['date'])));
      }
      case 'users dropped':
      case 'reports dropped':
        return keeping((row) => drawn(salt, row['user_id'] ?? row['date']) < share);
      case 'pages dropped':
        return { ...sent, meta: ended };
      case 'zeros':
        return { ...sent, data: scaled(data, 0) };
      case 'stale numbers':
        return { ...sent, data: scaled(data, share) };
      case 'another day':
        return { ...sent, data: await this.#otherDay(path, data) };
    }
  }

  /** The rows of the day before, with the requested date. */
  async #otherDay(path: string, data: readonly unknown[]): Promise<unknown> {
    const url = new URL(path, 'http://service');
    const day = url.searchParams.get('startDate') ?? '';
    const before = new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);
    if (day !== url.searchParams.get('endDate')) return data;
    const { body, status } = await this.#clean.get(path.replaceAll(day, before));
    const other: unknown = status === 200 ? JSON.parse(body.toString()) : null;
    const rows = isObject(other) && Array.isArray(other['data']) ? other['data'] : data;
    return rows.map((row) => (isObject(row) ? { ...row, date: day } : row));
  }
}

function drawn(salt: number, name: unknown): number {
  return (
    createHash('sha256')
      .update(`${salt} ${String(name)}`)
      .digest()
      .readUInt32LE() /
    2 ** 32
  );
}

/** All whole numbers times a share, as in an earlier state of the batch. */
function scaled(value: unknown, share: number): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? Math.floor(value * share) : value * share;
  if (Array.isArray(value)) return value.map((item) => scaled(item, share));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, scaled(item, share)]));
}
