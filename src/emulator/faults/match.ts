import type { ApiCall } from '../http/api-call.ts';
import type { Match } from './rules.ts';

/** True when the rule matches the request. `pageOf` is costly, so it is called only when everything else matches. */
export function matches(match: Match, call: ApiCall, pageOf: () => number | null): boolean {
  const { target, caller, method } = call;
  if (match.method !== undefined && match.method !== method) return false;
  if (match.stream !== undefined && match.stream !== target.stream) return false;
  if (match.role !== undefined && match.role !== (caller.role ?? 'none')) return false;
  if (match.path !== undefined && !toRegExp(match.path).test(target.path)) return false;
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

function toRegExp(glob: string): RegExp {
  const pattern = glob
    .split(/(\*\*|\*)/)
    .map((part) =>
      part === '**' ? '.*' : part === '*' ? '[^/]*' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'),
    );
  return new RegExp(`^${pattern.join('')}$`);
}
