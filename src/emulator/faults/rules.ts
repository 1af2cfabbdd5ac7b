import { UsageError } from '../../core/errors.ts';
import { STREAMS, type Stream } from '../../core/stream.ts';
import { hash, hashText, unitOf } from '../dataset/pseudo-random.ts';
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
} from '../parse.ts';
import { type ApiCall, ROLES } from '../request.ts';
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
function idOf(rule: Pick<Rule, 'id'>, index: number): string {
  return rule.id ?? `rule-${index + 1}`;
}

/** Counts how often a rule matched and fired. */
interface RuleObserver {
  matched(ruleId: string): void;
  fired(ruleId: string): void;
}

/** Holds the current fault rules, and decides which one fires. */
export interface FaultEngine {
  /**
   * Decides which rule fires on this request; null if none does. Every rule that matches, up to the one that fires,
   * counts a match.
   */
  decide(call: ApiCall, pageOf: () => number | null): { readonly id: string; readonly rule: Rule } | null;
  rules(): readonly Rule[];
  /** The ids of the rules, in their order. */
  ruleIds(): readonly string[];
  /** Replaces the rules; all counts start from 0. */
  setRules(rules: readonly Rule[]): void;
}

/** Maximum number of URLs that a rule counts separately; it counts further URLs together. */
const URLS_MAX = 50_000;

interface Counter {
  matches: number;
  readonly byUrl: Map<string, number>;
}

/** Opens an engine without rules. */
export function openFaults(observer: RuleObserver): FaultEngine {
  let armed: readonly { id: string; rule: Rule; counter: Counter }[] = [];
  return {
    decide(call, pageOf) {
      for (const { id, rule, counter } of armed) {
        if (!matches(rule.match ?? {}, call, pageOf)) continue;
        observer.matched(id);
        counter.matches += 1;
        if (!fires(rule.when ?? {}, id, call.target.url, counter)) continue;
        observer.fired(id);
        return { id, rule };
      }
      return null;
    },
    rules: () => armed.map(({ rule }) => rule),
    ruleIds: () => armed.map(({ id }) => id),
    setRules(rules) {
      armed = rules.map((rule, index) => ({
        id: idOf(rule, index),
        rule,
        counter: { matches: 0, byUrl: new Map() },
      }));
    },
  };
}

function fires(when: When, id: string, url: string, counter: Counter): boolean {
  // Counting by URL takes memory, so it is done only for rules that need it.
  const byUrl = when.per === 'request' || when.probability !== undefined ? countUrl(counter, url) : 0;
  const n = when.per === 'request' ? byUrl : counter.matches;
  const after = when.after ?? 0;
  if (n <= after) return false;
  if (when.count !== undefined && n > after + when.count) return false;
  if (when.nth !== undefined && ![when.nth].flat().includes(n)) return false;
  if (when.probability === undefined) return true;
  // The decision depends on the URL and its repetition, not on the order of requests, so parallel and serial walks get the
  // same faults.
  return unitOf(hash(hashText(when.seed ?? 0, id), hashText(0, url), byUrl)) < when.probability;
}

function countUrl({ byUrl, matches }: Counter, url: string): number {
  const before = byUrl.get(url);
  if (before === undefined && byUrl.size >= URLS_MAX) return matches;
  byUrl.set(url, (before ?? 0) + 1);
  return (before ?? 0) + 1;
}

/** True when the rule matches the request. `pageOf` is costly, so it is called only when everything else matches. */
function matches(match: Match, call: ApiCall, pageOf: () => number | null): boolean {
  const { target, caller, method } = call;
  if (match.method !== undefined && match.method !== method) return false;
  if (match.stream !== undefined && match.stream !== target.stream) return false;
  if (match.role !== undefined && match.role !== (caller.role ?? 'none')) return false;
  if (match.path !== undefined && !pathPattern(match.path).test(target.path)) return false;
  if (match.day !== undefined && !coversDay(target.query, match.day)) return false;
  for (const [name, value] of Object.entries(match.query ?? {})) {
    if (target.query.get(name) !== value) return false;
  }
  return match.page === undefined || match.page === pageOf();
}

function coversDay(query: URLSearchParams, day: string): boolean {
  const first = query.get('startDate');
  const last = query.get('endDate');
  return first !== null && last !== null && first <= day && day <= last;
}

/** The expression of a path in which `*` stands for any characters except `/`, and `**` for any characters. */
export function pathPattern(glob: string): RegExp {
  const pattern = glob
    .split(/(\*\*|\*)/)
    .map((part) =>
      part === '**' ? '.*' : part === '*' ? '[^/]*' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'),
    );
  return new RegExp(`^${pattern.join('')}$`);
}
