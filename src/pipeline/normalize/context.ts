import type { ExactText } from '../../api/exact.ts';
import type { Privacy } from '../../privacy/email.ts';
import type { Findings } from '../findings.ts';

/** What normalizing a page needs besides its rows. */
export interface NormalizeContext {
  readonly orgId: string;
  readonly findings: Findings;
  readonly privacy: Privacy;
  /** Texts of the page that is normalized. */
  readonly exact: ExactText;
}
