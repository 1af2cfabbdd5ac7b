import { userInfo } from 'node:os';
import type { Log } from './log.ts';

/** A line for whoever has to show later what was done with data of people: who did it and how much, without a name of those people. */
export function audit(log: Log, what: string, counts: Readonly<Record<string, unknown>>): void {
  const by = systemUser();
  log.write({ level: 'info', event: 'audit', message: `${by} has ${what}`, fields: { by, ...counts } });
}

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under an ID without a name.
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
