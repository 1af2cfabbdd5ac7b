import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import type { Emulator } from '../../../src/emulator/emulator.ts';

/** A person as the service names them. */
export interface Person {
  readonly id: string;
  readonly email: string;
}

/** A service that writes people and the key wherever a response has room for them. */
export interface AttackingService {
  readonly url: string;
  readonly people: readonly Person[];
  /** How often each attack was made. */
  readonly attacks: Readonly<Record<string, number>>;
}

type Json = Record<string, unknown>;
/** What stands in front of the true cursor. */
const CURSOR_MARK = '~~';

/**
 * Streams and days with a failure of their own; all others are answered with strange but usable data. One stream each, so
 * that no stream is given up.
 */
const FAILURES: Readonly<Record<string, (attack: Attack) => void>> = {
  'tokens 2026-01-15': ({ response, words }) => refuse(response, 422, { detail: words, title: words }),
  'tools 2026-01-16': ({ response, words }) =>
    refuse(response, 500, { detail: words, metadata: { [words]: words } }),
  'activity 2026-01-17': ({ response, words, person }) =>
    void response
      .writeHead(400, { 'content-type': 'text/plain', 'x-request-id': person.id })
      .end(`${words} (requestId ${person.id})`),
  'productivity 2026-01-18': ({ response, person }) =>
    void response.writeHead(200, { 'content-type': `text/${person.email}; ${person.id}` }).end('x'),
  'users 2026-01-19': ({ response, words }) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(`{"${words}": ${words}`),
  'tokens 2026-01-24': ({ response, person }) =>
    void response.writeHead(307, { location: `https://${person.id}.example.net/${person.email}` }).end(),
  'tools 2026-01-21': ({ response, words, person }) =>
    refuse(response.setHeader('x-request-id', person.id), 200, { data: words, meta: { [words]: words } }),
};

interface Attack {
  readonly response: ServerResponse;
  readonly person: Person;
  /** IDs, email addresses and the key, in many writings. */
  readonly words: string;
}

function refuse(response: ServerResponse, status: number, body: Json): void {
  const requestId = 'req_0123456789';
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify({ status, requestId, ...body }));
}

/** Starts the service in front of an emulator. It closes itself when the test ends. */
export async function attackingService(
  emulator: Emulator,
  options: { readonly hasPlainIds: boolean },
): Promise<AttackingService> {
  const known = await peopleOf(emulator);
  const people = options.hasPlainIds ? known.map(plain) : known;
  const attacks: Record<string, number> = {};
  const count = (name: string) => {
    attacks[name] = (attacks[name] ?? 0) + 1;
  };
  let turn = 0;
  const server = createServer(async (request, response) => {
    turn += 1;
    const person = people[turn % people.length] ?? { id: '', email: '' };
    const words = writingsOf(person, emulator.apiKey);
    const url = new URL(request.url ?? '/', emulator.url);
    const failure = `${url.pathname.split('/').at(-1)} ${url.searchParams.get('startDate')}`;
    if (failure in FAILURES) {
      count(failure);
      return FAILURES[failure]?.({ response, person, words });
    }
    const answer = await forward(url, request);
    rename(answer.body, known, people);
    if (isRecord(answer.body)) {
      distort(answer.body, person, words);
      count(url.pathname);
    }
    response
      .writeHead(answer.status, {
        'content-type': 'application/json',
        'x-request-id': person.id,
        'x-user': person.email,
        warning: `299 - "${person.id}"`,
      })
      .end(JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, people, attacks };
}

/**
 * Cursors name a person, records have fields and values that do, one record of a page has no usable identity, and one is
 * there twice with different values.
 */
function distort(body: Json, person: Person, words: string): void {
  const meta = isRecord(body['meta']) ? body['meta'] : {};
  if (typeof meta['next_cursor'] === 'string')
    meta['next_cursor'] = `${person.id}|${person.email}${CURSOR_MARK}${meta['next_cursor']}`;
  meta[person.email] = person.id;
  for (const list of [body['data'], body['reports']]) {
    if (!Array.isArray(list)) continue;
    for (const row of list.filter(isRecord)) {
      row[`of_${person.id}`] = words;
      row[person.email] = { [person.id]: person.email };
    }
    const user = list.find((row) => isRecord(row) && typeof row['user_id'] === 'string');
    if (isRecord(user)) list.push({ ...user, messages: 1_000_000 });
    if (list.length > 2)
      list.push({ user_id: { [person.id]: words }, user_email: words, date: person.email });
  }
}

const ID_LETTERS = 12;

/** The person with an ID that looks like a word: `qabcdefghijk`. */
function plain({ id, email }: Person): Person {
  const hash = createHash('sha256').update(id).digest('hex').slice(0, ID_LETTERS);
  return { id: `q${hash.replace(/\d/g, (digit) => String.fromCharCode(103 + Number(digit)))}`, email };
}

/** Gives the users of an answer their new IDs. */
function rename(value: unknown, from: readonly Person[], to: readonly Person[]): void {
  if (Array.isArray(value)) for (const item of value) rename(item, from, to);
  if (!isRecord(value)) return;
  const index = from.findIndex(({ id }) => id === value['user_id']);
  if (index >= 0) value['user_id'] = to[index]?.id;
  for (const item of Object.values(value)) rename(item, from, to);
}

async function forward(url: URL, { headers }: IncomingMessage): Promise<{ status: number; body: unknown }> {
  const cursor = url.searchParams.get('cursor');
  if (cursor !== null) url.searchParams.set('cursor', cursor.slice(cursor.indexOf(CURSOR_MARK) + 2));
  const response = await fetch(url, { headers: { authorization: String(headers.authorization) } });
  return { status: response.status, body: await response.json() };
}

/** A text with a person and a key in it. */
function writingsOf({ id, email }: Person, key: string): string {
  return [
    ...[id, email, email.toUpperCase(), encodeURIComponent(email), email.replace('@', '%2540')],
    `https://example.net/${id}?mail=${email}&key=${key}`,
    ...[key, Buffer.from(id).toString('base64'), Buffer.from(email).toString('base64')],
    `"${email}"<${email}>\n${id}\t${id.toLowerCase()}`,
  ].join(' ');
}

async function peopleOf(emulator: Emulator): Promise<Person[]> {
  const day = 'startDate=2026-01-14&endDate=2026-01-14';
  const response = await fetch(`${emulator.url}/api/v1/analytics/users?${day}&limit=100`, {
    headers: { authorization: `Bearer ${emulator.apiKey}` },
  });
  const body: unknown = await response.json();
  const rows = isRecord(body) && Array.isArray(body['data']) ? body['data'].filter(isRecord) : [];
  return rows.map((row) => ({ id: String(row['user_id']), email: String(row['user_email']) }));
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
