import { ANALYTICS_PATHS, READINESS_MOVED_PATH, READINESS_PATH } from '../../api/paths.ts';
import { DAILY_STREAMS, type Stream } from '../../core/stream.ts';
import { hashText } from '../dataset/hash.ts';
import { randomChars } from '../dataset/ids.ts';

/** The path and query of a request, and values derived from them. */
export interface RequestTarget {
  /** Path and query as sent. */
  readonly url: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** The stream that the path belongs to; null outside analytics and readiness. */
  readonly stream: Stream | null;
  /** The requested days as sent: `2026-02-01`, `2026-02-01..2026-02-07`, or '' when none are named. */
  readonly days: string;
  /** Derived from the URL alone, so that equal requests get equal responses. */
  readonly requestId: string;
}

const STREAM_OF_PATH: ReadonlyMap<string, Stream> = new Map<string, Stream>([
  ...DAILY_STREAMS.map((stream): [string, Stream] => [ANALYTICS_PATHS[stream], stream]),
  [READINESS_PATH, 'readiness'],
  [READINESS_MOVED_PATH, 'readiness'],
]);

/** Reads the URL of a request. The seed decides the request id. */
export function readTarget(url: string, seed: number): RequestTarget {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const query = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
  const first = query.get('startDate') ?? '';
  const last = query.get('endDate') ?? first;
  return {
    url,
    path,
    query,
    stream: STREAM_OF_PATH.get(path) ?? null,
    days: first === last ? first : `${first}..${last}`,
    requestId: `req_${randomChars(hashText(seed, url), url.length, 24)}`,
  };
}
