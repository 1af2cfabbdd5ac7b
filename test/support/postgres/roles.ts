import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import type { Place } from '../warehouse/each-database.ts';

/** A role without rights in a place, and the place as this role reaches it. */
export interface PlaceOfRole {
  readonly role: string;
  readonly place: Place;
  /** The schema of the place, quoted. */
  readonly schema: string;
}

/** Creates a role that may log in. It is dropped, with its rights, when the test ends. */
export async function roleAt(place: Place): Promise<PlaceOfRole> {
  const role = `daywalk test ${randomUUID().slice(0, 8)}`;
  await place.execute(`CREATE ROLE "${role}" LOGIN`);
  onTestFinished(() => place.execute(`DROP OWNED BY "${role}" CASCADE; DROP ROLE "${role}"`));
  const url = new URL(place.location);
  const schema = `"${url.searchParams.get('schema')}"`;
  url.username = role;
  return { role, place: { ...place, location: url.href }, schema };
}
