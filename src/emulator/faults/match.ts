import type { ApiCall } from '../http/api-call.ts';
import type { Match } from './rules.ts';

/** True when a request is one that the rule is about. `pageOf` is asked only when all the rest holds. */
export function matches(match: Match, call: ApiCall, pageOf: () => number | null): boolean {
  const { target, caller, method } = call;
  if (match.method !== undefined && match.method !== method) return false;
  if (match.stream !== undefined && match.stream !== target.stream) return false;
  if (match.role !== undefined && match.role !== (caller.role ?? 'none')) return false;
  if (match.path !== undefined && !globOf(match.path).test(target.path)) return false;
  if (match.day !== undefined && !holdsDay(target.query, match.day)) return false;
  for (const [name, value] of Object.entries(match.query ?? {})) {
    if (target.query.get(name) !== value) return false;
  }
  return match.page === undefined || match.page === pageOf();
}

function holdsDay(query: URLSearchParams, day: string): boolean {
  const first = query.get('startDate');
  const last = query.get('endDate');
  return first !== null && last !== null && first <= day && day <= last;
}

const globs = new Map<string, RegExp>();
/** Globs remembered; rules are bounded, so this only guards against endless changes of them. */
const GLOBS_MAX = 2_000;

function globOf(glob: string): RegExp {
  const known = globs.get(glob);
  if (known !== undefined) return known;
  if (globs.size >= GLOBS_MAX) globs.clear();
  const pattern = glob
    .split(/(\*\*|\*)/)
    .map((part) =>
      part === '**' ? '.*' : part === '*' ? '[^/]*' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'),
    )
    .join('');
  const compiled = new RegExp(`^${pattern}$`);
  globs.set(glob, compiled);
  return compiled;
}
