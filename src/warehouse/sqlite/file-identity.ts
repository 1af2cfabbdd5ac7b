import { statSync } from 'node:fs';

/** Identifies the file that a path leads to; undefined if there is none, or if this user may not see it. */
export function fileAt(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev} ${ino}`;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
