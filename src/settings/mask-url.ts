import { REDACTED } from './redact.ts';

// A password may hold any character, also a slash or an @ that should have been encoded: mask up to the last @.
const PASSWORD = /(\/\/[^\s/@:]*):\S*@/g;
const USER_INFO = /\/\/\S*@/g;
const PASSWORD_PARAMETER = /([?&](?:ssl)?password=)[^&#\s]*/gi;

/** A URL, or a text that was meant to be one, with its password replaced. The user name stays. */
export function maskUrlPassword(text: string): string {
  return text.replace(PASSWORD, `$1:${REDACTED}@`).replace(PASSWORD_PARAMETER, `$1${REDACTED}`);
}

/** As {@link maskUrlPassword}, with the user name replaced too: in a URL of the service it may be the key. */
export function maskUserInfo(text: string): string {
  return maskUrlPassword(text.replace(USER_INFO, `//${REDACTED}@`));
}

/** The passwords that a URL carries, as written and decoded; none when the text is not a URL. */
export function passwordsOf(text: string): string[] {
  if (!URL.canParse(text)) return [];
  const url = new URL(text);
  const parameters = ['password', 'sslpassword'].map((name) => url.searchParams.get(name) ?? '');
  const written = [...parameters, url.password];
  return [...new Set([...written, ...written.map(decoded)])].filter((password) => password !== '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
