import { isIP } from 'node:net';

/**
 * True if a request comes by an IP address or as `localhost`. A page of another site that lets its own name lead to this
 * machine (DNS rebinding) comes by that name.
 */
export function isAddress(host: string | undefined): boolean {
  // Browsers always name the host.
  if (host === undefined) return true;
  const name = host.toLowerCase().replace(/:\d+$/, '');
  return name === 'localhost' || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
}
