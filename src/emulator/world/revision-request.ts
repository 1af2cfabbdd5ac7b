import { DAILY_STREAMS } from '../../core/stream.ts';
import { day, integer, listOf, number, object, oneOf, type Parser, text } from '../input/parse.ts';
import { REVISION_KINDS, type RevisionRequest } from './revise.ts';

/** Reads a request to revise the data. */
export const revisionRequest: Parser<RevisionRequest> = object(
  { kind: oneOf(...REVISION_KINDS) },
  {
    day,
    streams: listOf(oneOf(...DAILY_STREAMS)),
    count: integer(0, 1_000_000),
    share: number(0, 1),
    users: listOf(text),
    models: listOf(text),
    languages: listOf(text),
    reportId: text,
  },
);

/**
 * Reads a request to revise the data from JSON.
 * @throws {UsageError} that names the place and what is accepted there.
 */
export function parseRevision(json: unknown): RevisionRequest {
  return revisionRequest(json, 'revision');
}
