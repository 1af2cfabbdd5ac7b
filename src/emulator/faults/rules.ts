import { UsageError } from '../../core/errors.ts';
import { STREAMS, type Stream } from '../../core/stream.ts';
import { ROLES } from '../http/auth.ts';
import {
  day,
  either,
  integer,
  isRecord,
  listOf,
  mapOf,
  number,
  object,
  oneOf,
  orNull,
  type Parsed,
  type Parser,
  refuse,
  text,
} from '../input/parse.ts';
import { type Action, parseAction } from './action.ts';

const RULES_MAX = 1_000;

const stream: Parser<Stream> = (value, at) =>
  STREAMS.find((known) => known === value) ?? refuse(at, `one of ${STREAMS.join(', ')}`, value);

const actions: Parser<Action | readonly Action[]> = (value, at) =>
  Array.isArray(value) ? listOf(parseAction)(value, at) : parseAction(value, at);

const positive = integer(1);

const match = object(
  {},
  {
    /** The path: `*` stands for any characters except `/`, `**` for any characters. */
    path: text,
    stream,
    /** A day within the requested range. */
    day,
    /** The HTTP method in capitals. */
    method: text,
    /** Parameters with their values; null for one that is not sent. */
    query: mapOf(orNull(text)),
    /** The number of the page in its walk, from 1 (users and readiness). */
    page: positive,
    /** The role of the key; `none` without a valid key. */
    role: oneOf(...ROLES, 'none'),
  },
);

/** The requests that a rule matches. All given fields must hold; without fields it matches every request. */
export type Match = Parsed<typeof match>;

const when = object(
  {},
  {
    /** The n-th match, or several of them; from 1. */
    nth: either(positive, listOf(positive), 'a number from 1, or a list of such numbers'),
    /** Skips this many matches. */
    after: integer(0),
    /** Fires on this many matches at most (those that follow `after`). */
    count: integer(0),
    /** Fires with this probability. `seed`, rule and request decide, not the order of requests. */
    probability: number(0, 1),
    seed: integer(0, 4_294_967_295),
    /** Counts all matches of the rule together, or the matches of each URL separately. Default `rule`. */
    per: oneOf('rule', 'request'),
  },
);

/** The matches on which a rule fires. All given fields must hold. */
export type When = Parsed<typeof when>;

const rule = object(
  {
    /** One action, or several that apply in this order. */
    action: actions,
  },
  {
    /** The name of the rule in the journal. Default: `rule-1`, `rule-2` and so on. */
    id: text,
    match,
    when,
  },
);

/** A fault. The first rule that matches a request and fires decides the response. */
export type Rule = Parsed<typeof rule>;

/**
 * Reads fault rules from JSON: a list of rules, or `{"rules": [...]}`.
 * @example
 * parseRules([{ match: { stream: 'users' }, when: { count: 2 }, action: { type: 'status', status: 503 } }]);
 * @throws {UsageError} that names the place, for example `rules[2].action.status`, and what is accepted there.
 */
export function parseRules(json: unknown): Rule[] {
  const list =
    isRecord(json) && 'rules' in json
      ? object({ rules: listOf(rule) }, {})(json, 'rules').rules
      : listOf(rule)(json, 'rules');
  if (list.length > RULES_MAX) refuse('rules', `at most ${RULES_MAX} rules`, list.length);
  const ids = list.map(idOf);
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
  if (repeated !== undefined) {
    throw new UsageError(`rules: two rules have the id ${JSON.stringify(repeated)}`, {
      hint: 'give each rule another id, because the journal counts by id',
    });
  }
  return [...list];
}

/** The name of a rule in the journal. */
export function idOf(rule: Pick<Rule, 'id'>, index: number): string {
  return rule.id ?? `rule-${index + 1}`;
}
