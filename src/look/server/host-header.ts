import { isIP } from 'node:net';
import { formatListenAddress, type ListenAddress } from '../../core/listen-address.ts';

/** Names by which this machine reaches itself. */
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Decides to which Host headers a server answers: the names of this machine and the address that it listens on, with its
 * port; and names that were allowed, with their port, or with any if they have none. A page of another site whose name
 * suddenly leads to this machine (DNS rebinding) has another Host.
 * @param listening with the port in use.
 */
export function hostCheck(
  listening: ListenAddress,
  allowed: readonly string[],
): (host: string | undefined) => boolean {
  const own = [
    ...LOOPBACK_NAMES.map((name) => `${name}:${listening.port}`),
    formatListenAddress(listening).toLowerCase(),
  ];
  const names = new Set(allowed.map(bracketed));
  return (host) => {
    if (host === undefined) return false;
    const asked = withPort(host.toLowerCase());
    return own.includes(asked) || names.has(host.toLowerCase()) || names.has(withoutPort(asked));
  };
}

/** Browsers leave out the port of http. */
function withPort(host: string): string {
  return /:\d+$/.test(host) && !/^\[[^\]]*$/.test(host) ? host : `${host}:80`;
}

function withoutPort(host: string): string {
  return host.replace(/:\d+$/, '');
}

function bracketed(name: string): string {
  const lower = name.toLowerCase();
  return isIP(lower) === 6 ? `[${lower}]` : lower;
}
