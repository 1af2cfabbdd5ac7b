import { createHmac } from 'node:crypto';

/** How the emails of people are stored. `hash` is an HMAC-SHA-256 with the salt, in hexadecimal. */
export type EmailPolicy =
  | { readonly mode: 'keep' }
  | { readonly mode: 'drop' }
  | { readonly mode: 'hash'; readonly salt: string };

/** Decides what of a person's email is stored. Applied before anything leaves the pipeline. */
export interface Privacy {
  /** An email as it is stored; NULL stays NULL. */
  email(value: string | null | undefined): string | null;
  /** A text in which emails may stand, such as a record that is set aside, without them where the policy says so. */
  scrub(text: string): string;
}

const EMAIL =
  /[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9-]+)+/g;

/** Emails kept in memory as hashes; an organization has fewer people than this, usually. */
const CACHE_MAX = 100_000;

/** The privacy that a policy asks for. A hash is of the trimmed email in lower case, so one person has one hash. */
export function privacyOf(policy: EmailPolicy): Privacy {
  if (policy.mode === 'keep') return { email: (value) => value ?? null, scrub: (text) => text };
  if (policy.mode === 'drop') return { email: () => null, scrub: (text) => text.replace(EMAIL, '[dropped]') };
  const hash = cached((email) =>
    createHmac('sha256', policy.salt).update(email.trim().toLowerCase()).digest('hex'),
  );
  return {
    email: (value) => (value === null || value === undefined ? null : hash(value)),
    scrub: (text) => text.replace(EMAIL, (email) => hash(email)),
  };
}

function cached(compute: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    let value = known.get(text);
    if (value === undefined) {
      value = compute(text);
      if (known.size >= CACHE_MAX) known.clear();
      known.set(text, value);
    }
    return value;
  };
}
