/**
 * The URL of a repository for people: without https, credentials, query and fragment. It is shown as text and never as a link,
 * because whoever creates a report chooses it.
 */
export function repositoryName(url: string): string {
  return url.replace(USER_INFO, '//').replace(SHORT_PASSWORD, '').replace(AFTER_PATH, '').replace(SECURE, '');
}

// A password may hold any character, also a slash or an @ that should have been encoded: remove up to the last @.
const USER_INFO = /\/\/\S*@/g;
/** As in `user:password@host:path`; `git@host:path` has no secret. */
const SHORT_PASSWORD = /^[^\s/@]*:\S*@/;
const SECURE = /^https:\/\//;
const AFTER_PATH = /[?#][\s\S]*$/;
