import { parseDay } from '../../src/core/day.ts';
import type { DaySource } from '../../src/emulator/days.ts';
import { resolveOptions } from '../../src/emulator/options.ts';
import { identifyCaller, readTarget } from '../../src/emulator/request.ts';
import { openService } from '../../src/emulator/service.ts';
import { openWorld } from '../../src/emulator/world.ts';
import type { RequestDispatcher } from '../../src/http/connections.ts';
import { FakeClock } from '../support/clock/fake-clock.ts';
import type { World } from './events.ts';
import { failureOf, type Reply } from './failures.ts';
import { Published } from './published.ts';
import { dateOf, dayOf, type Night, rowsOf, STREAMS, type Stream } from './truth.ts';

/** The organization that the service answers for, unless it answers for another one. */
export const ORG_ID = 'org_world';
const OTHER_ORG_ID = 'org_elsewhere';
export const API_KEY = 'sk-world-1f0e9b4c5a48b2';

/** The emulator's service, without a socket. What it publishes follows from the world and the night. */
export interface WorldService {
  readonly dispatcher: RequestDispatcher;
  readonly published: Published;
  /** Requests since the night began. */
  readonly requests: number;
  /** Requests of the night that got no good answer. */
  readonly failed: number;
  /** Requests of the night whose key was refused: an outage may come first. */
  readonly refused: number;
  /**
   * Begins a night.
   * @param isKnown false before anything has settled: the first organization and the first users are believed (docs/trust.md).
   */
  begin(night: Night, isKnown: boolean): void;
  /** Called before each request is answered. */
  onRequest: (count: number) => void;
}

/** Opens the service of a world. */
export function openWorldService(world: World): WorldService {
  const published = new Published(world);
  const options = resolveOptions({
    ...{ today: dateOf(1), users: 1, reports: 0, seed: 1, orgId: ORG_ID, apiKey: API_KEY, cacheBytesMax: 0 },
    days: sourceOf(published),
    clock: new FakeClock(),
  });
  const emulated = openWorld(options);
  const service = openService(emulated, options);
  const state = { requests: 0, failed: 0, refused: 0, night: 0 };
  const answer = (method: string, path: string, authorization: string | undefined): Reply => {
    state.requests += 1;
    const failure = failureOf(world, state.night, state.requests);
    if (failure !== null) {
      state.failed += 1;
      if (failure !== 'reset' && failure.status === 401) state.refused += 1;
      return failure;
    }
    const target = readTarget(path, 1);
    published.asked = { isRange: target.query.get('startDate') !== target.query.get('endDate') };
    const caller = identifyCaller(authorization, emulated.keys);
    const reply = service.answer({ method, target, caller, inFlight: 1, upload: null });
    if (reply.status >= 400) state.failed += 1;
    return reply;
  };
  const opened = {
    published,
    get requests() {
      return state.requests;
    },
    get failed() {
      return state.failed;
    },
    get refused() {
      return state.refused;
    },
    onRequest: (_count: number): void => undefined,
    begin(night: Night, isKnown: boolean) {
      Object.assign(state, { night, requests: 0, failed: 0, refused: 0 });
      published.begin(night, isKnown);
      emulated.setToday(parseDay(dateOf(night)));
      emulated.setQuirks({
        orgId: isKnown && published.isHappening('other-organization') ? OTHER_ORG_ID : null,
      });
      // Rows by user are kept by day; a night may publish others.
      emulated.days.clear();
    },
    dispatcher: dispatcherOf((...request) => {
      opened.onRequest(state.requests + 1);
      return answer(...request);
    }),
  };
  return opened;
}

function sourceOf(published: Published): DaySource {
  return {
    rowsOf: (stream, date) => {
      const name = STREAMS.find((one) => one === stream);
      return name === undefined ? [] : shownRows(published, name, date);
    },
    reports: () => published.showReports().map(reportRow),
    describe: () => ({ days: [], removed: [] }),
  };
}

function shownRows(published: Published, stream: Stream, date: string): readonly string[] {
  const { content, shape } = published.show(stream, dayOf(date));
  const rows = rowsOf(stream, date, content ?? [], published.size);
  if (shape === 'plain') return rows;
  return rows.flatMap((row) => {
    const wrong = row.replace(
      /"(tool_calls|sessions|billable_tokens|files_created)":(\d+)/,
      (_, name, number) => `"${name}":${shape === 'impossible' ? -7 : Number(number) + 1}`,
    );
    return shape === 'impossible' ? [wrong] : [row, wrong];
  });
}

/** A readiness report, as the API lists it. */
export function reportRow(number: number): string {
  return JSON.stringify({
    ...{
      reportId: `report-${number}`,
      createdAt: Date.UTC(2026, 0, 10 + number),
      repoUrl: 'https://git.example/a',
    },
    ...{ apps: { '.': { description: 'all' } }, report: { readme: { numerator: 1, denominator: 2 } } },
  });
}

/** A dispatcher that answers from a function, a turn of the event loop later, as the network does. */
export function dispatcherOf(
  answer: (method: string, path: string, authorization: string | undefined) => Reply,
): RequestDispatcher {
  return {
    dispatch({ method, path, headers }, handler) {
      let isAborted = false;
      const controller = {
        abort(reason: Error) {
          if (isAborted) return;
          isAborted = true;
          handler.onResponseError(controller, reason);
        },
      };
      handler.onRequestStart(controller, {});
      setImmediate(() => {
        if (isAborted) return;
        try {
          const reply = answer(method, path, headers['authorization']);
          if (reply === 'reset') return controller.abort(new Error('the connection was reset'));
          handler.onResponseStart(controller, reply.status, reply.headers);
          handler.onResponseData(controller, reply.body);
          if (!isAborted) handler.onResponseEnd(controller, {});
        } catch (error) {
          controller.abort(error instanceof Error ? error : new Error(String(error)));
        }
      });
      return true;
    },
  };
}
