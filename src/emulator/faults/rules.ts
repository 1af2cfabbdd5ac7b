import type { UtcDay } from '../../core/day.ts';
import { UsageError } from '../../core/errors.ts';
import { isStream, STREAMS, type Stream } from '../../core/stream.ts';
import { ROLES, type Role } from '../http/auth.ts';
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
  type Parser,
  refuse,
  text,
} from '../input/parse.ts';
import type { Action } from './action.ts';
import { action } from './parse-actions.ts';

/** Which requests a rule is about. Everything that is given must hold; nothing given matches all requests. */
export interface Match {
  /** The path; `*` stands for any characters but `/`, `**` for any characters. */
  readonly path?: string;
  readonly stream?: Stream;
  /** A day within the range that is asked for. */
  readonly day?: UtcDay;
  /** GET and so on, in capitals. */
  readonly method?: string;
  /** Parameters with their value; null for one that is not sent. */
  readonly query?: Readonly<Record<string, string | null>>;
  /** The place of the page in its walk, from 1 (users and readiness). */
  readonly page?: number;
  /** The role of the key; `none` without a valid one. */
  readonly role?: Role | 'none';
}

/** Which of the matching requests the rule changes. Everything that is given must hold. */
export interface When {
  /** The n-th match, or any of several; from 1. */
  readonly nth?: number | readonly number[];
  /** Not the first so many matches. */
  readonly after?: number;
  /** The first so many matches (that follow `after`). */
  readonly count?: number;
  /** With this probability, which `seed`, rule and request decide and not the order of requests. */
  readonly probability?: number;
  readonly seed?: number;
  /** Count all matches of the rule together, or those of each URL by themselves. `rule` unless given. */
  readonly per?: 'rule' | 'request';
}

/** A fault: the first rule that matches a request and whose time it is changes the answer. */
export interface Rule {
  /** Names the rule in the journal; `rule-1`, `rule-2` and so on unless given. */
  readonly id?: string;
  readonly match?: Match;
  readonly when?: When;
  /** One action, or several in this order. */
  readonly action: Action | readonly Action[];
}

/** Rules at most. */
const RULES_MAX = 1_000;

const stream: Parser<Stream> = (value, at) =>
  typeof value === 'string' && isStream(value) ? value : refuse(at, `one of ${STREAMS.join(', ')}`, value);

const actions: Parser<Action | readonly Action[]> = (value, at) =>
  Array.isArray(value) ? listOf(action)(value, at) : action(value, at);

const positive = integer(1);

const rule: Parser<Rule> = object(
  { action: actions },
  {
    id: text,
    match: object(
      {},
      {
        path: text,
        stream,
        day,
        method: text,
        query: mapOf(orNull(text)),
        page: positive,
        role: oneOf(...ROLES, 'none'),
      },
    ),
    when: object(
      {},
      {
        nth: either(positive, listOf(positive), 'a number from 1, or a list of such numbers'),
        after: integer(0),
        count: integer(0),
        probability: number(0, 1),
        seed: integer(0, 4_294_967_295),
        per: oneOf('rule', 'request'),
      },
    ),
  },
);

/**
 * Reads fault rules from JSON: a list of rules, or `{"rules": [...]}`.
 * @throws {UsageError} that names the place, for example `rules[2].action.status`, and what is accepted there.
 */
export function parseRules(json: unknown): Rule[] {
  const list =
    isRecord(json) && 'rules' in json
      ? object({ rules: listOf(rule) }, {})(json, 'rules').rules
      : listOf(rule)(json, 'rules');
  if (list.length > RULES_MAX) refuse('rules', `at most ${RULES_MAX} rules`, list.length);
  const ids = list.map(idOf);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) {
    throw new UsageError(`rules: two rules have the id ${JSON.stringify(twice)}`, {
      hint: 'give each rule another id, because the journal counts by id',
    });
  }
  return [...list];
}

/** The name of a rule in the journal, by its place among the rules. */
export function idOf(rule: Pick<Rule, 'id'>, index: number): string {
  return rule.id ?? `rule-${index + 1}`;
}
