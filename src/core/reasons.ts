import type { RuleName } from './rules.ts';

/**
 * Codes for failures whose remedy depends on how the program is used. A caller that knows its own flags and
 * variables turns the code into a remedy; other callers show the hint of the error.
 */
export const REASONS = [
  'key-rejected',
  'app-key-rejected',
  'app-key-lacks-role',
  'api-not-found',
  'readiness-not-found',
  'moved-away',
  'certificate-untrusted',
  'timed-out',
  'proxy-failed',
  'organization-unreadable',
  'first-contact',
  'requests-spent',
  'no-warehouse',
  'no-organization',
  'organization-unclear',
  'warehouse-path',
  'warehouse-is-folder',
  'warehouse-is-foreign',
  'warehouse-is-newer',
  'warehouse-is-older',
  'warehouse-busy',
  'warehouse-replaced-by-other',
  'salt-differs',
  'weaker-emails',
  'no-archive',
  'archive-damaged',
  'rows-damaged',
  'copy-loses-rows',
  'log-cannot-shrink',
  'copy-instead',
  'publish-onto-warehouse',
  'publish-onto-other-file',
  'lake-not-a-folder',
  'lake-folder-taken',
  'lake-is-foreign',
  'lake-is-newer',
  'metric-not-additive',
  'metric-needs-dimension',
  'host-not-allowed',
  'dashboard-needs-token',
  'address-unusable',
] as const;

/** A code of {@link REASONS}, or the rule by which a response is not believed. */
export type Reason = (typeof REASONS)[number] | RuleName;

/** Values for the words of a remedy, such as a path or a day. */
export type Facts = Readonly<Record<string, string>>;

/** The remedy for a failure. */
export interface Advice {
  /** One sentence that holds for every caller: it names no flag and no variable. */
  readonly hint: string | undefined;
  readonly reason?: Reason | undefined;
  readonly facts?: Facts | undefined;
}
