import { isIP } from 'node:net';
import { UsageError } from './errors.ts';

/** Where a server listens. */
export interface ListenAddress {
  /** A name or an IP address; IPv6 without brackets. */
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
}

const PORT_MAX = 65_535;
const SHAPE = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/;
const NAME = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i;

/**
 * Parses `HOST:PORT`; IPv6 addresses stand in brackets.
 * @throws {UsageError} if it is something else
 */
export function parseListenAddress(text: string): ListenAddress {
  const [, ipv6, name, digits = ''] = SHAPE.exec(text) ?? [];
  const host = ipv6 ?? name ?? '';
  const isHost = ipv6 === undefined ? isIP(host) === 4 || NAME.test(host) : isIP(ipv6) === 6;
  if (isHost && Number(digits) <= PORT_MAX) return { host, port: Number(digits) };
  throw new UsageError(`"${text}" is not an address to listen on`, {
    hint: 'write HOST:PORT, for example 127.0.0.1:4000 or [::1]:4000',
  });
}

/** The address as it stands in a URL: `[::1]:4000`. */
export function formatListenAddress({ host, port }: ListenAddress): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** True for IP addresses that only this machine can reach. */
export function isLoopback(ip: string): boolean {
  return /^(::ffff:)?127(\.\d{1,3}){3}$/i.test(ip) || ip === '::1';
}
