import type { Clock } from '../../core/clock.ts';
import { dayOf } from '../../core/day.ts';
import type { Advice } from '../../core/errors.ts';
import { DaywalkError, OldWarehouseError, StoppedError, UsageError } from '../../core/errors.ts';
import type { Warehouse } from '../../port/index.ts';
import type { KeptWarehouse } from '../../warehouse/index.ts';
import { pageHtml } from '../html/page.ts';
import type { Figure, Page } from '../page.ts';
import { rememberResults } from '../reader.ts';
import { type KeptRows, pageReader } from '../snapshot-reader.ts';
import { bannerOf, trustOf } from '../trust.ts';
import { type Answer, ASSETS, htmlAnswer, messageHtml } from './answer.ts';
import { csvAnswer } from './figure-csv.ts';
import {
  type Choices,
  frameOf,
  type PageRequest,
  readChoices,
  readFilters,
  readPageRequest,
  type Surroundings,
} from './page-request.ts';

/** How many requests may wait for the pages before them, and how long. */
export const WAITING_MAX = 32;
export const WAITING_MS_MAX = 20_000;
const RETRY_SECONDS = '2';

/** What pages are made from. */
export interface PageSourceOptions {
  readonly warehouse: KeptWarehouse;
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  /** Facts for the footer. */
  readonly footer: readonly string[];
  /** Where the button to log out leads; absent without a login. */
  readonly logout?: string | undefined;
  /** The remedy for a failure in the words of the caller. */
  readonly hintOf: (advice: Advice) => string | undefined;
  /** Receives failures that are not the reader's. Must not throw. */
  readonly report: (error: unknown, path: string) => void;
}

/** Answers requests for pages. Never throws. */
export interface PageSource {
  /** @param wanted aborted when nobody waits for the answer any more, see `KeptWarehouse.read`. */
  answer(url: URL, wanted?: AbortSignal): Promise<Answer>;
}

/** A page, or the reason why there is none, with what surrounds it. */
interface Built {
  readonly status: number;
  readonly page: Page;
  readonly around: Surroundings;
  /** The figure whose table is asked for as CSV. */
  readonly figure?: Figure;
}

/** Creates the pages of a warehouse. One is built at a time; a page of the same content is built once. */
export function createPageSource(options: PageSourceOptions): PageSource {
  const { warehouse, clock, hintOf, report } = options;
  const cache = createPageCache<Answer>();
  const kept: KeptRows = new Map();
  let keptVersion: string | undefined;
  let waiting = 0;

  const answerNow = async (url: URL, wanted: AbortSignal | undefined): Promise<Answer> => {
    const key = `${dayOf(clock.now())} ${url.pathname}${url.search}`;
    const askedAtMs = clock.monotonicMs();
    const found = await warehouse.read(async (inside, version) => {
      // People have given up by then, and those who ask now get their pages earlier.
      if (clock.monotonicMs() - askedAtMs > WAITING_MS_MAX) return { version, known: busyAnswer() };
      const known = cache.get(key, { version, now: clock.now() });
      if (known !== undefined) return { version, known };
      if (version !== keptVersion) kept.clear();
      keptVersion = version;
      return { version, built: await buildPage(inside, url, { ...options, kept }) };
    }, wanted);
    if (found.known !== undefined) return found.known;
    const answer = found.built === null ? emptyAnswer(hintOf) : await rendered(found.built);
    cache.put(key, { version: found.version, until: goodUntil(found.built, clock.now()) }, answer);
    return answer;
  };
  return {
    answer: async (url, wanted) => {
      if (waiting >= WAITING_MAX) return busyAnswer();
      waiting += 1;
      try {
        return await answerNow(url, wanted);
      } catch (error) {
        // Nobody reads it, or the dashboard ends.
        if (wanted?.aborted === true || error instanceof StoppedError) return busyAnswer();
        report(error, url.pathname);
        return failureAnswer(error, hintOf);
      } finally {
        waiting -= 1;
      }
    },
  };
}

/** Null if there is nothing to show yet. */
async function buildPage(
  warehouse: Warehouse,
  url: URL,
  { clock, footer, logout, hintOf, kept }: PageSourceOptions & { readonly kept: KeptRows },
): Promise<Built | null> {
  const now = clock.now();
  const around = (choices: Choices) => ({
    path: url.pathname,
    asked: {},
    params: {},
    isRefused: true,
    logout,
    filters: { orgId: choices.orgId, ...choices.usual },
    choices,
    footer,
  });
  let request: PageRequest | null = null;
  try {
    request = readPageRequest(url);
    const choices = await readChoices(warehouse, request?.asked.org, now);
    if (choices === null) return null;
    if (request === null)
      return { status: 404, page: notFound(url), around: { ...around(choices), isRefused: false } };
    const { kind, params, asked } = request;
    const filters = await readFilters(warehouse, asked, choices);
    const { reader, asked: results } = rememberResults(pageReader(warehouse, filters, kept));
    const page = {
      ...(await kind.build(reader, params)),
      banner: bannerOf(filters, choices.today),
      trust: trustOf(choices.today),
      asked: results,
    };
    const figure = request.csv === undefined ? undefined : await figureOf(page, request.csv);
    const surroundings = { ...around(choices), asked, params, filters, isRefused: false };
    return { status: 200, page, around: surroundings, ...(figure !== undefined && { figure }) };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const choices = await readChoices(warehouse, undefined, now);
    if (choices === null) return null;
    const status = request?.params.subject === undefined ? 400 : 404;
    return { status, page: refused(error, hintOf), around: around(choices) };
  }
}

/** A page is good until the export counts as late; null for the rest of the day. */
function goodUntil(built: Built | null, now: Date): Date | null {
  const lateFrom = built?.around.choices.today.expectation.lateFrom ?? null;
  return lateFrom !== null && lateFrom >= now ? lateFrom : null;
}

/** @throws {UsageError} if the page has no such figure, or if it is empty. */
async function figureOf({ sections }: Page, id: string): Promise<Figure> {
  const figures = sections.flatMap((section) => {
    if (section.kind === 'headlines') return [];
    return section.kind === 'pair' ? section.figures : [section];
  });
  const shown = figures.filter(({ empty }) => empty === undefined);
  const found =
    shown.find((figure) => figure.id === id) ??
    (await shown
      .flatMap(({ files = [] }) => files)
      .find((file) => file.id === id)
      ?.make());
  if (found !== undefined) return found;
  throw new UsageError(`the page has no table "${id}"`, {
    hint: 'open the page and follow one of its links',
  });
}

async function rendered({ status, page, around, figure }: Built): Promise<Answer> {
  if (figure !== undefined) return csvAnswer(figure, around.filters);
  return htmlAnswer(status, String(await pageHtml(page, frameOf(around))));
}

function notFound({ pathname }: URL): Page {
  return {
    name: 'Not found',
    heading: 'There is no such page',
    sentence: [`Nothing is at ${pathname}. The navigation leads to every page.`],
    sections: [],
  };
}

function refused(error: UsageError, hintOf: PageSourceOptions['hintOf']): Page {
  return {
    name: 'Not shown',
    heading: 'This cannot be shown',
    sentence: [sentenceOf(error.message), ' ', sentenceOf(hintOf(error) ?? 'choose other filters')],
    sections: [],
  };
}

function emptyAnswer(hintOf: PageSourceOptions['hintOf']): Answer {
  const remedy = hintOf({ hint: 'export the data of an organization first', reason: 'no-organization' });
  return messageAnswer(200, {
    heading: 'Nothing is exported yet',
    text: 'This warehouse holds no organization.',
    remedy: sentenceOf(remedy ?? ''),
  });
}

function busyAnswer(): Answer {
  const answer = messageAnswer(503, {
    heading: 'Busy',
    text: 'Many pages are being made right now.',
    remedy: 'Try again in a few seconds.',
  });
  return { ...answer, headers: { ...answer.headers, 'retry-after': RETRY_SECONDS } };
}

/** A failure of the warehouse is explained; a defect is not, because its words may hold anything. */
function failureAnswer(error: unknown, hintOf: PageSourceOptions['hintOf']): Answer {
  if (!(error instanceof DaywalkError)) {
    return messageAnswer(500, {
      heading: 'A defect in Daywalk',
      text: 'This page could not be made. The log of the dashboard says why.',
    });
  }
  const answer = messageAnswer(503, {
    heading:
      error instanceof OldWarehouseError
        ? 'The warehouse is not upgraded yet'
        : 'The warehouse cannot be read',
    text: sentenceOf(error.message),
    remedy: sentenceOf(hintOf(error) ?? ''),
  });
  return { ...answer, headers: { ...answer.headers, 'retry-after': RETRY_SECONDS } };
}

function messageAnswer(
  status: number,
  message: { readonly heading: string; readonly text: string; readonly remedy?: string },
): Answer {
  return htmlAnswer(status, String(messageHtml({ ...message, style: ASSETS.style })));
}

/** The words of an error as a sentence. */
function sentenceOf(words: string): string {
  const text = words.trim();
  if (text === '') return '';
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

/** The most text that a cache keeps, in UTF-16 units. */
const CACHED_TEXT_MAX = 4_000_000;

/** Keeps what was computed from one state of the warehouse. */
interface PageCache<Value extends { readonly body: string }> {
  /** What was kept under a key, if it is of this version and still good. */
  get(key: string, at: { readonly version: string; readonly now: Date }): Value | undefined;
  /** Keeps a value. What is of another version goes, and what was not asked for the longest if there is too much. */
  put(key: string, of: { readonly version: string; readonly until: Date | null }, value: Value): void;
}

/** Creates an empty cache. */
function createPageCache<Value extends { readonly body: string }>(
  textMax = CACHED_TEXT_MAX,
): PageCache<Value> {
  // In the order of the last use.
  const kept = new Map<string, { readonly value: Value; readonly until: Date | null }>();
  let keptVersion: string | undefined;
  let size = 0;
  const drop = (key: string) => {
    size -= kept.get(key)?.value.body.length ?? 0;
    kept.delete(key);
  };
  return {
    get: (key, { version, now }) => {
      const found = version === keptVersion ? kept.get(key) : undefined;
      if (found === undefined || (found.until !== null && now > found.until)) return undefined;
      kept.delete(key);
      kept.set(key, found);
      return found.value;
    },
    put: (key, { version, until }, value) => {
      if (version !== keptVersion) {
        kept.clear();
        size = 0;
        keptVersion = version;
      }
      drop(key);
      if (value.body.length > textMax) return;
      kept.set(key, { value, until });
      size += value.body.length;
      for (const oldest of kept.keys()) {
        if (size <= textMax) return;
        drop(oldest);
      }
    },
  };
}
