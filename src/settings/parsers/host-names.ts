import { UsageError } from '../../core/errors.ts';

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9._-]*[a-z0-9])?)(:\d{1,5})?$/i;

/**
 * Parses names of hosts, separated by commas, each with a port or without.
 * @throws {UsageError} for one that no browser would send
 */
export function parseHostNames(text: string): readonly string[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const wrong = names.find((name) => !HOST.test(name));
  if (wrong === undefined) return names;
  throw new UsageError(`"${wrong}" is not the name of a host`, {
    hint: 'write HOST or HOST:PORT as it stands in the address of the browser, for example daywalk.example.com',
  });
}
