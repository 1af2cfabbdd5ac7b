/** An email address under a policy that hashes: an HMAC-SHA-256 in hexadecimal. */
const HASHED = /^[0-9a-f]{64}$/i;

/** True for what can be an email address: one @ between two texts without blanks. */
export function isEmail(text: string): boolean {
  return /^[^\s@]+@[^\s@]+$/.test(text);
}

/** True for an email address as a policy that hashes stores it. */
export function isHashedEmail(text: string): boolean {
  return HASHED.test(text);
}

/** The column of a file in which the key of a stored person is loaded again. */
export function keyColumnOf(person: string, isUser: (id: string) => boolean): 'user_id' | 'user_email' {
  return !isUser(person) && (isEmail(person) || isHashedEmail(person)) ? 'user_email' : 'user_id';
}
