import { hash, hashText, unitOf } from '../dataset/hash.ts';
import type { ApiCall } from '../http/api-call.ts';
import { matches } from './match.ts';
import { idOf, type Rule, type When } from './rules.ts';

/** Counts how often a rule matched and fired. */
export interface RuleObserver {
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
