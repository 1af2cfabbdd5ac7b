import { privacyOf } from '../../privacy/email.ts';
import { isRestricted, type Viewer } from './audience.ts';

const { scrub } = privacyOf({ mode: 'drop' });

/** Text that people or models wrote, as the viewer may see it: only managers see the email addresses in it. */
export function freeTextFor(viewer: Viewer): (text: string) => string {
  return isRestricted(viewer) ? scrub : (text) => text;
}
