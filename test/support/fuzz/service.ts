import { createHash } from 'node:crypto';
import { systemClock } from '../../../src/core/clock.ts';
import type { Emulator } from '../../../src/emulator/emulator.ts';
import { type ApiRequest, nameOf, queryOf } from '../../../src/http/api-request.ts';
import { answerReader, withoutKeys } from '../../../src/http/response.ts';
import type { Transport } from '../../../src/http/transport.ts';
import { sequence } from '../random/seed.ts';
import type { Served } from './judge.ts';
import { mutate } from './mutate.ts';

/** Share of the answers that are mutated. */
const SHARE = 0.6;

/** The answers of one run: those of the emulator, many of them mutated, and all of them remembered. */
export class Answers {
  readonly served: Served[] = [];
  mutated = 0;
  readonly #clean: CleanAnswers;
  readonly #seed: string;
  readonly #asked = new Map<string, number>();
  readonly #spared: number;

  /** @param spared answers at the beginning that stay as they are. */
  constructor(clean: CleanAnswers, seed: number, spared = 0) {
    this.#clean = clean;
    this.#seed = String(seed);
    this.#spared = spared;
  }

  /** The answer to a path with its query. */
  async to(path: string): Promise<Clean> {
    const clean = await this.#clean.get(path);
    const url = new URL(path, 'http://service');
    const random = this.#randomFor(path);
    const isMutated = clean.status === 200 && this.served.length >= this.#spared && random() < SHARE;
    const body = isMutated ? mutate(clean.body, random) : clean.body;
    if (isMutated) this.mutated += 1;
    this.served.push({ url, status: clean.status, body });
    return { ...clean, body };
  }

  /** The same for the n-th request of a path, in whatever order the requests come. */
  #randomFor(path: string): () => number {
    const nth = (this.#asked.get(path) ?? 0) + 1;
    this.#asked.set(path, nth);
    return sequence(createHash('sha256').update(`${this.#seed} ${nth} ${path}`).digest().readInt32LE());
  }
}

/** An answer as the emulator gave it. */
export interface Clean {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The answers of the emulator, requested over TCP once and cached. */
export class CleanAnswers {
  readonly emulator: Emulator;
  readonly #known = new Map<string, Clean>();

  constructor(emulator: Emulator) {
    this.emulator = emulator;
  }

  async get(path: string): Promise<Clean> {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const { url, apiKey } = this.emulator;
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${apiKey}` } });
    const body = Buffer.from(await response.arrayBuffer());
    const clean = { status: response.status, headers: Object.fromEntries(response.headers), body };
    // Mutated cursors are many, and each is used once.
    if (response.status === 200 && this.#known.size < 5_000) this.#known.set(path, clean);
    return clean;
  }
}

/** A transport without a network: the bytes of an answer go to the same reader as those that a socket delivers. */
export function transportOver(answers: Pick<Answers, 'to'>): Transport {
  const { apiKey } = { apiKey: 'key-0123456789-canary' };
  const answerOf = answerReader({ passage: withoutKeys([apiKey]), clock: systemClock() });
  const totals = { requests: 0, retries: 0 };
  return {
    totals,
    responses: new Map(),
    get: async (target: ApiRequest, { meter, signal }) => {
      signal.throwIfAborted();
      totals.requests += 1;
      if (meter !== undefined) meter.requests += 1;
      const query = queryOf(target);
      return answerOf(await answers.to(target.path + query), nameOf(target, query), 'read');
    },
    create: () => Promise.reject(new Error('nothing is created here')),
    close: async () => undefined,
  };
}
