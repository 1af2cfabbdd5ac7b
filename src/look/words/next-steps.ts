import { CONFIRM_DAYS } from '../../judge/agreement.ts';
import { ACCEPT_AFTER_MS, ACCEPT_LOOKS } from '../../judge/doubt.ts';
import type { MarkState } from '../page/page.ts';

const HOUR_MS = 3_600_000;

/** Why days are not settled: `young` ones have not reached the age at which days settle. */
export const OPEN_REASONS = ['young', 'fewer-users', 'reopened', 'never-confirmed'] as const;
export type OpenReason = (typeof OPEN_REASONS)[number];

const OPEN_STEPS: Readonly<Record<OpenReason, string>> = {
  young: 'Too young to settle: every run pulls it again, and the service may still change it.',
  'fewer-users':
    'It has fewer users than daily_active_users. It settles when runs on seven days have found the same.',
  reopened: 'The service changed it after it settled. The next run pulls it again.',
  'never-confirmed':
    'It settled by its age, although nothing confirmed it. Only daywalk backfill --force pulls it again.',
};

const STEPS: Readonly<Record<Exclude<MarkState, 'open'>, string>> = {
  loaded: 'Nothing: it is settled.',
  empty: 'Nothing: it is settled without activity.',
  awaiting: `It had no activity when it was pulled. Every run pulls it again until it is ${CONFIRM_DAYS} days old.`,
  doubted:
    `Stored rows stay. The loss is accepted once runs on ${ACCEPT_LOOKS} days within ${ACCEPT_AFTER_MS / HOUR_MS} hours or more ` +
    'have found it.',
  failed: 'The next run pulls it again.',
  quarantined:
    'Records could not be stored. The next run pulls it again; daywalk quarantine accept accepts them.',
  pending: 'The next run pulls it.',
};

/** What happens next to a day in a state, in words. docs/trust.md has the rules. */
export function nextStep(state: MarkState, reason: OpenReason | null): string {
  return state === 'open' ? OPEN_STEPS[reason ?? 'young'] : STEPS[state];
}
